//! Entities and relations as text: what is embedded, and what a model is shown.

use crate::artifact::{Entity, Json, Relation};

/// An entity as text: name, type, subtype, description and `key: value` of its attributes, one per line, without what is
/// empty (spec/heta 6.3).
pub fn entity_text(entity: &Entity) -> String {
    let mut lines = vec![entity.name.clone(), entity.kind.clone()];
    lines.extend(entity.subtype.clone());
    lines.push(entity.description.clone());
    lines.extend(attribute_lines(&entity.attributes));
    joined(lines)
}

/// A relation as text: `source -> target`, type, name, description and attributes, one per line, without what is empty
/// (spec/heta 6.3).
pub fn relation_text(relation: &Relation) -> String {
    let mut lines = vec![format!("{} -> {}", relation.source, relation.target)];
    lines.extend([relation.kind.clone(), relation.name.clone(), relation.description.clone()]);
    lines.extend(attribute_lines(&relation.attributes));
    joined(lines)
}

fn joined(mut lines: Vec<String>) -> String {
    lines.retain(|line| !line.trim().is_empty());
    // A relation's type and its name are often the same word.
    lines.dedup();
    lines.join("\n")
}

fn attribute_lines(attributes: &Json) -> impl Iterator<Item = String> + '_ {
    attributes.iter().map(|(key, value)| match value {
        serde_json::Value::String(text) => format!("{key}: {text}"),
        serde_json::Value::Array(items) => {
            let texts: Vec<String> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_string)).collect();
            format!("{key}: {}", texts.join(", "))
        }
        other => format!("{key}: {other}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_line_for_each_thing_that_is_said() {
        let attributes = json!({"aliases": ["WHO", "W.H.O."], "founded": 1948, "seat": "Geneva"});
        let entity = Entity {
            name: "World Health Organization".to_string(),
            kind: "organization".to_string(),
            attributes: attributes.as_object().cloned().unwrap_or_default(),
            ..Entity::default()
        };
        assert_eq!(
            entity_text(&entity),
            "World Health Organization\norganization\naliases: WHO, W.H.O.\nfounded: 1948\nseat: Geneva"
        );
        let relation = Relation {
            source: "A".to_string(),
            target: "B".to_string(),
            kind: "owns".to_string(),
            name: "owns".to_string(),
            description: "A owns B.".to_string(),
            ..Relation::default()
        };
        assert_eq!(relation_text(&relation), "A -> B\nowns\nA owns B.");
    }
}
