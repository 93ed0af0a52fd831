//! Every action of the pipeline, in its order, over one small benchmark: the bytes it makes are the recorded ones.

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::aggregate::{
    Aggregate, BuildReport, CaseResults, EvaluatorInfo, GateSpec, PlannedQuery, QueryInfo, RecipeInfo, ResponseTable,
    ScoreTable, StatisticsOptions,
};
use ragstage_stages::artifact::{Observation, Observations, Results, Unit};
use ragstage_stages::build::chunk::{ChunkDocuments, ChunkOptions, Splitter, Tokenizer};
use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options, FullTextIndex, StopWords};
use ragstage_stages::build::ingest::Ingest;
use ragstage_stages::contract::Action;
use ragstage_stages::materialize::{Materialize, ParseOptions};
use ragstage_stages::query::search::{FullTextSearch, KbArtifact, KnowledgeBase, SearchMode};
use ragstage_stages::query::system::{Mapping, Operation};
use ragstage_stages::query::{
    AnswerOptions, AnswerQuestions, ExtractiveOptions, ModeSpec, Retrieve, SystemSpec, Transport,
};
use ragstage_stages::score::{Evaluator, EvaluatorSpec, ScoreResponses, evaluator};
use ragstage_stages::step::Step;
use serde_json::json;

use crate::golden::{Golden, folder};
use crate::harbour::{Done, Prepared, jsonl};
use crate::memory::MemoryContext;
use crate::searches;

const EVALUATORS: [&str; 4] = ["evidence_recall@3", "answer_contains", "token_f1", "nDCG@5"];

/// How the knowledge bases of one recipe are built.
struct Recipe {
    name: &'static str,
    chunk: ChunkOptions,
    analyzer: AnalyzerOptions,
    bm25: Bm25Options,
}

fn recipes() -> [Recipe; 2] {
    [
        Recipe {
            name: "sentences",
            chunk: ChunkOptions { size: 24, overlap: 6, ..ChunkOptions::default() },
            analyzer: AnalyzerOptions::default(),
            bm25: Bm25Options::default(),
        },
        Recipe {
            name: "sections",
            chunk: ChunkOptions {
                splitter: Splitter::Heading,
                tokenizer: Tokenizer::Cl100kBase,
                size: 60,
                overlap: 0,
                minimum: 0,
            },
            analyzer: AnalyzerOptions {
                language: "german".to_string(),
                stop_words: StopWords::List(vec!["die".to_string(), "the".to_string()]),
                ..AnalyzerOptions::default()
            },
            bm25: Bm25Options { k1: 1.2, b: 0.75 },
        },
    ]
}

/// One record per step.
pub struct Records(Vec<(Step, Golden)>);

impl Records {
    fn new() -> Self {
        let golden = |step: Step| {
            let place = format!(
                "the {step} step in Step::code_version, or the version of the parser, tokenizer, analyzer, protocol, \
                 adapter or evaluator that changed"
            );
            (step, Golden::new(step.name(), step.code_version(), &place))
        };
        Records(Step::ALL.into_iter().map(golden).collect())
    }

    fn of(&mut self, step: Step) -> &mut Golden {
        let found = self.0.iter_mut().find(|(other, _)| *other == step);
        found.map(|(_, golden)| golden).unwrap_or_else(|| panic!("{step} is not in Step::ALL"))
    }

    /// Takes the values that an action made.
    pub fn take<A: Action>(&mut self, what: &str, done: &Done<A>) {
        self.of(done.action.step()).take_values(what, &done.action, &done.ran);
    }

    /// Takes all that an action made, for it was given fixed observations.
    fn take_all<A: Action>(&mut self, done: &Done<A>) {
        for output in &done.ran.0.outputs {
            self.of(done.action.step()).take(output.name, key_of(&done.action), &output.bytes);
        }
    }
}

/// Score and response tables of all recipes and units.
#[derive(Default)]
struct Tables {
    scores: Vec<ScoreTable>,
    responses: Vec<ResponseTable>,
}

