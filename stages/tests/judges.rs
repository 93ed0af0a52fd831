//! Judges as an action: what the model is shown, what becomes of cases that need no question, and what is in keys.

mod memory;
#[path = "../../tests/e2e/model_server.rs"]
mod model_server;
mod scripted_model;
#[path = "../../tests/e2e/wire.rs"]
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;

use memory::MemoryContext;
use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{
    Answer, Answers, Documents, Gold, Golds, Observation, Observations, Queries, Query, Results, Retrieved, Score,
    ScoreState, ScoreValue, Scores, Unit, UnitRows,
};
use ragstage_stages::contract::Spend;
use ragstage_stages::model::{ChatModel, ModelUsage, Prompt};
use ragstage_stages::score::judge::{
    ContextLimits, Judge, JudgeKind, JudgeOptions, OpenVikingParse, OpenVikingScale, Rubric, RubricScale,
};
use ragstage_stages::score::{Evaluator, ScoreResponses};
use scripted_model::ChatServer;
use serde_json::{Value, json};

/// Case, question, gold answers, passages, answer.
type CaseTexts = (&'static str, &'static str, &'static [&'static str], &'static [&'static str], &'static str);

const CASES: [CaseTexts; 4] = [
    ("whole", "When was it built?", &["1871", "in 1871"], &["Built in 1871.", "Of granite.", "By hand."], "In 1871."),
    ("no gold", "Is it open?", &[" \n"], &["Open in May."], "Yes."),
    ("no answer", "How high?", &["40 m"], &["It is 40 m high."], " \n"),
    ("no passage", "Who pays?", &["the town"], &[], "The town."),
];

struct Scene {
    memory: MemoryContext,
    server: ChatServer,
}

impl Scene {
    fn new(script: impl Fn(&Value) -> String + Send + 'static) -> Self {
        Scene { memory: MemoryContext::default(), server: ChatServer::new(script) }
    }

    fn judge(&self, kind: JudgeKind) -> Judge {
        judge(self.server.model("j"), kind)
    }

    fn action(&self, judge: &Judge, salt: u64) -> ScoreResponses {
        let queries = CASES.map(|(id, text, ..)| Query { case_id: id.into(), text: text.into(), category: None });
        let golds = CASES.map(|(id, _, golds, ..)| Gold {
            case_id: id.into(),
            answers: golds.iter().map(|gold| gold.to_string()).collect(),
            ..Gold::default()
        });
        let hits = |texts: &[&str]| -> Value { texts.iter().map(|text| json!({"id": text, "text": text})).collect() };
        let results = CASES.map(|(id, _, _, texts, _)| Retrieved {
            case_id: id.into(),
            results: serde_json::from_value(hits(texts)).expect("hits"),
            ..Retrieved::default()
        });
        let answers =
            CASES.map(|(id, .., text)| Answer { case_id: id.into(), text: Some(text.into()), ..Answer::default() });
        let (queries, golds) = (Queries { rows: queries.to_vec() }, Golds { rows: golds.to_vec() });
        let rows = UnitRows { unit_id: "all".to_string(), ..UnitRows::default() };
        ScoreResponses {
            evaluator: Arc::new(judge.clone()),
            results: self.memory.put(&Results { rows: results.to_vec() }),
            answers: Some(self.memory.put(&Answers { rows: answers.to_vec() })),
            queries: self.memory.put(&queries),
            gold: self.memory.put(&golds),
            unit: Unit::over(rows, &Documents::default(), &queries, &golds, &Default::default()).expect("a unit"),
            salt,
        }
    }

    fn run(&self, judge: &Judge) -> Vec<Score> {
        self.memory.run(&self.action(judge, 0)).read::<Scores>("scores").rows
    }
}

fn judge(model: ChatModel, kind: JudgeKind) -> Judge {
    let options = JudgeOptions::new(&kind, Arc::new(model));
    Judge { name: kind.name().to_string(), kind, options }
}

