//! Where an answer says that it now says it: `The answer is: ...`.

const MARKS: [&str; 2] = ["answer is", "answer:"];

/// What follows each `answer is` and `answer:`, letter case aside, in the order of the text, without the spaces and marks
/// (`:`, `*`, quotes) before it.
pub(super) fn stated(text: &str) -> Vec<&str> {
    let lower = text.to_ascii_lowercase();
    let mut ends: Vec<usize> =
        MARKS.iter().flat_map(|mark| lower.match_indices(mark).map(|(start, mark)| start + mark.len())).collect();
    ends.sort_unstable();
    let opens = |c: char| c.is_whitespace() || matches!(c, ':' | '*' | '"' | '\'' | '`' | '“' | '‘');
    ends.into_iter().filter_map(|end| text.get(end..)).map(|after| after.trim_start_matches(opens)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_words() {
        assert_eq!(stated("So: the ANSWER is **B**. Final answer: é"), ["B**. Final answer: é", "é"]);
        assert!(stated("İ say no").is_empty());
        assert_eq!(stated("answer:"), [""]);
    }
}
