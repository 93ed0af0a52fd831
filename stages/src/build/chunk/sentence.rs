//! The `sentence` splitter: whole sentences up to the size.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::token;
use super::tokenizer::Tokens;

/// Cuts `region` (bytes) of `text` into passages of whole sentences of at most `size` tokens together. Each repeats the
/// last whole sentences of the one before that have at most `overlap` tokens, as far as the next sentence still fits.
///
/// A sentence longer than `size` is cut into windows of tokens, with that overlap; its last window takes in the sentences
/// that follow, as far as they fit.
pub(super) fn pack(text: &str, tokens: &Tokens, region: Range<usize>, size: u64, overlap: u64) -> Vec<Range<usize>> {
    let bounds = bounds(text, tokens, region.clone());
    let mut passages = Vec::new();
    let mut passage = region.start..region.start;
    for (i, pair) in bounds.windows(2).enumerate() {
        let &[start, end] = pair else { continue };
        if tokens.count(&(passage.start..end)) <= size {
            passage.end = end;
            continue;
        }
        if passage.end > passage.start {
            passages.push(passage.clone());
        }
        if tokens.count(&(start..end)) > size {
            let mut windows = token::windows(tokens, start..end, size, overlap);
            passage = windows.pop().unwrap_or(start..end);
            passages.append(&mut windows);
        } else {
            let fits = |&&from: &&usize| {
                from > passage.start && tokens.count(&(from..start)) <= overlap && tokens.count(&(from..end)) <= size
            };
            let repeated = bounds.get(..i).unwrap_or_default().iter().rev().take_while(fits).last();
            passage = repeated.copied().unwrap_or(start)..end;
        }
    }
    if passage.end > passage.start {
        passages.push(passage);
    }
    passages
}

/// Opening brackets and quotes that are written without a space after the sentence before them.
const OPENING: [char; 14] = ['「', '『', '（', '【', '〔', '《', '〈', '［', '｛', '｢', '“', '‘', '«', '‹'];

/// Where the sentences of `region` begin, and where the last one ends, in order and without repeats.
///
/// Sentences end as UAX 29 says, so at every line break and after 。！？ too, except that UAX 29 takes an opening bracket
/// right behind a full stop for a closing one. An end within a token moves out of it.
fn bounds(text: &str, tokens: &Tokens, region: Range<usize>) -> Vec<usize> {
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

    fn cut(tokenizer: Tokenizer, text: &str, size: u64, overlap: u64) -> Vec<&str> {
        let tokens = tokenizer.tokens(text).expect("tokens");
        pack(text, &tokens, 0..text.len(), size, overlap).into_iter().map(|passage| &text[passage]).collect()
    }

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

    #[test]
    fn whole_sentences_up_to_the_size() {
        let text = "One two. Three four five. Six. Seven eight.";
        assert_eq!(cut(Tokenizer::Words, text, 5, 0), ["One two. Three four five. ", "Six. Seven eight."]);
        assert_eq!(cut(Tokenizer::Words, text, 4, 0), ["One two. ", "Three four five. Six. ", "Seven eight."]);
        assert_eq!(cut(Tokenizer::Words, text, 4, 1), ["One two. ", "Three four five. Six. ", "Six. Seven eight."]);
        assert_eq!(
            cut(Tokenizer::Words, text, 6, 4),
            ["One two. Three four five. Six. ", "Three four five. Six. Seven eight."]
        );
    }

    #[test]
    fn an_overlap_makes_room_for_the_next_sentence() {
        // Of the two sentences that the overlap allows, only the second leaves room for "d e f".
        assert_eq!(cut(Tokenizer::Words, "A. B. C. D e f.", 4, 2), ["A. B. C. ", "C. D e f."]);
    }

    #[test]
    fn a_long_sentence_is_cut_by_tokens() {
        let text = "Short one. This is a very long sentence indeed. End.";
        assert_eq!(
            cut(Tokenizer::Words, text, 3, 1),
            ["Short one. ", "This is a ", "a very long ", "long sentence indeed. ", "End."]
        );
        assert_eq!(cut(Tokenizer::Words, text, 4, 0), ["Short one. ", "This is a very ", "long sentence indeed. End."]);
    }

    #[test]
    fn cl100k_sentences_start_with_their_space() {
        assert_eq!(cut(Tokenizer::Cl100kBase, "First one. Second one.", 3, 0), ["First one.", " Second one."]);
    }
}
