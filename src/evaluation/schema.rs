//! The evaluation file's JSON Schema, printed from the same shapes that files are checked against.

use serde_json::{Map, Value, json};

use super::file::EVALUATION;
use super::shape::{Field, Need, Range, Record, Shape, Together};

/// The JSON Schema (draft 2020-12) of the evaluation file.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = record_schema(&EVALUATION, None, &mut definitions);
    if let Some(map) = schema.as_object_mut() {
        map.insert("$schema".to_string(), "https://json-schema.org/draft/2020-12/schema".into());
        map.insert("title".to_string(), "ragstage evaluation".into());
        map.insert("$defs".to_string(), Value::Object(definitions));
    }
    schema
}

fn shape_schema(shape: &Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text(rule) => match rule.pattern {
            Some(pattern) => json!({"type": "string", "pattern": pattern}),
            None => json!({"type": "string"}),
        },
        Shape::AnyText => json!({"type": "string"}),
        Shape::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
            let docs: Vec<String> = choices.iter().map(|choice| format!("{}: {}", choice.word, choice.doc)).collect();
            json!({"type": "string", "enum": words, "description": docs.join("; ")})
        }
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Int { min, max: u64::MAX } => json!({"type": "integer", "minimum": min}),
        Shape::Int { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::Float(range) => float_schema(range),
        Shape::List { of, least } => {
            json!({"type": "array", "items": shape_schema(of, definitions), "minItems": least})
        }
        Shape::Record(record) | Shape::Keyed(_, record) => {
            if !definitions.contains_key(record.name) {
                let schema = record_schema(record, None, definitions);
                definitions.insert(record.name.to_string(), schema);
            }
            reference(record)
        }
        Shape::Tagged(tagged) => {
            let mut variants = Vec::new();
            for (word, record) in tagged.variants {
                let tag = json!({"const": word, "description": tagged.doc});
                let schema = record_schema(record, Some((tagged.key, tag, tagged.shared)), definitions);
                definitions.insert(record.name.to_string(), schema);
                variants.push(reference(record));
            }
            json!({"type": "object", "oneOf": variants})
        }
        Shape::Secrets => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Shape::Map(of) => json!({"type": "object", "additionalProperties": shape_schema(of, definitions)}),
        Shape::Free => json!({"type": "object"}),
        Shape::Either(shapes) => {
            let options: Vec<Value> = shapes.iter().map(|shape| shape_schema(shape, definitions)).collect();
            json!({"anyOf": options})
        }
    }
}

fn reference(record: &Record) -> Value {
    json!({"$ref": format!("#/$defs/{}", record.name)})
}

fn float_schema(range: &Range) -> Value {
    let mut schema = Map::from_iter([("type".to_string(), "number".into())]);
    if range.min > f64::MIN {
        schema.insert(if range.above_min { "exclusiveMinimum" } else { "minimum" }.to_string(), range.min.into());
    }
    if range.max < f64::MAX {
        schema.insert(if range.below_max { "exclusiveMaximum" } else { "maximum" }.to_string(), range.max.into());
    }
    Value::Object(schema)
}

