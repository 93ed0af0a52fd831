//! Passages packed of pieces: sentences, lines, paragraphs.

use std::ops::Range;

use super::token;
use super::tokenizer::Tokens;

/// Packs the pieces between `bounds` (bytes, in order, without repeats) into passages of whole pieces of at most `size`
/// tokens together. Each repeats the last whole pieces of the one before that have at most `overlap` tokens, as far as the
/// next piece still fits.
///
/// A piece longer than `size` is cut into windows of tokens, with that overlap; its last window takes in the pieces that
/// follow, as far as they fit.
pub(super) fn pack(bounds: &[usize], tokens: &Tokens, size: u64, overlap: u64) -> Vec<Range<usize>> {
    let mut passages = Vec::new();
    let first = bounds.first().copied().unwrap_or(0);
    let mut passage = first..first;
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

#[cfg(test)]
mod tests {
    use super::super::options::Tokenizer;
    use super::super::sentence;
    use super::*;

    fn cut(tokenizer: Tokenizer, text: &str, size: u64, overlap: u64) -> Vec<&str> {
        let tokens = tokenizer.tokens(text).expect("tokens");
        pack(&sentence::bounds(text, &tokens, 0..text.len()), &tokens, size, overlap)
            .into_iter()
            .map(|passage| &text[passage])
            .collect()
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
