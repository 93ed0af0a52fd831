//! A rubric of the user's own: a Markdown file.
//!
//! The file is a template that may use `question`, `answer`, `gold` (a list) and `contexts` (a list). A fenced block whose
//! language is `json` is the JSON Schema of the reply, and is taken out of the text. The schema is of an object with `score` (an
//! `integer` or a `number` with `minimum` and `maximum`), `label` (an `enum` of texts) or `verdict` (a `boolean`); whatever else it
//! asks for, such as `reasoning`, is kept with the score. Without such a block the reply has `reasoning` and a `score` from 0 to 4.

use ragstage_cache::Digest;
use serde_json::{Value, json};

use super::reply_schema::{SchemaFault, check_schema};
use crate::model::Prompt;
use crate::unique_json::UniqueJson;

/// What is wrong with a rubric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RubricFault {
    /// The file's line, from 1.
    pub line: u64,
    /// What is wrong, as a fragment.
    pub message: String,
}

/// A rubric: what the judge is told, and what it must reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Rubric {
    prompt: Prompt,
    schema: Value,
    digest: Digest,
    /// The least score that passes.
    pub pass: Option<f64>,
    /// The labels that pass.
    pub pass_labels: Vec<String>,
}

impl Rubric {
    /// The rubric in the text of a file.
    ///
    /// # Errors
    /// When the schema is not closed, is no JSON, or asks for no verdict. The template is checked where it is filled.
    pub fn parse(text: &str) -> Result<Self, RubricFault> {
        let mut kept: Vec<&str> = Vec::new();
        let mut block: Option<(u64, String)> = None;
        let mut schema: Option<(u64, Value)> = None;
        for (line, number) in text.lines().zip(1u64..) {
            match &mut block {
                Some((start, json)) if line.trim() == "```" => {
                    if schema.is_some() {
                        return Err(RubricFault { line: *start, message: "expected one block of JSON".to_string() });
                    }
                    schema = Some((*start, read(json, *start)?));
                    block = None;
                }
                Some((_, json)) => {
                    json.push_str(line);
                    json.push('\n');
                }
                None if line.trim() == "```json" => block = Some((number, String::new())),
                None => kept.push(line),
            }
        }
        if let Some((line, _)) = block {
            return Err(RubricFault { line, message: "the block of JSON is not closed".to_string() });
        }
        let (line, schema) = schema.unwrap_or_else(|| (1, graded_schema(0, 4)));
        check_verdict(&schema).map_err(|message| RubricFault { line, message })?;
        Ok(Rubric {
            prompt: Prompt::new(&kept.join("\n")),
            digest: Digest::of(schema.to_string().as_bytes()),
            schema,
            pass: None,
            pass_labels: Vec::new(),
        })
    }

    /// What the judge is told.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// What a reply must be.
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Digest of the schema; that of the text is the prompt's.
    pub(super) fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The labels that a reply may have; none where it has a number or a truth value.
    pub fn labels(&self) -> Vec<&str> {
        let words = self.schema.pointer("/properties/label/enum").and_then(Value::as_array);
        words.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The scale of `score`: its least and greatest value.
    pub fn scale(&self) -> Option<(f64, f64)> {
        let bound = |name: &str| self.schema.pointer(&format!("/properties/score/{name}")).and_then(Value::as_f64);
        Some((bound("minimum")?, bound("maximum")?))
    }
}

/// The schema of a reply with a score.
pub(super) fn graded_schema(least: i64, most: i64) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "reasoning": {"type": "string", "maxLength": 1000},
            "score": {"type": "integer", "minimum": least, "maximum": most},
        },
        "required": ["reasoning", "score"],
    })
}

fn read(json: &str, start: u64) -> Result<Value, RubricFault> {
    let UniqueJson(value) = serde_json::from_str(json).map_err(|error| RubricFault {
        line: start + error.line() as u64,
        message: format!("the reply schema is no JSON: {error}"),
    })?;
    check_schema(&value, "").map_err(|fault: SchemaFault| RubricFault {
        line: start,
        message: format!("the reply schema cannot be used: {fault}"),
    })?;
    Ok(value)
}

/// A schema must ask for exactly one of the three verdicts, and require it.
fn check_verdict(schema: &Value) -> Result<(), String> {
    let property = |name: &str| schema.pointer(&format!("/properties/{name}"));
    let named: Vec<&str> = ["score", "label", "verdict"].into_iter().filter(|name| property(name).is_some()).collect();
    let [name] = named[..] else {
        return Err(
            "expected the reply schema to have one of `score`, `label` and `verdict` among its properties".to_string()
        );
    };
    let required = schema.get("required").and_then(Value::as_array).is_some_and(|names| names.contains(&json!(name)));
    if schema.get("type") != Some(&json!("object")) || !required {
        return Err(format!("expected the reply schema to be of an object that requires `{name}`"));
    }
    let of = |key: &str| property(name).and_then(|property| property.get(key));
    let kind = of("type").and_then(Value::as_str);
    let texts = || of("enum").and_then(Value::as_array).is_some_and(|words| words.iter().all(Value::is_string));
    let bounded = || match (of("minimum").and_then(Value::as_f64), of("maximum").and_then(Value::as_f64)) {
        (Some(least), Some(most)) => least < most,
        _ => false,
    };
    let sound = match name {
        "score" => matches!(kind, Some("integer" | "number")) && bounded(),
        "label" => texts(),
        _ => kind == Some("boolean"),
    };
    let wanted = match name {
        "score" => "`score` to be an integer or a number with `minimum` below `maximum`",
        "label" => "`label` to be an `enum` of texts",
        _ => "`verdict` to be a boolean",
    };
    if sound { Ok(()) } else { Err(format!("expected {wanted}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rubric_is_a_template_with_a_schema() {
        let text = "# Tone\n\nGrade {{ answer }}.\n\n```json\n{\"type\": \"object\", \"required\": [\"score\"],\n \"properties\": \
                    {\"score\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 5}}}\n```\nBe fair.\n";
        let rubric = Rubric::parse(text).expect("a rubric");
        assert_eq!(rubric.scale(), Some((1.0, 5.0)));
        let filled = rubric.prompt().fill(&json!({"answer": "x"})).expect("a text");
        assert_eq!(filled, "# Tone\n\nGrade x.\n\nBe fair.");
        assert_eq!(Rubric::parse("Grade {{ answer }}.").expect("a rubric").scale(), Some((0.0, 4.0)));
    }

    #[test]
    fn schemas_without_a_verdict_are_refused_with_their_line() {
        let of = |schema: &str| {
            let fault = Rubric::parse(&format!("Judge.\n```json\n{schema}\n```\n")).expect_err("a fault");
            (fault.line, fault.message)
        };
        assert_eq!(of("{\n\"type\" \"object\"}").0, 4);
        assert!(
            of("{\"type\": \"object\", \"properties\": {\"mark\": {\"type\": \"string\"}}}")
                .1
                .contains("one of `score`")
        );
        let open = r#"{"type": "object", "required": ["score"], "properties": {"score": {"type": "integer"}}}"#;
        assert_eq!(of(open).1, "expected `score` to be an integer or a number with `minimum` below `maximum`");
        let optional = r#"{"type": "object", "properties": {"verdict": {"type": "boolean"}}}"#;
        assert!(of(optional).1.contains("requires `verdict`"));
        assert_eq!(Rubric::parse("x\n```json\n{}").expect_err("open").message, "the block of JSON is not closed");
    }
}
