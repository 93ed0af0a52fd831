//! The `llm` extractor: a chat model reads each chunk once.
//!
//! One call gives entities and relations together, where Heta makes two (spec/heta 6.3): half the requests, and the text is paid
//! for once. What a reply must be is checked here too, for not every server keeps to a schema.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::abbreviation::abbreviations;
use super::canonical::canonical_name;
use super::lexical::cjk_name_before;
use super::options::LlmExtractor;
use super::prompt::{system_prompt, user_prompt};
use crate::artifact::{Chunk, ChunkFacts, FoundEntity, FoundRelation, Json};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{ChatRequest, ReplySchema, ask_chat};
use crate::step::Step;

/// Most characters of a name.
const NAME_CHARS: usize = 120;
/// Most characters of a type.
const TYPE_CHARS: usize = 60;
/// Most characters of a description.
const DESCRIPTION_CHARS: usize = 300;
/// Most relations of a chunk for each entity that it may have.
const RELATIONS_PER_ENTITY: u32 = 2;

/// What the model says of each of `chunks`, in order.
pub(super) fn ask_model(
    context: &dyn Context,
    llm: &LlmExtractor,
    max_entities: u32,
    chunks: &[Chunk],
) -> Result<Vec<Result<ChunkFacts, RowError>>, StageError> {
    let step = Step::ExtractGraph;
    let fault = |why: String| StageError::encode(step, why);
    let system = system_prompt(max_entities, &llm.entity_types).map_err(fault)?;
    let schema = ReplySchema { name: "entities_and_relations", schema: schema(max_entities, &llm.entity_types) };
    let mut requests = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let user = user_prompt(&chunk.text).map_err(fault)?;
        let mut request = ChatRequest::new(Some(&system), &user, llm.max_tokens);
        request.schema = Some(schema.clone());
        requests.push((chunk.chunk_id.clone(), request));
    }
    let limits = Limits { max_entities: max_entities as usize, entity_types: &llm.entity_types };
    let outcomes = ask_chat(context, step, &llm.model, &requests, &|_, reply| limits.read(&reply.text).map(|_| ()))?;
    let facts = |(outcome, chunk): (Result<crate::model::Outcome, RowError>, &Chunk)| match outcome {
        Err(error) => Ok(Err(error)),
        Ok(outcome) => {
            let mut facts = limits.read(&outcome.reply.text).map_err(|why| {
                // Refused before it was kept; a kept one that is refused now was kept by other code.
                fault(format!("the kept reply for {} cannot be read: {why}", chunk.chunk_id))
            })?;
            facts.aliases = abbreviations(&chunk.text, &cjk_name_before);
            Ok(Ok(facts))
        }
    };
    outcomes.into_iter().zip(chunks).map(facts).collect()
}

/// The JSON Schema of a reply. Strings are bounded, so that a model that rambles still closes its JSON.
fn schema(max_entities: u32, entity_types: &[String]) -> Value {
    let text = |most: usize| json!({"type": "string", "maxLength": most});
    let name = json!({"type": "string", "minLength": 1, "maxLength": NAME_CHARS});
    let entity_type = match entity_types {
        [] => text(TYPE_CHARS),
        types => json!({"type": "string", "enum": types}),
    };
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required});
    let entity = object(
        json!({"name": name, "type": entity_type, "description": text(DESCRIPTION_CHARS)}),
        &["name", "type", "description"],
    );
    let relation = object(
        json!({"source": name, "target": name, "type": text(TYPE_CHARS), "description": text(DESCRIPTION_CHARS)}),
        &["source", "target", "type", "description"],
    );
    let most_relations = max_entities.saturating_mul(RELATIONS_PER_ENTITY);
    object(
        json!({
            "entities": {"type": "array", "maxItems": max_entities, "items": entity},
            "relations": {"type": "array", "maxItems": most_relations, "items": relation},
        }),
        &["entities", "relations"],
    )
}

#[derive(Deserialize)]
struct Reply {
    entities: Vec<SaidEntity>,
    relations: Vec<SaidRelation>,
}

#[derive(Deserialize)]
struct SaidEntity {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct SaidRelation {
    source: String,
    target: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    description: String,
}

/// What a reply is held to.
struct Limits<'a> {
    max_entities: usize,
    entity_types: &'a [String],
}