fn rubric(text: &str, scale: RubricScale) -> JudgeKind {
    JudgeKind::Rubric(Box::new(Rubric { instruction: Prompt::new(text), scale, higher_is_better: true }))
}

const FOUR: RubricScale = RubricScale::Number { min: 0, max: 4, passes: Some(3) };

/// State, value and reason of each score.
fn told(scores: &[Score]) -> Vec<(ScoreState, Option<f64>, &str)> {
    let mut told = Vec::with_capacity(scores.len());
    for score in scores {
        let not_asked = score.detail.get("not_asked").unwrap_or_default().as_str().map(str::to_string);
        // So few that they may stay in memory.
        let not_asked = not_asked.map(|text| &*text.leak());
        let why = score.reason.as_deref().or(not_asked).unwrap_or_default();
        told.push((score.state, score.value.as_ref().and_then(ScoreValue::number), why));
    }
    told
}

fn schema_of(body: &Value) -> &str {
    body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default()
}

/// Says yes to everything.
fn yes(body: &Value) -> String {
    let verdicts = &body["response_format"]["json_schema"]["schema"]["properties"]["verdicts"];
    let list = |on: &str, says: &str| -> Value {
        let count = verdicts["minItems"].as_u64().unwrap_or_default();
        (1..=count).map(|n| json!({on: n, "reason": "", says: true})).collect()
    };
    match schema_of(body) {
        "claims" => json!({"claims": ["One.", "Two."]}),
        "claim_verdicts" => json!({"verdicts": list("claim", "supported")}),
        "passage_verdicts" => json!({"verdicts": list("passage", "useful")}),
        _ => json!({"reasoning": "", "score": 4}),
    }
    .to_string()
}

#[test]
fn what_needs_no_question_is_not_asked() {
    use ScoreState::{Scored, Skipped};
    let scene = Scene::new(yes);
    let gold = (Skipped, None, "the case has no accepted answer");
    let answered = (Scored, Some(1.0), "");
    let nothing = (Scored, Some(0.0), "nothing was retrieved");
    let empty = (Scored, Some(0.0), "the answer is empty");
    let no_answer = (Skipped, None, "the answer is empty");
    for (kind, expected) in [
        (JudgeKind::Faithfulness, [answered, answered, no_answer, nothing]),
        (JudgeKind::ClaimPrecision, [answered, gold, no_answer, answered]),
        (JudgeKind::ClaimRecall, [answered, gold, empty, answered]),
        (JudgeKind::ContextRecall, [answered, gold, answered, nothing]),
        (JudgeKind::ContextPrecision, [answered, gold, answered, nothing]),
        (JudgeKind::Correctness, [answered, gold, empty, answered]),
    ] {
        assert_eq!(told(&scene.run(&scene.judge(kind.clone()))), expected, "{}", kind.name());
    }
    let scores = scene.run(&scene.judge(rubric("Is {{ answer }} kind?", FOUR)));
    let kind = (Scored, Some(4.0), "");
    assert_eq!(told(&scores), [kind, kind, no_answer, kind]);
    // A rubric about passages alone needs neither answer nor gold.
    let scores = scene.run(&scene.judge(rubric("Is this readable? {{ contexts }}", FOUR)));
    assert_eq!(told(&scores), [kind; 4]);
}

#[test]
fn texts_without_claims_are_skipped() {
    let scene = Scene::new(|body| match schema_of(body) {
        "claims" => json!({"claims": [" "]}).to_string(),
        _ => yes(body),
    });
    let scores = scene.run(&scene.judge(JudgeKind::Faithfulness));
    assert_eq!(told(&scores)[0], (ScoreState::Skipped, None, "the text makes no claims"));
    assert_eq!(scene.server.asked().len(), 3, "no claim is judged");
}

