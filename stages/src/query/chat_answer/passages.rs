//! What a model reads: the passages of the best results that fit into its context.

use serde::Serialize;

use super::options::ContextOptions;
use crate::artifact::{Hit, Json};

/// A passage as templates see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Passage<'a> {
    /// Its number, from 1: how it is cited.
    pub(super) number: usize,
    /// Its text, or as much of it as fits.
    pub(super) text: &'a str,
    /// Its document's title; empty where there is none.
    pub(super) title: &'a str,
    /// Where it is from.
    pub(super) source: &'a Json,
    /// The result that it is of.
    #[serde(skip)]
    pub(super) id: &'a str,
}

/// The passages of one case.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Passages<'a> {
    pub(super) list: Vec<Passage<'a>>,
    /// Tokens of their texts.
    pub(super) tokens: u64,
    /// Whether the last one was cut.
    pub(super) cut: bool,
}

impl<'a> Passages<'a> {
    /// The passages of `hits`, best first: whole ones while they fit, then the start of the next one, up to the budget. A hit
    /// without words is no passage.
    pub(super) fn of(hits: &'a [Hit], options: &ContextOptions) -> Self {
        let mut passages = Passages::default();
        let read = hits.iter().take(options.results as usize);
        for hit in read.filter(|hit| !hit.text.trim().is_empty()) {
            let whole = match options.result_chars {
                Some(chars) => start_of(&hit.text, chars),
                None => &hit.text,
            };
            if whole.trim().is_empty() {
                continue;
            }
            let (text, tokens) = options.tokenizer.prefix(whole, options.tokens.saturating_sub(passages.tokens));
            if text.is_empty() {
                break;
            }
            passages.cut = text.len() < whole.len();
            passages.tokens += tokens;
            passages.list.push(Passage {
                number: passages.list.len() + 1,
                text,
                title: hit.source.get("title").and_then(|title| title.as_str()).unwrap_or_default(),
                source: &hit.source,
                id: &hit.id,
            });
            if passages.cut {
                break;
            }
        }
        passages
    }
}

/// The first `chars` code points of `text`.
fn start_of(text: &str, chars: u64) -> &str {
    let end = usize::try_from(chars).ok().and_then(|chars| text.char_indices().nth(chars));
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::chunk::Tokenizer;

    fn hit(id: &str, text: &str) -> Hit {
        Hit {
            id: id.to_string(),
            text: text.into(),
            score: None,
            kind: "chunk".to_string(),
            source: Json::new().into(),
            metadata: Json::new(),
        }
    }

    fn read(hits: &[Hit], tokens: u64) -> (Vec<(usize, &str)>, u64, bool) {
        let options = ContextOptions { tokens, tokenizer: Tokenizer::Words, results: 3, result_chars: None };
        let passages = Passages::of(hits, &options);
        let list = passages.list.iter().map(|passage| (passage.number, passage.text)).collect();
        (list, passages.tokens, passages.cut)
    }

    #[test]
    fn whole_passages_while_they_fit_then_the_start_of_the_next() {
        let hits = [hit("a", "One two three."), hit("b", " "), hit("c", "Four five, six."), hit("d", "Seven.")];
        assert_eq!(read(&hits, 99), (vec![(1, "One two three."), (2, "Four five, six.")], 6, false));
        assert_eq!(read(&hits, 6), (vec![(1, "One two three."), (2, "Four five, six.")], 6, false));
        assert_eq!(read(&hits, 5), (vec![(1, "One two three."), (2, "Four five,")], 5, true));
        assert_eq!(read(&hits, 3), (vec![(1, "One two three.")], 3, false));
        assert_eq!(read(&hits, 2), (vec![(1, "One two")], 2, true));
        assert_eq!(read(&[], 2), (vec![], 0, false));
    }

    #[test]
    fn of_each_result_as_many_code_points_as_it_may_have() {
        let hits = [hit("a", "Él two three."), hit("b", "   four"), hit("c", "five")];
        let options = ContextOptions { tokens: 99, tokenizer: Tokenizer::Words, results: 3, result_chars: Some(3) };
        let passages = Passages::of(&hits, &options);
        let list: Vec<_> = passages.list.iter().map(|passage| (passage.id, passage.text)).collect();
        assert_eq!((list, passages.tokens, passages.cut), (vec![("a", "Él "), ("c", "fiv")], 2, false));
    }
}
