//! One case before its evaluator: what it may see, and the digest of that.

use ragstage_cache::key::walk_json;
use ragstage_cache::{Digest, KeyHasher, KeyVisitor};

use super::evaluator::{CaseView, Evaluator, Reads, ResponseView};
use crate::artifact::{Answer, Gold, Hit, Score};
use crate::error::{DecodeError, RowError};

/// One case with what the evaluator may see of it, or why there is nothing to see.
pub(crate) struct Case<'a> {
    pub(crate) gold: &'a Gold,
    pub(crate) query: &'a str,
    pub(crate) hits: &'a [Hit],
    pub(crate) answer: Option<&'a Answer>,
    pub(crate) upstream: Option<&'a RowError>,
}

impl Case<'_> {
    /// The score that `evaluator` gives.
    pub(crate) fn evaluate(&self, evaluator: &dyn Evaluator) -> Result<Score, RowError> {
        let case = CaseView { case_id: &self.gold.case_id, query: self.query, gold: self.gold };
        let response = ResponseView {
            results: self.hits,
            answer: self.answer.and_then(|answer| answer.text.as_deref()),
            citations: self.answer.map(|answer| answer.citations.as_slice()).unwrap_or_default(),
        };
        evaluator.evaluate(&case, &response)
    }

    /// The row's key: all that the score depends on beyond the evaluator.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub(crate) fn key(&self, reads: Reads) -> Result<Digest, DecodeError> {
        let gold = self.gold.digest()?;
        let mut v = KeyHasher::new();
        v.begin_record("", "ragstage.score.row");
        v.digest("gold", &gold);
        if reads.question {
            v.text("question", self.query);
        }
        if reads.results {
            v.begin_list("results", self.hits.len());
            for hit in self.hits {
                walk_hit(&mut v, hit);
            }
            v.end();
        }
        if reads.answer {
            walk_answer(&mut v, self.answer);
        }
        v.end();
        Ok(v.finish())
    }
}

fn walk_hit(v: &mut dyn KeyVisitor, hit: &Hit) {
    let Hit { id, text, score, kind, source, metadata } = hit;
    v.begin_record("", "hit");
    v.text("id", id);
    v.text("text", text);
    match score {
        Some(score) => v.float("score", *score),
        None => v.null("score"),
    }
    v.text("kind", kind);
    for (name, map) in [("source", source), ("metadata", metadata)] {
        v.begin_record(name, "object");
        map.iter().for_each(|(key, value)| walk_json(v, key, value));
        v.end();
    }
    v.end();
}

fn walk_answer(v: &mut dyn KeyVisitor, answer: Option<&Answer>) {
    let text = answer.and_then(|answer| answer.text.as_deref());
    match text {
        Some(text) => v.text("answer", text),
        None => v.null("answer"),
    }
    let citations = answer.map(|answer| answer.citations.as_slice()).unwrap_or_default();
    v.begin_list("citations", citations.len());
    for citation in citations {
        v.begin_record("", "citation");
        v.text("id", &citation.id);
        for (name, value) in [("result_id", &citation.result_id), ("text", &citation.text)] {
            match value {
                Some(value) => v.text(name, value),
                None => v.null(name),
            }
        }
        v.begin_record("source", "object");
        citation.source.iter().for_each(|(key, value)| walk_json(v, key, value));
        v.end();
        v.end();
    }
    v.end();
}
