//! A small made-up evaluation.

use ragstage_cache::Digest;
use ragstage_stages::aggregate::{
    Aggregate, BuildReport, CaseResults, EvaluatorInfo, PlannedQuery, QueryInfo, RecipeInfo, ResponseTable, ScoreTable,
    StatisticsOptions,
};
use ragstage_stages::artifact::{
    Answer, Answers, BenchmarkInfo, Citation, Document, Documents, Evidence, Gold, Golds, Hit, Json, Observation,
    Observations, Queries, Query, Results, Retrieved, Score, Scores, Unit, UnitRows, Units,
};
use ragstage_stages::error::{RowError, RowErrorKind};
use serde_json::{Value, json};

use crate::memory::{MemoryContext, Ran};

/// An evaluation whose artifacts are in memory.
pub struct Evaluation {
    pub memory: MemoryContext,
    pub aggregate: Aggregate,
    gold: Digest,
    documents: Digest,
    units: Units,
    cases: Vec<Query>,
}

/// An object.
fn object(value: Value) -> Json {
    value.as_object().cloned().expect("object")
}

/// A fault of a provider.
pub fn fault(kind: RowErrorKind, message: &str) -> RowError {
    RowError { kind, message: message.to_string(), attempts: 3, retry_after_s: None }
}

impl Evaluation {
    /// Cases `(id, question, category)`; `units` names each unit's cases by position, and none means one unit of all.
    pub fn new(cases: &[(&str, &str, Option<&str>)], units: &[(&str, &[u32])]) -> Self {
        Self::grouped(cases, units, &[])
    }

    /// The same; `clusters` has for each case the first that shares gold documents with it.
    pub fn grouped(cases: &[(&str, &str, Option<&str>)], units: &[(&str, &[u32])], clusters: &[u32]) -> Self {
        let queries = Queries {
            rows: cases
                .iter()
                .map(|(id, text, category)| Query {
                    case_id: id.to_string(),
                    text: text.to_string(),
                    category: category.map(str::to_string),
                })
                .collect(),
        };
        let golds = Golds {
            rows: cases
                .iter()
                .map(|(id, ..)| Gold {
                    case_id: id.to_string(),
                    answers: vec![format!("gold of {id}")],
                    evidence: vec![Evidence { reference_id: Some("lighthouse".to_string()), ..Evidence::default() }],
                    ..Gold::default()
                })
                .collect(),
        };
        let documents = Documents {
            rows: vec![Document {
                document_id: "lighthouse".to_string(),
                name: "lighthouse.txt".to_string(),
                media_type: "text/plain".to_string(),
                digest: Some(Digest::of(b"lit in 1871")),
                size: Some(11),
                data: Some(b"lit in 1871".to_vec()),
                source_uri: None,
                source_key: "raw/benchmarks/harbour/test/lighthouse/lighthouse.txt".to_string(),
                metadata: Json::new(),
            }],
        };
        let rows: Vec<UnitRows> = match units {
            [] => vec![UnitRows { unit_id: "corpus".to_string(), ..UnitRows::default() }],
            units => units
                .iter()
                .map(|(id, rows)| UnitRows {
                    unit_id: id.to_string(),
                    case_rows: Some(rows.to_vec()),
                    ..UnitRows::default()
                })
                .collect(),
        };
        let units = Units {
            benchmark: BenchmarkInfo {
                name: "harbour".to_string(),
                version: "v1".to_string(),
                split: "test".to_string(),
                task_type: "rag_qa".to_string(),
                build_scope: "corpus".to_string(),
                ..BenchmarkInfo::default()
            },
            units: rows
                .into_iter()
                .map(|r| Unit::over(r, &documents, &queries, &golds, &Default::default()).expect("unit"))
                .collect(),
            clusters: clusters.to_vec(),
            default_evaluators: Vec::new(),
        };
        let memory = MemoryContext::default();
        let aggregate = Aggregate {
            evaluation: "harbour".to_string(),
            plan: Vec::new(),
            scores: Vec::new(),
            responses: Vec::new(),
            queries: memory.put(&queries),
            units: memory.put(&units),
            statistics: StatisticsOptions { resamples: 200, ..StatisticsOptions::default() },
            salt: 0,
        };
        let (gold, documents) = (memory.put(&golds), memory.put(&documents));
        Evaluation { memory, aggregate, gold, documents, units, cases: queries.rows }
    }

    /// The case ids of a unit.
    pub fn case_ids(&self, unit: usize) -> Vec<String> {
        let rows = self.units.units[unit].case_positions(self.cases.len());
        rows.into_iter().map(|row| self.cases[row].case_id.clone()).collect()
    }

    /// Plans a query.
    pub fn plan(&mut self, recipe: &str, query: &str, evaluators: &[&str]) {
        self.aggregate.plan.push(PlannedQuery {
            recipe: recipe.to_string(),
            query: query.to_string(),
            mode: "full_text_search".to_string(),
            evaluators: evaluators.iter().map(|name| name.to_string()).collect(),
        });
    }

