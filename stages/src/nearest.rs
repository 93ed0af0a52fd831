//! The known word that a mistyped one is nearest to.

/// Longer words are no typing mistakes, and the distance takes quadratic time.
const MAX_CHARS: usize = 64;

/// The word of `known` within a third of `word`'s length of it, by edit distance; the first of equals.
///
/// Case does not count, and `-` and a space are the same as `_`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    if word.is_empty() || word.len() > MAX_CHARS {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let folded = folded(candidate);
        if folded.len() > MAX_CHARS {
            continue;
        }
        let distance = distance(&word, &folded);
        let limit = (word.len().max(folded.len()) / 3).max(1);
        if distance <= limit && distance < word.len() && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The candidate that `word` is a slip of the pen for: one edit away from it, or two where both are longer than four letters;
/// letter case aside, and `-` and a blank are `_`. Of several the first of the nearest. Unlike [`nearest`], which helps with a
/// word that is wrong in any case, this decides whether it is.
pub(crate) fn misspelt<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters = folded(candidate);
        let most = if word.len().min(letters.len()) <= 4 { 1 } else { 2 };
        // The distance is at least this, and takes quadratic time.
        if word.len().abs_diff(letters.len()) > most {
            continue;
        }
        let edits = distance(&word, &letters);
        if edits <= most && best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).map(|c| if c == '-' || c == ' ' { '_' } else { c }).collect()
}

/// Edits (insert, delete, replace, swap of neighbours) between `a` and `b`: optimal string alignment.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn distances_by_hand() {
        for (a, b, expected) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("chnuk", "chunk", 1), ("ca", "abc", 3), ("same", "same", 0)]
        {
            assert_eq!(distance(&chars(a), &chars(b)), expected, "{a} {b}");
            assert_eq!(distance(&chars(b), &chars(a)), expected, "{b} {a}");
        }
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["documents", "cases", "units", "top_k"];
        assert_eq!(nearest("document", known), Some("documents"));
        assert_eq!(nearest("Top-K", known), Some("top_k"));
        assert_eq!(nearest("case", known), Some("cases"));
        assert_eq!(nearest("recipes", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("x", ["b", "k1"]), None);
        assert_eq!(nearest("k", ["b", "k1"]), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn slips_of_the_pen() {
        let known = ["document_id", "text", "labels", "path"];
        for (word, expected) in [
            ("docment_id", Some("document_id")),
            ("Document-ID", Some("document_id")),
            ("txt", Some("text")),
            ("tx", None),
            ("label", Some("labels")),
            ("data", None),
            ("extra", None),
            ("note", None),
            ("", None),
        ] {
            assert_eq!(misspelt(word, known), expected, "{word}");
        }
        assert_eq!(misspelt(&"x".repeat(100_000), known), None);
    }
}
