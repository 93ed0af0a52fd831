//! `generated_answers.json`: a question, what was found for it and what was answered, in the order in which they were asked.

use std::collections::HashMap;

use ragstage_stages::artifact::{
    Answers, Golds, Observation, Observations, Queries, Results, ScoreState, ScoreValue, Scores,
};
use ragstage_stages::model::{ModelUsage, UsageSource};
use ragstage_stages::prepare::OPENVIKING_CASE;
use serde::Serialize;
use serde_json::{Value, json};

/// What a run has made of the questions.
pub struct Generated {
    /// The questions.
    pub queries: Queries,
    /// What is expected of each.
    pub golds: Golds,
    /// What was found for each.
    pub results: Results,
    /// What was answered.
    pub answers: Answers,
    /// How long finding took.
    pub found: Observations,
    /// What answering took.
    pub answered: Observations,
    /// The recall of what was found.
    pub recall: Scores,
}

/// The file.
#[derive(Debug, Serialize)]
pub struct GeneratedFile {
    summary: Summary,
    results: Vec<Item>,
    ragstage: Own,
}

#[derive(Debug, Serialize)]
struct Summary {
    dataset: String,
    total_queries: usize,
}

/// A question that was answered.
#[derive(Debug, Serialize)]
struct Item {
    #[serde(rename = "_global_index")]
    index: usize,
    sample_id: String,
    question: String,
    gold_answers: Vec<String>,
    category: String,
    evidence: Vec<String>,
    retrieval: Retrieval,
    llm: Llm,
    metrics: Metrics,
    token_usage: TokenUsage,
    /// Ours: the case.
    case_id: String,
}

#[derive(Debug, Serialize)]
struct Retrieval {
    latency_sec: Option<f64>,
    uris: Vec<String>,
    /// Ours: the text of each URI, whole.
    texts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Llm {
    final_answer: String,
}

#[derive(Debug, Serialize)]
struct Metrics {
    #[serde(rename = "Recall")]
    recall: Option<f64>,
}

#[derive(Debug, Serialize)]
struct TokenUsage {
    total_input_tokens: Option<u64>,
    llm_output_tokens: Option<u64>,
    /// Ours: `server`, or `counted` where the server stated none.
    source: Option<&'static str>,
}

/// What theirs lacks.
#[derive(Debug, Serialize)]
struct Own {
    version: &'static str,
    /// Questions that have an answer, of all that were asked.
    coverage: f64,
    failures: Vec<Failed>,
    /// Questions that cannot be asked, as where their document is not on disk.
    skipped: Vec<Failed>,
}

#[derive(Debug, Serialize)]
struct Failed {
    #[serde(rename = "_global_index")]
    index: usize,
    case_id: String,
    question: String,
    error_type: String,
    error: String,
}

/// The averages over questions that theirs has in its report; `None` where nothing is known.
#[derive(Debug, Default, PartialEq)]
pub struct QueryAverages {
    /// Seconds that finding took.
    pub seconds: Option<f64>,
    /// Tokens read.
    pub input_tokens: Option<f64>,
    /// Tokens written.
    pub output_tokens: Option<f64>,
}

impl Generated {
    /// The file, for the dataset that reports call `dataset`.
    pub fn file(self, dataset: &str) -> GeneratedFile {
        let found = by_case(&self.found);
        let answered = by_case(&self.answered);
        let recall: HashMap<&str, f64> = self
            .recall
            .rows
            .iter()
            .filter_map(|row| {
                let value = row.value.as_ref().and_then(ScoreValue::number)?;
                (row.state == ScoreState::Scored).then_some((row.case_id.as_str(), value))
            })
            .collect();
        let (mut results, mut failures, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        let rows = self.queries.rows.iter().zip(&self.golds.rows).zip(self.results.rows.iter().zip(&self.answers.rows));
        for (index, ((query, gold), (retrieved, answer))) in rows.enumerate() {
            let case_id = query.case_id.clone();
            if let Some(error) = retrieved.error.as_ref().or(answer.error.as_ref()) {
                let is_failure = error.is_failure();
                let (error_type, error) = (error.kind.name().to_string(), error.message.clone());
                let left_out = Failed { index, case_id, question: query.text.clone(), error_type, error };
                if is_failure {
                    failures.push(left_out)
                } else {
                    skipped.push(left_out)
                }
                continue;
            }
            let case = gold.case_metadata.get(OPENVIKING_CASE);
            let said = |key: &str| case.and_then(|case| case.get(key)?.as_str()).unwrap_or_default().to_string();
            results.push(Item {
                index,
                sample_id: said("sample_id"),
                question: query.text.clone(),
                gold_answers: gold.answers.clone(),
                category: said("category"),
                evidence: gold.evidence.iter().filter_map(|piece| piece.text.clone()).collect(),
                retrieval: Retrieval {
                    latency_sec: found.get(case_id.as_str()).and_then(|row| Some(row.latency_ms? / 1e3)),
                    uris: retrieved.results.iter().map(|hit| hit.id.clone()).collect(),
                    texts: retrieved.results.iter().map(|hit| hit.text.to_string()).collect(),
                },
                llm: Llm { final_answer: answer.text.clone().unwrap_or_default().trim().to_string() },
                metrics: Metrics { recall: recall.get(case_id.as_str()).copied() },
                token_usage: tokens(answered.get(case_id.as_str()).map(|row| row.usage.as_slice()).unwrap_or_default()),
                case_id,
            });
        }
        let asked = results.len() + failures.len();
        GeneratedFile {
            summary: Summary { dataset: dataset.to_string(), total_queries: results.len() },
            ragstage: Own {
                version: env!("CARGO_PKG_VERSION"),
                coverage: if asked == 0 { 0.0 } else { results.len() as f64 / asked as f64 },
                failures,
                skipped,
            },
            results,
        }
    }
}

impl GeneratedFile {
    /// How many questions have an answer, and how many were asked.
    pub fn counts(&self) -> (usize, usize) {
        (self.results.len(), self.results.len() + self.ragstage.failures.len())
    }