#[test]
fn every_step_gives_its_recorded_bytes() {
    let memory = MemoryContext::default();
    let mut records = Records::new();
    let benchmark = Prepared::read(&memory, jsonl("harbour"));
    records.take("", &benchmark.sources);
    records.take("", &benchmark.prepare);
    let mut tables = Tables::default();
    for unit in &benchmark.units {
        let ingested = ingest(&memory, &benchmark, unit);
        let handle = &ingested.ran.output("handle").bytes;
        records.of(Step::Ingest).take(&format!("handle {}", unit.unit_id), key_of(&ingested.action), handle);
        for recipe in recipes() {
            let place = format!("{} {}", unit.unit_id, recipe.name);
            let mode = build(&memory, &mut records, &benchmark, unit, &recipe, &place);
            respond(&memory, &mut records, &benchmark, unit, &recipe, &place, mode, &mut tables);
        }
    }
    report(&memory, &mut records, &benchmark, tables);
    for (_, golden) in records.0 {
        golden.check();
    }
}

/// Documents in a system that says the same of each unit's.
fn ingest(memory: &MemoryContext, benchmark: &Prepared, unit: &Unit) -> Done<Ingest> {
    let script = r#"while read -r line; do echo '{"handle": "kb", "count": 3}'; done"#;
    let transport = Transport::Command {
        command: ["sh", "-c", script].map(str::to_string).to_vec(),
        directory: ".".into(),
        environment: Vec::new(),
        variables: Vec::new(),
        operations: Operation::ALL.to_vec(),
    };
    let system = SystemSpec {
        name: "rag".to_string(),
        version: "1".to_string(),
        files: Vec::new(),
        mapping: Mapping::default(),
        ingest_batch: None,
        openviking: None,
        transport,
    };
    Done::run(memory, Ingest { documents: benchmark.digest("documents"), unit: unit.clone(), system, salt: 0 })
}

/// From documents to an index.
fn build(
    memory: &MemoryContext,
    records: &mut Records,
    benchmark: &Prepared,
    unit: &Unit,
    recipe: &Recipe,
    place: &str,
) -> ModeSpec {
    let documents = benchmark.digest("documents");
    let options = ParseOptions::default();
    let parse = Done::run(memory, Materialize { documents, unit: unit.clone(), options, salt: 0 });
    assert_eq!(parse.ran.0.failed, 0, "{place}");
    records.take(&unit.unit_id, &parse);
    let parsed = parse.ran.digest("parsed");
    let chunk = Done::run(memory, ChunkDocuments { parsed, options: recipe.chunk.clone(), salt: 0 });
    records.take(place, &chunk);
    let chunks = chunk.ran.digest("chunks");
    let index =
        Done::run(memory, FullTextIndex { chunks, analyzer: recipe.analyzer.clone(), title_weight: 1, salt: 0 });
    records.take(place, &index);
    let index = index.ran.digest("full_text_index");
    searches::take(memory, records, benchmark, unit, place, (chunks, index));
    let artifacts = [(KbArtifact::Chunks, chunks), (KbArtifact::FullTextIndex, index)].into_iter().collect();
    let kb = KnowledgeBase { artifacts, bm25: recipe.bm25, embedder: None };
    ModeSpec::Built { mode: Arc::new(SearchMode::FullText(FullTextSearch)), kb, trace: false }
}

/// From questions to scores.
#[allow(clippy::too_many_arguments)]
fn respond(
    memory: &MemoryContext,
    records: &mut Records,
    benchmark: &Prepared,
    unit: &Unit,
    recipe: &Recipe,
    place: &str,
    mode: ModeSpec,
    tables: &mut Tables,
) {
    let queries = benchmark.digest("queries");
    let retrieve = Done::run(memory, Retrieve { mode, queries, unit: unit.clone(), top_k: 5, salt: 0 });
    records.take(place, &retrieve);
    let results = retrieve.ran.digest("results");
    let options = AnswerOptions::Extractive(ExtractiveOptions { sentences: 2, results: 3 });
    let answer = Done::run(memory, AnswerQuestions { options, results, queries, unit: unit.clone(), salt: 0 });
    records.take(place, &answer);
    let answers = Some(answer.ran.digest("answers"));
    for name in EVALUATORS {
        let score = ScoreResponses {
            evaluator: evaluator_of(name).into(),
            results,
            answers,
            queries,
            gold: benchmark.digest("gold"),
            unit: unit.clone(),
            salt: 0,
        };
        let score = Done::run(memory, score);
        records.take(&format!("{place} {name}"), &score);
        tables.scores.push(ScoreTable {
            recipe: recipe.name.to_string(),
            query: "bm25".to_string(),
            evaluator: name.to_string(),
            unit_id: unit.unit_id.clone(),
            scores: score.ran.digest("scores"),
            observations: None,
        });
    }
    tables.responses.push(ResponseTable {
        recipe: recipe.name.to_string(),
        query: "bm25".to_string(),
        mode: "full_text_search".to_string(),
        unit_id: unit.unit_id.clone(),
        results,
        answers,
        retrieve_observations: Some(observations(memory, &results, 10.0)),
        answer_observations: Some(observations(memory, &results, 2.5)),
    });
}