    /// The scores of one unit, in its case order.
    pub fn score(&mut self, recipe: &str, query: &str, evaluator: &str, unit: usize, scores: Vec<Score>) {
        let ids = self.case_ids(unit);
        assert_eq!(ids.len(), scores.len());
        let rows = scores.into_iter().zip(ids).map(|(score, case_id)| Score { case_id, ..score }).collect();
        self.aggregate.scores.push(ScoreTable {
            recipe: recipe.to_string(),
            query: query.to_string(),
            evaluator: evaluator.to_string(),
            unit_id: self.units.units[unit].unit_id.clone(),
            scores: self.memory.put(&Scores { rows }),
            observations: None,
        });
    }

    /// One result and one answer per case of a unit, as `text` says, with latencies of 10, 20, ... and 1 ms; the cases at
    /// `failed` have no results.
    pub fn respond(&mut self, recipe: &str, query: &str, unit: usize, text: &str, failed: &[usize]) {
        let ids = self.case_ids(unit);
        let error = |row: usize, kind, message| failed.contains(&row).then(|| fault(kind, message));
        let results = ids.iter().enumerate().map(|(row, id)| Retrieved {
            case_id: id.clone(),
            results: vec![Hit {
                id: "chunk_1".to_string(),
                text: text.into(),
                score: Some(0.5),
                kind: "chunk".to_string(),
                source: object(json!({"document_id": "lighthouse", "page_index": 0})).into(),
                metadata: Json::new(),
            }],
            answer: None,
            metadata: Json::new(),
            error: error(row, RowErrorKind::Server, "503 from upstream"),
        });
        let answers = ids.iter().enumerate().map(|(row, id)| Answer {
            case_id: id.clone(),
            text: Some(format!("answer: {text}")),
            citations: vec![Citation {
                id: "citation_1".to_string(),
                result_id: Some("chunk_1".to_string()),
                source: Json::new(),
                text: None,
            }],
            error: error(row, RowErrorKind::Upstream, "no context"),
            ..Answer::default()
        });
        let observed = |ms: &dyn Fn(usize) -> f64| Observations {
            rows: ids
                .iter()
                .enumerate()
                .map(|(row, id)| Observation {
                    case_id: id.clone(),
                    latency_ms: (!failed.contains(&row)).then(|| ms(row)),
                    attempts: 1,
                    ..Observation::default()
                })
                .collect(),
        };
        let table = ResponseTable {
            recipe: recipe.to_string(),
            query: query.to_string(),
            mode: "full_text_search".to_string(),
            unit_id: self.units.units[unit].unit_id.clone(),
            results: self.memory.put(&Results { rows: results.collect() }),
            answers: Some(self.memory.put(&Answers { rows: answers.collect() })),
            retrieve_observations: Some(self.memory.put(&observed(&|row| 10.0 * (row + 1) as f64))),
            answer_observations: Some(self.memory.put(&observed(&|_| 1.0))),
        };
        self.aggregate.responses.push(table);
    }

    /// The report of what there is, after an aggregation.
    pub fn build_report(&mut self) -> BuildReport {
        let ran = self.memory.run(&self.aggregate);
        let [summary, score_table, latency] = ["summary", "score_table", "latency"].map(|name| ran.digest(name));
        let mut recipes: Vec<RecipeInfo> = Vec::new();
        let mut queries: Vec<QueryInfo> = Vec::new();
        for planned in &self.aggregate.plan {
            if !recipes.iter().any(|recipe| recipe.name == planned.recipe) {
                let manifest = json!({"chunk": {"size": 200, "overlap": 20}});
                recipes.push(RecipeInfo { name: planned.recipe.clone(), manifest });
            }
            if !queries.iter().any(|query| query.name == planned.query) {
                let (name, mode) = (planned.query.clone(), planned.mode.clone());
                queries.push(QueryInfo { name, mode, top_k: 10, options: json!({"k1": 1.2}) });
            }
        }
        let mut evaluators: Vec<EvaluatorInfo> = Vec::new();
        for name in self.aggregate.plan.iter().flat_map(|planned| &planned.evaluators) {
            if !evaluators.iter().any(|evaluator| evaluator.name == *name) {
                evaluators.push(EvaluatorInfo {
                    name: name.clone(),
                    description: format!("what {name} measures"),
                    labels: None,
                });
            }
        }
        BuildReport {
            evaluation: self.aggregate.evaluation.clone(),
            plan: self.aggregate.plan.clone(),
            summary,
            score_table,
            latency: Some(latency),
            usage: ran.0.outputs.iter().find(|output| output.name == "usage").map(|_| ran.digest("usage")),
            scores: self.aggregate.scores.clone(),
            responses: self.aggregate.responses.clone(),
            queries: self.aggregate.queries,
            gold: self.gold,
            documents: self.documents,
            units: self.aggregate.units,
            recipes,
            queries_info: queries,
            evaluators,
            gates: Vec::new(),
            baseline: None,
            known_lints: Vec::new(),
            silenced: Vec::new(),
            case_results: CaseResults::default(),
            run: Default::default(),
            started_at: "2026-11-30T16:20:33Z".to_string(),
            finished_at: "2026-11-30T16:20:34Z".to_string(),
            salt: 0,
        }
    }

    /// The outputs of the report of what there is.
    pub fn report(&mut self) -> Ran {
        let report = self.build_report();
        self.memory.run(&report)
    }
}
