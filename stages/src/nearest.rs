//! The nearest of the names that there are, for a name that is none of them.

/// The candidate with the smallest edit distance to `word`, letter case aside; of equals the first. `None` where even that
/// one shares less than about half of its letters with `word`.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        let distance = edit_distance(&word, &letters);
        let near = distance * 2 <= word.len().max(letters.len());
        if near && best.is_none_or(|(least, _)| distance < least) {
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
        let distance = edit_distance(&word, &letters);
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).map(|c| if c == '-' || c == ' ' { '_' } else { c }).collect()
}

/// Levenshtein distance: insertions, deletions and replacements.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let cost = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            *cell = cost;
            left = cost;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance = |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", "acb"), 2);
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

    #[test]
    fn near_and_far() {
        let names = ["nDCG", "AP", "token_f1"];
        assert_eq!(nearest("ndcg", names), Some("nDCG"));
        assert_eq!(nearest("MAP", names), Some("AP"));
        assert_eq!(nearest("tokenf1", names), Some("token_f1"));
        assert_eq!(nearest("bleu", names), None);
    }
}
