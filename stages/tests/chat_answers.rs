//! Answers of a chat model as an action: what is asked, what is asked again, and what is read of a reply.

mod memory;
#[path = "../../tests/e2e/model_server.rs"]
mod model_server;
mod scripted_model;
#[path = "../../tests/e2e/wire.rs"]
mod wire;

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    Answer, AnswerSample, Answers, Documents, Gold, Golds, Hit, Json, Observations, Queries, Query, Results, Retrieved,
    ScoreValue, Scores, Unit, UnitRows,
};
use ragstage_stages::build::chunk::Tokenizer;
use ragstage_stages::contract::Action;
use ragstage_stages::error::{RowError, RowErrorKind, StageErrorKind};
use ragstage_stages::model::{ModelUsage, Usage, UsageSource};
use ragstage_stages::query::{AnswerOptions, AnswerQuestions, ChatAnswerOptions, ContextOptions, Template};
use ragstage_stages::score::{EvaluatorSpec, ScoreResponses, evaluator};
use serde_json::{Value, json};

use memory::{MemoryContext, Ran};
use scripted_model::ChatServer;

/// Case, question, category.
const CASES: [(&str, &str, &str); 3] =
    [("q1", "When was it built?", "year"), ("q2", "Is it open?", "yes_no"), ("q3", "How high?", "")];

fn hit(id: &str, text: &str, document: &str) -> Hit {
    let source = json!({"document_id": document, "title": "Tower"});
    let Value::Object(source) = source else { panic!("object") };
    Hit {
        id: id.to_string(),
        text: text.into(),
        score: Some(1.0),
        kind: "chunk".to_string(),
        source: source.into(),
        metadata: Json::new(),
    }
}

fn hits() -> Vec<Hit> {
    vec![
        hit("c1", "Built in 1871, of granite.", "tower"),
        hit("c2", "Open from May to June.", "visit"),
        hit("c3", "It is 40 metres high.", "tower"),
    ]
}

/// A unit of [`CASES`] with what was found for each.
struct Scene {
    memory: MemoryContext,
    server: ChatServer,
    queries: Queries,
    unit: Unit,
    found: Vec<Vec<Hit>>,
}

impl Scene {
    fn new(script: impl Fn(&Value) -> String + Send + 'static) -> Self {
        let query = |(case_id, text, category): (&str, &str, &str)| Query {
            case_id: case_id.to_string(),
            text: text.to_string(),
            category: (!category.is_empty()).then(|| category.to_string()),
        };
        let queries = Queries { rows: CASES.map(query).to_vec() };
        let golds = Golds { rows: vec![Gold::default(); CASES.len()] };
        let rows = UnitRows { unit_id: "all".to_string(), ..UnitRows::default() };
        let unit = Unit::over(rows, &Documents::default(), &queries, &golds, &Default::default()).expect("unit");
        Scene {
            memory: MemoryContext::default(),
            server: ChatServer::new(script),
            queries,
            unit,
            found: vec![hits(); CASES.len()],
        }
    }

    fn options(&self) -> ChatAnswerOptions {
        ChatAnswerOptions::new(Arc::new(self.server.model("m")))
    }

    fn action(&self, options: ChatAnswerOptions) -> AnswerQuestions {
        let row = |(query, results): (&Query, &Vec<Hit>)| Retrieved {
            case_id: query.case_id.clone(),
            results: results.clone(),
            ..Retrieved::default()
        };
        self.over(options, self.queries.rows.iter().zip(&self.found).map(row).collect())
    }

    fn over(&self, options: ChatAnswerOptions, rows: Vec<Retrieved>) -> AnswerQuestions {
        AnswerQuestions {
            options: AnswerOptions::Chat(Box::new(options)),
            results: self.memory.put(&Results { rows }),
            queries: self.memory.put(&self.queries),
            unit: self.unit.clone(),
            salt: 0,
        }
    }

    fn run(&self, options: ChatAnswerOptions) -> Ran {
        self.memory.run(&self.action(options))
    }

    /// The questions that are asked when the answers are made with `options`, sorted.
    fn asked(&self, options: ChatAnswerOptions) -> Vec<String> {
        self.run(options);
        let question = |body: Value| {
            let text = user(&body).to_string();
            text.rsplit("Question: ").next().unwrap_or_default().to_string()
        };
        let mut questions: Vec<String> = self.server.asked().into_iter().map(question).collect();
        questions.sort();
        questions
    }
}

fn user(body: &Value) -> &str {
    body["messages"][1]["content"].as_str().expect("a user message")
}

fn template(text: &str) -> Template {
    Template { file: Some("prompts/user.md".into()), text: text.to_string() }
}

const ALL: [&str; 3] = ["How high?", "Is it open?", "When was it built?"];

