//! Answers without a model: the sentences of the retrieved passages that best match the question.

use std::borrow::Cow;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::options::ExtractiveOptions;
use crate::artifact::{Answer, Citation, Hit, Json};
use crate::build::full_text::{Analyzer, AnalyzerOptions, Bm25, Bm25Options, Index};
use crate::error::DecodeError;

/// Ranking of sentences: the usual k1 and b of BM25, for sentences differ in length more than chunks do.
const RANKING: Bm25Options = Bm25Options { k1: 1.2, b: 0.75 };

/// Picks sentences. Sentences are ranked by BM25 over one another (stemmed English terms without stop words, so the idf is
/// that among the candidates and long sentences gain nothing by their length), earlier ones first among equals, and given
/// in reading order: by hit, then by place. Where no sentence shares a term with the question, the first one is given.
pub struct Extractive {
    options: ExtractiveOptions,
    analyzer: Analyzer,
}

impl Extractive {
    /// An answerer with `options`.
    ///
    /// # Errors
    /// Only through a fault of ours: the analyzer is fixed.
    pub fn new(options: &ExtractiveOptions) -> Result<Self, String> {
        Ok(Extractive { options: options.clone(), analyzer: Analyzer::new(&AnalyzerOptions::default())? })
    }

    /// The answer to `question` from the best of `hits`; an empty text where there are none. Citations name the hits that
    /// sentences were taken from, with those sentences, and no source: that is not part of what the answer depends on.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn answer(&self, question: &str, hits: &[Hit]) -> Result<Answer, DecodeError> {
        let mut sentences: Vec<(usize, String)> = Vec::new();
        for (number, hit) in hits.iter().take(self.options.results as usize).enumerate() {
            for sentence in sentences_of(&hit.text) {
                // Chunks overlap, so the same sentence may come twice.
                if !sentences.iter().any(|(_, known)| *known == sentence) {
                    sentences.push((number, sentence));
                }
            }
        }
        let text = |i: usize| sentences.get(i).map(|(_, text)| Cow::Borrowed(text.as_str())).unwrap_or_default();
        let index = Index::build(&self.analyzer, sentences.len(), &text)?;
        let ranking = Bm25::new(Arc::new(index), &RANKING).map_err(DecodeError::Format)?;
        let best = ranking.search(question, self.options.sentences as usize);
        let mut chosen: Vec<usize> = best.iter().map(|ranked| ranked.document as usize).collect();
        if chosen.is_empty() && self.options.sentences > 0 {
            chosen.push(0);
        }
        chosen.sort_unstable();
        let chosen: Vec<&(usize, String)> = chosen.into_iter().filter_map(|i| sentences.get(i)).collect();
        let citations = chosen.chunk_by(|a, b| a.0 == b.0).enumerate().map(|(i, group)| Citation {
            id: format!("citation_{}", i + 1),
            result_id: group.first().and_then(|(hit, _)| hits.get(*hit)).map(|hit| hit.id.clone()),
            source: Json::new(),
            text: Some(joined(group)),
        });
        Ok(Answer { text: Some(joined(&chosen)), citations: citations.collect(), ..Answer::default() })
    }
}

fn joined(sentences: &[&(usize, String)]) -> String {
    sentences.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The sentences of a passage (Unicode UAX 29), blanks collapsed. A single line break is a blank, since texts come wrapped;
/// a blank line ends a sentence.
fn sentences_of(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = vec![String::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            paragraphs.push(String::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            for word in line.split_whitespace() {
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(word);
            }
        }
    }
    paragraphs
        .iter()
        .flat_map(|paragraph| paragraph.unicode_sentences())
        .map(|sentence| sentence.trim().to_string())
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: &str, text: &str) -> Hit {
        Hit {
            id: id.to_string(),
            text: text.into(),
            score: None,
            kind: "chunk".to_string(),
            source: Default::default(),
            metadata: Json::new(),
        }
    }

    fn answer(sentences: u32, results: u32, question: &str, hits: &[Hit]) -> Answer {
        Extractive::new(&ExtractiveOptions { sentences, results }).expect("new").answer(question, hits).expect("answer")
    }

    fn harbour() -> Vec<Hit> {
        vec![
            hit("c1", "The harbour is old. Ships unload grain there.\n\nThe lighthouse\nwas built in 1871."),
            hit("c2", "Ships unload grain there. A lighthouse keeper lives alone. It rains."),
            hit("c3", "When was the lighthouse built? Nobody knows."),
        ]
    }

    #[test]
    fn the_best_sentences_in_reading_order_with_their_hits() {
        let found = answer(2, 2, "When was the lighthouse built?", &harbour());
        assert_eq!(found.text.as_deref(), Some("The lighthouse was built in 1871. A lighthouse keeper lives alone."));
        assert_eq!(found.citations.len(), 2);
        assert_eq!(found.citations[0].id, "citation_1");
        assert_eq!(found.citations[0].result_id.as_deref(), Some("c1"));
        assert_eq!(found.citations[1].result_id.as_deref(), Some("c2"));
        assert_eq!(found.citations[1].text.as_deref(), Some("A lighthouse keeper lives alone."));
    }

    #[test]
    fn only_the_first_results_are_read_and_repetitions_once() {
        // The third hit would win, but is not read; the repeated sentence belongs to the first hit that has it.
        let found = answer(3, 2, "unloading of ships", &harbour());
        assert_eq!(found.text.as_deref(), Some("Ships unload grain there."));
        assert_eq!(found.citations.len(), 1);
        assert_eq!(found.citations[0].result_id.as_deref(), Some("c1"));
    }

    #[test]
    fn without_a_match_or_hits() {
        let found = answer(2, 5, "xylophone", &harbour());
        assert_eq!(found.text.as_deref(), Some("The harbour is old."));
        let none = answer(2, 5, "lighthouse", &[]);
        assert_eq!(none.text.as_deref(), Some(""));
        assert!(none.citations.is_empty());
        assert_eq!(answer(0, 5, "lighthouse", &harbour()).text.as_deref(), Some(""));
    }

    #[test]
    fn sentences_of_wrapped_and_chinese_text() {
        assert_eq!(sentences_of("# Title\n\nOne\ntwo.  Three"), ["# Title", "One two.", "Three"]);
        assert_eq!(sentences_of("灯塔建于1871年。船只很多。"), ["灯塔建于1871年。", "船只很多。"]);
        let found = answer(1, 1, "灯塔何时建成", &[hit("c", "船只很多。灯塔建于1871年。")]);
        assert_eq!(found.text.as_deref(), Some("灯塔建于1871年。"));
    }
}
