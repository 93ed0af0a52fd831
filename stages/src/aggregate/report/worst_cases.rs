//! The cases that a person should look at first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::case_response::CaseResponse;
use super::scale::Scale;
use crate::artifact::{Evidence, Hit, ScoreValue};

/// How many cases a page shows; all are in the JSON report.
pub(super) const SHOWN_CASES: usize = 200;
/// How many results of a case a page shows.
const SHOWN_RESULTS: usize = 10;
/// How many characters of a passage a page shows.
const SHOWN_CHARACTERS: usize = 1500;

/// Failed or not, standings as ordered bits, position among all cases: least is worst, and no two are equal.
type Rank = (bool, Vec<u64>, usize);

/// Keeps the worst of the cases that it is offered: failed ones first, then those that stand lowest by the evaluation's first
/// evaluator; ties are settled by the others in their order. (A mean over evaluators would put a case that is wrong after one
/// that is right in many words.) A case stands where its score is on the evaluator's [`Scale`], at the top where it has no
/// numeric score; higher values are taken to be better. A case that stands at the top everywhere is no bad case.
#[derive(Default)]
pub(super) struct WorstCases {
    kept: BTreeMap<Rank, WorstCase>,
    offered: usize,
    bad: usize,
}

/// A bad case, ready for the page.
#[derive(Debug, Serialize)]
pub(super) struct WorstCase {
    recipe: String,
    query: String,
    unit_id: String,
    case_id: String,
    category: Option<String>,
    question: String,
    gold_answers: Vec<String>,
    gold_evidence: Vec<String>,
    answer: Option<String>,
    error: Option<String>,
    failed: bool,
    standing: Option<String>,
    scores: Vec<ShownScore>,
    results: Vec<ShownResult>,
    hidden_results: usize,
}

#[derive(Debug, Serialize)]
struct ShownScore {
    name: String,
    value: String,
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct ShownResult {
    rank: usize,
    id: String,
    score: Option<String>,
    document: Option<String>,
    text: String,
    cut: bool,
}

impl WorstCases {
    /// Looks at `case`, whose scores are on `scales` (one per score, `None` where the evaluator gave no number).
    pub(super) fn offer(&mut self, case: &CaseResponse<'_>, scales: &[Option<Scale>]) {
        let position = self.offered;
        self.offered += 1;
        let standings = standings(case, scales);
        let failed = case.failed();
        if !failed && standings.iter().flatten().all(|standing| *standing >= 1.0) {
            return;
        }
        self.bad += 1;
        // Non-negative floats are ordered as their bits are.
        let rank = (!failed, standings.iter().map(|standing| standing.unwrap_or(1.0).to_bits()).collect(), position);
        let room = self.kept.len() < SHOWN_CASES;
        if room || self.kept.last_key_value().is_some_and(|(last, _)| rank < *last) {
            self.kept.insert(rank, WorstCase::of(case, standings.first().copied().flatten()));
            if !room {
                self.kept.pop_last();
            }
        }
    }

    /// The kept cases, worst first, and how many bad cases were not kept.
    pub(super) fn finish(self) -> (Vec<WorstCase>, usize) {
        let hidden = self.bad - self.kept.len();
        (self.kept.into_values().collect(), hidden)
    }
}

/// Where the case stands by each evaluator, from 0 to 1.
fn standings(case: &CaseResponse<'_>, scales: &[Option<Scale>]) -> Vec<Option<f64>> {
    let scores = case.scores.iter().zip(scales);
    scores.map(|((_, outcome), scale)| Some(scale.as_ref()?.share(outcome.value.as_ref()?.number()?))).collect()
}

impl WorstCase {
    fn of(case: &CaseResponse<'_>, standing: Option<f64>) -> Self {
        let results = case.retrieved.map(|retrieved| retrieved.results.as_slice()).unwrap_or_default();
        WorstCase {
            recipe: case.planned.recipe.clone(),
            query: case.planned.query.clone(),
            unit_id: case.unit_id.to_string(),
            case_id: case.query.case_id.clone(),
            category: case.query.category.clone(),
            question: case.query.text.clone(),
            gold_answers: case.gold.map(|gold| gold.answers.clone()).unwrap_or_default(),
            gold_evidence: case.gold.map(|gold| gold.evidence.iter().map(evidence).collect()).unwrap_or_default(),
            answer: case.answer.and_then(|answer| answer.text.clone()),
            error: case.failure.as_ref().map(|failure| format!("{}: {}", failure.step, failure.error)),
            failed: case.failed(),
            standing: standing.map(|standing| format!("{standing:.4}")),
            scores: case
                .scores
                .iter()
                .map(|(name, outcome)| ShownScore {
                    name: name.to_string(),
                    value: match &outcome.value {
                        Some(ScoreValue::Number(value)) => format!("{value:.4}"),
                        Some(ScoreValue::Bool(value)) => value.to_string(),
                        Some(ScoreValue::Label(label)) => label.clone(),
                        None => outcome.state.name().to_string(),
                    },
                    note: match &outcome.error {
                        Some(error) => Some(error.to_string()),
                        None => outcome.reason.map(str::to_string),
                    },
                })
                .collect(),
            results: results
                .iter()
                .take(SHOWN_RESULTS)
                .enumerate()
                .map(|(i, hit)| ShownResult::of(i + 1, hit))
                .collect(),
            hidden_results: results.len().saturating_sub(SHOWN_RESULTS),
        }
    }
}

impl ShownResult {
    fn of(rank: usize, hit: &Hit) -> Self {
        let (text, cut) = shortened(&hit.text);
        let document = ["document_id", "source_key", "name"].iter().find_map(|key| hit.source.get(*key)?.as_str());
        ShownResult {
            rank,
            id: hit.id.clone(),
            score: hit.score.map(|score| format!("{score:.4}")),
            document: document.map(str::to_string),
            text,
            cut,
        }
    }
}

fn evidence(evidence: &Evidence) -> String {
    match (&evidence.reference_id, &evidence.text) {
        (Some(id), Some(text)) => format!("{id}: {}", shortened(text).0),
        (Some(id), None) => id.clone(),
        (None, Some(text)) => shortened(text).0,
        (None, None) => serde_json::Value::Object(evidence.locator.clone()).to_string(),
    }
}

fn shortened(text: &str) -> (String, bool) {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => (format!("{}…", text.get(..end).unwrap_or(text)), true),
        None => (text.to_string(), false),
    }
}