#[test]
fn verdicts_out_of_order_are_none() {
    let scene = Scene::new(|body| match schema_of(body) {
        "claim_verdicts" => {
            let verdict = |n: u64| json!({"claim": n, "reason": "", "supported": true});
            json!({"verdicts": [verdict(2), verdict(1)]}).to_string()
        }
        _ => yes(body),
    });
    let scores = scene.run(&scene.judge(JudgeKind::ClaimPrecision));
    let error = scores[0].error.as_ref().expect("a failure");
    assert_eq!(
        (error.kind.name(), error.message.as_str()),
        ("bad_reply", "expected the verdict on claim 1, found that on 2")
    );
}

#[test]
fn the_model_is_shown_what_is_judged() {
    let scene = Scene::new(yes);
    let first = |kind: JudgeKind| {
        scene.run(&scene.judge(kind));
        let prompts = scene.server.prompts();
        prompts
            .into_iter()
            .find(|prompt| prompt.contains("When was it built?") || prompt.contains("1871"))
            .expect("a prompt")
    };
    let prompt = first(JudgeKind::Correctness);
    let case = "Question: When was it built?\nAccepted answers: 1871 | in 1871\nAnswer to grade: In 1871.\n\nReply with one JSON \
                object and nothing else: {\"reasoning\": one or two short sentences, \"score\": a whole number from 0 to 4}";
    assert!(prompt.ends_with(case), "{prompt}");
    let prompt = first(JudgeKind::ContextPrecision);
    assert!(prompt.contains("[1] Built in 1871.\n[2] Of granite.\n[3] By hand."), "{prompt}");
    // A rubric that names nothing has the case after it.
    let prompt = first(rubric("Is it kind?", FOUR));
    assert!(
        prompt.starts_with("Is it kind?\n\nQuestion: When was it built?\nAnswer: In 1871.\n\nReply with"),
        "{prompt}"
    );
    let labels = RubricScale::Labels { labels: vec!["a \"b\"".into(), "c".into()], passes: Vec::new() };
    let prompt = first(rubric("{{ question }} {{ gold }} {{ contexts }}", labels));
    assert!(prompt.starts_with("When was it built? 1871 | in 1871 [1] Built in 1871.\n[2] Of granite."), "{prompt}");
    assert!(prompt.ends_with("\"label\": one of \"a \\\"b\\\"\", \"c\"}"), "{prompt}");
    let mut few = scene.judge(JudgeKind::ContextPrecision);
    few.options.contexts.results = 1;
    scene.run(&few);
    assert!(scene.server.prompts().iter().all(|prompt| !prompt.contains("[2]")));
}

#[test]
fn openvikings_judge_reads_as_it_does_where_that_is_asked() {
    let scene = Scene::new(|_| "On a scale of 0 to 4 this is a 3 of course.".to_string());
    let kind = |scale, parse| JudgeKind::OpenViking { scale, parse, refusals: false };
    let lenient = scene.run(&scene.judge(kind(OpenVikingScale::Graded, OpenVikingParse::OpenViking)));
    assert_eq!(lenient[0].value, Some(ScoreValue::Number(0.0)), "the first digit that stands alone");
    assert_eq!(lenient[0].detail.get("parsed_by").unwrap_or_default(), "standalone_digit");
    assert!(scene.server.asked().iter().all(|body| body.get("response_format").is_none()));
    let strict = scene.run(&scene.judge(kind(OpenVikingScale::Binary, OpenVikingParse::Strict)));
    assert_eq!(strict[0].error.as_ref().map(|error| error.kind.name()), Some("bad_reply"));
    scene.server.rescript(|_| json!({"reasoning": "", "score": 3}).to_string());
    let strict = scene.run(&scene.judge(kind(OpenVikingScale::Binary, OpenVikingParse::Strict)));
    assert_eq!(strict[0].error.as_ref().map(|error| error.kind.name()), Some("bad_reply"), "3 is neither 0 nor 4");
}

