//! `qa_eval_detailed_results.json`: the items of `generated_answers.json` with what they were scored, and the averages of that.

use std::collections::{HashMap, VecDeque};

use ragstage_stages::artifact::{Golds, Json, Queries, Score, ScoreState, ScoreValue, Scores};
use ragstage_stages::prepare::OPENVIKING_CASE;
use ragstage_stages::score::judge::OpenVikingScale;
use serde_json::{Value, json};

use super::generated_answers::mean;

/// The label of an answer that nobody had to judge (spec/openviking 5.4).
const REFUSAL_CHECK: &str = "Heuristic_Refusal_Check";
/// Why an answer that refuses is right.
const REFUSAL_REASONING: &str = "The answer says that there is none, and so does a gold answer.";

/// What the questions were scored.
pub struct CaseScores {
    /// The questions.
    pub queries: Queries,
    /// What is expected of each: it says how the files name them.
    pub golds: Golds,
    /// The F1 of each.
    pub f1: Scores,
    /// The recall of each.
    pub recall: Scores,
    /// What the judge said of each.
    pub judged: Scores,
}

/// The file of details, and the sections of the report.
#[derive(Debug, PartialEq)]
pub struct Evaluated {
    /// `qa_eval_detailed_results.json`.
    pub details: Value,
    /// Top-level keys of `benchmark_metrics_report.json`.
    pub sections: Vec<(String, Value)>,
}

/// The items of `generated`, of the dataset that reports call `dataset`, with the scores of their cases.
pub fn evaluated(generated: &Value, dataset: &str, scores: &CaseScores) -> Evaluated {
    let (f1, recall, judged) = (by_case(&scores.f1), by_case(&scores.recall), by_case(&scores.judged));
    let scale = OpenVikingScale::of_dataset(dataset);
    let mut cases = Cases::of(scores);
    let mut results = Vec::new();
    let (mut all_f1, mut all_recall, mut all_accuracy) = (Vec::new(), Vec::new(), Vec::new());
    for item in generated.get("results").and_then(Value::as_array).into_iter().flatten() {
        let mut item = item.as_object().cloned().unwrap_or_default();
        let case = cases.take(&item);
        let value = |scores: &HashMap<&str, &Score>| {
            let score = scores.get(case.as_deref()?)?;
            (score.state == ScoreState::Scored).then(|| score.value.as_ref().and_then(ScoreValue::number)).flatten()
        };
        let (f1, recall, accuracy) = (value(&f1), value(&recall), value(&judged));
        let judgement = case.as_deref().and_then(|case| judged.get(case)).map(|score| &score.detail);
        let refused = judgement.is_some_and(|detail| detail.get("refusal") == Some(Value::Bool(true)));
        // A judge's point is a whole number there, and that of the refusal check is none.
        let points = match accuracy {
            Some(points) if refused => json!(points),
            Some(points) => json!(points as i64),
            None => Value::Null,
        };
        let mut metrics = item.get("metrics").and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(recall) = recall {
            metrics.insert("Recall".to_string(), json!(recall));
        }
        metrics.insert("F1".to_string(), json!(f1));
        metrics.insert("Accuracy".to_string(), points.clone());
        let reasoning = match judgement {
            _ if refused => json!(REFUSAL_REASONING),
            Some(detail) => detail.get("reasoning").unwrap_or_else(|| json!("")),
            None => json!(""),
        };
        let label = match accuracy {
            Some(_) if refused => REFUSAL_CHECK,
            Some(_) => scale.prompt_type(),
            None => "",
        };
        item.insert("metrics".to_string(), Value::Object(metrics));
        let evaluation = json!({"prompt_used": label, "reasoning": reasoning, "normalized_score": points});
        item.insert("llm_evaluation".to_string(), evaluation);
        all_f1.extend(f1);
        all_recall.extend(recall);
        all_accuracy.extend(accuracy);
        results.push(Value::Object(item));
    }
    let average = |values: &[f64]| mean(values.iter().copied());
    let accuracy = average(&all_accuracy);
    let performance = json!({
        "Average F1 Score": average(&all_f1),
        "Average Recall": average(&all_recall),
        "Average Accuracy (Hit 0-4)": accuracy,
        "Average Accuracy (normalization)": accuracy.map(|accuracy| accuracy / 4.0),
    });
    let count = |values: &[f64]| json!({"scored": values.len(), "without": results.len() - values.len()});
    let own = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "counts": {"F1": count(&all_f1), "Recall": count(&all_recall), "Accuracy": count(&all_accuracy)},
        "questions": scores.queries.rows.len(),
        "coverage": if scores.queries.rows.is_empty() { 0.0 } else { results.len() as f64 / scores.queries.rows.len() as f64 },
    });
    let sections = vec![
        ("Dataset".to_string(), json!(dataset)),
        ("Total Queries Evaluated".to_string(), json!(results.len())),
        ("Performance Metrics".to_string(), performance),
        ("ragstage".to_string(), own),
    ];
    Evaluated { details: json!({"results": results}), sections }
}

