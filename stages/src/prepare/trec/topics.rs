//! The topics of a collection: what is asked.

use std::path::Path;

use serde_json::json;

use super::adapter::TopicField;
use super::collection_format::CollectionFormat;
use super::entities::decoded;
use super::json_lines::first_text;
use super::sgml;
use super::smart;
use super::source_text::source_text;
use super::tsv;
use crate::artifact::Json;
use crate::error::{InputError, Place};
use crate::prepare::fields::Fields;
use crate::prepare::lines::{LineEnds, SourceBytes};
use crate::prepare::rows::rows;
use crate::python::strip;

/// A topic.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Topic {
    /// Its number, as its file has it; of TREC's topics without leading zeros, as judgements write it.
    pub(super) id: String,
    /// What is asked.
    pub(super) text: String,
    /// The parts that it was made from, where there are several.
    pub(super) fields: Json,
    /// Where it begins.
    pub(super) place: Place,
}

/// The topics of a file.
pub(super) struct Topics {
    /// In file order.
    pub(super) rows: Vec<Topic>,
    /// Whether their numbers may be no more than their places in another file: SMART's.
    pub(super) are_smart: bool,
}

/// The keys of a topic's id, and of its text, in JSON lines.
const IDS: [&str; 6] = ["id", "_id", "qid", "query_id", "number", "topic"];
const TEXTS: [&str; 4] = ["text", "query", "title", "question"];

/// The topics of `source`; of TREC's topics the texts of `wanted` are asked, one after the other.
pub(super) fn read(source: SourceBytes<'_>, wanted: &[TopicField], errors: &mut Vec<InputError>) -> Topics {
    let text = match source_text(source) {
        Ok(text) => text,
        Err(error) => {
            errors.push(error);
            return Topics { rows: Vec::new(), are_smart: false };
        }
    };
    let format = CollectionFormat::of(&text, "top");
    let rows = match format {
        CollectionFormat::JsonLines => json_lines(source, errors),
        CollectionFormat::Sgml => {
            let blocks = sgml::blocks(source.path, &text, "top", errors);
            blocks.iter().filter_map(|block| topic(source.path, block, wanted, errors)).collect()
        }
        CollectionFormat::Smart => smart::records(source.path, &text, errors)
            .into_iter()
            .filter(|record| !record.id.is_empty())
            .filter_map(|record| smart_topic(record, errors))
            .collect(),
        CollectionFormat::Other => tsv::topics(source, errors),
    };
    Topics { rows, are_smart: format == CollectionFormat::Smart }
}

fn json_lines(source: SourceBytes<'_>, errors: &mut Vec<InputError>) -> Vec<Topic> {
    let mut topics = Vec::new();
    for row in rows(source, LineEnds::Plain, errors) {
        let fields = Fields::of(source.path, &row);
        let (id, text) = (first_text(&fields, &IDS, errors), first_text(&fields, &TEXTS, errors));
        if let (Some(id), Some(text)) = (id, text) {
            topics.push(Topic { id, text, fields: Json::new(), place: fields.place() });
        }
    }
    topics
}

fn smart_topic(record: smart::SmartRecord, errors: &mut Vec<InputError>) -> Option<Topic> {
    let smart::SmartRecord { id, title: _, text, place } = record;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        errors.push(InputError::new(place, format!("topic {id:?} has no text; expected one in its section `.W`")));
        return None;
    }
    Some(Topic { id, text, fields: Json::new(), place })
}

/// The word that introduces the text of each element in topics of the older collections.
const INTRODUCTIONS: [(&str, &str); 4] =
    [("num", "number:"), ("title", "topic:"), ("desc", "description:"), ("narr", "narrative:")];

