//! Words in runs of ideographs, which are written without blanks, and the stems of Korean words.

use std::collections::BTreeMap;

use super::script::{Script, script_of};

/// Characters that are words of grammar in Chinese and in few names: runs are cut at them.
const GRAMMAR: &str = "的了是在和与及或但也都就不没这那哪其着吗呢吧啊把被让很更还又再只您你我他她它们个什么怎";

/// Particles at the end of Korean words, the longest first.
const PARTICLES: [&str; 20] = [
    "에서는",
    "으로는",
    "에게서",
    "에서",
    "으로",
    "에게",
    "까지",
    "부터",
    "처럼",
    "보다",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "와",
    "과",
];

/// Longest run that is taken for one word as it is.
const WHOLE: usize = 4;
/// Longest piece of a run of which no part is met twice.
const LONGEST: usize = 8;
/// Longest part of a run that is counted.
const LONGEST_PART: usize = 6;

/// How often each part of the runs of a passage is met: what is met twice is taken for a word.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<String, u32>);

impl Parts {
    /// Counts the parts of a run of ideographs.
    pub(super) fn count(&mut self, run: &str) {
        for segment in run.split(|c| GRAMMAR.contains(c)) {
            let characters: Vec<char> = segment.chars().collect();
            for length in 2..=LONGEST_PART.min(characters.len()) {
                for part in characters.windows(length) {
                    *self.0.entry(part.iter().collect()).or_insert(0) += 1;
                }
            }
        }
    }

    /// The words of a run of ideographs: it is cut at characters of grammar; what is longer than four characters then is cut into
    /// the longest parts that the passage has twice and what is between them.
    pub(super) fn words(&self, run: &str) -> Vec<String> {
        let mut words = Vec::new();
        for segment in run.split(|c| GRAMMAR.contains(c)) {
            let characters: Vec<char> = segment.chars().collect();
            if characters.len() <= WHOLE {
                words.push(segment.to_string());
                continue;
            }
            let mut between: Vec<char> = Vec::new();
            let mut rest = characters.as_slice();
            while let [first, tail @ ..] = rest {
                match self.longest(rest) {
                    Some(length) => {
                        words.extend(pieces(&between));
                        between.clear();
                        let (part, after) = rest.split_at(length);
                        words.push(part.iter().collect());
                        rest = after;
                    }
                    None => {
                        between.push(*first);
                        rest = tail;
                    }
                }
            }
            words.extend(pieces(&between));
        }
        words.retain(|word| word.chars().count() > 1);
        words
    }

    /// The length of the longest part at the start of `characters` that is met twice.
    fn longest(&self, characters: &[char]) -> Option<usize> {
        let twice = |length: &usize| {
            let part: String = characters.iter().take(*length).collect();
            self.0.get(&part).is_some_and(|count| *count > 1)
        };
        (2..=LONGEST_PART.min(characters.len())).rev().find(twice)
    }
}

fn pieces(characters: &[char]) -> Vec<String> {
    characters.chunks(LONGEST).map(|piece| piece.iter().collect()).collect()
}

/// A Korean word without its particle.
pub(super) fn korean_stem(word: &str) -> &str {
    let stem = PARTICLES.iter().find_map(|particle| word.strip_suffix(particle));
    stem.filter(|stem| stem.chars().count() > 1).unwrap_or(word)
}

/// The name in Han, kana or Hangul that ends where `text` does, up to a character of grammar.
pub(in super::super) fn cjk_name_before(text: &str) -> Option<String> {
    let of_name =
        |c: char| matches!(script_of(c), Some(Script::Han | Script::Katakana | Script::Hangul)) && !GRAMMAR.contains(c);
    let start = text.char_indices().rev().take_while(|(_, c)| of_name(*c)).last()?.0;
    let name = text.get(start..)?;
    (2..=2 * LONGEST).contains(&name.chars().count()).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_at_grammar_and_at_what_is_met_twice() {
        let mut parts = Parts::default();
        for run in ["向量索引的大小", "我们使用向量索引检索文档"] {
            parts.count(run);
        }
        assert_eq!(parts.words("向量索引的大小"), ["向量索引", "大小"]);
        assert_eq!(parts.words("我们使用向量索引检索文档"), ["使用", "向量索引", "检索文档"]);
        assert_eq!(parts.words("一二三四五六七八九十"), ["一二三四五六七八", "九十"]);
        assert!(parts.words("的").is_empty());
    }

    #[test]
    fn particles_leave_a_stem() {
        assert_eq!(korean_stem("서울에서는"), "서울");
        assert_eq!(korean_stem("서울은"), "서울");
        assert_eq!(korean_stem("나는"), "나는");
    }

    #[test]
    fn a_name_before_a_bracket() {
        assert_eq!(cjk_name_before("他在世界卫生组织").as_deref(), Some("世界卫生组织"));
        assert_eq!(cjk_name_before("the tower"), None);
        assert_eq!(cjk_name_before(""), None);
    }
}
