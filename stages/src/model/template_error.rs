//! Why a template cannot be used, in words for whoever wrote it.

use minijinja::{Error, ErrorKind};

use crate::nearest::nearest;

/// The filters of the template language.
const FILTERS: [&str; 47] = [
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "trim",
    "unique",
    "upper",
    "zip",
];

/// Longest expression that a message repeats.
const SHOWN_CHARS: usize = 60;

/// What is wrong with a template.
pub(crate) struct TemplateError {
    /// Line, from 1, where it is known.
    pub line: Option<u64>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do, where that is not a question of the names that a template is given.
    pub hint: Option<String>,
}

impl TemplateError {
    /// What `error`, of the template whose text is `text`, means.
    pub(crate) fn of(error: &Error, text: &str) -> Self {
        let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_string);
        let (message, hint) = match error.kind() {
            ErrorKind::UndefinedError => match expression(error, text) {
                Some(expression) => (format!("`{expression}` is not defined"), None),
                None => (detail, None),
            },
            ErrorKind::OutOfFuel => ("it makes too much text or does not end".to_string(), None),
            ErrorKind::SyntaxError => (format!("syntax error: {detail}"), None),
            ErrorKind::UnknownFilter => {
                let name = detail.split(' ').nth(1).unwrap_or_default();
                let hint = match nearest(name, FILTERS) {
                    Some(near) => format!("did you mean the filter `{near}`?"),
                    None => format!("the filters are {}", FILTERS.join(", ")),
                };
                (format!("there is no filter `{name}`"), Some(hint))
            }
            _ => (detail, None),
        };
        TemplateError { line: error.line().map(|line| line as u64), message, hint }
    }
}

/// The expression at which the template failed, on one line.
fn expression(error: &Error, text: &str) -> Option<String> {
    let found = text.get(error.range()?)?;
    let inside =
        found.trim_start_matches("{{").trim_end_matches("}}").trim_matches(|c: char| c == '-' || c.is_whitespace());
    let shown: Vec<&str> = inside.split_whitespace().collect();
    let shown = shown.join(" ");
    (!shown.is_empty() && shown.chars().count() <= SHOWN_CHARS).then_some(shown)
}

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    use super::*;

    #[test]
    fn the_filters_are_those_that_there_are() {
        for name in FILTERS {
            let error = Environment::new().render_str(&format!("{{{{ 1|{name} }}}}"), ()).err();
            assert!(error.is_none_or(|error| error.kind() != ErrorKind::UnknownFilter), "{name}");
        }
    }
}
