//! `run`: what Heta's runner is told of a run (spec/heta 1, BenchmarkRunConfig; 3, inputs of the runner).
//!
//! How queries ask by default, how many at once, and what the report says of the run and where else it is kept.

use ragstage_stages::aggregate::{RunInfo, refuse_knowledge_base_name, refuse_report_id};
use ragstage_stages::nearest::nearest;
use ragstage_stages::python::strip;

use super::check::did_you_mean;
use super::diagnostic::Faults;
use super::limits::Limits;
use super::mode::mode_options;
use super::node::{Entry, Node, Value};
use super::shape::{Field, Need, Record, Refusal, Shape, TEXT, TextRule};
use super::view::View;

/// The name of a knowledge base.
const KNOWLEDGE_BASE_NAME: Shape = Shape::Text(&TextRule {
    expected: "the name of a knowledge base",
    pattern: Some(r"\S"),
    refuse: |text| {
        let hint = "names of knowledge bases are of letters, digits, spaces, `_` and `-`";
        refuse_knowledge_base_name(text).map(|message| Refusal { message, hint: Some(hint.to_string()) })
    },
});

/// The id of a report.
const REPORT_ID: Shape = Shape::Text(&TextRule {
    expected: "an id of a report",
    pattern: Some(r"\S"),
    refuse: |text| {
        let hint = "a slash makes folders, and nothing is kept outside of them";
        refuse_report_id(text).map(|message| Refusal { message, hint: Some(hint.to_string()) })
    },
});

/// What `run` accepts.
pub(super) static RUN: Record = Record {
    name: "run",
    doc: "How queries ask by default, and what Heta's report says of the run: the fields of its BenchmarkRunConfig.",
    fields: &[
        Field {
            name: "knowledge_base_name",
            doc: "What the names of knowledge bases begin with in the report; the evaluation's name by default.",
            shape: KNOWLEDGE_BASE_NAME,
            need: Need::Optional,
        },
        Field {
            name: "top_k",
            doc: "How many results are asked for by queries that do not say.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Default("10"),
        },
        Field {
            name: "query_options",
            doc: "Options of all queries; those of a query's own win. A mode of a knowledge base takes those that it has, a \
                  system under test is given all.",
            shape: Shape::Free,
            need: Need::Default("{}"),
        },
        Field {
            name: "trace",
            doc: "Whether what modes do is kept, step by step, for queries that do not say.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        Field {
            name: "persist_report",
            doc: "Whether report.json is also kept in the object store, under the key that Heta gives it.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        Field {
            name: "object_store",
            doc: "The folder that is the object store, relative to this file; the folder of the report files by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "max_concurrent_queries",
            doc: "Calls of systems under test in flight, as `limits.queries.concurrency`; in no key.",
            shape: Shape::Int { min: 1, max: 1024 },
            need: Need::Default("8"),
        },
        Field {
            name: "report_id",
            doc: "The report's id; by default one that stays the same for the same evaluation.",
            shape: REPORT_ID,
            need: Need::Optional,
        },
        Field {
            name: "metadata",
            doc: "Your own fields of the report's metadata.",
            shape: Shape::Free,
            need: Need::Default("{}"),
        },
    ],
    together: &[],
};

/// Options of Heta's modes that are called otherwise here, and what they are.
const HETA_OPTIONS: [(&str, &str); 6] = [
    ("candidate_top_k", "`candidates`"),
    ("hybrid_weights", "the `weight` of an entry of `modes`"),
    ("relation_expand_limit", "`expand_limit`"),
    ("evidence_top_k", "`evidence_limit`"),
    ("max_rounds", "`rounds`"),
    ("generate_answer", "`answer`, beside `queries`,"),
];

/// What a report is told, as a checked `run` has it.
pub(super) fn convert(view: &View<'_>) -> RunInfo {
    let text = |key: &str| view.get(key).text().map(|text| strip(text).to_string());
    RunInfo {
        knowledge_base_name: text("knowledge_base_name"),
        report_id: text("report_id"),
        persist_report: view.get("persist_report").bool().unwrap_or(false),
        metadata: view.get("metadata").json().unwrap_or_default(),
    }
}

/// Lets `max_concurrent_queries` of a checked `run` be the limit that `limits.queries` is; reports where they say different things.
pub(super) fn limit(view: &View<'_>, limits_view: &View<'_>, limits: &mut Limits, faults: &mut Faults) {
    let at_once = view.get("max_concurrent_queries");
    let Some(most) = at_once.int::<usize>() else { return };
    let given = limits_view.get("queries").get("concurrency");
    match given.int::<usize>() {
        Some(other) if other != most => {
            let message = format!("expected the same as `limits.queries.concurrency`, which is {other}, found {most}");
            faults.add_hint(at_once.start(), &at_once.path, message, "keep one of the two".to_string());
        }
        _ => limits.queries.concurrency = most,
    }
}

/// What queries ask by where they do not say, out of a checked `run`.
pub(super) struct QueryDefaults {
    /// `top_k` and `trace`, as far as they are given.
    plain: Vec<Entry>,
    /// The entries of `query_options`.
    options: Vec<Entry>,
    /// Which of those some query has taken.
    taken: Vec<bool>,
    /// The modes of knowledge bases that were offered them.
    modes: Vec<&'static str>,
}

