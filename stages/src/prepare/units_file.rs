//! The units file of the `jsonl` adapter: which documents and cases share a knowledge base.

use std::collections::HashSet;

use super::benchmark::{append_in_line_order, nothing};
use super::fields::Fields;
use super::ids::Ids;
use super::lines::SourceBytes;
use super::rows::rows;
use crate::artifact::{Queries, UnitRows};
use crate::error::{InputError, Place};

/// The units of `source`: rows of `unit_id`, `document_ids`, `case_ids` and `metadata`, where an absent or empty list of ids
/// means all. Every id must exist, and every case must be in some unit: it would never be asked, and nobody would be told.
pub(super) fn read_units(
    source: SourceBytes<'_>,
    documents: &Ids,
    cases: &Ids,
    queries: &Queries,
    errors: &mut Vec<InputError>,
) -> Vec<UnitRows> {
    let mut found = Vec::new();
    let mut ids = Ids::new("unit_id");
    let mut units = Vec::new();
    for row in rows(source, &mut found) {
        let fields = Fields::of(source.path, &row);
        let unit_id = fields.text("unit_id", &mut found);
        if let Some(unit_id) = &unit_id {
            ids.take(unit_id, units.len(), fields.place(), &mut found);
        }
        let document_rows = positions("document", "document_ids", documents, &fields, &mut found);
        let case_rows = positions("case", "case_ids", cases, &fields, &mut found);
        let metadata = fields.object("metadata", &mut found);
        if let Some(unit_id) = unit_id {
            units.push(UnitRows { unit_id, document_rows, case_rows, metadata });
        }
    }
    if units.is_empty() && found.is_empty() {
        let hint = "write one unit per line, or leave `units` out: then one unit holds everything";
        found.push(nothing(Place::file(source.path), "unit", hint));
    }
    if found.is_empty() && units.iter().all(|unit| unit.case_rows.is_some()) {
        let asked: HashSet<u32> = units.iter().filter_map(|unit| unit.case_rows.as_ref()).flatten().copied().collect();
        for (position, query) in (0u32..).zip(&queries.rows) {
            if !asked.contains(&position) {
                let error =
                    InputError::new(Place::file(source.path), format!("no unit holds case {:?}", query.case_id));
                found.push(error.hint("add it to a unit's `case_ids`, or take it out of the cases file"));
            }
        }
    }
    append_in_line_order(errors, found);
    units
}

/// The rows that the ids of `key` name, in the unit's order; `None` means all.
fn positions(what: &str, key: &str, ids: &Ids, fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Vec<u32>> {
    let mut named = HashSet::new();
    let mut rows = Vec::new();
    for id in fields.texts(key, errors) {
        let Some(position) = ids.position(&id) else {
            let error = fields.error(format!("`{key}` names {id:?}; there is no such {what}"));
            errors.push(match ids.alike(&id) {
                Some(other) => error.hint(format!("did you mean {other:?}?")),
                None => error,
            });
            continue;
        };
        if !named.insert(position) {
            errors.push(fields.error(format!("`{key}` names {id:?} twice")));
            continue;
        }
        rows.push(position);
    }
    (!rows.is_empty()).then_some(rows)
}