fn topic(path: &Path, block: &sgml::Block<'_>, wanted: &[TopicField], errors: &mut Vec<InputError>) -> Option<Topic> {
    let place = Place::line(path, block.line);
    let elements: Vec<(String, String)> = sgml::elements(block)
        .into_iter()
        .map(|(name, text)| {
            let name = name.to_ascii_lowercase();
            let text = decoded(text).split_whitespace().collect::<Vec<_>>().join(" ");
            let introduction = INTRODUCTIONS.iter().find(|(of, _)| *of == name).map(|(_, word)| *word);
            let bare = introduction.and_then(|word| {
                text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).and(text.get(word.len()..))
            });
            let text = strip(bare.unwrap_or(&text)).to_string();
            (name, text)
        })
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let find = |name: &str| elements.iter().find(|(of, _)| of == name).map(|(_, text)| text.as_str());
    let Some(number) = find("num") else {
        errors.push(InputError::new(place, "a `<top>` without a `<num>`; expected one with the topic's number"));
        return None;
    };
    let mut texts = Vec::new();
    for field in wanted {
        match find(field.element()) {
            Some(text) => texts.push(text),
            None => {
                let there: Vec<String> = elements.iter().map(|(name, _)| format!("`<{name}>`")).collect();
                let message =
                    format!("topic {number:?} has no `<{}>`; there are {}", field.element(), there.join(", "));
                errors.push(InputError::new(place, message).hint("say what is asked with `topic_fields`"));
                return None;
            }
        }
    }
    let id = if number.bytes().all(|byte| byte.is_ascii_digit()) { number.trim_start_matches('0') } else { number };
    let known = [TopicField::Title, TopicField::Description, TopicField::Narrative];
    let fields = known.into_iter().filter_map(|field| Some((field.name().to_string(), json!(find(field.element())?))));
    let id = if id.is_empty() { number } else { id };
    Some(Topic { id: id.to_string(), text: texts.join(" "), fields: fields.collect(), place })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_wanted(text: &str, wanted: &[TopicField]) -> (Vec<(String, String)>, Vec<String>) {
        let mut errors = Vec::new();
        let topics = read(SourceBytes { path: Path::new("t"), bytes: text.as_bytes() }, wanted, &mut errors);
        let rows = topics.rows.into_iter().map(|topic| (topic.id, topic.text)).collect();
        (rows, errors.iter().map(ToString::to_string).collect())
    }

    fn pairs(text: &str) -> Vec<(String, String)> {
        let (topics, errors) = read_wanted(text, &[TopicField::Title]);
        assert!(errors.is_empty(), "{errors:?}");
        topics
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(id, text)| (id.to_string(), text.to_string())).collect()
    }

    #[test]
    fn every_format_is_read() {
        assert_eq!(
            pairs("qid\tquery\n1\thigh tide\n 2 \t low\ttide \n"),
            owned(&[("1", "high tide"), ("2", "low\ttide")])
        );
        let lines = "{\"qid\": 1, \"query\": \"high\"}\n{\"_id\": \"b\", \"text\": \"low\"}\n";
        assert_eq!(pairs(lines), owned(&[("1", "high"), ("b", "low")]));
        assert_eq!(
            pairs(".I 001\r\n.W\r\nhigh\r\ntide .\r\n.I 004\r\n.W\r\nlow\r\n"),
            owned(&[("001", "high tide ."), ("004", "low")])
        );
    }

    const TOPICS: &str = "<top>\n<num> Number: 051\n<title> Topic: High tide\n\n<desc> Description:\nWhen is\nit high?\n\n<narr> Narrative:\nAT&amp;T.\n</top>\n\
                          <top><num>52</num><title>Low</title><desc>When?</desc></top>";

    #[test]
    fn what_is_asked_of_trecs_topics_is_chosen() {
        assert_eq!(pairs(TOPICS), owned(&[("51", "High tide"), ("52", "Low")]));
        let (both, errors) = read_wanted(TOPICS, &[TopicField::Title, TopicField::Description]);
        assert!(errors.is_empty());
        assert_eq!(both, owned(&[("51", "High tide When is it high?"), ("52", "Low When?")]));
        let (_, errors) = read_wanted(TOPICS, &[TopicField::Narrative]);
        assert_eq!(errors, ["t:12: topic \"52\" has no `<narr>`; there are `<num>`, `<title>`, `<desc>`"]);
        let topics =
            read(SourceBytes { path: Path::new("t"), bytes: TOPICS.as_bytes() }, &[TopicField::Title], &mut Vec::new());
        assert_eq!(topics.rows[0].fields["narrative"], "AT&T.");
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        for (text, expected) in [
            ("1\thigh\nlow\n", "t:2: expected an id, a tab and the text of a topic, found no tab"),
            // A bare carriage return ends a line here as everywhere.
            ("1\thigh\rtide\n", "t:2: expected an id, a tab and the text of a topic, found no tab"),
            ("1\t \n", "t:1: the topic's text is blank"),
            ("{\"qid\": 1}\n", "t:1: `text` is missing; expected a text"),
            (".I 1\n.W\n\n", "t:1: topic \"1\" has no text; expected one in its section `.W`"),
            ("<top>\n<title>x\n</top>", "t:1: a `<top>` without a `<num>`; expected one with the topic's number"),
            ("<top>\n<num>1<title>x", "t:1: `<top>` without `</top>` after it"),
        ] {
            let (_, errors) = read_wanted(text, &[TopicField::Title]);
            assert_eq!(errors, [expected], "{text:?}");
        }
    }
}
