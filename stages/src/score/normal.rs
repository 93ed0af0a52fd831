//! The normal form in which texts are compared (spec/heta 5 and 11).

use crate::python::is_whitespace;

/// Full Unicode case folding (ß is ss, final sigma is sigma, ligatures are spelled out), then every run of whitespace as
/// one space and none at the ends. No Unicode normalisation form, no punctuation, article or number handling.
pub fn normal_form(text: &str) -> String {
    if text.is_ascii() {
        return ascii(text);
    }
    let folded = caseless::default_case_fold_str(text);
    let mut normal = String::with_capacity(folded.len());
    for word in folded.split(is_whitespace).filter(|word| !word.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}

/// The same of a text without other letters, which most are: word by word, then all letters at once.
fn ascii(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in
        text.split(|c: char| matches!(c, ' ' | '\t'..='\r' | '\u{1c}'..='\u{1f}')).filter(|word| !word.is_empty())
    {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal.make_ascii_lowercase();
    normal
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

    #[test]
    fn whitespace_is_one_space() {
        assert_eq!(normal_form("  New \t York\u{1c}City\u{2028}\u{a0}\n"), "new york city");
        assert_eq!(normal_form("a\u{200b}b\u{feff}"), "a\u{200b}b\u{feff}");
        assert_eq!(normal_form("\u{85}\u{3000}"), "");
    }
}
