//! The normal form in which texts are compared (spec/heta 5 and 11).

use caseless::Caseless;

use crate::python::is_whitespace;

/// Full Unicode case folding (ß is ss, final sigma is sigma, ligatures are spelled out), then every run of whitespace as
/// one space and none at the ends. No Unicode normalisation form, no punctuation, article or number handling.
pub fn normal_form(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    if text.is_ascii() {
        // One comparison settles nearly all characters.
        text.split(|c: char| c <= ' ' && is_whitespace(c)).for_each(|word| push_word(&mut normal, word));
    } else {
        text.split(is_whitespace).for_each(|word| push_word(&mut normal, word));
    }
    // Folding leaves no other letter that this changes.
    normal.make_ascii_lowercase();
    normal
}

/// Words of ASCII are put in as they are: their letters are folded all at once.
fn push_word(normal: &mut String, word: &str) {
    if word.is_empty() {
        return;
    }
    if !normal.is_empty() {
        normal.push(' ');
    }
    if word.is_ascii() {
        normal.push_str(word);
    } else {
        normal.extend(word.chars().default_case_fold());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_folding_is_full() {
        assert_eq!(normal_form("Straße"), "strasse");
        assert_eq!(normal_form("STRASSE"), "strasse");
        assert_eq!(normal_form("ΟΔΟΣ"), "οδοσ");
        assert_eq!(normal_form("οδος"), "οδοσ");
        assert_eq!(normal_form("İzmir"), "i\u{307}zmir");
        assert_eq!(normal_form("oﬃce ﬁle"), "office file");
        assert_eq!(normal_form("１２３"), "１２３");
    }

    proptest::proptest! {
        #[test]
        fn words_are_folded_as_the_whole_is(text in "[ -~\u{9}-\u{d}\u{1c}-\u{20}\u{a0}ßİΣςﬁ\u{345}\u{212a}]{0,24}") {
            let folded = caseless::default_case_fold_str(&text);
            let words: Vec<&str> = folded.split(is_whitespace).filter(|word| !word.is_empty()).collect();
            proptest::prop_assert_eq!(normal_form(&text), words.join(" "));
        }
    }

    #[test]
    fn whitespace_is_one_space() {
        assert_eq!(normal_form("  New \t York\u{1c}City\u{2028}\u{a0}\n"), "new york city");
        assert_eq!(normal_form("a\u{200b}b\u{feff}"), "a\u{200b}b\u{feff}");
        assert_eq!(normal_form("\u{85}\u{3000}"), "");
    }
}
