//! The units file of the `jsonl` adapter: which documents and cases share a knowledge base.

use std::collections::HashSet;
use std::path::Path;

use super::benchmark::{append_in_line_order, nothing};
use super::fields::Fields;
use super::ids::Ids;
use super::keys::UNIT;
use super::lines::{LineEnds, SourceBytes};
use super::rows::{Row, rows};
use crate::artifact::{Queries, UnitRows};
use crate::error::{InputError, Place};

/// The units of `source`: rows of `unit_id`, `document_ids`, `case_ids` and `metadata`, where an absent or empty list of ids
/// means all. Every id must exist, and every case must be in some unit: it would never be asked, and nobody would be told.
/// Both are left unchecked where other files have `errors` already, for then ids are missing that would be there.
pub(super) fn read_units(
    source: SourceBytes<'_>,
    documents: &Ids,
    cases: &Ids,
    queries: &Queries,
    errors: &mut Vec<InputError>,
) -> Vec<UnitRows> {
    let mut found = Vec::new();
    let rows = rows(source, LineEnds::Json, &mut found);
    units_in(source.path, &rows, &UnitParts { documents, cases, queries }, found, errors)
}

/// What units are made of.
pub(super) struct UnitParts<'a> {
    /// The ids of the documents.
    pub(super) documents: &'a Ids,
    /// The ids of the cases.
    pub(super) cases: &'a Ids,
    /// The cases.
    pub(super) queries: &'a Queries,
}

/// The units in `rows` of the file `path`, of which `found` is what is known to be wrong so far.
pub(super) fn units_in(
    path: &Path,
    rows: &[Row],
    parts: &UnitParts<'_>,
    mut found: Vec<InputError>,
    errors: &mut Vec<InputError>,
) -> Vec<UnitRows> {
    let complete = errors.is_empty();
    let mut ids = Ids::new("unit_id");
    let mut units = Vec::new();
    for row in rows {
        let fields = Fields::of(path, row).checked(&UNIT, &mut found);
        let unit_id = fields.text("unit_id", &mut found);
        if let Some(unit_id) = &unit_id {
            ids.take(unit_id, units.len(), fields.place(), &mut found);
        }
        let mut dangling = Vec::new();
        let document_rows = positions(&fields, "document_ids", parts.documents, &mut dangling, &mut found);
        let case_rows = positions(&fields, "case_ids", parts.cases, &mut dangling, &mut found);
        if complete {
            found.append(&mut dangling);
        }
        let metadata = fields.object("metadata", &mut found);
        if let Some(unit_id) = unit_id {
            units.push(UnitRows { unit_id, document_rows, case_rows, metadata });
        }
    }
    if units.is_empty() && found.is_empty() {
        let hint = "write one unit per line, or leave `units` out: then one unit holds everything";
        found.push(nothing(Place::file(path), "unit", hint));
    }
    if complete && found.is_empty() && units.iter().all(|unit| unit.case_rows.is_some()) {
        let asked: HashSet<u32> = units.iter().filter_map(|unit| unit.case_rows.as_ref()).flatten().copied().collect();
        for (position, query) in (0u32..).zip(&parts.queries.rows) {
            if !asked.contains(&position) {
                let error = InputError::new(Place::file(path), format!("no unit holds case {:?}", query.case_id));
                found.push(error.hint("add it to a unit's `case_ids`, or take it out of the cases file"));
            }
        }
    }
    append_in_line_order(errors, found);
    units
}

/// The rows that the ids of `key` name, in the unit's order; `None` means all. Ids that name nothing go to `dangling`.
fn positions(
    fields: &Fields<'_>,
    key: &str,
    ids: &Ids,
    dangling: &mut Vec<InputError>,
    errors: &mut Vec<InputError>,
) -> Option<Vec<u32>> {
    let mut named = HashSet::new();
    let mut rows = Vec::new();
    for id in fields.texts(key, errors) {
        let Some(position) = ids.position(&id) else {
            let error = fields.error(format!("`{key}` names {id:?}, which is no {}", ids.field()));
            dangling.push(match ids.alike(&id) {
                Some(other) => error.hint(format!("did you mean {other:?}?")),
                None => error.hint("ids are those of the documents and cases files"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Query;

    fn read(text: &str) -> Result<Vec<UnitRows>, Vec<String>> {
        let mut errors = Vec::new();
        let ids = |field, ids: [&str; 2]| {
            let mut taken = Ids::new(field);
            for (i, id) in ids.iter().enumerate() {
                taken.take(id, i, Place::line("f", i as u64 + 1), &mut Vec::new());
            }
            taken
        };
        let query = |id: &str| Query { case_id: id.into(), text: "q".into(), category: None };
        let units = read_units(
            SourceBytes { path: Path::new("units.jsonl"), bytes: text.as_bytes() },
            &ids("document_id", ["d1", "d2"]),
            &ids("case_id", ["c1", "c2"]),
            &Queries { rows: vec![query("c1"), query("c2")] },
            &mut errors,
        );
        if errors.is_empty() { Ok(units) } else { Err(errors.iter().map(ToString::to_string).collect()) }
    }

    #[test]
    fn ids_become_positions_and_none_means_all() {
        let units = read(concat!(
            "{\"unit_id\": \"u1\", \"document_ids\": [\"d2\", \"d1\"], \"case_ids\": [\"c2\"]}\n",
            "{\"unit_id\": \"u2\", \"document_ids\": [], \"metadata\": {\"k\": 1}}\n",
        ))
        .unwrap();
        assert_eq!((&units[0].document_rows, &units[0].case_rows), (&Some(vec![1, 0]), &Some(vec![1])));
        assert_eq!((&units[1].document_rows, &units[1].case_rows), (&None, &None));
        assert_eq!(units[1].metadata["k"], 1);
    }

    #[test]
    fn every_unknown_key_is_an_error() {
        let text = "{\"unit_id\": \"u\", \"documents\": [\"d1\"], \"note\": 1}\n";
        let errors = read(text).unwrap_err();
        assert_eq!(errors, ["units.jsonl:1: unknown key `documents`", "units.jsonl:1: unknown key `note`"]);
    }

    #[test]
    fn dangling_ids_and_forgotten_cases_are_errors() {
        let text = "{\"unit_id\": \"u\", \"document_ids\": [\"D1\", \"d2\", \"d2\"], \"case_ids\": \"c1\"}\n";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "units.jsonl:1: `document_ids` names \"d2\" twice",
                "units.jsonl:1: `case_ids` is the text \"c1\"; expected a list",
                "units.jsonl:1: `document_ids` names \"D1\", which is no document_id",
            ]
        );
        assert_eq!(
            read("{\"unit_id\": \"u\", \"case_ids\": [\"c1\"]}\n").unwrap_err(),
            ["units.jsonl: no unit holds case \"c2\""]
        );
        assert_eq!(read("").unwrap_err(), ["units.jsonl: expected at least one unit, found none"]);
    }
}
