//! Topics as a table: an id, a tab, and a text on each line.

use super::topics::Topic;
use crate::error::{InputError, Place};
use crate::prepare::lines::{LineEnds, SourceBytes, lines};
use crate::python::strip;

/// Names of the first column in a header.
const IDS: [&str; 5] = ["id", "qid", "query_id", "query-id", "topic"];

/// The topics of `source`. A line that names the columns may come first; further cells are part of the text.
pub(super) fn topics(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<Topic> {
    let bytes = match source.unpacked() {
        Ok(bytes) => bytes,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let mut topics = Vec::new();
    for (i, line) in lines(source.path, &bytes, LineEnds::Plain, errors).iter().enumerate() {
        let place = Place::line(source.path, line.number);
        let Some((id, text)) = line.text.split_once('\t') else {
            let error = InputError::new(place, "expected an id, a tab and the text of a topic, found no tab");
            errors.push(error.hint("topics may also be JSON lines, TREC's `<top>` or SMART's `.I`"));
            continue;
        };
        let (id, text) = (strip(id), strip(text));
        if i == 0 && IDS.contains(&id.to_lowercase().as_str()) {
            continue;
        }
        if id.is_empty() || text.is_empty() {
            let which = if id.is_empty() { "id" } else { "text" };
            errors.push(InputError::new(place, format!("the topic's {which} is blank")));
            continue;
        }
        topics.push(Topic { id: id.to_string(), text: text.to_string(), fields: Default::default(), place });
    }
    topics
}
