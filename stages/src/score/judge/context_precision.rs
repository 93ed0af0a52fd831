//! `context_precision`: whether useful passages stand above useless ones.
//!
//! Average precision over the ranks, a passage being relevant where the judge calls it useful: context precision of Es et al.,
//! "RAGAS", EACL 2024 demonstrations. One call for all passages of a case, where RAGAS makes one for each.

use serde_json::{Value, json};

use super::entailment::{no_reply, verdicts, verdicts_schema};
use super::panel::{Ask, Panel};
use crate::artifact::{Json, Score, ScoreValue};
use crate::error::{RowError, StageError};
use crate::score::Scorable;

/// A score or an error for each of `responses`. Without passages it is 0.
pub(super) fn score(panel: &Panel<'_>, responses: &[Scorable<'_>]) -> Result<Vec<Result<Score, RowError>>, StageError> {
    let shown = panel.options.contexts.map_or(usize::MAX, |most| most as usize);
    let mut asks = Vec::new();
    let mut asked: Vec<Result<bool, RowError>> = Vec::with_capacity(responses.len());
    for response in responses {
        let contexts: Vec<&str> = response.response.results.iter().take(shown).map(|hit| &*hit.text).collect();
        if contexts.is_empty() {
            asked.push(Ok(false));
            continue;
        }
        let view = json!({"question": response.case.query, "gold": response.case.gold.answers, "contexts": contexts});
        asked.push(panel.fill(&view).map(|user| {
            asks.push(Ask { case_id: response.case.case_id, user, schema: verdicts_schema("useful", contexts.len()) });
            true
        }));
    }
    let mut replies = panel.ask(&asks)?.into_iter();
    let scores = asked.into_iter().map(|asked| {
        if !asked? {
            return Ok(Score::scored(ScoreValue::Number(0.0), None, Json::new()));
        }
        let reply = replies.next().unwrap_or_else(no_reply)?;
        let (mut useful, mut sum) = (0u32, 0.0);
        let mut list: Vec<Value> = Vec::new();
        for ((holds, reason), rank) in verdicts(&reply, "useful").zip(1u32..) {
            if holds {
                useful += 1;
                sum += f64::from(useful) / f64::from(rank);
            }
            list.push(json!({"rank": rank, "useful": holds, "reason": reason}));
        }
        let detail: Json =
            [("passages".to_string(), list.into()), ("replies".to_string(), json!([reply.text]))].into_iter().collect();
        Ok(Score::scored(ScoreValue::Number(sum / f64::from(useful.max(1))), None, detail))
    });
    Ok(scores.collect())
}
