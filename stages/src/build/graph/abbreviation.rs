//! Abbreviations that a text explains: `World Health Organization (WHO)`.

use crate::artifact::FoundAlias;

/// Most characters of an abbreviation (Schwartz and Hearst 2003).
const LONGEST: usize = 10;

/// The abbreviations that `text` (NFKC) explains in brackets after the name in full, in text order, each pair once.
///
/// For words that are written apart by the algorithm of Schwartz and Hearst ("A simple algorithm for identifying abbreviation
/// definitions in biomedical text", 2003): the letters of the abbreviation stand in the words before the bracket, in order, the
/// first of them at the start of a word. `name_before` gives the name in Han, kana or Hangul that ends where its text does,
/// where there is one: these are not spelled with the letters.
pub(super) fn abbreviations(text: &str, name_before: &dyn Fn(&str) -> Option<String>) -> Vec<FoundAlias> {
    let mut found: Vec<FoundAlias> = Vec::new();
    for (open, _) in text.match_indices('(') {
        let (Some(before), Some(after)) = (text.get(..open), text.get(open + 1..)) else { continue };
        let Some(short) = after.split_once(')').map(|(inside, _)| inside.trim()).filter(|short| is_short(short)) else {
            continue;
        };
        let before = before.trim_end();
        let long = match before.chars().next_back() {
            Some(last) if last.is_alphanumeric() => name_before(before).or_else(|| spelled(before, short)),
            _ => None,
        };
        if let Some(long) = long.filter(|long| long != short) {
            let alias = FoundAlias { long, short: short.to_string() };
            if !found.contains(&alias) {
                found.push(alias);
            }
        }
    }
    found
}

fn is_short(text: &str) -> bool {
    let length = text.chars().count();
    (2..=LONGEST).contains(&length)
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '&' | '/'))
        && text.starts_with(char::is_alphanumeric)
        && text.chars().any(char::is_uppercase)
}

/// The end of `before` that `short` abbreviates.
fn spelled(before: &str, short: &str) -> Option<String> {
    let length = short.chars().count();
    let line = before.rsplit(['\n', '.', ';', ':', '(', ')', '|']).next()?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let most = (length + 5).min(length * 2);
    let window = words.get(words.len().saturating_sub(most)..)?.join(" ");
    let letters: Vec<(usize, char)> = window.char_indices().collect();
    let mut at = letters.len();
    let wanted: Vec<char> = short.chars().filter(|c| c.is_alphanumeric()).collect();
    for (i, want) in wanted.iter().enumerate().rev() {
        at = letters
            .get(..at)?
            .iter()
            .enumerate()
            .rev()
            .find(|(place, (_, c))| {
                let starts = *place == 0 || letters.get(place - 1).is_some_and(|(_, before)| !before.is_alphanumeric());
                c.to_lowercase().eq(want.to_lowercase()) && (i > 0 || starts)
            })?
            .0;
    }
    let long = window.get(letters.get(at)?.0..)?.trim();
    let enough = long.chars().filter(|c| c.is_alphanumeric()).count() > wanted.len();
    (enough && !long.contains(short)).then(|| long.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String)> {
        abbreviations(text, &|_| None).into_iter().map(|alias| (alias.long, alias.short)).collect()
    }

    #[test]
    fn letters_stand_in_the_words_before() {
        for (text, expected) in [
            ("The World Health Organization (WHO) met.", Some(("World Health Organization", "WHO"))),
            ("We use retrieval-augmented generation (RAG).", Some(("retrieval-augmented generation", "RAG"))),
            ("Deoxyribonucleic acid (DNA) is", Some(("Deoxyribonucleic acid", "DNA"))),
            ("the content-addressed store (CAS)", Some(("content-addressed store", "CAS"))),
            ("It opened late (in May).", None),
            ("Nothing fits here (XYZ).", None),
            ("the year (1999)", None),
            ("(WHO)", None),
            ("WHO (WHO)", None),
            ("an open one (WHO", None),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(l, s)| (l.to_string(), s.to_string())).collect();
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_pair_is_found_once_and_other_scripts_are_asked_for() {
        assert_eq!(of("Row Cache (RC). Row Cache (RC).").len(), 1);
        let found = abbreviations("世界卫生组织(WHO)", &|before| Some(before.to_string()));
        assert_eq!(found, [FoundAlias { long: "世界卫生组织".to_string(), short: "WHO".to_string() }]);
    }
}