#[test]
fn a_request_holds_passages_question_and_sampling() {
    let scene = Scene::new(|_| "1871".to_string());
    let options = ChatAnswerOptions {
        temperature: 0.5,
        max_tokens: 48,
        seed: Some(7),
        stop: vec!["\n".to_string()],
        context: ContextOptions { results: 2, ..ContextOptions::default() },
        ..scene.options()
    };
    scene.run(options);
    let asked = scene.server.asked();
    let body = asked.iter().find(|body| user(body).ends_with("When was it built?")).expect("q1");
    assert_eq!(
        user(body),
        "[1] Tower\nBuilt in 1871, of granite.\n\n[2] Tower\nOpen from May to June.\n\nQuestion: When was it built?"
    );
    assert_eq!((&body["model"], &body["temperature"], &body["max_tokens"]), (&json!("m"), &json!(0.5), &json!(48)));
    assert_eq!((&body["seed"], &body["stop"]), (&json!(7), &json!(["\n"])));
    assert_eq!(body["messages"][0]["role"], "system");
    let system = body["messages"][0]["content"].as_str().expect("a system message");
    assert!(system.contains("I don't know.") && system.contains("[2, 3]"), "{system}");
}

#[test]
fn only_what_changed_is_asked_again() {
    let mut scene = Scene::new(|_| "An answer.".to_string());
    assert_eq!(scene.asked(scene.options()), ALL);
    assert_eq!(scene.asked(scene.options()), [""; 0]);
    // The instruction of a category, and its change.
    let instructed = |text: &str| ChatAnswerOptions {
        instructions: [("yes_no".to_string(), text.to_string())].into(),
        ..scene.options()
    };
    assert_eq!(scene.asked(instructed("Yes or no.")), ["Is it open?"]);
    assert_eq!(scene.asked(instructed("Say yes or no.")), ["Is it open?"]);
    // The prompt: all. A template that comes out the same: none, though the key is another.
    let prompted = |text: &str| {
        let mut options = scene.options();
        options.prompt.user = template(text);
        options
    };
    let plain = "{{ context | map(attribute='text') | join(' ') }} Question: {{ question }}";
    assert_eq!(scene.asked(prompted(plain)), ALL);
    let same = format!("{{# the same #}}{plain}");
    assert_eq!(scene.asked(prompted(&same)), [""; 0]);
    assert_ne!(key_of(&scene.action(prompted(plain))), key_of(&scene.action(prompted(&same))));
    // Sampling and model.
    let max = scene.options().max_tokens + 1;
    assert_eq!(scene.asked(ChatAnswerOptions { max_tokens: max, ..scene.options() }), ALL);
    assert_eq!(scene.asked(ChatAnswerOptions::new(Arc::new(scene.server.model("other")))), ALL);
    // A price, a name or a URL asks nothing, and is in no key.
    let mut model = scene.server.model("m");
    model.price = Default::default();
    model.name = "renamed".to_string();
    assert_eq!(scene.asked(ChatAnswerOptions::new(Arc::new(model.clone()))), [""; 0]);
    model.endpoint.base_url = "http://elsewhere/v1".to_string();
    let moved = ChatAnswerOptions::new(Arc::new(model));
    assert_eq!(key_of(&scene.action(moved)), key_of(&scene.action(scene.options())));
    // An edit of the corpus: one case reads another passage, another one's passage has a new id, score and place.
    scene.found[0][1] = hit("c2", "Open all year.", "visit");
    scene.found[1][0] = Hit { score: Some(9.0), ..hit("c9", "Built in 1871, of granite.", "elsewhere") };
    assert_eq!(scene.asked(scene.options()), ["When was it built?"]);
    // Results beyond those that are read.
    scene.found[2].push(hit("c4", "More.", "more"));
    let three = ContextOptions { results: 3, ..ContextOptions::default() };
    assert_eq!(scene.asked(ChatAnswerOptions { context: three, ..scene.options() }), [""; 0]);
}

#[test]
fn forced_answers_are_asked_again() {
    let scene = Scene::new(|_| "An answer.".to_string());
    scene.run(scene.options());
    let forced = AnswerQuestions { salt: 1, ..scene.action(scene.options()) };
    scene.server.asked();
    scene.memory.run(&forced);
    assert_eq!(scene.server.asked().len(), 3);
    scene.memory.run(&forced);
    assert_eq!(scene.server.asked().len(), 0);
}

#[test]
fn passages_are_cut_at_the_budget() {
    let scene = Scene::new(|_| "An answer.".to_string());
    let context = ContextOptions { tokens: 8, tokenizer: Tokenizer::Words, results: 10, result_chars: None };
    let ran = scene.run(ChatAnswerOptions { context, ..scene.options() });
    // `Built in 1871, of granite.` is 5 words; 3 of the next passage fit.
    for body in scene.server.asked() {
        let passages = user(&body).split("\n\nQuestion").next().expect("passages").to_string();
        assert_eq!(passages, "[1] Tower\nBuilt in 1871, of granite.\n\n[2] Tower\nOpen from May");
    }
    let answers: Answers = ran.read("answers");
    assert_eq!(answers.rows[0].metadata["context"], json!({"passages": 2, "tokens": 8, "cut": true}));
}

