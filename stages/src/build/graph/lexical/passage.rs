//! What a passage says of entities and relations, read off its words.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::super::abbreviation::abbreviations;
use super::candidates::{At, Candidate, Candidates, Form};
use super::name::{Habits, names, without_owner};
use super::quotation::quotations;
use super::script::Script;
use super::segment::{Parts, cjk_name_before, korean_stem};
use super::stop_words::is_stop_word;
use super::term::{Content, add_terms};
use super::word::{Word, adjacent, words};
use crate::artifact::{Chunk, ChunkFacts, FoundEntity, FoundRelation};

/// Version of what the extractor finds in the same passage, in the key of its rows. Bumped by hand with every change of it, of
/// [`canonical_name`](super::super::canonical_name), or of the Unicode crates.
pub(in super::super) const LEXICAL_VERSION: u64 = 1;

/// The type of the relation between two things that a sentence names near each other. It has no direction.
pub(in super::super) const CO_OCCURS: &str = "co-occurs";

/// Words between two names that are still taken to stand near each other.
const WINDOW: usize = 12;
/// Most relations for each entity that a passage may have.
const RELATIONS_PER_ENTITY: usize = 2;
/// Most words of a title or heading that is taken as a name whole.
const MOST_HEADING_WORDS: usize = 8;
/// Longer words are none: base64, or a script without blanks that has no rule here.
const LONGEST_WORD: usize = 40;

/// What the extractor reads of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Passage<'a> {
    pub(in super::super) title: Option<&'a str>,
    pub(in super::super) heading: Option<&'a str>,
    pub(in super::super) text: &'a str,
}

impl<'a> Passage<'a> {
    /// The title, headings and text of a chunk.
    pub(in super::super) fn of(chunk: &'a Chunk) -> Self {
        Passage { title: chunk.title.as_deref(), heading: chunk.heading.as_deref(), text: &chunk.text }
    }
}

/// The entities of a passage, at most `most`, and which of them stand together, at most twice as many.
///
/// Entities are names in capitals, acronyms, what stands in quotes or as code, titles and headings, and the words and pairs of
/// words that rank highest in the graph of neighbours. Two are related when a sentence names both within 12 words; how many
/// times it does is the weight.
pub(in super::super) fn lexical_facts(passage: &Passage<'_>, most: usize) -> ChunkFacts {
    let text: String = passage.text.nfkc().collect();
    let text = unwrapped(&text);
    let mut sentences: Vec<String> = Vec::new();
    let mut candidates = Candidates::default();
    for line in passage.title.into_iter().chain(passage.heading.into_iter().flat_map(|path| path.split(" > "))) {
        let line: String = line.nfkc().collect();
        let (line, at) = (line.trim(), At { sentence: sentences.len(), word: 0 });
        // The headings of a page often open with its title.
        if line.is_empty() || sentences.iter().any(|known| known == line) {
            continue;
        }
        if is_name(line) {
            candidates.add(line, Form::Heading, at);
        }
        sentences.push(line.to_string());
    }
    sentences.extend(text.split_sentence_bounds().map(str::to_string));
    read(&sentences, &mut candidates);
    let aliases = abbreviations(&text, &cjk_name_before);
    for alias in &aliases {
        let place = |name: &str| sentences.iter().position(|sentence| sentence.contains(name));
        if let Some(sentence) = place(&alias.short) {
            candidates.add(&alias.long, Form::Name, At { sentence, word: 0 });
            candidates.add(&alias.short, Form::Acronym, At { sentence, word: 0 });
        }
    }
    let kept = candidates.best(most);
    let relations = relations(&kept, most.saturating_mul(RELATIONS_PER_ENTITY));
    let entity = |candidate: Candidate| FoundEntity {
        name: candidate.name,
        kind: candidate.form.kind().to_string(),
        ..FoundEntity::default()
    };
    ChunkFacts { entities: kept.into_iter().map(entity).collect(), relations, aliases, left_out: 0 }
}