impl QueryDefaults {
    /// What `view`, a checked `run`, says.
    pub(super) fn of(view: &View<'_>) -> Self {
        let plain = view.entries().iter().filter(|entry| {
            matches!(entry.key.as_str(), "top_k" | "trace") && !matches!(entry.value.value, Value::Null | Value::Faulty)
        });
        let options = view.get("query_options").entries().to_vec();
        QueryDefaults { plain: plain.cloned().collect(), taken: vec![false; options.len()], options, modes: Vec::new() }
    }

    /// The query at `item` with what it does not say itself. Where a knowledge base that is built here is asked, only the options
    /// that `mode` has are given to it.
    pub(super) fn fill(&mut self, item: &View<'_>, mode: &str, is_built: bool) -> Option<Node> {
        let mut node = item.copied()?;
        let Value::Map(entries) = &mut node.value else { return Some(node) };
        for entry in &self.plain {
            put(entries, entry);
        }
        let known = is_built.then(|| mode_options(mode)).flatten();
        if self.options.is_empty() || is_built && known.is_none() {
            // A mode that there is not is told elsewhere, and nothing is known of its options.
            self.taken.iter_mut().for_each(|taken| *taken = true);
            return Some(node);
        }
        let mut given = Vec::new();
        for (entry, taken) in self.options.iter().zip(&mut self.taken) {
            if known.as_ref().is_none_or(|known| known.contains(&entry.key.as_str())) {
                *taken = true;
                given.push(entry);
            }
        }
        self.modes.extend(known.into_iter().flatten());
        let Some(first) = given.first() else { return Some(node) };
        let start = first.start;
        match entries.iter_mut().find(|entry| entry.key == "options" && entry.value.value != Value::Null) {
            Some(Entry { value: Node { value: Value::Map(own), .. }, .. }) => {
                given.iter().for_each(|entry| put(own, entry))
            }
            // What is faulty has been told.
            Some(_) => {}
            None => {
                entries.retain(|entry| entry.key != "options");
                let value = Node { start, value: Value::Map(given.into_iter().cloned().collect()) };
                entries.push(Entry { key: "options".to_string(), start, value });
            }
        }
        Some(node)
    }

    /// Reports options that no query has taken.
    pub(super) fn finish(self, view: &View<'_>, faults: &mut Faults) {
        let untaken = self.options.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        for (entry, _) in untaken {
            let message = format!("no mode of `queries` has the option `{}`", entry.key);
            let theirs = HETA_OPTIONS.iter().find(|(name, _)| *name == entry.key);
            let hint = match theirs {
                Some((name, ours)) => Some(format!("Heta's `{name}` is {ours} here")),
                None => nearest(&entry.key, self.modes.iter().copied()).map(did_you_mean),
            };
            faults.add_hint(entry.start, &view.get("query_options").path, message, hint);
        }
    }
}

/// Adds `entry` unless there is one of its key with a value.
fn put(entries: &mut Vec<Entry>, entry: &Entry) {
    match entries.iter_mut().find(|own| own.key == entry.key) {
        Some(own) if own.value.value == Value::Null => *own = entry.clone(),
        Some(_) => {}
        None => entries.push(entry.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<RunInfo, Vec<String>> {
        checked(text, &Shape::Record(&RUN), |view, _| convert(view))
    }

    #[test]
    fn nothing_said_is_nothing_told() {
        assert_eq!(read("{}").unwrap(), RunInfo::default());
        assert_eq!(read(&spelled_out(RUN.fields)).unwrap(), RunInfo::default());
    }

    #[test]
    fn every_field_for_the_report_is_read() {
        let text = "{knowledge_base_name: ' Demo KB-v1 ', report_id: a/b, persist_report: true, metadata: {team: x}}";
        let run = read(text).unwrap();
        assert_eq!((run.knowledge_base_name.as_deref(), run.report_id.as_deref()), (Some("Demo KB-v1"), Some("a/b")));
        assert!(run.persist_report && run.metadata["team"] == "x");
    }

    #[test]
    fn fields_have_the_bounds_of_the_reference_system() {
        assert_eq!(
            read("{top_k: 0, max_concurrent_queries: 0, report_id: '../x', knowledge_base_name: a.b, topk: 1}")
                .unwrap_err(),
            [
                "1:9 top_k: expected a whole number from 1 to 10000, found 0",
                "1:36 max_concurrent_queries: expected a whole number from 1 to 1024, found 0",
                "1:50 report_id: expected an id of a report, found `..` in it [a slash makes folders, and nothing is kept \
                 outside of them]",
                "1:79 knowledge_base_name: expected the name of a knowledge base, found the character '.' in it [names of \
                 knowledge bases are of letters, digits, spaces, `_` and `-`]",
                "1:84 : unknown key `topk` [did you mean `top_k`?]",
            ]
        );
        assert!(read("{report_id: '  '}").is_err());
    }
}
