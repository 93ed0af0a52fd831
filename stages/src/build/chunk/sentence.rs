//! The `sentence` splitter: where sentences end.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::tokenizer::Tokens;

/// Opening brackets and quotes that are written without a space after the sentence before them.
const OPENING: [char; 14] = ['「', '『', '（', '【', '〔', '《', '〈', '［', '｛', '｢', '“', '‘', '«', '‹'];

/// Where the sentences of `region` begin, and where the last one ends, in order and without repeats.
///
/// Sentences end as UAX 29 says, so at every line break and after 。！？ too, except that UAX 29 takes an opening bracket
/// right behind a full stop for a closing one. An end within a token moves out of it.
pub(super) fn bounds(text: &str, tokens: &Tokens, region: Range<usize>) -> Vec<usize> {
    let mut bounds = vec![region.start];
    let mut end = region.start;
    for sentence in text.get(region.clone()).unwrap_or_default().split_sentence_bounds() {
        end += sentence.len();
        let opening = sentence.len() - sentence.trim_end_matches(OPENING).len();
        let at = if opening < sentence.len() { end - opening } else { end };
        bounds.push(tokens.out_of_token(text, at).clamp(region.start, region.end));
    }
    // What opens behind the last sentence has none that it could belong to.
    bounds.pop();
    bounds.push(region.end);
    bounds.dedup();
    bounds
}

#[cfg(test)]
mod tests {
    use super::super::options::Tokenizer;
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let tokens = Tokenizer::Words.tokens(text).expect("tokens");
        bounds(text, &tokens, 0..text.len()).windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
    }

    #[test]
    fn sentences_end_at_marks_and_line_breaks() {
        assert_eq!(
            sentences("It cost 3.50. \"Why?\" he said! So\nbe it"),
            ["It cost 3.50. ", "\"Why?\" ", "he said! ", "So\n", "be it"]
        );
        assert_eq!(sentences("今日は。「はい！」元気？はい"), ["今日は。", "「はい！」", "元気？", "はい"]);
        assert_eq!(sentences("a\r\n\r\nb"), ["a\r\n", "\r\n", "b"]);
    }
}