/// The text with lines that were wrapped within a sentence joined again: a line break before a small letter is a blank.
fn unwrapped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            let goes_on = line.starts_with(char::is_lowercase) && !whole.ends_with(['\n', '\r']) && !whole.is_empty();
            whole.push(if goes_on { ' ' } else { '\n' });
        }
        whole.push_str(line);
    }
    whole
}

fn is_name(line: &str) -> bool {
    let words = words(line);
    (1..=MOST_HEADING_WORDS).contains(&words.len()) && words.iter().any(|word| !is_stop_word(&word.text.to_lowercase()))
}

/// Adds what the sentences speak of to `candidates`.
fn read(sentences: &[String], candidates: &mut Candidates) {
    let read: Vec<Vec<Word<'_>>> = sentences.iter().map(|sentence| words(sentence)).collect();
    let mut habits = Habits::default();
    let mut parts = Parts::default();
    for words in &read {
        habits.see(words);
        words.iter().filter(|word| word.script == Script::Han).for_each(|word| parts.count(word.text));
    }
    let mut content: Vec<Content> = Vec::new();
    for (sentence, (text, words)) in sentences.iter().zip(&read).enumerate() {
        for (start, inside) in quotations(text) {
            let word = words.partition_point(|word| word.end <= start);
            candidates.add(inside, Form::Quoted, At { sentence, word });
        }
        let names = names(text, words, &habits);
        for name in &names {
            if let (Some(first), Some(last)) = (words.get(name.first), words.get(name.end.saturating_sub(1))) {
                let name_text = text.get(first.start..last.end).unwrap_or_default();
                candidates.add(without_owner(name_text), name.form, At { sentence, word: name.first });
            }
        }
        let mut before: Option<&Word<'_>> = None;
        for (i, word) in words.iter().enumerate() {
            if names.iter().any(|name| (name.first..name.end).contains(&i)) {
                before = None;
                continue;
            }
            let said = said(word, &parts);
            let alone = said.len() == 1;
            for term in said {
                let follows = alone && before.is_some_and(|before| adjacent(text, before, word));
                content.push(Content { word: term, at: At { sentence, word: i }, follows });
            }
            let last = content.last().is_some_and(|content| content.at == At { sentence, word: i });
            before = (last && word.script == Script::Spaced).then_some(word);
        }
    }
    add_terms(&content, candidates);
}

/// The terms that a word is, in small letters; none for a word of grammar, a number or an adverb.
fn said(word: &Word<'_>, parts: &Parts) -> Vec<String> {
    let characters = word.text.chars().count();
    match word.script {
        _ if characters > LONGEST_WORD => Vec::new(),
        Script::Han => parts.words(word.text),
        Script::Katakana if characters > 1 => vec![word.text.to_string()],
        Script::Hangul => Some(korean_stem(word.text))
            .filter(|stem| stem.chars().count() > 1)
            .map(str::to_string)
            .into_iter()
            .collect(),
        Script::Spaced => {
            let small = without_owner(word.text).to_lowercase();
            let letters = small.chars().filter(|c| c.is_alphabetic()).count();
            let names = letters > 2 && !small.starts_with(char::is_numeric) && !small.ends_with("ly");
            Some(small).filter(|small| names && !is_stop_word(small)).into_iter().collect()
        }
        Script::Hiragana | Script::Katakana => Vec::new(),
    }
}