#[test]
fn citations_name_the_passages_that_were_shown() {
    let scene = Scene::new(|body| match user(body).rsplit(' ').next() {
        Some("built?") => "It is of granite [3]. It was built in 1871 [1, 3].".to_string(),
        Some("open?") => "From May [2][7].".to_string(),
        _ => "40 metres.".to_string(),
    });
    let answers: Answers = scene.run(scene.options()).read("answers");
    let cited = |row: &Answer| -> Vec<(String, String, String, Value)> {
        let citations = row.citations.iter();
        citations
            .map(|citation| {
                let (result, text) = (citation.result_id.clone(), citation.text.clone());
                let document = citation.source["document_id"].clone();
                (citation.id.clone(), result.expect("a result"), text.expect("a text"), document)
            })
            .collect()
    };
    let citation = |id: &str, result: &str, text: &str, document: &str| {
        (id.to_string(), result.to_string(), text.to_string(), json!(document))
    };
    assert_eq!(
        cited(&answers.rows[0]),
        [
            citation("citation_1", "c3", "It is 40 metres high.", "tower"),
            citation("citation_2", "c1", "Built in 1871, of granite.", "tower"),
        ]
    );
    assert_eq!(cited(&answers.rows[1]), [citation("citation_1", "c2", "Open from May to June.", "visit")]);
    assert_eq!(answers.rows[1].metadata["citations_out_of_range"], 1);
    assert_eq!(cited(&answers.rows[2]), []);
    // The text is the reply's own.
    assert_eq!(answers.rows[1].text.as_deref(), Some("From May [2][7]."));
    let silent = ChatAnswerOptions { citations: false, ..scene.options() };
    let answers: Answers = scene.run(silent).read("answers");
    assert!(answers.rows.iter().all(|row| row.citations.is_empty()));
}

#[test]
fn refusals_are_marked() {
    let scene = Scene::new(|body| match user(body).ends_with("open?") {
        true => " i DON’T know\n".to_string(),
        false => "I don't know when, but 1871.".to_string(),
    });
    let answers: Answers = scene.run(scene.options()).read("answers");
    let refused: Vec<bool> = answers.rows.iter().map(|row| row.refused).collect();
    assert_eq!(refused, [false, true, false]);
    assert_eq!(answers.rows[1].text.as_deref(), Some("i DON’T know"));
    let other = ChatAnswerOptions { refusal: "Unanswerable".to_string(), ..scene.options() };
    let answers: Answers = scene.run(other).read("answers");
    assert!(answers.rows.iter().all(|row| !row.refused));
}

#[test]
fn samples_are_asked_one_by_one_and_scored_together() {
    // Says the seed, so that samples differ.
    let scene = Scene::new(|body| format!("It is {}.", body["seed"]));
    let options = |samples| ChatAnswerOptions { samples, seed: Some(40), temperature: 1.0, ..scene.options() };
    let one = scene.run(options(1));
    assert_eq!(scene.server.asked().len(), 3);
    let single: Answers = one.read("answers");
    assert!(single.rows.iter().all(|row| row.samples.is_empty()));
    // The first sample is the one that is there already.
    let ran = scene.run(options(4));
    let seeds: Vec<Value> = scene.server.asked().into_iter().map(|body| body["seed"].clone()).collect();
    assert_eq!(seeds.len(), 9);
    assert!(seeds.iter().all(|seed| [41, 42, 43].map(Value::from).contains(seed)), "{seeds:?}");
    let answers: Answers = ran.read("answers");
    for row in &answers.rows {
        let texts: Vec<&str> = row.samples.iter().map(|sample| sample.text.as_str()).collect();
        assert_eq!(texts, ["It is 40.", "It is 41.", "It is 42.", "It is 43."]);
        assert_eq!(row.text.as_deref(), Some("It is 40."));
    }
    assert_eq!(Answers::decode_again(&answers), answers);
    let observations: Observations = ran.read("observations");
    let usage = ModelUsage {
        model: "small".to_string(),
        calls: 4,
        usage: Usage { prompt_tokens: 400, completion_tokens: 40, source: UsageSource::Server },
        nano_usd: 4 * (100 * 1000 + 10 * 2000),
    };
    assert_eq!(observations.rows[0].usage, [usage]);

    // Scores: two of the four samples hold an answer that is right.
    let golds = Golds {
        rows: CASES
            .map(|(case_id, ..)| Gold {
                case_id: case_id.to_string(),
                answers: vec!["40".to_string(), "42".to_string()],
                ..Gold::default()
            })
            .to_vec(),
    };
    let score = |answers: Digest| {
        let spec = EvaluatorSpec::parse("answer_contains").expect("a spec");
        ScoreResponses {
            evaluator: Arc::from(evaluator(&spec).expect("an evaluator")),
            results: scene.action(options(4)).results,
            answers: Some(answers),
            queries: scene.memory.put(&scene.queries),
            gold: scene.memory.put(&golds),
            unit: scene.unit.clone(),
            salt: 0,
        }
    };
    let scores: Scores = scene.memory.run(&score(ran.digest("answers"))).read("scores");
    for row in &scores.rows {
        assert_eq!((row.value.clone(), row.passed), (Some(ScoreValue::Number(0.5)), Some(false)));
        let samples = row.detail.get("samples").unwrap_or_default();
        let values: Vec<&Value> = samples.as_array().expect("samples").iter().map(|sample| &sample["value"]).collect();
        assert_eq!(values, [true, false, true, false].map(Value::from).iter().collect::<Vec<_>>());
    }
    // One sample is scored as it always was; a row's key holds all samples.
    let scores: Scores = scene.memory.run(&score(one.digest("answers"))).read("scores");
    assert_eq!(scores.rows[0].value, Some(ScoreValue::Bool(true)));
    scene.memory.run(&score(ran.digest("answers")));
    scene.memory.computed();
    let mut other = answers.clone();
    other.rows[1].samples[3] = AnswerSample { text: "It is 40.".to_string(), citations: Vec::new() };
    let scores: Scores = scene.memory.run(&score(scene.memory.put(&other))).read("scores");
    assert_eq!(scene.memory.computed(), ["q2"]);
    assert_eq!(scores.rows[1].value, Some(ScoreValue::Number(0.75)));
}

