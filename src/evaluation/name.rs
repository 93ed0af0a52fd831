//! Names: of evaluations, recipes and queries. They become parts of file names, table rows and flags.

use super::shape::{Refusal, Shape, TextRule};

const MAX_CHARS: usize = 80;

/// A name.
pub(super) const NAME: Shape = Shape::Text(&TextRule {
    expected: "a name",
    // Without `\p` classes, which few validators know: other alphabets pass here and are checked by the reader.
    pattern: Some(r"^[^\s!-/:-@\[-`{-~](?:(?:[^\s!-,/:-@\[-^`{-~]| ){0,78}[^\s!-,/:-@\[-^`{-~])?$"),
    refuse: refuse_name,
});

/// Why `name` is none; `None` when it is one.
pub(super) fn refuse_name(name: &str) -> Option<Refusal> {
    let refusal = |message: String, hint: &str| Some(Refusal { message, hint: Some(hint.to_string()) });
    let allowed = "names are of letters, digits, spaces, `_`, `.` and `-`";
    if let Some(c) = name.chars().find(|c| !(c.is_alphanumeric() || " _.-".contains(*c))) {
        return refusal(format!("expected a name, found the character {c:?} in it"), allowed);
    }
    if !name.starts_with(char::is_alphanumeric) || name.ends_with(' ') {
        let message = format!("expected a name, found `{name}`");
        return refusal(message, "a name begins with a letter or digit and does not end with a space");
    }
    if name.chars().count() > MAX_CHARS {
        let message = format!("expected a name of at most {MAX_CHARS} characters, found {}", name.chars().count());
        return refusal(message, "shorten it");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_a_folder() {
        for good in ["a", "Handbook 2.1", "größe_1", "中文", "v1."] {
            assert_eq!(refuse_name(good), None, "{good}");
        }
        for bad in ["", "..", ".hidden", "-flag", "a/b", "a\\b", "a:b", "a\nb", "a ", " a"] {
            assert!(refuse_name(bad).is_some(), "{bad:?}");
        }
        assert!(refuse_name(&"x".repeat(81)).is_some());
    }
}
