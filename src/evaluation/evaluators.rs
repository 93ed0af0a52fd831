//! `evaluators`: what responses are scored by, as text (`nDCG@10`, `P(rel=2)@5`) or as a mapping.

use ragstage_stages::artifact::Json;
use ragstage_stages::score::EvaluatorSpec;
use serde_json::Value;

use super::diagnostic::Faults;
use super::shape::{Field, Need, Record, Refusal, Shape, TextRule};
use super::view::View;

/// Says whether an evaluator exists and takes these options: a message, and the nearest name that does.
pub type CheckEvaluator<'a> = dyn Fn(&EvaluatorSpec) -> Result<(), (String, Option<String>)> + 'a;

/// An evaluator as text.
pub(super) const EVALUATOR_TEXT: Shape = Shape::Text(&TextRule {
    expected: "an evaluator such as `nDCG@10`",
    pattern: Some(r"^[A-Za-z][A-Za-z0-9_-]*(?:\(.*\))?(?:@[0-9]+)?$"),
    refuse: |text| {
        parse_evaluator(text).err().map(|why| Refusal {
            message: format!("expected an evaluator such as `nDCG@10` or `P(rel=2)@5`: {why}"),
            hint: None,
        })
    },
});

const NAME: Shape = Shape::Text(&TextRule {
    expected: "the name of an evaluator",
    pattern: Some(r"^[A-Za-z][A-Za-z0-9_-]*$"),
    refuse: |text| {
        (!is_name(text)).then(|| Refusal {
            message: "expected the name of an evaluator: letters, digits, `_` and `-`".to_string(),
            hint: Some("the cut-off has a key of its own: `cutoff`".to_string()),
        })
    },
});

static MAPPING: Record = Record {
    name: "evaluator",
    doc: "An evaluator with its options.",
    fields: &[
        Field { name: "name", doc: "Name of the evaluator.", shape: NAME, need: Need::Required },
        Field {
            name: "cutoff",
            doc: "How many results count; what follows `@` in the text form.",
            shape: Shape::Int { min: 1, max: u32::MAX as u64 },
            need: Need::Optional,
        },
        Field {
            name: "options",
            doc: "Parameters; what stands in parentheses in the text form.",
            shape: Shape::Free,
            need: Need::Default("{}"),
        },
    ],
    together: &[],
};

/// What an entry of `evaluators` accepts.
pub(super) static EVALUATOR: Shape = Shape::Either(&[EVALUATOR_TEXT, Shape::Record(&MAPPING)]);

/// The evaluators that a checked list stands for; `None` when it is absent.
pub(super) fn convert(view: &View<'_>, check: &CheckEvaluator<'_>, faults: &mut Faults) -> Option<Vec<EvaluatorSpec>> {
    let mut specs: Vec<EvaluatorSpec> = Vec::new();
    for item in view.items()? {
        let spec = if item.is_map() {
            let cutoff = item.get("cutoff");
            item.get("name").text().filter(|_| !item.is_faulty("cutoff")).map(|name| EvaluatorSpec {
                name: name.to_string(),
                cutoff: cutoff.int(),
                options: item.get("options").json().unwrap_or_default(),
            })
        } else {
            item.text().and_then(|text| parse_evaluator(text).ok())
        };
        let Some(spec) = spec else { continue };
        if specs.contains(&spec) {
            faults.add(item.start(), &item.path, format!("`{}` is listed twice", text_of(&spec)));
        } else {
            check_spec(&spec, &item, check, faults);
            specs.push(spec);
        }
    }
    Some(specs)
}

/// Reports what `check` has against `spec`, which stands at `view`.
pub(super) fn check_spec(spec: &EvaluatorSpec, view: &View<'_>, check: &CheckEvaluator<'_>, faults: &mut Faults) {
    if let Err((message, nearest)) = check(spec) {
        let hint = nearest.map(|nearest| super::check::did_you_mean(&nearest));
        faults.add_hint(view.start(), &view.path, message, hint);
    }
}

/// The text form: options in the order of their names.
pub(super) fn text_of(spec: &EvaluatorSpec) -> String {
    let mut text = spec.name.clone();
    if !spec.options.is_empty() {
        let options: Vec<String> =
            spec.options.iter().map(|(key, value)| format!("{key}={}", text_of_value(value))).collect();
        text += &format!("({})", options.join(","));
    }
    if let Some(cutoff) = spec.cutoff {
        text += &format!("@{cutoff}");
    }
    text
}

/// Texts that would read as something else are quoted.
fn text_of_value(value: &Value) -> String {
    match value {
        Value::String(text) if parse_value(text) == Ok(value.clone()) => text.clone(),
        other => other.to_string(),
    }
}