/// Which of the candidates stand together, the most often first, at most `most`.
fn relations(candidates: &[Candidate], most: usize) -> Vec<FoundRelation> {
    let mut places: Vec<(At, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        places.extend(candidate.places.iter().map(|at| (*at, i)));
    }
    places.sort_unstable();
    let mut pairs: BTreeMap<(usize, usize), (u64, At)> = BTreeMap::new();
    for (i, (at, one)) in places.iter().enumerate() {
        let near = places.iter().skip(i + 1);
        let near = near.take_while(|(there, _)| there.sentence == at.sentence && there.word - at.word <= WINDOW);
        for (_, other) in near.filter(|(_, other)| other != one) {
            pairs.entry((*one.min(other), *one.max(other))).or_insert((0, *at)).0 += 1;
        }
    }
    let mut pairs: Vec<((usize, usize), (u64, At))> = pairs.into_iter().collect();
    pairs.sort_by(|(a, (more, first)), (b, (less, second))| less.cmp(more).then(first.cmp(second)).then(a.cmp(b)));
    let relation = |((a, b), (weight, _)): ((usize, usize), (u64, At))| {
        let (one, other) = (candidates.get(a)?, candidates.get(b)?);
        // `row cache` and `cache` are one thing said once.
        let within = one.canonical.contains(&other.canonical) || other.canonical.contains(&one.canonical);
        let (source, target) = if one.canonical <= other.canonical { (one, other) } else { (other, one) };
        let (source, target) = (source.name.clone(), target.name.clone());
        (!within).then(|| FoundRelation {
            source,
            target,
            kind: CO_OCCURS.to_string(),
            weight,
            ..FoundRelation::default()
        })
    };
    pairs.into_iter().filter_map(relation).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(title: Option<&str>, heading: Option<&str>, text: &str) -> ChunkFacts {
        lexical_facts(&Passage { title, heading, text }, 24)
    }

    fn entities(facts: &ChunkFacts) -> Vec<(&str, &str)> {
        facts.entities.iter().map(|entity| (entity.name.as_str(), entity.kind.as_str())).collect()
    }

    #[test]
    fn an_english_passage() {
        let text = "The World Health Organization (WHO) met in Geneva. It read \"Our Planet\".\nThe report of the\n\
                    organization weighs 3 kg.";
        let facts = facts(Some("Health"), Some("Health > The Report"), text);
        let expected = [
            ("Health", "heading"),
            ("The Report", "heading"),
            ("Our Planet", "quoted"),
            ("World Health Organization", "name"),
            ("WHO", "acronym"),
            ("Geneva", "name"),
        ];
        for entity in expected {
            assert!(entities(&facts).contains(&entity), "{entity:?} in {:?}", entities(&facts));
        }
        for none in ["3 kg", "kg", "The", "it", "of"] {
            assert!(facts.entities.iter().all(|entity| entity.name != none), "{none}");
        }
        assert_eq!(facts.aliases.len(), 1);
        let related =
            |a: &str, b: &str| facts.relations.iter().any(|r| (r.source.as_str(), r.target.as_str()) == (a, b));
        assert!(related("Geneva", "World Health Organization") && related("Geneva", "WHO"), "{:?}", facts.relations);
        // In another sentence.
        assert!(!related("Geneva", "Our Planet"));
    }

    #[test]
    fn a_chinese_passage() {
        let facts = facts(
            None,
            None,
            "向量索引的大小由嵌入模型决定。我们使用向量索引检索文档，《红楼梦》也在其中。世界卫生组织（WHO）。",
        );
        for name in ["向量索引", "红楼梦", "检索文档", "世界卫生组织", "WHO"] {
            assert!(facts.entities.iter().any(|entity| entity.name == name), "{name} in {:?}", entities(&facts));
        }
        assert!(facts.relations.iter().any(|r| r.source == "向量索引" || r.target == "向量索引"));
        assert_eq!((facts.aliases[0].long.as_str(), facts.aliases[0].short.as_str()), ("世界卫生组织", "WHO"));
    }

    #[test]
    fn no_passage_has_more_than_the_most() {
        let text = "Anna met Bert, Carl, Dora, Emil and Fritz at the harbour, the market and the ferry of the town.";
        for most in [1, 2, 3, 7] {
            let facts = lexical_facts(&Passage { title: None, heading: None, text }, most);
            assert!(facts.entities.len() == most && facts.relations.len() <= 2 * most, "{facts:?}");
        }
        assert_eq!(facts(None, None, " \n "), ChunkFacts::default());
    }

    #[test]
    fn ends_of_relations_are_entities() {
        let facts =
            facts(Some("Tides"), None, "Tides rise twice a day. Ships wait for the tides at the long quay of Brest.");
        let names: Vec<&str> = facts.entities.iter().map(|entity| entity.name.as_str()).collect();
        assert!(!facts.relations.is_empty());
        for relation in &facts.relations {
            assert!(
                names.contains(&relation.source.as_str()) && names.contains(&relation.target.as_str()),
                "{relation:?}"
            );
        }
    }
}