#[test]
fn keys_hold_what_scores_depend_on_and_nothing_else() {
    let scene = Scene::new(yes);
    let key = |judge: &Judge| key_of(&scene.action(judge, 0));
    let base = scene.judge(rubric("Is {{ answer }} kind?", FOUR));
    let with = |change: &dyn Fn(&mut Judge)| {
        let mut judge = base.clone();
        change(&mut judge);
        key(&judge)
    };
    let model = |change: &dyn Fn(&mut ChatModel)| {
        let mut model = (*base.options.model).clone();
        change(&mut model);
        with(&move |judge| judge.options.model = Arc::new(model.clone()))
    };
    for same in [
        with(&|judge| judge.name = "tone".to_string()),
        with(&|judge| judge.options.attempts = 9),
        with(&|judge| judge.options.contexts = ContextLimits { results: 1, tokens: 1 }),
        model(&|model| model.name = "other".to_string()),
        model(&|model| model.endpoint.base_url = "http://elsewhere/v1".to_string()),
        model(&|model| model.price.input_per_million = 9.0),
    ] {
        assert_eq!(same, key(&base));
    }
    let passes = RubricScale::Number { min: 0, max: 4, passes: Some(4) };
    let contexts = |results| {
        let mut judge = scene.judge(JudgeKind::Faithfulness);
        judge.options.contexts.results = results;
        key(&judge)
    };
    let openviking = |scale, parse| key(&scene.judge(JudgeKind::OpenViking { scale, parse, refusals: false }));
    let keys: Vec<Digest> = vec![
        key(&base),
        key_of(&scene.action(&base, 7)),
        key(&scene.judge(rubric("Is {{ answer }} polite?", FOUR))),
        key(&scene.judge(rubric("Is {{ answer }} kind?", passes))),
        with(&|judge| judge.options.samples = 2),
        with(&|judge| judge.options.temperature = 0.5),
        with(&|judge| judge.options.max_tokens = 7),
        model(&|model| model.model = "k".to_string()),
        model(&|model| model.structured = false),
        contexts(10),
        contexts(9),
        key(&scene.judge(JudgeKind::ContextRecall)),
        openviking(OpenVikingScale::Graded, OpenVikingParse::Strict),
        openviking(OpenVikingScale::Binary, OpenVikingParse::Strict),
        openviking(OpenVikingScale::Graded, OpenVikingParse::OpenViking),
    ];
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    assert_eq!(base.describe().model.as_deref(), Some("j"));
}

#[test]
fn replies_are_paid_for_once_and_again_when_forced() {
    let scene = Scene::new(yes);
    let mut judge = scene.judge(JudgeKind::ClaimPrecision);
    judge.options.samples = 2;
    scene.run(&judge);
    let asked = scene.server.asked();
    // The claims of two answers, and two verdicts on each.
    assert_eq!(asked.len(), 6);
    let seeds: BTreeSet<String> = asked.iter().map(|body| body["seed"].to_string()).collect();
    assert_eq!(seeds, BTreeSet::from(["null".to_string(), "65536".to_string()]));
    assert_eq!(scene.memory.spent(), Spend { tokens: 6 * 110, nano_usd: 6 * (100 * 1000 + 10 * 2000) });
    // What each case took is told of kept scores, too.
    let observed: Observations = scene.memory.run(&scene.action(&judge, 0)).read("observations");
    let told = |row: &Observation| -> Vec<(u64, u64, u64, u64)> {
        let of = |taken: &ModelUsage| {
            (taken.calls, taken.usage.prompt_tokens, taken.usage.completion_tokens, taken.nano_usd)
        };
        row.usage.iter().map(of).collect()
    };
    let told: Vec<_> = observed.rows.iter().map(|row| (row.case_id.as_str(), told(row))).collect();
    let three = || vec![(3, 300, 30, 3 * (100 * 1000 + 10 * 2000))];
    assert_eq!(told, [("whole", three()), ("no gold", vec![]), ("no answer", vec![]), ("no passage", three())]);
    judge.options.samples = 3;
    scene.run(&judge);
    assert_eq!(scene.server.asked().len(), 2, "a further judgement of each");
    scene.memory.run(&scene.action(&judge, 1));
    assert_eq!(scene.server.asked().len(), 8);
}