    /// The averages over the questions that have an answer.
    pub fn averages(&self) -> QueryAverages {
        let mean = |of: &dyn Fn(&Item) -> Option<f64>| mean(self.results.iter().filter_map(of));
        QueryAverages {
            seconds: mean(&|item| item.retrieval.latency_sec),
            input_tokens: mean(&|item| item.token_usage.total_input_tokens.map(|tokens| tokens as f64)),
            output_tokens: mean(&|item| item.token_usage.llm_output_tokens.map(|tokens| tokens as f64)),
        }
    }

    /// Who counted tokens, where all agree; `mixed` where they do not.
    pub fn token_source(&self) -> Value {
        let mut sources: Vec<&str> = self.results.iter().filter_map(|item| item.token_usage.source).collect();
        sources.sort_unstable();
        sources.dedup();
        match sources.as_slice() {
            [] => Value::Null,
            [source] => json!(source),
            _ => json!("mixed"),
        }
    }
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn by_case(observations: &Observations) -> HashMap<&str, &Observation> {
    observations.rows.iter().map(|row| (row.case_id.as_str(), row)).collect()
}

/// What models took; nothing is known where none was asked.
fn tokens(usage: &[ModelUsage]) -> TokenUsage {
    let mut all = usage.iter().map(|usage| usage.usage);
    match all.next() {
        None => TokenUsage { total_input_tokens: None, llm_output_tokens: None, source: None },
        Some(first) => {
            let sum = all.fold(first, |sum, usage| sum.plus(usage));
            let source = match sum.source {
                UsageSource::Server => "server",
                UsageSource::Counted => "counted",
            };
            TokenUsage {
                total_input_tokens: Some(sum.prompt_tokens),
                llm_output_tokens: Some(sum.completion_tokens),
                source: Some(source),
            }
        }
    }
}
