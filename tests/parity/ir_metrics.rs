//! Retrieval measures against trec_eval's own values (`ir_metrics/*/expected.json`), per query and both kinds of mean.
//!
//! Every folder with an `expected.json` is walked, and every measure in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ragstage_stages::artifact::{Gold, Hit};
use ragstage_stages::score::measures::{JudgedRanking, Judgements as Judged};
use ragstage_stages::score::{CaseView, EvaluatorSpec, ResponseView, evaluator, trec_order};
use serde_json::{Map, Value};

use crate::golden::{entries, golden, say};

const TOLERANCE: f64 = 1e-9;

/// Query to judged documents.
type Judgements = BTreeMap<String, BTreeMap<String, i64>>;
/// Query to documents, best first.
type Rankings = BTreeMap<String, Vec<String>>;

/// Lines `query iter document grade`.
fn read_qrels(text: &str) -> Result<Judgements, String> {
    let mut qrels = Judgements::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [query, _, document, grade] = cells[..] else { return Err(format!("line {}: not four cells", i + 1)) };
        let grade = grade.parse().map_err(|error| format!("line {}: {error}", i + 1))?;
        if qrels.entry(query.to_string()).or_default().insert(document.to_string(), grade).is_some() {
            return Err(format!("line {}: duplicate document {document} for query {query}", i + 1));
        }
    }
    Ok(qrels)
}

/// Lines `query Q0 document rank score tag`, in trec_eval's order: score as a 32-bit float descending, then document id
/// descending by bytes; 0 and -0 are the same score. The rank column and the order of lines mean nothing.
fn read_run(text: &str) -> Result<Rankings, String> {
    let mut run: BTreeMap<String, Vec<(f64, String)>> = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [query, _, document, _, score, _] = cells[..] else { return Err(format!("line {}: not six cells", i + 1)) };
        let score: f64 = score.parse().map_err(|error| format!("line {}: {error}", i + 1))?;
        if score.is_nan() {
            return Err(format!("line {}: a score that is no number", i + 1));
        }
        if !seen.insert((query, document)) {
            return Err(format!("line {}: duplicate document {document} for query {query}", i + 1));
        }
        run.entry(query.to_string()).or_default().push((score, document.to_string()));
    }
    let ranked = |mut documents: Vec<(f64, String)>| {
        documents.sort_by(|a, b| trec_order((a.0, a.1.as_bytes()), (b.0, b.1.as_bytes())));
        documents.into_iter().map(|(_, document)| document).collect()
    };
    Ok(run.into_iter().map(|(query, documents)| (query, ranked(documents))).collect())
}

/// The text of our evaluator for a measure by trec_eval's name.
fn text_of(name: &str, level: i64) -> Option<String> {
    let (ours, cutoff) = match name.rsplit_once('_').and_then(|(stem, k)| Some((stem, k.parse::<u32>().ok()?))) {
        Some((stem, k)) => (stem, format!("@{k}")),
        None => (name, String::new()),
    };
    let graded = format!("(rel={level})");
    let (ours, options) = match ours {
        "ndcg" | "ndcg_cut" => ("nDCG", ""),
        "map" | "map_cut" => ("AP", graded.as_str()),
        "recip_rank" | "recip_rank_cut" => ("RR", graded.as_str()),
        "P" => ("P", graded.as_str()),
        "recall" => ("R", graded.as_str()),
        "success" => ("Success", graded.as_str()),
        "Rprec" => ("Rprec", graded.as_str()),
        "bpref" => ("bpref", graded.as_str()),
        "set_P" => ("SetP", graded.as_str()),
        "set_recall" => ("SetR", graded.as_str()),
        "set_F" => ("SetF1", graded.as_str()),
        "num_ret" => ("NumRet", ""),
        "num_rel" => ("NumRel", graded.as_str()),
        "num_rel_ret" => ("NumRelRet", graded.as_str()),
        _ => return None,
    };
    Some(format!("{ours}{options}{cutoff}"))
}

/// The value that a user gets: gold with judgements, hits with document ids, the evaluator by its text.
fn evaluated(text: &str, judged: &BTreeMap<String, i64>, ranking: &[String]) -> f64 {
    let judgements: Map<String, Value> =
        judged.iter().map(|(document, grade)| (document.clone(), (*grade).into())).collect();
    let gold = Gold {
        metadata: [("judgements".to_string(), Value::Object(judgements))].into_iter().collect(),
        ..Gold::default()
    };
    let hits: Vec<Hit> = ranking
        .iter()
        .map(|document| Hit {
            id: format!("chunk of {document}"),
            text: Default::default(),
            score: None,
            kind: "chunk".to_string(),
            source: Map::from_iter([("document_id".to_string(), document.clone().into())]).into(),
            metadata: Map::new(),
        })
        .collect();
    let evaluator = evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator");
    let case = CaseView { case_id: "q", query: "", gold: &gold };
    let response = ResponseView::new(&hits, None, &[]);
    let score = evaluator.evaluate(&case, &response).expect("a score");
    score.value.and_then(|value| value.number()).expect("a judged case is scored")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE
}