/// Through bytes and back.
trait DecodeAgain {
    fn decode_again(&self) -> Self;
}

impl DecodeAgain for Answers {
    fn decode_again(&self) -> Self {
        use ragstage_stages::contract::Artifact;
        Answers::decode(self.encode().expect("encode")).expect("decode")
    }
}

#[test]
fn a_failed_call_is_that_cases_error_and_is_not_kept() {
    let scene = Scene::new(|body| match user(body).ends_with("open?") {
        true => " \n".to_string(),
        false => "1871".to_string(),
    });
    let ran = scene.run(scene.options());
    assert_eq!(ran.0.failed, 1);
    let answers: Answers = ran.read("answers");
    let error = answers.rows[1].error.as_ref().expect("an error");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (RowErrorKind::BadReply, "expected an answer, found an empty reply")
    );
    assert_eq!(answers.rows[0].text.as_deref(), Some("1871"));
    scene.server.asked();
    scene.server.rescript(|_| "Yes.".to_string());
    let ran = scene.run(scene.options());
    assert_eq!((scene.server.asked().len(), ran.0.failed), (1, 0));
    // The law: a cold run gives the same bytes for the same replies.
    let cold = Scene::new(|body| if user(body).ends_with("open?") { "Yes." } else { "1871" }.to_string());
    assert_eq!(cold.run(cold.options()).digest("answers"), ran.digest("answers"));
}

#[test]
fn cases_without_results_ask_nothing_and_cases_without_passages_do() {
    let scene = Scene::new(|_| "I don't know.".to_string());
    let row = |(case_id, error): (&str, Option<RowError>)| Retrieved {
        case_id: case_id.to_string(),
        error,
        ..Retrieved::default()
    };
    let lost = RowError::new(RowErrorKind::Server, "503");
    let action = scene.over(scene.options(), [("q1", None), ("q2", Some(lost)), ("q3", None)].map(row).to_vec());
    let ran = scene.memory.run(&action);
    let answers: Answers = ran.read("answers");
    assert_eq!(answers.rows[1].error.as_ref().map(|error| error.kind), Some(RowErrorKind::Upstream));
    assert!(answers.rows[0].refused && answers.rows[2].refused);
    assert_eq!(scene.server.asked().len(), 2);
}

#[test]
fn templates_that_cannot_be_filled_are_input_errors() {
    let scene = Scene::new(|_| "1871".to_string());
    let mut options = scene.options();
    options.prompt.user = template("{{ question }}\n{% for p in context %}{{ p.source.author }}{% endfor %}");
    let action = scene.action(options);
    let error = action.run(&scene.memory).expect_err("an error");
    let StageErrorKind::Input(errors) = error.kind else { panic!("{error}") };
    assert_eq!(errors[0].place.to_string(), "prompts/user.md:2");
    assert_eq!(errors[0].message, "the template cannot be filled: `p.source.author` is not defined");
    assert_eq!(scene.server.asked().len(), 0);
}
