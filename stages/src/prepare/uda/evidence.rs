//! Where the answers of UDA-Benchmark's questions are, as its extended files say.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::fields::Fields;
use super::extended::{Entry, Extended};
use super::subset::UdaSubset;
use crate::artifact::{Evidence, Json};
use crate::error::InputError;
use crate::python::strip;

/// The document that evidence is in.
pub(super) struct Within<'a> {
    pub(super) doc_name: &'a str,
    /// What the keys of its files begin with.
    pub(super) prefix: &'a str,
}

impl Within<'_> {
    fn piece(&self, name: &str, text: &str) -> Evidence {
        Evidence {
            reference_id: Some(name.to_string()),
            locator: Json::from_iter([("source_key_prefix".to_string(), json!(self.prefix))]),
            text: Some(text.to_string()),
            metadata: Json::from_iter([
                ("doc_name".to_string(), json!(self.doc_name)),
                ("evidence_name".to_string(), json!(name)),
            ]),
        }
    }
}

/// The pieces of evidence of `entry`, each text once.
pub(super) fn evidence(
    subset: UdaSubset,
    extended: &Extended,
    entry: &Entry,
    within: &Within<'_>,
    errors: &mut Vec<InputError>,
) -> Vec<Evidence> {
    let fields = extended.fields(entry);
    let texts = match subset {
        UdaSubset::Fin => sentences(&fields, errors),
        UdaSubset::Tat => facts(&fields, errors),
        UdaSubset::PaperText | UdaSubset::PaperTab => passages(&fields, errors),
        UdaSubset::Feta => cells(&fields, entry, errors),
        UdaSubset::Nq => Vec::new(),
    };
    let mut known = HashSet::new();
    let mut pieces = Vec::new();
    for (name, text) in texts {
        let text = strip(&text);
        if !text.is_empty() && known.insert(text.to_string()) {
            pieces.push(within.piece(&name, text));
        }
    }
    pieces
}

/// FinQA: sentences of the report, and rows of tables made into sentences, by names such as `table_2`.
fn sentences(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<(String, String)> {
    let Some(evidence) = fields.nested("evidence", errors) else { return Vec::new() };
    let names: Vec<String> = evidence.keys().map(str::to_string).collect();
    names.into_iter().filter_map(|name| Some((name.clone(), evidence.verbatim(&name, errors)?))).collect()
}

/// TAT-QA: the words and figures that the answer is made of.
fn facts(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<(String, String)> {
    let facts = fields.list("facts", errors);
    let fact = |(name, item): (String, &Value)| match item {
        Value::String(text) if strip(text).is_empty() => None,
        item => fields.item(&name, item, errors),
    };
    (1..).zip(facts.into_iter().filter_map(fact)).map(|(number, text)| (format!("fact_{number}"), text)).collect()
}

/// Qasper: the paragraphs that an annotator found, and captions of the tables that he did.
fn passages(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Vec<(String, String)> {
    const OF_A_TABLE: &str = "FLOAT SELECTED:";
    let mut passages = Vec::new();
    for (name, item) in fields.list("evidence", errors) {
        let Some(of_annotator) = fields.as_fields(name, item, errors) else { continue };
        for (name, item) in of_annotator.list("raw_evidence", errors) {
            if matches!(item, Value::String(text) if strip(text).is_empty()) {
                continue;
            }
            if let Some(text) = of_annotator.item(&name, item, errors) {
                let text = text.strip_prefix(OF_A_TABLE).unwrap_or(&text).to_string();
                passages.push((format!("passage_{}", passages.len() + 1), text));
            }
        }
    }
    passages
}

/// FeTaQA: the cells of the page's table that the sentence is made of.
fn cells(fields: &Fields<'_>, entry: &Entry, errors: &mut Vec<InputError>) -> Vec<(String, String)> {
    if fields.value("evidence").is_none() {
        return Vec::new();
    }
    let evidence = entry.value("evidence");
    let (Some(table), Some(highlighted)) =
        (evidence["table_array"].as_array(), evidence["highlighted_cell_ids"].as_array())
    else {
        let message = "the `evidence` is no object with the lists `table_array` and `highlighted_cell_ids`";
        errors.push(fields.error(message).hint("fetch the file again"));
        return Vec::new();
    };
    let mut cells = Vec::new();
    for id in highlighted {
        let position = |at: usize| id.get(at)?.as_u64().and_then(|at| usize::try_from(at).ok());
        let at = position(0).zip(position(1));
        let cell = at.and_then(|(row, column)| table.get(row)?.get(column)).and_then(Value::as_str);
        match (at, cell) {
            (Some((row, column)), Some(cell)) => cells.push((format!("cell_{row}_{column}"), cell.to_string())),
            _ => {
                let message = format!("`highlighted_cell_ids` names the cell {id}, which `table_array` does not have");
                errors.push(fields.error(message).hint("a cell is [row, column], both from 0"));
            }
        }
    }
    cells
}