fn evaluator_of(text: &str) -> Box<dyn Evaluator> {
    evaluator(&EvaluatorSpec::parse(text).expect("a specification")).expect("an evaluator")
}

/// Latencies that every run has, instead of those that were measured.
fn observations(memory: &MemoryContext, results: &Digest, first: f64) -> Digest {
    let results: Results = memory.read(results);
    let observed = results.rows.iter().enumerate().map(|(i, row)| Observation {
        case_id: row.case_id.clone(),
        latency_ms: Some(first * (i + 1) as f64),
        attempts: 1,
        ..Observation::default()
    });
    memory.put(&Observations { rows: observed.collect() })
}

/// From scores to reports.
fn report(memory: &MemoryContext, records: &mut Records, benchmark: &Prepared, tables: Tables) {
    let plan: Vec<PlannedQuery> = recipes()
        .iter()
        .map(|recipe| PlannedQuery {
            recipe: recipe.name.to_string(),
            query: "bm25".to_string(),
            mode: "full_text_search".to_string(),
            evaluators: EVALUATORS.map(str::to_string).to_vec(),
        })
        .collect();
    let aggregate = Aggregate {
        evaluation: "harbour".to_string(),
        plan: plan.clone(),
        scores: tables.scores.clone(),
        responses: tables.responses.clone(),
        queries: benchmark.digest("queries"),
        units: benchmark.digest("units"),
        statistics: StatisticsOptions::default(),
        salt: 0,
    };
    let aggregate = Done::run(memory, aggregate);
    records.take_all(&aggregate);
    let recipe_info = |recipe: &Recipe| RecipeInfo {
        name: recipe.name.to_string(),
        manifest: json!({"chunk": recipe.chunk, "analyzer": recipe.analyzer, "bm25": recipe.bm25}),
    };
    let evaluator_info = |name: &str| EvaluatorInfo {
        name: name.to_string(),
        description: evaluator_of(name).describe().description.to_string(),
        labels: None,
    };
    let report = BuildReport {
        evaluation: "harbour".to_string(),
        plan,
        summary: aggregate.ran.digest("summary"),
        score_table: aggregate.ran.digest("score_table"),
        latency: Some(aggregate.ran.digest("latency")),
        usage: None,
        scores: tables.scores,
        responses: tables.responses,
        queries: benchmark.digest("queries"),
        gold: benchmark.digest("gold"),
        documents: benchmark.digest("documents"),
        units: benchmark.digest("units"),
        recipes: recipes().iter().map(recipe_info).collect(),
        queries_info: vec![QueryInfo {
            name: "bm25".to_string(),
            mode: "full_text_search".to_string(),
            top_k: 5,
            options: json!({}),
        }],
        evaluators: EVALUATORS.map(evaluator_info).to_vec(),
        gates: vec![GateSpec { measure: "nDCG@5".to_string(), at_least: Some(0.5), ..GateSpec::default() }],
        baseline: None,
        known_lints: Vec::new(),
        silenced: Vec::new(),
        case_results: CaseResults::default(),
        run: Default::default(),
        started_at: "2026-11-30T16:20:33Z".to_string(),
        finished_at: "2026-11-30T16:20:34Z".to_string(),
        salt: 0,
    };
    records.take_all(&Done::run(memory, report));
}

/// A record of a step, evaluator, ... that is newer than the code says that a version was taken back.
#[test]
fn no_record_is_of_a_later_version() {
    for entry in std::fs::read_dir(folder()).expect("the records") {
        let path = entry.expect("an entry").path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let Some((name, version)) = stem.rsplit_once("-v") else { continue };
        let Some(step) = Step::ALL.into_iter().find(|step| step.name() == name) else { continue };
        let version: u64 = version.parse().unwrap_or_else(|error| panic!("{stem}: {error}"));
        assert!(version <= step.code_version(), "{stem} is recorded, but {step} has version {}", step.code_version());
    }
}
