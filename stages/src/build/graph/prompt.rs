//! What a model is told when it reads a chunk.

use minijinja::{Environment, context};
use ragstage_cache::Digest;

const SYSTEM: &str = include_str!("prompts/extract_system.md");
const USER: &str = include_str!("prompts/extract_user.md");

/// The digest of both templates.
pub(super) fn prompt_digest() -> Digest {
    Digest::of_parts("ragstage.graph.prompt", [SYSTEM.as_bytes(), USER.as_bytes()])
}

/// The system message.
///
/// # Errors
/// Only through a fault of ours: the template does not render.
pub(super) fn system_prompt(max_entities: u32, entity_types: &[String]) -> Result<String, String> {
    render(SYSTEM, context! { max_entities, entity_types => entity_types.to_vec() })
}

/// The message with the chunk's text.
///
/// # Errors
/// As [`system_prompt`].
pub(super) fn user_prompt(text: &str) -> Result<String, String> {
    render(USER, context! { text })
}

fn render(template: &str, values: minijinja::Value) -> Result<String, String> {
    // Nothing is escaped: templates by themselves have no name with an ending that would ask for it.
    let rendered = Environment::new().render_str(template, values);
    rendered.map(|text| text.trim_end().to_string()).map_err(|error| format!("prompt of the graph: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_options_are_filled_in_as_they_are() {
        assert_eq!(user_prompt("a <b> {{ c }} 漢"), Ok("Passage:\n\na <b> {{ c }} 漢".to_string()));
        let any = system_prompt(7, &[]).expect("a prompt");
        assert!(any.contains("At most 7 entities") && any.contains("e.g. person") && !any.contains("{%"), "{any}");
        let some = system_prompt(7, &["ship".to_string(), "port".to_string()]).expect("a prompt");
        assert!(some.contains("one of ship, port.") && !some.contains("e.g. person"), "{some}");
    }
}
