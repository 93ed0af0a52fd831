//! The form of a name in which names are compared.

use caseless::default_case_fold_str;
use unicode_normalization::UnicodeNormalization;

/// Quotes and full stops around a name that are no part of it.
const AROUND: &[char] =
    &['"', '\'', '`', '“', '”', '‘', '’', '«', '»', '「', '」', '『', '』', '《', '》', '.', ',', ':'];

/// A name in the form in which names are compared: NFKC, case-folded, with single blanks, without quotes around it, an
/// English article before it or a possessive at its end. Empty for a name of nothing else.
pub fn canonical_name(name: &str) -> String {
    let mut name = once(name);
    // What was within the quotes may have quotes: every round but the last makes the name shorter.
    loop {
        let next = once(&name);
        if next.len() >= name.len() {
            return name;
        }
        name = next;
    }
}

fn once(name: &str) -> String {
    let folded: String = default_case_fold_str(&name.nfkc().collect::<String>()).nfkc().collect();
    let words: Vec<&str> =
        folded.trim_matches(|c: char| AROUND.contains(&c) || c.is_whitespace()).split_whitespace().collect();
    let words = match words.as_slice() {
        ["the" | "a" | "an", rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let joined = words.join(" ");
    let owner = joined.strip_suffix("'s").or_else(|| joined.strip_suffix("’s")).filter(|rest| !rest.is_empty());
    owner.map(str::to_string).unwrap_or(joined)
}

/// What the canonical name may be the English plural of, by the form of its last word alone, the likeliest first; whether
/// there is such a name is for the caller to see.
pub(super) fn singulars(canonical: &str) -> Vec<String> {
    let last = canonical.rsplit(' ').next().unwrap_or_default();
    let plain = last.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if last.len() < 4 || !plain || ["ss", "us", "is"].iter().any(|ending| last.ends_with(ending)) {
        return Vec::new();
    }
    let replaced = |ending: &str, by: &str| canonical.strip_suffix(ending).map(|stem| format!("{stem}{by}"));
    [replaced("ies", "y"), replaced("s", ""), replaced("es", "")].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_width_blanks_quotes_and_articles() {
        for (name, expected) in [
            ("  Eiffel \n Tower ", "eiffel tower"),
            ("The Eiffel Tower's", "eiffel tower"),
            ("“ＥＩＦＦＥＬ　Tower”", "eiffel tower"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("The", "the"),
            ("《红楼梦》", "红楼梦"),
            ("'", ""),
            ("", ""),
        ] {
            assert_eq!(canonical_name(name), expected, "{name:?}");
        }
    }

    #[test]
    fn a_canonical_name_is_its_own() {
        for name in ["The the tower", "ǅ's", "ﬁsh", "A. B.", "İstanbul", "the a", "'a' tower's's", "The \"A\" team"]
        {
            let canonical = canonical_name(name);
            assert_eq!(canonical_name(&canonical), canonical, "{name}");
        }
    }

    #[test]
    fn plurals_are_read_off_the_last_word() {
        assert_eq!(singulars("row keys"), ["row key"]);
        assert_eq!(singulars("caches"), ["cache", "cach"]);
        assert_eq!(singulars("queries"), ["query", "querie", "queri"]);
        for single in ["glass", "bus", "analysis", "gas", "рельсs", "", "keys 2"] {
            assert!(singulars(single).is_empty(), "{single}");
        }
    }
}
