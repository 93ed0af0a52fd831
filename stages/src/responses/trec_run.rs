//! A TREC run as responses: documents without text, ranked as trec_eval ranks them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::response::Response;
use crate::artifact::{Hit, Json};
use crate::error::{InputError, Place};
use crate::score::trec_order;

/// The responses of a file: one per query, in the order of the queries' first lines.
///
/// The rank column means nothing: scores order, equal ones by document id ([`trec_order`]).
///
/// # Errors
/// All lines that are no entry of a run, and documents that a query has twice, which trec_eval refuses too.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<(u64, Response)>, Vec<InputError>> {
    let mut errors = Vec::new();
    let mut order: Vec<(u64, &str)> = Vec::new();
    let mut run: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1u64..) {
        let fault = |message: String| InputError::new(Place::line(path, number), message);
        let Ok(text) = std::str::from_utf8(line) else {
            errors.push(fault("not UTF-8".to_string()).hint("save the file as UTF-8"));
            continue;
        };
        let cells: Vec<&str> = text.split_ascii_whitespace().collect();
        let [query, _, document, _, score, _] = cells[..] else {
            if !cells.is_empty() {
                let message =
                    format!("expected six cells (query, Q0, document, rank, score, tag), found {}", cells.len());
                errors.push(fault(message));
            }
            continue;
        };
        match score.parse::<f64>() {
            Ok(score) if !score.is_nan() => {
                if !seen.insert((query, document)) {
                    errors.push(fault(format!("document {document:?} is there a second time for query {query:?}")));
                    continue;
                }
                let documents = run.entry(query).or_insert_with(|| {
                    order.push((number, query));
                    Vec::new()
                });
                documents.push((score, document));
            }
            _ => errors.push(fault(format!("expected a score, found {score:?}"))),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let response = |(number, query): (u64, &str)| {
        let mut documents = run.remove(query).unwrap_or_default();
        documents.sort_by(|a, b| trec_order((a.0, a.1.as_bytes()), (b.0, b.1.as_bytes())));
        let mut response = Response { case_id: query.to_string(), ..Response::default() };
        response.results = documents.into_iter().map(|(score, document)| hit(score, document)).collect();
        (number, response)
    };
    Ok(order.into_iter().map(response).collect())
}

fn hit(score: f64, document: &str) -> Hit {
    Hit {
        id: document.to_string(),
        text: "".into(),
        score: Some(score),
        kind: "document".to_string(),
        source: Arc::new(Json::from_iter([("document_id".to_string(), document.into())])),
        metadata: Json::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_order_and_nothing_else() {
        let text = "q2 Q0 a 1 1.0 t\nq1 Q0 x 1 2e0 t\nq2 Q0 b 2 1.0 t\nq2\tQ0\tc\t9\t+3\tt\r\n";
        let run = read(Path::new("r.trec"), text.as_bytes()).expect("a run");
        let ids = |i: usize| run[i].1.results.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>();
        assert_eq!((run[0].1.case_id.as_str(), ids(0)), ("q2", vec!["c", "b", "a"]));
        assert_eq!((run[1].0, ids(1)), (2, vec!["x"]));
    }

    #[test]
    fn faults_have_a_line() {
        let text = "q Q0 a 1 1.0 t\nq Q0 b 1 high t\nq Q0 a 2 0.5 t\nq Q0 c 3 0.1\nq Q0 d 1 nan t\n";
        let errors = read(Path::new("r.trec"), text.as_bytes()).expect_err("faults");
        let told: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.place, error.message)).collect();
        assert_eq!(
            told,
            [
                "r.trec:2: expected a score, found \"high\"",
                "r.trec:3: document \"a\" is there a second time for query \"q\"",
                "r.trec:4: expected six cells (query, Q0, document, rank, score, tag), found 5",
                "r.trec:5: expected a score, found \"nan\"",
            ]
        );
    }
}