struct Comparison {
    differences: Vec<String>,
    compared: usize,
    missing: BTreeSet<String>,
}

impl Comparison {
    fn compare(&mut self, what: String, ours: Option<f64>, expected: &Value) {
        self.compared += 1;
        let same = match (ours, expected.as_f64()) {
            (Some(ours), Some(expected)) => close(ours, expected),
            (None, None) => expected.is_null(),
            _ => false,
        };
        if !same {
            self.differences.push(format!("{what}: {ours:?}, trec_eval has {expected}"));
        }
    }

    fn set(&mut self, folder: &Path) {
        let set = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let read =
            |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{set}/{name}: {error}"));
        let expected: Value = serde_json::from_str(&read("expected.json")).expect("expected.json");
        let read = read_qrels(&read("qrels.txt")).and_then(|qrels| Ok((qrels, read_run(&read("run.txt"))?)));
        if expected["expect"] == "error" {
            self.compared += 1;
            let message = read.err().unwrap_or_else(|| "no error".to_string());
            let kind = expected["error"].as_str().unwrap_or_default();
            if !message.contains(kind) {
                self.differences.push(format!("{set}: {message}, expected an error about {kind:?}"));
            }
            return;
        }
        let (qrels, run) = read.unwrap_or_else(|error| panic!("{set}: {error}"));
        for (query, order) in expected["tie_order"].as_object().into_iter().flatten() {
            let ours = run.get(query).map(|ranking| serde_json::json!(ranking)).unwrap_or_default();
            if ours != *order {
                self.differences.push(format!("{set} {query}: order {ours}, trec_eval has {order}"));
            }
        }
        let level = expected["relevance_level"].as_i64().unwrap_or(1);
        let empty = Map::new();
        let per_query = expected["per_query"].as_object().unwrap_or(&empty);
        let names: BTreeSet<&String> = per_query
            .values()
            .chain([&expected["mean_over_evaluated"], &expected["mean_over_all_judged"]])
            .filter_map(Value::as_object)
            .flat_map(Map::keys)
            .collect();
        for name in names {
            let Some(text) = text_of(name, level) else {
                self.missing.insert(name.clone());
                continue;
            };
            let of_text = evaluator(&EvaluatorSpec::parse(&text).expect("a spec")).expect("an evaluator");
            let measure = of_text.measure().expect("a measure of documents");
            let mut sum = 0.0;
            let mut evaluated_queries = 0;
            for (query, judged) in &qrels {
                let Some(ranking) = run.get(query) else { continue };
                let judgements: Judged = judged.values().copied().collect();
                let grades: Vec<Option<i64>> = ranking.iter().map(|document| judged.get(document).copied()).collect();
                let value = measure.value(&JudgedRanking { grades: &grades, judgements: &judgements });
                sum += value;
                evaluated_queries += 1;
                self.compare(format!("{set} {query} {name}"), Some(value), &expected["per_query"][query][name]);
                let by_evaluator = evaluated(&text, judged, ranking);
                if by_evaluator != value {
                    self.differences.push(format!("{set} {query} {name}: {text} gives {by_evaluator}, not {value}"));
                }
            }
            // trec_eval adds up what it counts.
            let counts = name.starts_with("num_");
            let mean = |n: usize| if counts { Some(sum) } else { (n > 0).then(|| sum / n as f64) };
            let over_evaluated = &expected["mean_over_evaluated"][name];
            self.compare(format!("{set} mean {name}"), mean(evaluated_queries), over_evaluated);
            let over_judged = &expected["mean_over_all_judged"][name];
            self.compare(format!("{set} mean -c {name}"), mean(qrels.len()), over_judged);
        }
        let scored: BTreeSet<&String> = qrels.keys().filter(|query| run.contains_key(*query)).collect();
        if scored != per_query.keys().collect() {
            self.differences.push(format!("{set}: scored {scored:?}, trec_eval others"));
        }
    }
}

#[test]
fn measures_match_trec_eval() {
    let Some(root) = golden("ir_metrics") else { return };
    let mut folders = entries(&root);
    folders.retain(|path| path.join("expected.json").exists());
    assert!(!folders.is_empty(), "no vectors in {}", root.display());
    let mut comparison = Comparison { differences: Vec::new(), compared: 0, missing: BTreeSet::new() };
    for folder in &folders {
        comparison.set(folder);
    }
    let Comparison { differences, compared, missing } = comparison;
    say(&format!("ir_metrics: {compared} values in {} sets", folders.len()));
    assert!(missing.is_empty(), "no evaluator for {missing:?}");
    assert!(differences.is_empty(), "{} of {compared} differ:\n{}", differences.len(), differences.join("\n"));
}
