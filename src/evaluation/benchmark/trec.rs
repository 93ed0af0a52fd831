//! `benchmark: {adapter: trec}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, TopicField, TrecSpec};

use super::super::name::NAME;
use super::super::shape::{Choice, Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::{path, split, split_of, text};

/// The name of a collection without one.
const DEFAULT_NAME: &str = "trec";

static RELEVANCE: [Choice; 2] = [
    Choice { word: "grades", doc: "A greater number is a higher relevance; 0 and below is none." },
    Choice {
        word: "cranfield",
        doc: "Cranfield's codes: 1 is a complete answer, 4 of minimum interest, 5 of none; -1 is the highest of all.",
    },
];

static QUERY_IDS: [Choice; 2] = [
    Choice { word: "as_written", doc: "The topic that has the number." },
    Choice { word: "position", doc: "The topic at that place in its file, from 1." },
];

static TOPIC_FIELDS: [Choice; 3] = [
    Choice { word: "title", doc: "A few words." },
    Choice { word: "description", doc: "A sentence." },
    Choice { word: "narrative", doc: "What is relevant and what is not." },
];

/// What the adapter accepts.
pub(super) static TREC: Record = Record {
    name: "trec",
    doc: "A test collection: documents, topics and judgements.",
    fields: &[
        Field {
            name: "documents",
            doc: "A file, a folder or a list of them, relative to the evaluation file: JSON lines, TREC's `<DOC>` or SMART's `.I`.",
            shape: Shape::Either(&[TEXT, Shape::List { of: &TEXT, least: 1 }]),
            need: Need::Required,
        },
        Field {
            name: "topics",
            doc: "File of the topics, relative to the evaluation file: TREC's `<top>`, SMART's `.I`, JSON lines, or lines of an id, a \
                  tab and a text.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "qrels",
            doc: "File of the judgements, relative to the evaluation file, in four columns or in three.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "name",
            doc: "Name of the benchmark; of `cranfield` source, licence and citation are known.",
            shape: NAME,
            need: Need::Default("\"trec\""),
        },
        Field { name: "version", doc: "Version of the collection.", shape: TEXT, need: Need::Optional },
        split(TEXT),
        Field {
            name: "relevance",
            doc: "What the numbers of the judgements mean.",
            shape: Shape::Choice(&RELEVANCE),
            need: Need::Default("\"grades\""),
        },
        Field {
            name: "query_ids",
            doc: "What the query numbers of the judgements mean; as written by default, and an error where that is not clear.",
            shape: Shape::Choice(&QUERY_IDS),
            need: Need::Optional,
        },
        Field {
            name: "topic_fields",
            doc: "What of TREC's topics is asked, one after the other.",
            shape: Shape::List { of: &Shape::Choice(&TOPIC_FIELDS), least: 1 },
            need: Need::Default("[\"title\"]"),
        },
        Field { name: "homepage", doc: "Where the collection is from.", shape: TEXT, need: Need::Optional },
        Field { name: "license", doc: "Its licence.", shape: TEXT, need: Need::Optional },
        Field { name: "citation", doc: "How to cite it.", shape: TEXT, need: Need::Optional },
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(view: &View<'_>, base: &Path) -> AdapterSpec {
    let documents = match view.get("documents").texts() {
        Some(paths) => paths.iter().map(|path| base.join(path)).collect(),
        None => path(view, base, "documents").into_iter().collect(),
    };
    let topic_fields = view.get("topic_fields").items().unwrap_or_default();
    let topic_fields: Vec<TopicField> = topic_fields.iter().filter_map(View::choice).collect();
    AdapterSpec::Trec(TrecSpec {
        documents,
        topics: path(view, base, "topics").unwrap_or_default(),
        qrels: path(view, base, "qrels").unwrap_or_default(),
        name: text(view, "name").unwrap_or_else(|| DEFAULT_NAME.to_string()),
        version: text(view, "version"),
        split: split_of(view),
        relevance: view.get("relevance").choice().unwrap_or_default(),
        query_ids: view.get("query_ids").choice(),
        topic_fields,
        homepage: text(view, "homepage"),
        license: text(view, "license"),
        citation: text(view, "citation"),
    })
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::{QueryIds, Relevance};

    use super::super::tests::read;
    use super::*;

    #[test]
    fn trec_with_defaults_and_without() {
        let text = "{adapter: trec, documents: docs, topics: t, qrels: q}";
        let plain = TrecSpec {
            documents: vec!["conf/docs".into()],
            topics: "conf/t".into(),
            qrels: "conf/q".into(),
            name: "trec".to_string(),
            version: None,
            split: "test".to_string(),
            relevance: Relevance::Grades,
            query_ids: None,
            topic_fields: Vec::new(),
            homepage: None,
            license: None,
            citation: None,
        };
        assert_eq!(read(text).map(|spec| spec.adapter), Ok(AdapterSpec::Trec(plain.clone())));
        let text = "{adapter: trec, documents: [a, /b], topics: t, qrels: q, name: cranfield, relevance: cranfield, \
                    query_ids: position, topic_fields: [description, title]}";
        let spec = TrecSpec {
            documents: vec!["conf/a".into(), "/b".into()],
            name: "cranfield".to_string(),
            relevance: Relevance::Cranfield,
            query_ids: Some(QueryIds::Position),
            topic_fields: vec![TopicField::Description, TopicField::Title],
            ..plain
        };
        assert_eq!(read(text).map(|spec| spec.adapter), Ok(AdapterSpec::Trec(spec)));
        assert!(read("{adapter: trec, documents: [], topics: t, qrels: q}").is_err());
        assert!(read("{adapter: trec, documents: d, topics: t, qrels: q, relevance: high}").is_err());
    }
}