fn by_case(scores: &Scores) -> HashMap<&str, &Score> {
    scores.rows.iter().map(|score| (score.case_id.as_str(), score)).collect()
}

/// The cases by how items name them; a question that is there twice has its items in the order of its cases.
struct Cases {
    by_question: HashMap<(String, String), VecDeque<String>>,
}

impl Cases {
    fn of(scores: &CaseScores) -> Self {
        let mut by_question: HashMap<(String, String), VecDeque<String>> = HashMap::new();
        for (query, gold) in scores.queries.rows.iter().zip(&scores.golds.rows) {
            let sample = gold.case_metadata.get(OPENVIKING_CASE).and_then(|case| case.get("sample_id")?.as_str());
            let question = (sample.unwrap_or_default().to_string(), query.text.trim().to_string());
            by_question.entry(question).or_default().push_back(query.case_id.clone());
        }
        Cases { by_question }
    }

    /// The case of an item.
    fn take(&mut self, item: &Json) -> Option<String> {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        match text("case_id") {
            Some(case) => Some(case.to_string()),
            None => {
                let question = (text("sample_id")?.to_string(), text("question")?.trim().to_string());
                self.by_question.get_mut(&question)?.pop_front()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ragstage_stages::artifact::{Gold, Query};

    use super::*;

    fn scores(rows: &[(&str, Option<f64>, Value)]) -> Scores {
        let row = |(case, value, detail): &(&str, Option<f64>, Value)| {
            let detail = detail.as_object().cloned().unwrap_or_default();
            let score = match value {
                Some(value) => Score::scored(ScoreValue::Number(*value), None, detail),
                None => Score::skipped("nobody knows"),
            };
            Score { case_id: case.to_string(), ..score }
        };
        Scores { rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn items_keep_their_keys_and_get_scores_of_the_types_that_theirs_have() {
        let query = |id: &str, text: &str| Query { case_id: id.to_string(), text: text.to_string(), category: None };
        let gold = |id: &str| Gold {
            case_id: id.to_string(),
            case_metadata: json!({"openviking": {"sample_id": "s", "category": "None"}})
                .as_object()
                .expect("an object")
                .clone(),
            ..Gold::default()
        };
        let case_scores = CaseScores {
            queries: Queries { rows: vec![query("a", "q?"), query("b", "q?"), query("c", "other?"), query("d", "x")] },
            golds: Golds { rows: ["a", "b", "c", "d"].map(gold).to_vec() },
            f1: scores(&[("a", Some(0.5), json!({})), ("b", Some(1.0), json!({})), ("c", Some(0.0), json!({}))]),
            recall: scores(&[("a", Some(1.0), json!({})), ("b", None, json!({}))]),
            judged: scores(&[
                ("a", Some(3.0), json!({"reasoning": "so it is"})),
                ("b", Some(4.0), json!({"refusal": true})),
                ("c", None, json!({})),
            ]),
        };
        let item = |index: usize, question: &str| json!({"_global_index": index, "sample_id": "s", "question": question, "metrics": {"Recall": 0.25}});
        let generated = json!({"results": [item(0, "q?"), item(1, "q?"), item(2, "other?")]});
        let Evaluated { details, sections } = evaluated(&generated, "Qasper", &case_scores);
        assert_eq!(
            details["results"][0],
            json!({
                "_global_index": 0, "sample_id": "s", "question": "q?",
                "metrics": {"Recall": 1.0, "F1": 0.5, "Accuracy": 3},
                "llm_evaluation": {"prompt_used": "Generic_0-4", "reasoning": "so it is", "normalized_score": 3},
            })
        );
        let second = &details["results"][1];
        assert_eq!((&second["metrics"]["Recall"], &second["metrics"]["Accuracy"]), (&json!(0.25), &json!(4.0)));
        assert_eq!(second["llm_evaluation"]["prompt_used"], "Heuristic_Refusal_Check");
        let third = &details["results"][2];
        assert_eq!(
            (&third["metrics"]["Accuracy"], &third["llm_evaluation"]["prompt_used"]),
            (&Value::Null, &json!(""))
        );
        let section = |name: &str| &sections.iter().find(|(key, _)| key == name).expect("a section").1;
        assert_eq!(
            section("Performance Metrics"),
            &json!({
                "Average F1 Score": 0.5, "Average Recall": 1.0, "Average Accuracy (Hit 0-4)": 3.5,
                "Average Accuracy (normalization)": 0.875,
            })
        );
        assert_eq!((section("Dataset"), section("Total Queries Evaluated")), (&json!("Qasper"), &json!(3)));
        assert_eq!(section("ragstage")["counts"]["Accuracy"], json!({"scored": 2, "without": 1}));
        assert_eq!(section("ragstage")["coverage"], 0.75);
    }
}
