//! A conversation as a document in Markdown, with the place of every turn (spec/openviking 2.1).

use super::turn_ids::TurnIds;
use crate::error::{InputError, Place};
use crate::prepare::dataset::document_id;
use crate::prepare::fields::{Fields, describe};
use crate::prepare::ids::Ids;
use crate::prepare::json_file::JsonPart;
use crate::prepare::rendering::{Rendering, Span};

/// A conversation.
#[derive(Debug)]
pub(super) struct Conversation<'f> {
    /// Its document's id.
    pub(super) id: String,
    /// The document.
    pub(super) text: String,
    /// How many sessions it has.
    pub(super) sessions: u64,
    /// How many turns they have.
    pub(super) turns: u64,
    /// Where each turn stands in the document.
    pub(super) ids: TurnIds<Span>,
    /// The questions about it.
    pub(super) questions: Vec<JsonPart<'f>>,
}

/// The id of a sample that has none, as in OpenViking's benchmark.
const UNKNOWN: &str = "unknown";

/// The conversation of a sample; `None` where the sample is no object.
pub(super) fn conversation<'f>(sample: &JsonPart<'f>, errors: &mut Vec<InputError>) -> Option<Conversation<'f>> {
    let before = errors.len();
    let entries = sample.entries(errors);
    if errors.len() > before {
        return None;
    }
    let find = |name: &str| entries.iter().find(|(key, part)| key == name && !part.is_null()).map(|(_, part)| part);
    let title = match find("sample_id").map(|part| part.text(errors)) {
        Some(id) => id?,
        None => UNKNOWN.to_string(),
    };
    let id = document_id(&title);
    let questions = find("qa").map(|part| part.items(errors)).unwrap_or_default();
    let mut rendering = Rendering::default();
    rendering.line(&format!("# Chat History: {title}"));
    let mut conversation =
        Conversation { id, text: String::new(), sessions: 0, turns: 0, ids: TurnIds::default(), questions };
    match find("conversation") {
        Some(part) => conversation.render(part, &mut rendering, errors),
        None => {
            let found = if entries.iter().any(|(key, _)| key == "conversation") { "is null" } else { "is missing" };
            let within = if sample.name.is_empty() { String::new() } else { format!("{}.", sample.name) };
            errors.push(sample.error(format!("`{within}conversation` {found}; expected an object")));
        }
    }
    conversation.text = rendering.into_text();
    Some(conversation)
}

impl Conversation<'_> {
    /// Adds the sessions 1, 2, ... up to the first that is not there. Dates without a session are ignored.
    fn render(&mut self, part: &JsonPart<'_>, rendering: &mut Rendering, errors: &mut Vec<InputError>) {
        let entries = part.entries(errors);
        let find = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, part)| part);
        let mut ids = Ids::new("dia_id");
        for number in 1u64.. {
            let Some(session) = find(&format!("session_{number}")) else { break };
            rendering.line("");
            rendering.line(&format!("## Session {number}"));
            for (label, key) in [("DATE", "date_time"), ("SUMMARY", "summary")] {
                let part = find(&format!("session_{number}_{key}")).filter(|part| !part.is_null());
                if let Some(text) = part.and_then(|part| part.text(errors)).filter(|text| !text.is_empty()) {
                    rendering.line(&format!("{label}: {text}"));
                }
            }
            for turn in session.items(errors) {
                self.turn(&turn, &mut ids, rendering, errors);
            }
            self.sessions = number;
        }
    }

    fn turn(&mut self, part: &JsonPart<'_>, ids: &mut Ids, rendering: &mut Rendering, errors: &mut Vec<InputError>) {
        let row = match part.row() {
            Ok(row) => row,
            Err(error) => {
                errors.push(error);
                return;
            }
        };
        let fields = Fields::named(part.path(), &row, &part.name);
        let mut text = |key: &str| fields.verbatim(key, errors);
        let speaker = text("speaker").unwrap_or_else(|| "Unknown".to_string());
        let (said, caption) = (text("text").unwrap_or_default(), text("blip_caption").unwrap_or_default());
        let id = text("dia_id").filter(|id| !id.is_empty()).or_else(|| text("id")).filter(|id| !id.is_empty());
        let images = images(&fields, &caption, errors);
        let mark = id.as_deref().map(mark).map(|mark| format!(" {mark}")).unwrap_or_default();
        let span = rendering.line(&format!("**{speaker}**: {said}{images}{mark}"));
        self.turns += 1;
        if let Some(id) = id {
            let turn = usize::try_from(self.turns).unwrap_or(usize::MAX);
            ids.take(&id, turn, Place::line(part.path(), part.line()), errors);
            self.ids.add(id, span);
        }
    }
}

/// What stands at the end of a turn in the document.
pub(super) fn mark(id: &str) -> String {
    format!("[{id}]")
}

/// What a turn says of its images: nothing but where it has both an address and a caption.
fn images(fields: &Fields<'_>, caption: &str, errors: &mut Vec<InputError>) -> String {
    let count = match fields.value("img_url") {
        None => 0,
        Some(serde_json::Value::Array(urls)) => urls.len(),
        Some(serde_json::Value::String(url)) => usize::from(!url.is_empty()),
        Some(other) => {
            errors.push(fields.error(format!("`{}` is {}; expected a list", fields.name("img_url"), describe(other))));
            0
        }
    };
    // The colon is the full-width one, as in OpenViking's documents.
    match count {
        _ if caption.is_empty() => String::new(),
        1 => format!("[Attached image：{caption}]"),
        count => (1..=count).map(|i| format!("[Attached image {i}：{caption}]")).collect(),
    }
}