/// Reads `name(key=value,...)@cutoff`.
pub(super) fn parse_evaluator(text: &str) -> Result<EvaluatorSpec, String> {
    let text = text.trim();
    let end = text.find(['(', '@']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !is_name(name) {
        return Err(format!("the name `{name}` is not of letters, digits, `_` and `-`"));
    }
    let (options, rest) = match rest.strip_prefix('(') {
        Some(rest) => {
            let (inside, rest) = rest.rsplit_once(')').ok_or("the `(` is not closed")?;
            (parse_options(inside)?, rest)
        }
        None => (Json::new(), rest),
    };
    let cutoff = match rest.strip_prefix('@') {
        Some(digits) => {
            let cutoff = if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None };
            Some(cutoff.filter(|cutoff| *cutoff > 0).ok_or("after `@` stands no cut-off of at least 1")?)
        }
        None if rest.is_empty() => None,
        None => return Err(format!("`{rest}` after the parentheses")),
    };
    Ok(EvaluatorSpec { name: name.to_string(), cutoff, options })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn parse_options(inside: &str) -> Result<Json, String> {
    let mut options = Json::new();
    if inside.trim().is_empty() {
        return Ok(options);
    }
    for part in split_outside_quotes(inside) {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("`{}` is not `key=value`", part.trim()))?;
        let key = key.trim();
        if !is_name(key) {
            return Err(format!("the option `{key}` is not of letters, digits, `_` and `-`"));
        }
        if options.insert(key.to_string(), parse_value(value.trim())?).is_some() {
            return Err(format!("the option `{key}` stands twice"));
        }
    }
    Ok(options)
}

/// The parts between commas; a comma in quotes does not part.
fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ',') => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// A number, `true`, `false`, a quoted text or a bare word.
fn parse_value(text: &str) -> Result<Value, String> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let inside = rest.strip_suffix(quote).filter(|inside| !inside.contains(quote));
            return inside.map(Value::from).ok_or_else(|| format!("the quote in `{text}` is not closed"));
        }
    }
    if text.is_empty() || text.contains(['"', '\'', '(', ')', '=']) {
        return Err(format!("`{text}` is no value"));
    }
    match text {
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value.into());
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && text.bytes().any(|b| b.is_ascii_digit()) => Ok(value.into()),
        _ => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::view::tests::checked;
    use super::*;

    fn spec(name: &str, cutoff: Option<u32>, options: Value) -> EvaluatorSpec {
        EvaluatorSpec { name: name.to_string(), cutoff, options: options.as_object().unwrap().clone() }
    }

    fn read(text: &str) -> Result<Option<Vec<EvaluatorSpec>>, Vec<String>> {
        let check = |spec: &EvaluatorSpec| match spec.name.as_str() {
            "ndgc" => Err(("unknown evaluator `ndgc`".to_string(), Some("nDCG".to_string()))),
            _ => Ok(()),
        };
        checked(text, &Shape::List { of: &EVALUATOR, least: 0 }, |view, faults| convert(view, &check, faults))
    }

    #[test]
    fn the_text_form() {
        for (text, expected) in [
            ("nDCG@10", spec("nDCG", Some(10), json!({}))),
            ("answer_contains", spec("answer_contains", None, json!({}))),
            ("P(rel=2)@5", spec("P", Some(5), json!({"rel": 2}))),
            ("RBP(p=0.8,judged=true)", spec("RBP", None, json!({"p": 0.8, "judged": true}))),
            ("x(a='1, (b)',c=exp)", spec("x", None, json!({"a": "1, (b)", "c": "exp"}))),
            ("x( a = \"2\" )@1", spec("x", Some(1), json!({"a": "2"}))),
            ("x()", spec("x", None, json!({}))),
            ("x(a=inf,b=-3)", spec("x", None, json!({"a": "inf", "b": -3}))),
        ] {
            assert_eq!(parse_evaluator(text), Ok(expected.clone()), "{text}");
            assert_eq!(parse_evaluator(&text_of(&expected)), Ok(expected), "{text}");
        }
        for text in [
            "",
            "@5",
            "nDCG@",
            "nDCG@0",
            "nDCG@-1",
            "nDCG@+1",
            "P(rel=2",
            "P(rel)",
            "P(=2)",
            "P(a=1,a=2)",
            "P(a='x)",
            "P(a=1)x",
            "5",
        ] {
            assert!(parse_evaluator(text).is_err(), "{text}");
        }
    }

    #[test]
    fn both_forms_in_one_list() {
        let specs = read("[nDCG@10, {name: token_f1, cutoff: 5, options: {mode: macro}}]").unwrap().unwrap();
        assert_eq!(specs, [spec("nDCG", Some(10), json!({})), spec("token_f1", Some(5), json!({"mode": "macro"}))]);
        assert_eq!(text_of(&specs[1]), "token_f1(mode=macro)@5");
    }

    #[test]
    fn unknown_and_repeated_evaluators_are_reported() {
        assert_eq!(
            read("[ndgc@10, P@5, {name: P, cutoff: 5}, 7, P@x, {name: P@5}]").unwrap_err(),
            [
                "1:2 [0]: unknown evaluator `ndgc` [did you mean `nDCG`?]",
                "1:16 [2]: `P@5` is listed twice",
                "1:38 [3]: expected an evaluator such as `nDCG@10` or a mapping, found the number 7",
                "1:41 [4]: expected an evaluator such as `nDCG@10` or `P(rel=2)@5`: after `@` stands no cut-off \
                 of at least 1",
                "1:53 [5].name: expected the name of an evaluator: letters, digits, `_` and `-` [the cut-off \
                 has a key of its own: `cutoff`]",
            ]
        );
    }
}