fn record_schema(
    record: &Record,
    tag: Option<(&str, Value, &'static [Field])>,
    definitions: &mut Map<String, Value>,
) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut shared: &[Field] = &[];
    if let Some((key, schema, fields)) = tag {
        properties.insert(key.to_string(), schema);
        required.push(key.to_string());
        shared = fields;
    }
    for field in record.fields.iter().chain(shared) {
        properties.insert(field.name.to_string(), field_schema(field, definitions));
        if field.need == Need::Required {
            required.push(field.name.to_string());
        }
    }
    let mut schema = json!({
        "type": "object",
        "description": record.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let rules: Vec<Value> = record.together.iter().flat_map(together_schemas).collect();
    if !rules.is_empty() {
        schema["allOf"] = json!(rules);
    }
    schema
}

/// A field's schema; one that may be absent may be empty (`key:`), which means the same.
fn field_schema(field: &Field, definitions: &mut Map<String, Value>) -> Value {
    let schema = shape_schema(&field.shape, definitions);
    let mut schema = if field.need == Need::Required { schema } else { or_null(schema) };
    let doc = match schema.get("description").and_then(Value::as_str) {
        Some(words) => format!("{} {words}.", field.doc),
        None => field.doc.to_string(),
    };
    schema["description"] = doc.into();
    if let Need::Default(json) = field.need {
        schema["default"] = serde_json::from_str(json).unwrap_or(Value::Null);
    }
    schema
}

fn or_null(mut schema: Value) -> Value {
    if schema.get("oneOf").is_some() || !schema["type"].is_string() {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    schema["type"] = json!([schema["type"], "null"]);
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    schema
}

fn together_schemas(rule: &Together) -> Vec<Value> {
    // A key without value counts as absent.
    let given = |name: &str| json!({"required": [name], "properties": {name: {"not": {"type": "null"}}}});
    match rule {
        Together::ExactlyOne(names) => vec![json!({"oneOf": names.iter().map(|name| given(name)).collect::<Vec<_>>()})],
        Together::AtLeastOne(names) => vec![json!({"anyOf": names.iter().map(|name| given(name)).collect::<Vec<_>>()})],
        Together::Excludes(key, others) => {
            others.iter().map(|other| json!({"not": {"allOf": [given(key), given(other)]}})).collect()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Whether `value` obeys `schema`, for the keywords that our schema uses (patterns excepted).
    pub(in super::super) fn obeys(value: &Value, schema: &Value, root: &Value) -> bool {
        let all = |key: &str| schema.get(key).and_then(Value::as_array).cloned();
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let has_type = |wanted: &Value| *wanted == kind || (*wanted == "number" && kind == "integer");
        let type_ok = match &schema["type"] {
            Value::Null => true,
            Value::Array(types) => types.iter().any(has_type),
            one => has_type(one),
        };
        let reference_ok = match schema["$ref"].as_str() {
            Some(reference) => {
                let target = root.pointer(reference.trim_start_matches('#')).unwrap();
                obeys(value, target, root)
            }
            None => true,
        };
        let number = value.as_f64();
        let bound = |key: &str, holds: fn(f64, f64) -> bool| match (number, schema[key].as_f64()) {
            (Some(number), Some(bound)) => holds(number, bound),
            _ => true,
        };
        let bounds_ok = bound("minimum", |n, b| n >= b)
            && bound("maximum", |n, b| n <= b)
            && bound("exclusiveMinimum", |n, b| n > b)
            && bound("exclusiveMaximum", |n, b| n < b);
        let count = |schemas: &[Value]| schemas.iter().filter(|schema| obeys(value, schema, root)).count();
        let combined_ok = all("allOf").is_none_or(|schemas| count(&schemas) == schemas.len())
            && all("anyOf").is_none_or(|schemas| count(&schemas) > 0)
            && all("oneOf").is_none_or(|schemas| count(&schemas) == 1)
            && schema.get("not").is_none_or(|schema| !obeys(value, schema, root));
        let words_ok = all("enum").is_none_or(|words| words.contains(value))
            && schema.get("const").is_none_or(|constant| constant == value);
        let items_ok = value.as_array().is_none_or(|items| {
            items.len() as u64 >= schema["minItems"].as_u64().unwrap_or(0)
                && schema.get("items").is_none_or(|schema| items.iter().all(|item| obeys(item, schema, root)))
        });
        let object_ok = value.as_object().is_none_or(|map| {
            let required =
                all("required").is_none_or(|keys| keys.iter().all(|key| map.contains_key(key.as_str().unwrap())));
            required
                && map.iter().all(|(key, value)| {
                    match (schema["properties"].get(key), schema.get("additionalProperties")) {
                        (Some(property), _) => obeys(value, property, root),
                        (None, Some(Value::Bool(allowed))) => *allowed,
                        (None, Some(other)) => obeys(value, other, root),
                        (None, None) => true,
                    }
                })
        });
        type_ok && reference_ok && bounds_ok && combined_ok && words_ok && items_ok && object_ok
    }

    fn visit(schema: &Value, seen: &mut dyn FnMut(&Map<String, Value>)) {
        match schema {
            Value::Object(map) => {
                seen(map);
                map.values().for_each(|value| visit(value, seen));
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, seen)),
            _ => {}
        }
    }

    #[test]
    fn references_lead_somewhere_and_defaults_obey() {
        let root = json_schema();
        let mut defaults = 0;
        visit(&root, &mut |map| {
            if let Some(Value::String(reference)) = map.get("$ref") {
                assert!(root.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
            }
            if let Some(default) = map.get("default") {
                defaults += 1;
                assert!(obeys(default, &Value::Object(map.clone()), &root), "{map:?}");
            }
        });
        assert!(defaults > 20, "{defaults}");
    }

    #[test]
    fn every_key_is_described() {
        visit(&json_schema(), &mut |map| {
            if let Some(Value::Object(properties)) = map.get("properties") {
                for (key, schema) in properties {
                    let is_rule = schema.get("not").is_some();
                    assert!(is_rule || schema["description"].as_str().is_some_and(|doc| doc.len() > 3), "{key}");
                }
            }
        });
    }

    #[test]
    fn the_schema_refuses_what_the_reader_refuses() {
        let root = json_schema();
        let benchmark = json!({"adapter": "jsonl", "documents": "d", "cases": "c"});
        let valid = json!({"name": "a", "benchmark": benchmark, "recipe": {}});
        assert!(obeys(&valid, &root, &root));
        for (pointer, key, value) in [
            ("", "nmae", json!(1)),
            ("", "recipes", json!([{"name": "a"}])),
            ("", "recipe", Value::Null),
            ("", "queries", json!([{"mode": "x", "top_k": 0}])),
            ("", "gates", json!([{"measure": "nDCG"}])),
            ("", "statistics", json!({"confidence": 1.0})),
            ("", "answer", json!("nothing")),
            ("/benchmark", "adapter", json!("beir")),
            ("/recipe", "chunk", json!({"splitter": "words"})),
            ("/recipe", "system", json!({"version": "1"})),
        ] {
            let mut broken = valid.clone();
            broken.pointer_mut(pointer).unwrap()[key] = value;
            assert!(!obeys(&broken, &root, &root), "{broken}");
        }
    }
}
