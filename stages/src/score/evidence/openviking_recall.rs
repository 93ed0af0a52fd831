//! `openviking_recall`: recall as OpenViking's benchmark computes it (spec/openviking 6.3), to compare with its reports.
//!
//! The texts of all results, or of the first k, are joined by one space each. A piece is found when that holds its text to
//! the letter, and else when its text has at least `minimum` different words (spec/openviking 6.1) of which a share of at
//! least `threshold` is there, in any order and in whatever results. Every piece counts, repeated ones too.
//!
//! What follows from that, and is kept: an id such as `D2:3` is found in `D2:31`; an empty text is found in anything; long
//! results come by the words of a piece by chance. And a case without evidence is no skipped one: it counts as 0, and so
//! lowers the mean. [`EVIDENCE_RECALL`](super::EVIDENCE_RECALL) with `match=text,text=cover` has none of this: there one
//! result must hold the words.
//!
//! Where results have ids and no texts, as in OpenViking's own `generated_answers.json`, it is the recall that the file states of
//! them, and where it states none the case is skipped.
//!
//! Evidence is a list of texts there: of a piece without a text the reference id is taken for one, and a piece that has
//! neither is never found.

use std::sync::OnceLock;

use ragstage_cache::KeyVisitor;

use super::parameters::{MINIMUM, THRESHOLD};
use super::token_cover::{TokenCover, TokenSet};
use crate::artifact::{Hit, Json, STATED_RECALL, Score, ScoreValue};
use crate::error::RowError;
use crate::score::definition::{CutoffRule, Definition};
use crate::score::evaluator::{CaseView, Description, Evaluator, Reads, ResponseView};
use crate::score::identity::Identity;
use crate::score::ranking::top;
use crate::score::textless::{WITHOUT_TEXTS, are_textless};

pub(crate) static OPENVIKING_RECALL: Definition = Definition {
    name: "openviking_recall",
    pretty: "Recall of OpenViking's benchmark",
    description: "share of the pieces of gold evidence whose text, or most of its words, all results together hold; a case \
                  without evidence counts as 0",
    citation: None,
    higher_is_better: true,
    other_names: &["soft_recall"],
    cutoff: CutoffRule::Optional,
    parameters: &[MINIMUM, THRESHOLD],
    code_version: 2,
    build: |identity| {
        let cover = TokenCover::of(&identity);
        Ok(Box::new(OpenVikingRecall { identity, cover }))
    },
};

struct OpenVikingRecall {
    identity: Identity,
    cover: TokenCover,
}

impl Evaluator for OpenVikingRecall {
    fn name(&self) -> String {
        self.identity.to_string()
    }

    fn describe(&self) -> Description {
        self.identity.describe()
    }

    fn reads(&self) -> Reads {
        Reads { results: true, ..Reads::default() }
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.identity.walk(v);
    }

    fn evaluate(&self, case: &CaseView, response: &ResponseView) -> Result<Score, RowError> {
        let evidence = &case.gold.evidence;
        if !evidence.is_empty() && are_textless(response.results) {
            // What the file states is the recall of all results, by the usual rules.
            let as_there = self.identity.cutoff.is_none() && self.identity.changed("").is_empty();
            return Ok(if as_there { stated(response.results) } else { Score::skipped(WITHOUT_TEXTS) });
        }
        let texts: Vec<&str> = top(response.results, self.identity.cutoff).iter().map(|hit| &*hit.text).collect();
        let joined = texts.join(" ");
        let words: OnceLock<TokenSet> = OnceLock::new();
        let is_there = |text: &str| {
            joined.contains(text) || self.cover.covers(words.get_or_init(|| TokenSet::of(&joined)), &TokenSet::of(text))
        };
        let mut found: Vec<usize> = Vec::new();
        let mut missing: Vec<usize> = Vec::new();
        for (i, piece) in evidence.iter().enumerate() {
            let text = piece.text.as_deref().or(piece.reference_id.as_deref());
            let list = if text.is_some_and(is_there) { &mut found } else { &mut missing };
            list.push(i);
        }
        let value = if evidence.is_empty() { 0.0 } else { found.len() as f64 / evidence.len() as f64 };
        let mut detail = Json::new();
        detail.insert("matched".to_string(), found.len().into());
        detail.insert("expected".to_string(), evidence.len().into());
        detail.insert("found".to_string(), found.into());
        detail.insert("missing".to_string(), missing.into());
        Ok(Score::scored(ScoreValue::Number(value), None, detail))
    }
}

/// The recall that OpenViking's own file states of results whose texts it does not keep.
fn stated(hits: &[Hit]) -> Score {
    match hits.iter().find_map(|hit| hit.metadata.get(STATED_RECALL)?.as_f64()) {
        Some(recall) => {
            Score::scored(ScoreValue::Number(recall), None, Json::from_iter([("stated".to_string(), true.into())]))
        }
        None => Score::skipped(WITHOUT_TEXTS),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::evidence_evaluator::tests::{score, value};

    #[test]
    fn words_may_be_scattered_over_results_and_ids_may_stand_for_texts() {
        let hits = json!([{"id": "c1", "text": "heron otter [D2:31]"}, {"id": "c2", "text": "marten stoat"}]);
        let evidence = json!([
            {"text": "Heron, otter; marten & stoat"}, {"reference_id": "D2:3"}, {"locator": {"page_index": 0}}, {"text": ""},
        ]);
        let all = score("openviking_recall", evidence.clone(), hits.clone());
        let detail = json!({"matched": 3, "expected": 4, "found": [0, 1, 3], "missing": [2]});
        assert_eq!((all.value.and_then(|value| value.number()), json!(all.detail)), (Some(0.75), detail));
        assert_eq!(value("openviking_recall@1", evidence.clone(), hits.clone()), Some(0.5));
        assert_eq!(value("openviking_recall(threshold=0.5)@1", evidence, hits), Some(0.75));
    }

    #[test]
    fn without_texts_it_is_what_the_file_states() {
        let evidence = json!([{"text": "otter"}]);
        let hit = |metadata| json!([{"id": "viking://a", "text": "", "metadata": metadata}]);
        let stated = score("openviking_recall", evidence.clone(), hit(json!({"openviking_recall": 0.5})));
        assert_eq!(
            (stated.value.and_then(|value| value.number()), &stated.detail.get("stated").unwrap_or_default()),
            (Some(0.5), &json!(true))
        );
        let other = score("openviking_recall@1", evidence.clone(), hit(json!({"openviking_recall": 0.5})));
        assert_eq!(other.reason.as_deref(), Some("the results have no texts"));
        let unknown = score("openviking_recall", evidence.clone(), hit(json!({})));
        assert_eq!(unknown.reason.as_deref(), Some("the results have no texts"));
        assert_eq!(value("openviking_recall", evidence, json!([])), Some(0.0));
        assert_eq!(value("openviking_recall", json!([]), hit(json!({}))), Some(0.0));
    }

    #[test]
    fn a_case_without_evidence_counts_as_zero() {
        assert_eq!(value("openviking_recall", json!([]), json!([{"id": "c", "text": "otter"}])), Some(0.0));
    }
}
