//! How text becomes the terms that are indexed and searched.
//!
//! In this order:
//! 1. NFKC, so that composed and decomposed, full-width and ligature forms are one; `’` becomes `'`.
//! 2. Runs of Chinese, Japanese and Korean characters become overlapping bigrams (a run of one character stays as it is),
//!    for these are written without blanks; bigrams are never stemmed.
//! 3. Everything else is cut into words by Unicode UAX 29.
//! 4. Lower case, where wanted (after NFKC, character by character, not case folding).
//! 5. Stop words leave, as they are at this point.
//! 6. Snowball stemming, where wanted.

use std::borrow::Cow;
use std::collections::BTreeSet;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::cjk::{bigrams, is_cjk};
use super::options::{AnalyzerOptions, StopWords};
use super::stop_words::stop_words_of;

/// Version of the analysis in the keys of what is indexed and asked. Bumped by hand whenever the same text may give other
/// terms: a change here, in the stop words, or an upgrade of the stemmer's or the Unicode crates.
pub const ANALYZER_VERSION: u64 = 1;

const LANGUAGES: [(&str, Algorithm); 13] = [
    ("english", Algorithm::English),
    ("porter", Algorithm::Porter),
    ("french", Algorithm::French),
    ("german", Algorithm::German),
    ("spanish", Algorithm::Spanish),
    ("italian", Algorithm::Italian),
    ("portuguese", Algorithm::Portuguese),
    ("dutch", Algorithm::Dutch),
    ("swedish", Algorithm::Swedish),
    ("norwegian", Algorithm::Norwegian),
    ("danish", Algorithm::Danish),
    ("finnish", Algorithm::Finnish),
    ("russian", Algorithm::Russian),
];

/// The language that has no stemmer and no stop words.
const NO_LANGUAGE: &str = "none";

/// Turns text into terms.
#[derive(Clone)]
pub struct Analyzer {
    options: AnalyzerOptions,
    stemmer: Option<Stemmer>,
    stop_words: BTreeSet<String>,
}

impl Analyzer {
    /// The analyzer that `options` describe.
    ///
    /// # Errors
    /// As [`check`].
    pub fn new(options: &AnalyzerOptions) -> Result<Self, String> {
        let algorithm = LANGUAGES.iter().find(|(name, _)| *name == options.language).map(|(_, algorithm)| *algorithm);
        if algorithm.is_none() && options.language != NO_LANGUAGE {
            let names: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "unknown analyzer language {:?}: expected one of {}, {NO_LANGUAGE}",
                options.language,
                names.join(", ")
            ));
        }
        let mut analyzer = Analyzer {
            options: options.clone(),
            stemmer: algorithm.filter(|_| options.stem).map(Stemmer::new),
            stop_words: BTreeSet::new(),
        };
        let mut stop_words = BTreeSet::new();
        match &options.stop_words {
            StopWords::None => {}
            StopWords::Default => {
                stop_words.extend(stop_words_of(&options.language).iter().map(|word| word.to_string()));
            }
            StopWords::List(words) => {
                for word in words {
                    stop_words.insert(analyzer.stop_word(word)?);
                }
            }
        }
        analyzer.stop_words = stop_words;
        Ok(analyzer)
    }

    /// The options that this analyzer was made from.
    pub fn options(&self) -> &AnalyzerOptions {
        &self.options
    }

    /// The terms of `text` in reading order, with repetitions.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        tokens(text, |token| terms.extend(self.term(token)));
        terms
    }

    /// The term that a token (as [`tokens`] gives it) is indexed as; `None` for a stop word.
    pub(super) fn term(&self, token: &str) -> Option<String> {
        let word = self.cased(token);
        if self.stop_words.contains(&word) {
            return None;
        }
        match self.stemmer {
            Some(stemmer) if !word.starts_with(is_cjk) => {
                let stem = stemmer.stem(&word);
                Some(if stem.is_empty() { word.clone() } else { stem.into_owned() })
            }
            _ => Some(word),
        }
    }

    fn cased(&self, token: &str) -> String {
        if self.options.lower_case { token.to_lowercase() } else { token.to_string() }
    }

    /// A word of the user's list, in the form that tokens are compared in.
    fn stop_word(&self, word: &str) -> Result<String, String> {
        let mut found = Vec::new();
        tokens(word, |token| found.push(self.cased(token)));
        match found.len() {
            1 => Ok(found.remove(0)),
            count => Err(format!("stop word {word:?} would never match: expected one word, found {count}")),
        }
    }
}

/// Whether `options` describe an analyzer that there is.
///
/// # Errors
/// A lower-case fragment that names the unknown language and those there are, or a stop word that is no single word.
pub fn check(options: &AnalyzerOptions) -> Result<(), String> {
    Analyzer::new(options).map(|_| ())
}

/// Visits the tokens of `text` as they are before case, stop words and stemming.
pub(super) fn tokens(text: &str, mut visit: impl FnMut(&str)) {
    let text = normalized(text);
    let mut rest: &str = &text;
    while let Some(first) = rest.chars().next() {
        let cjk = is_cjk(first);
        let end = rest.char_indices().find(|(_, c)| is_cjk(*c) != cjk).map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(end);
        if cjk {
            bigrams(run, &mut visit);
        } else {
            run.unicode_words().for_each(&mut visit);
        }
        rest = after;
    }
}

