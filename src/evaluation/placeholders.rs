//! `{name}` in paths of OpenViking's run configurations, in the syntax of Python's `str.format` (spec/openviking 4).

/// What keeps a text from being filled: a message and what to do.
pub(super) struct PlaceholderFault {
    pub(super) message: String,
    pub(super) hint: String,
}

/// `text` with each `{name}` replaced by the value of that name; `{{` and `}}` are braces.
pub(super) fn filled(text: &str, values: &[(&str, String)]) -> Result<String, PlaceholderFault> {
    let names = || values.iter().map(|(name, _)| format!("{{{name}}}")).collect::<Vec<_>>().join(" and ");
    let fault = |message: String| PlaceholderFault {
        message,
        hint: format!("there are {}; a brace itself is written twice", names()),
    };
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        filled.push_str(before);
        if let Some(after) = brace.strip_prefix("{{") {
            filled.push('{');
            rest = after;
        } else if let Some(after) = brace.strip_prefix("}}") {
            filled.push('}');
            rest = after;
        } else if let Some(open) = brace.strip_prefix('{') {
            let Some((name, after)) = open.split_once('}') else {
                return Err(fault("a `{` is not closed".to_string()));
            };
            match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(value),
                None => return Err(fault(format!("there is no placeholder `{{{name}}}`"))),
            }
            rest = after;
        } else {
            return Err(fault("a `}` closes nothing".to_string()));
        }
    }
    filled.push_str(rest);
    Ok(filled)
}