impl Limits<'_> {
    /// What a reply says. Entities beyond the most, and those of a name that was there before, are left out, and so are relations
    /// that were there before. Relations with an end that is no entity of the reply (names are compared in canonical form) or
    /// with the same entity at both, and those beyond the most, are left out and counted.
    ///
    /// # Errors
    /// What was expected and found, where the reply is not of its schema.
    fn read(&self, reply: &str) -> Result<ChunkFacts, String> {
        let said: Reply = serde_json::from_str(reply)
            .map_err(|error| format!("expected entities and relations as the schema has them: {error}"))?;
        let mut facts = ChunkFacts::default();
        let mut names: Vec<String> = Vec::new();
        for (i, entity) in said.entities.into_iter().enumerate() {
            let canonical = canonical_name(&entity.name);
            if canonical.is_empty() {
                return Err(format!("expected a name in entities[{i}], found {:?}", entity.name));
            }
            bounded(&entity.name, NAME_CHARS, || format!("entities[{i}].name"))?;
            if !self.entity_types.is_empty() && !self.entity_types.contains(&entity.kind) {
                let types = self.entity_types.join(", ");
                return Err(format!("expected one of {types} as entities[{i}].type, found {:?}", entity.kind));
            }
            if names.len() >= self.max_entities || names.contains(&canonical) {
                continue;
            }
            names.push(canonical);
            facts.entities.push(FoundEntity {
                name: one_line(&entity.name),
                kind: cut(&one_line(&entity.kind), TYPE_CHARS),
                subtype: None,
                description: cut(&one_line(&entity.description), DESCRIPTION_CHARS),
                attributes: Json::new(),
            });
        }
        let most = self.max_entities.saturating_mul(RELATIONS_PER_ENTITY as usize);
        let mut seen: BTreeSet<(String, String, String)> = BTreeSet::new();
        for relation in said.relations {
            let (source, target) = (canonical_name(&relation.source), canonical_name(&relation.target));
            if source == target || !names.contains(&source) || !names.contains(&target) || facts.relations.len() >= most
            {
                facts.left_out += 1;
                continue;
            }
            if !seen.insert((source, target, canonical_name(&relation.kind))) {
                continue;
            }
            facts.relations.push(FoundRelation {
                source: one_line(&relation.source),
                target: one_line(&relation.target),
                kind: cut(&one_line(&relation.kind), TYPE_CHARS),
                name: String::new(),
                description: cut(&one_line(&relation.description), DESCRIPTION_CHARS),
                weight: 1,
            });
        }
        Ok(facts)
    }
}

fn bounded(text: &str, most: usize, place: impl Fn() -> String) -> Result<(), String> {
    let length = text.chars().count();
    if length > most {
        Err(format!("expected at most {most} characters in {}, found {length}", place()))
    } else {
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Limits<'static> = Limits { max_entities: 3, entity_types: &[] };

    fn reply(entities: &[&str], relations: &[(&str, &str)]) -> String {
        let entities: Vec<Value> =
            entities.iter().map(|name| json!({"name": name, "type": "ship", "description": "d"})).collect();
        let relations: Vec<Value> = relations
            .iter()
            .map(|(source, target)| json!({"source": source, "target": target, "type": "t", "description": ""}))
            .collect();
        json!({"entities": entities, "relations": relations}).to_string()
    }

    #[test]
    fn relations_join_entities_of_the_reply() {
        let relations = [("ADA", "the  Ark"), ("Ada", "ada "), ("Ada", "Noah"), ("Ark", "Ada"), ("ada", "ark")];
        let facts = ANY.read(&reply(&["Ada", "Ark", " ada", "Bell", "Fourth"], &relations)).expect("facts");
        let names: Vec<&str> = facts.entities.iter().map(|entity| entity.name.as_str()).collect();
        assert_eq!(names, ["Ada", "Ark", "Bell"]);
        let ends: Vec<(&str, &str)> = facts.relations.iter().map(|r| (r.source.as_str(), r.target.as_str())).collect();
        assert_eq!((ends, facts.left_out), (vec![("ADA", "the Ark"), ("Ark", "Ada")], 2));
    }

    #[test]
    fn what_is_not_of_the_schema_is_refused() {
        for (text, expected) in [
            (r#"{"entities": []}"#.to_string(), "missing field `relations`"),
            (r#"{"entities": [{"name": "a"}], "relations": []}"#.to_string(), "missing field `type`"),
            (r#"{"entities": [1], "relations": []}"#.to_string(), "invalid type"),
            (reply(&["Ada", " \n"], &[]), "expected a name in entities[1], found \" \\n\""),
            (reply(&[&"x".repeat(121)], &[]), "expected at most 120 characters in entities[0].name, found 121"),
        ] {
            let error = ANY.read(&text).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
        let typed = Limits { max_entities: 3, entity_types: &["port".to_string()] };
        let error = typed.read(&reply(&["Ada"], &[])).expect_err("refused");
        assert_eq!(error, "expected one of port as entities[0].type, found \"ship\"");
    }

    #[test]
    fn the_schema_bounds_every_string_and_list() {
        fn look(value: &Value) {
            match value.get("type").and_then(Value::as_str) {
                Some("string") => assert!(value.get("maxLength").is_some() || value.get("enum").is_some(), "{value}"),
                Some("array") => assert!(value.get("maxItems").is_some(), "{value}"),
                Some("object") => assert_eq!(value["additionalProperties"], false),
                _ => {}
            }
            value.as_object().into_iter().flatten().for_each(|(_, inner)| look(inner));
        }
        look(&schema(5, &[]));
        look(&schema(5, &["port".to_string()]));
        assert_eq!(
            schema(5, &["port".to_string()])["properties"]["entities"]["items"]["properties"]["type"]["enum"][0],
            "port"
        );
    }
}