/// NFKC, the apostrophe in one form, and no variation selectors (they would cut a run of ideographs).
fn normalized(text: &str) -> Cow<'_, str> {
    let special = |c: char| c == '\u{2019}' || is_variation_selector(c);
    if text.is_ascii() || (is_nfkc_quick(text.chars()) == IsNormalized::Yes && !text.contains(special)) {
        return Cow::Borrowed(text);
    }
    let one_form = |c: char| if c == '\u{2019}' { '\'' } else { c };
    Cow::Owned(text.nfkc().filter(|c| !is_variation_selector(*c)).map(one_form).collect())
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> AnalyzerOptions {
        AnalyzerOptions { language: "none".to_string(), lower_case: true, stem: false, stop_words: StopWords::None }
    }

    fn terms(options: &AnalyzerOptions, text: &str) -> Vec<String> {
        Analyzer::new(options).expect("analyzer").terms(text)
    }

    #[test]
    fn english_by_default() {
        let options = AnalyzerOptions::default();
        assert_eq!(
            terms(&options, "The Harbour's ships were running, and it rained."),
            ["harbour", "ship", "were", "run", "rain"]
        );
        // Both apostrophes are one.
        assert_eq!(terms(&options, "harbour’s"), terms(&options, "harbour's"));
    }

    #[test]
    fn words_are_those_of_uax_29() {
        assert_eq!(
            terms(&plain(), "TNF-α at 3.5 µg, foo_bar (don't)"),
            ["tnf", "α", "at", "3.5", "μg", "foo_bar", "don't"]
        );
        assert!(terms(&plain(), " \n…—").is_empty());
    }

    #[test]
    fn compatibility_forms_are_one() {
        assert_eq!(terms(&plain(), "ﬁnance Ｃａｆｅ\u{301}"), ["finance", "café"]);
        assert_eq!(terms(&plain(), "cafe\u{301}"), terms(&plain(), "caf\u{e9}"));
        assert_eq!(terms(&plain(), "ｱｲｽ"), ["アイ", "イス"]);
    }

    #[test]
    fn runs_without_blanks_become_bigrams() {
        assert_eq!(terms(&plain(), "红色狐狸 red"), ["红色", "色狐", "狐狸", "red"]);
        assert_eq!(terms(&plain(), "お茶を飲む。茶"), ["お茶", "茶を", "を飲", "飲む", "茶"]);
        assert_eq!(terms(&plain(), "AI를 3월"), ["ai", "를", "3", "월"]);
        assert_eq!(terms(&plain(), "葛\u{E0100}城"), ["葛城"]);
    }

    #[test]
    fn chinese_japanese_and_korean_in_every_language() {
        for language in ["none", "english", "german"] {
            let options = AnalyzerOptions { language: language.to_string(), ..AnalyzerOptions::default() };
            // Mixed text: numbers and Latin letters are words of their own.
            assert_eq!(terms(&options, "灯塔建于1871年"), ["灯塔", "塔建", "建于", "1871", "年"], "{language}");
            assert_eq!(terms(&options, "用RAG检索"), ["用", "rag", "检索"], "{language}");
            // Half-width katakana with voice marks, and the mark that lengthens.
            assert_eq!(terms(&options, "ｶﾞｲﾄﾞ"), ["ガイ", "イド"], "{language}");
            assert_eq!(terms(&options, "ﾌｪﾘｰ"), terms(&options, "フェリー"), "{language}");
            assert_eq!(terms(&options, "フェリー"), ["フェ", "ェリ", "リー"], "{language}");
            // Hangul with particles shares its stem's pairs; decomposed Hangul is composed.
            assert_eq!(terms(&options, "등대는 1871년에"), ["등대", "대는", "1871", "년에"], "{language}");
            assert_eq!(terms(&options, "등대를"), ["등대", "대를"], "{language}");
            assert_eq!(terms(&options, "\u{1103}\u{1173}\u{11bc}\u{1103}\u{1162}"), ["등대"], "{language}");
            // Full-width letters and digits are their narrow forms.
            assert_eq!(terms(&options, "ＲＡＧ２"), ["rag2"], "{language}");
        }
    }

    #[test]
    fn case_and_stop_words_follow_the_options() {
        let kept = AnalyzerOptions { lower_case: false, stem: false, ..AnalyzerOptions::default() };
        assert_eq!(terms(&kept, "The the Fox"), ["The", "Fox"]);
        let list = StopWords::List(vec!["Fox".to_string(), "狐狸".to_string()]);
        let own = AnalyzerOptions { stop_words: list, ..plain() };
        assert_eq!(terms(&own, "the fox FOX 狐狸"), ["the"]);
    }

    #[test]
    fn every_language_stems() {
        for (language, text, stem) in [
            ("german", "Häuser", "haus"),
            ("french", "continuellement", "continuel"),
            ("spanish", "corriendo", "corr"),
            ("russian", "вещами", "вещ"),
            ("porter", "connections", "connect"),
        ] {
            let options = AnalyzerOptions { language: language.to_string(), ..AnalyzerOptions::default() };
            assert_eq!(terms(&options, text), [stem], "{language}");
        }
        for (language, _) in LANGUAGES {
            let options = AnalyzerOptions { language: language.to_string(), ..AnalyzerOptions::default() };
            assert_eq!(check(&options), Ok(()), "{language}");
        }
    }

    #[test]
    fn bad_options_say_what_there_is() {
        let options = AnalyzerOptions { language: "klingon".to_string(), ..AnalyzerOptions::default() };
        let error = check(&options).expect_err("unknown");
        assert!(error.contains("\"klingon\"") && error.contains("english") && error.contains("none"), "{error}");
        let list = StopWords::List(vec!["of the".to_string()]);
        let error = check(&AnalyzerOptions { stop_words: list, ..plain() }).expect_err("two words");
        assert!(error.contains("\"of the\"") && error.contains("found 2"), "{error}");
    }
}
