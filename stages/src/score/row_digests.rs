//! Digests of the rows that evaluators read: what the keys of their scores are made of.
//!
//! Hashing what was found costs more than most evaluators, so it is done once per artifact and not once per evaluator.

use std::sync::Arc;

use ragstage_cache::key::walk_json;
use ragstage_cache::{Digest, KeyHasher, KeyVisitor};
use rayon::prelude::*;

use crate::artifact::{Answer, Answers, Citation, Gold, Golds, Hit, Results, Retrieved};
use crate::contract::{Context, derived};
use crate::error::StageError;
use crate::step::Step;

/// Digests of the rows of a gold artifact.
pub(super) struct GoldDigests(pub(super) Vec<Digest>);

impl GoldDigests {
    /// Those of `golds`, the artifact `digest`.
    pub(super) fn read(context: &dyn Context, digest: &Digest, golds: &Golds) -> Result<Arc<Self>, StageError> {
        derived(context, Step::Score, digest, &|| {
            let digests = golds.rows.par_iter().map(Gold::digest).collect::<Result<_, _>>();
            digests.map(GoldDigests).map_err(|error| StageError::encode(Step::Score, error))
        })
    }
}

/// Digests of the hits in each row of a results artifact.
pub(super) struct HitDigests(pub(super) Vec<Digest>);

impl HitDigests {
    /// Those of `results`, the artifact `digest`.
    pub(super) fn read(context: &dyn Context, digest: &Digest, results: &Results) -> Result<Arc<Self>, StageError> {
        let of = |row: &Retrieved| {
            let mut v = KeyHasher::new();
            v.begin_list("results", row.results.len());
            row.results.iter().for_each(|hit| walk_hit(&mut v, hit));
            v.end();
            v.finish()
        };
        derived(context, Step::Score, digest, &|| Ok(HitDigests(results.rows.par_iter().map(of).collect())))
    }
}

/// Digests of what is read of each row of an answers artifact.
pub(super) struct AnswerDigests(pub(super) Vec<Digest>);

impl AnswerDigests {
    /// Those of `answers`, the artifact `digest`.
    pub(super) fn read(context: &dyn Context, digest: &Digest, answers: &Answers) -> Result<Arc<Self>, StageError> {
        let of = |row: &Answer| {
            let mut v = KeyHasher::new();
            walk_answer(&mut v, row);
            v.finish()
        };
        derived(context, Step::Score, digest, &|| Ok(AnswerDigests(answers.rows.par_iter().map(of).collect())))
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
    for (name, map) in [("source", &**source), ("metadata", metadata)] {
        v.begin_record(name, "object");
        map.iter().for_each(|(key, value)| walk_json(v, key, value));
        v.end();
    }
    v.end();
}

fn walk_answer(v: &mut dyn KeyVisitor, answer: &Answer) {
    let Answer { case_id: _, text, citations, samples, refused: _, metadata: _, error: _ } = answer;
    v.begin_record("", "answer");
    match text {
        Some(text) => v.text("text", text),
        None => v.null("text"),
    }
    walk_citations(v, citations);
    if !samples.is_empty() {
        v.begin_list("samples", samples.len());
        for sample in samples {
            v.begin_record("", "sample");
            v.text("text", &sample.text);
            walk_citations(v, &sample.citations);
            v.end();
        }
        v.end();
    }
    v.end();
}

fn walk_citations(v: &mut dyn KeyVisitor, citations: &[Citation]) {
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
