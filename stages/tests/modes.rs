//! Modes that ask other modes and models, as actions: what they give, what they ask, and what their keys hold.

mod harbour;
mod memory;
#[path = "../../tests/e2e/model_server.rs"]
mod model_server;
mod scripted_model;
#[path = "../../tests/e2e/wire.rs"]
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{Chunks, Observations, Results, Retrieved};
use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options, FullTextIndex};
use ragstage_stages::error::RowErrorKind;
use ragstage_stages::model::{ChatModel, Endpoint, Price, Prompt};
use ragstage_stages::query::search::{
    FullTextSearch, KbArtifact, KnowledgeBase, Merge, MultihopSearch, OnFailure, Planner, PromptedModel, RerankBy,
    RerankSearch, RewriteSearch, Rewriter, SearchMode,
};
use ragstage_stages::query::{ModeSpec, Retrieve};
use serde_json::{Value, json};

use harbour::{chunk, queries, run};
use memory::MemoryContext;
use scripted_model::ChatServer;

const BUILDER: &str = "Who was the father of the builder of the lighthouse?";
const GRAIN: &str = "Where do ships unload grain?";

fn corpus() -> Chunks {
    Chunks {
        rows: vec![
            chunk("built", "a", None, "The builder of the lighthouse was Ada Brunt. She came from Hull."),
            chunk(
                "brunt",
                "b",
                None,
                "John Brunt, a carpenter, taught Ada Brunt his trade. Her father was a patient man.",
            ),
            chunk("quay", "c", None, "Ships unload grain at the quay. The quay is long."),
            chunk("tide", "d", None, "Tides rise twice a day. Ships wait for them, ships of grain above all."),
            chunk("hull", "e", None, "Hull is a town with a harbour."),
        ],
    }
}

fn full_text() -> Box<SearchMode> {
    Box::new(SearchMode::FullText(FullTextSearch))
}

fn kb(memory: &MemoryContext) -> KnowledgeBase {
    let chunks = memory.put(&corpus());
    let (outputs, _) =
        run(memory, &FullTextIndex { chunks, analyzer: AnalyzerOptions::default(), title_weight: 1, salt: 0 });
    let artifacts =
        BTreeMap::from([(KbArtifact::FullTextIndex, outputs["full_text_index"]), (KbArtifact::Chunks, chunks)]);
    KnowledgeBase { artifacts, bm25: Bm25Options::default(), embedder: None }
}

fn retrieve(memory: &MemoryContext, mode: SearchMode, top_k: u32, cases: &[(&str, &str)]) -> Retrieve {
    let (queries, unit) = queries(cases);
    let mode = ModeSpec::Built { mode: Arc::new(mode), kb: kb(memory), trace: true };
    Retrieve { mode, queries: memory.put(&queries), unit, top_k, salt: 0 }
}

/// The results and observations of `texts`, whose case ids are their positions.
fn ask(memory: &MemoryContext, mode: SearchMode, top_k: u32, texts: &[&str]) -> (Vec<Retrieved>, Observations) {
    let ids: Vec<String> = (0..texts.len()).map(|i| format!("q{i}")).collect();
    let cases: Vec<(&str, &str)> = ids.iter().map(String::as_str).zip(texts.iter().copied()).collect();
    let (outputs, _) = run(memory, &retrieve(memory, mode, top_k, &cases));
    (memory.read::<Results>(&outputs["results"]).rows, memory.read(&outputs["observations"]))
}

fn ids(row: &Retrieved) -> Vec<&str> {
    assert_eq!(row.error, None);
    row.results.iter().map(|hit| hit.id.as_str()).collect()
}

fn scores(row: &Retrieved) -> Vec<f64> {
    row.results.iter().map(|hit| hit.score.expect("a score")).collect()
}

/// The trace's own event, which is the last, without what came before it.
fn last_event(row: &Retrieved) -> &Value {
    row.metadata["trace"].as_array().and_then(|trace| trace.last()).expect("an event")
}

fn prompted(model: ChatModel, prompt: Prompt) -> PromptedModel {
    PromptedModel { model: Arc::new(model), prompt, max_tokens: 128 }
}

fn rerank_by(by: RerankBy) -> RerankSearch {
    RerankSearch { base: full_text(), candidates: None, by, on_failure: OnFailure::Fail }
}

fn rerank_by_llm(model: ChatModel) -> RerankSearch {
    rerank_by(RerankBy::Llm { model: prompted(model, RerankSearch::prompt()), passage_chars: 30 })
}

fn rewrite(by: Rewriter) -> RewriteSearch {
    RewriteSearch {
        base: full_text(),
        variants: 2,
        include_original: true,
        by,
        rrf_k: 60.0,
        on_failure: OnFailure::Fail,
    }
}

fn rewrite_by_llm(model: ChatModel) -> RewriteSearch {
    rewrite(Rewriter::Llm(prompted(model, RewriteSearch::prompt())))
}

fn multihop(planner: Planner) -> MultihopSearch {
    MultihopSearch { base: full_text(), rounds: 3, planner, merge: Merge::Rrf, on_failure: OnFailure::Fail }
}

fn multihop_by_llm(model: ChatModel) -> MultihopSearch {
    multihop(Planner::Llm { model: prompted(model, MultihopSearch::prompt()), evidence_chars: 400 })
}

/// A model of an address where nobody listens.
fn unreachable() -> ChatModel {
    let endpoint = Endpoint {
        label: "default".to_string(),
        base_url: "http://127.0.0.1:9/v1".to_string(),
        headers: Vec::new(),
        variables: Vec::new(),
    };
    let (name, model) = ("small".to_string(), "scripted".to_string());
    ChatModel { name, model, endpoint, structured: true, price: Price::default() }
}

#[test]
fn lexical_reranking_prefers_passages_with_more_of_the_query() {
    let memory = MemoryContext::default();
    let query = "ships ships wait grain";
    let (base, _) = ask(&memory, *full_text(), 5, &[query]);
    let (rows, _) = ask(&memory, SearchMode::Rerank(rerank_by(RerankBy::Lexical)), 1, &[query]);
    assert_eq!(ids(&base[0]), ["tide", "quay"]);
    // Only `tide` has `wait`; it is cut after both were looked at.
    assert_eq!((ids(&rows[0]), scores(&rows[0])), (vec!["tide"], vec![1.0]));
    let hit = &rows[0].results[0];
    assert_eq!(hit.metadata["pre_rerank_score"], json!(base[0].results[0].score));
    assert_eq!(hit.metadata["pre_rerank_rank"], 1);
    assert_eq!(
        (&rows[0].metadata["reranker"], &rows[0].metadata["base_mode"]),
        (&json!("lexical"), &json!("full_text_search"))
    );
    let event = json!({"mode": "rerank_search", "base_mode": "full_text_search", "candidate_count": 2, "result_count": 1,
                       "reranker": "lexical", "reranker_model": null});
    assert_eq!(*last_event(&rows[0]), event);
    assert_eq!(rows[0].metadata["trace"][0], json!({"mode": "full_text_search", "top_k": 50, "result_count": 2}));
}

#[test]
fn a_model_puts_candidates_in_order_and_is_asked_once() {
    let server = ChatServer::of_prompts(|_| Ok(json!({"order": [2]})));
    let memory = MemoryContext::default();
    let mode = || SearchMode::Rerank(rerank_by_llm(server.model("scripted")));
    let (rows, observations) = ask(&memory, mode(), 5, &[GRAIN, "xylophone", "town"]);
    // The base mode says quay, tide. Nothing, or one candidate, is not asked about.
    assert_eq!((ids(&rows[0]), scores(&rows[0])), (vec!["tide", "quay"], vec![1.0, 0.5]));
    assert_eq!(ids(&rows[1]), Vec::<&str>::new());
    assert_eq!((ids(&rows[2]), scores(&rows[2])), (vec!["hull"], vec![1.0]));
    assert_eq!(rows[0].metadata["reranker_model"], "scripted");
    let prompts = server.prompts();
    assert_eq!(prompts.len(), 1);
    let end =
        "Query: Where do ships unload grain?\n\n[1] Ships unload grain at the quay\n[2] Tides rise twice a day. Ships ";
    assert!(prompts[0].ends_with(end.trim_end()), "{}", prompts[0]);
    let usage = &observations.rows[0].usage;
    assert_eq!((usage.len(), usage[0].model.as_str(), usage[0].calls, usage[0].nano_usd), (1, "small", 1, 120_000));
    assert!(observations.rows[1].usage.is_empty());

    // Another top_k is another result of the same reply: nothing is paid for again.
    let (rows, observations) = ask(&memory, mode(), 1, &[GRAIN]);
    assert_eq!((ids(&rows[0]), server.prompts().len()), (vec!["tide"], 0));
    assert_eq!(observations.rows[0].usage[0].calls, 1);
}

#[test]
fn an_unusable_reply_fails_its_case_alone_or_falls_back() {
    let script =
        |prompt: &str| Ok(if prompt.contains(GRAIN) { json!({"order": [9]}) } else { json!({"order": [2, 1]}) });
    let server = ChatServer::of_prompts(script);
    let memory = MemoryContext::default();
    let mode = rerank_by_llm(server.model("scripted"));
    let other = "grain ships of Hull";
    let (rows, _) = ask(&memory, SearchMode::Rerank(mode.clone()), 5, &[GRAIN, other]);
    let error = rows[0].error.as_ref().expect("an error");
    assert_eq!(error.kind, RowErrorKind::BadReply);
    assert_eq!(error.message, "expected numbers from 1 to 2 in `order`, found 9");
    assert_eq!(rows[1].error, None);

    let mode = RerankSearch { on_failure: OnFailure::Base, ..mode };
    let (rows, _) = ask(&memory, SearchMode::Rerank(mode), 5, &[GRAIN, other]);
    assert_eq!(ids(&rows[0]), ["quay", "tide"]);
    assert_eq!(
        (&rows[0].metadata["fallback"], &rows[0].metadata["reranker"]),
        (&json!("full_text_search"), &json!("none"))
    );
    assert_eq!(rows[0].metadata["issues"][0]["code"], "rerank_invalid_output");
    assert!(!rows[1].metadata.contains_key("fallback"));
}

#[test]
fn a_server_that_does_not_reply_fails_the_case_whatever_the_options_say() {
    let memory = MemoryContext::default();
    let base = OnFailure::Base;
    for mode in [
        SearchMode::Rerank(RerankSearch { on_failure: base, ..rerank_by_llm(unreachable()) }),
        SearchMode::Rewrite(RewriteSearch { on_failure: base, ..rewrite_by_llm(unreachable()) }),
        SearchMode::Multihop(MultihopSearch { on_failure: base, ..multihop_by_llm(unreachable()) }),
    ] {
        let (rows, _) = ask(&memory, mode, 5, &[GRAIN]);
        assert_eq!(rows[0].error.as_ref().map(|error| error.kind), Some(RowErrorKind::Connection));
    }
}

#[test]
fn wordings_are_fused_with_the_query_first() {
    let script = |_: &str| Ok(json!({"queries": ["tides", " tides", "harbour town", "too many"]}));
    let server = ChatServer::of_prompts(script);
    let memory = MemoryContext::default();
    let mode = rewrite_by_llm(server.model("scripted"));
    let (rows, observations) = ask(&memory, SearchMode::Rewrite(mode.clone()), 5, &[GRAIN]);
    // Lists: (quay, tide), (tide), (hull): tide = 1/62 + 1/61, quay = hull = 1/61, of which quay is in an earlier list.
    assert_eq!(ids(&rows[0]), ["tide", "quay", "hull"]);
    assert_eq!(scores(&rows[0]), [1.0 / 61.0 + 1.0 / 62.0, 1.0 / 61.0, 1.0 / 61.0]);
    assert_eq!(rows[0].metadata["variations"], json!(["tides", "harbour town"]));
    assert_eq!(
        (&rows[0].metadata["rewriter"], &rows[0].metadata["rewriter_model"]),
        (&json!("llm"), &json!("scripted"))
    );
    let event = json!({"mode": "rewrite_search", "base_mode": "full_text_search",
                       "variations": ["tides", "harbour town"], "result_count": 3});
    assert_eq!(*last_event(&rows[0]), event);
    assert_eq!(rows[0].metadata["trace"].as_array().map(Vec::len), Some(4));
    assert_eq!(observations.rows[0].usage[0].calls, 1);

    let mode = RewriteSearch { include_original: false, ..mode };
    let (rows, _) = ask(&memory, SearchMode::Rewrite(mode), 5, &[GRAIN]);
    assert_eq!(ids(&rows[0]), ["tide", "hull"]);
    // The same question to the model in both modes.
    assert_eq!(server.prompts().len(), 1);
}

#[test]
fn without_usable_wordings_the_case_fails_or_falls_back() {
    let server = ChatServer::of_prompts(|_| Ok(json!({"queries": [" "]})));
    let memory = MemoryContext::default();
    let mode = rewrite_by_llm(server.model("scripted"));
    let (rows, _) = ask(&memory, SearchMode::Rewrite(mode.clone()), 5, &[GRAIN]);
    assert_eq!(rows[0].error.as_ref().expect("an error").message, "expected texts in `queries`, found none");
    let mode = RewriteSearch { on_failure: OnFailure::Base, include_original: false, ..mode };
    let (rows, _) = ask(&memory, SearchMode::Rewrite(mode), 5, &[GRAIN]);
    let (base, _) = ask(&memory, *full_text(), 5, &[GRAIN]);
    assert_eq!(rows[0].results, base[0].results);
    assert_eq!(rows[0].metadata["fallback"], "full_text_search");
    assert_eq!(rows[0].metadata["issues"][0]["code"], "rewrite_invalid_output");
}

#[test]
fn lexical_wordings_find_parts() {
    let memory = MemoryContext::default();
    let mode = RewriteSearch { variants: 3, ..rewrite(Rewriter::Lexical) };
    let (rows, _) =
        ask(&memory, SearchMode::Rewrite(mode), 5, &["Where do ships unload grain, and what is Hull's harbour?"]);
    assert_eq!(
        rows[0].metadata["variations"],
        json!(["ships unload grain Hull's harbour", "ships unload grain", "Hull's harbour"])
    );
    assert_eq!(rows[0].metadata["rewriter"], "lexical");
}

/// Knows that the builder was Ada Brunt, then who taught her; of anything else it says that it suffices.
fn detective(prompt: &str) -> Result<Value, u16> {
    let plan = |useful: bool, information: &str, sufficient: bool, next: Value| {
        Ok(json!({"useful": useful, "information": information, "sufficient": sufficient, "next_query": next}))
    };
    match prompt {
        _ if !prompt.contains(BUILDER) => plan(true, "at the quay", true, Value::Null),
        _ if prompt.contains("Last search: Ada Brunt") => plan(true, "It was John Brunt.", true, Value::Null),
        _ => plan(true, "Ada Brunt built it.", false, json!("Ada Brunt")),
    }
}

#[test]
fn rounds_go_on_until_the_evidence_suffices_case_by_case() {
    let server = ChatServer::of_prompts(detective);
    let memory = MemoryContext::default();
    let mode = SearchMode::Multihop(multihop_by_llm(server.model("scripted")));
    let (rows, observations) = ask(&memory, mode, 5, &[BUILDER, GRAIN]);
    assert_eq!(rows[0].metadata["rounds"], 2);
    assert_eq!(
        rows[0].metadata["round_reports"],
        json!([
            {"round": 1, "query": BUILDER, "result_count": 2, "information": "Ada Brunt built it.", "sufficient": false,
             "next_query": "Ada Brunt"},
            {"round": 2, "query": "Ada Brunt", "result_count": 2, "information": "It was John Brunt.", "sufficient": true,
             "next_query": null},
        ])
    );
    assert_eq!(rows[0].metadata["issues"], json!([]));
    // Both rounds find both passages, the first `built` first and the second `brunt`.
    assert_eq!(ids(&rows[0]), ["built", "brunt"]);
    assert_eq!(scores(&rows[0]), [1.0 / 61.0 + 1.0 / 62.0; 2]);
    let events: Vec<(&Value, &Value)> =
        rows[0].metadata["trace"].as_array().unwrap().iter().map(|event| (&event["mode"], &event["round"])).collect();
    let (base, own) = (json!("full_text_search"), json!("multihop_search"));
    assert_eq!(events, [(&base, &Value::Null), (&own, &json!(1)), (&base, &Value::Null), (&own, &json!(2))]);
    assert_eq!((rows[1].metadata["rounds"].as_u64(), ids(&rows[1])), (Some(1), vec!["quay", "tide"]));

    let prompts = server.prompts();
    assert_eq!(prompts.len(), 3);
    let second = prompts.iter().find(|prompt| prompt.contains("Last search: Ada Brunt")).expect("a second round");
    assert!(second.contains("Known so far:\n- Ada Brunt built it.\n"), "{second}");
    assert_eq!(observations.rows[0].usage[0].calls, 2);
    assert_eq!(observations.rows[0].usage[0].usage.prompt_tokens, 200);
    assert_eq!(observations.rows[1].usage[0].calls, 1);
}

#[test]
fn a_case_ends_when_nothing_new_is_asked_or_after_the_last_round() {
    let script = |prompt: &str| {
        let next = if prompt.contains("Last search: tides") { "grain" } else { "tides" };
        Ok(json!({"useful": false, "information": "", "sufficient": false, "next_query": next}))
    };
    let server = ChatServer::of_prompts(script);
    let memory = MemoryContext::default();
    let issues = |row: &Retrieved| -> Vec<String> {
        let list = row.metadata["issues"].as_array().expect("issues").iter();
        list.map(|issue| issue["code"].as_str().expect("a code").to_string()).collect()
    };
    // grain -> tides -> grain, which was asked before.
    let (rows, _) = ask(&memory, SearchMode::Multihop(multihop_by_llm(server.model("scripted"))), 5, &["grain"]);
    assert_eq!(rows[0].metadata["rounds"], 2);
    let useless = "round_no_useful_information";
    assert_eq!(issues(&rows[0]), [useless, useless, "answer_not_confirmed"]);
    // xylophone -> tides -> grain -> (three rounds are over).
    let (rows, _) = ask(&memory, SearchMode::Multihop(multihop_by_llm(server.model("scripted"))), 5, &["xylophone"]);
    assert_eq!(rows[0].metadata["rounds"], 3);
    assert_eq!(issues(&rows[0]), ["round_no_results", useless, useless, useless, "answer_not_confirmed"]);
    let nothing = server.prompts().into_iter().filter(|prompt| prompt.ends_with("It found nothing.")).count();
    assert_eq!(nothing, 1);
}

#[test]
fn an_unusable_plan_ends_with_the_evidence_so_far_where_that_is_wanted() {
    let script = |prompt: &str| {
        if prompt.contains("Last search: Ada Brunt") { Ok(json!({"verdict": "maybe"})) } else { detective(prompt) }
    };
    let server = ChatServer::of_prompts(script);
    let memory = MemoryContext::default();
    let mode = multihop_by_llm(server.model("scripted"));
    let (rows, _) = ask(&memory, SearchMode::Multihop(mode.clone()), 5, &[BUILDER, GRAIN]);
    assert_eq!(rows[0].error.as_ref().map(|error| error.kind), Some(RowErrorKind::BadReply));
    assert_eq!(rows[1].error, None);
    let mode = MultihopSearch { on_failure: OnFailure::Base, ..mode };
    let (rows, _) = ask(&memory, SearchMode::Multihop(mode), 5, &[BUILDER]);
    assert_eq!(ids(&rows[0]), ["built", "brunt"]);
    assert_eq!(rows[0].metadata["fallback"], "full_text_search");
    assert_eq!(rows[0].metadata["issues"][0]["code"], "multihop_invalid_output");
}

#[test]
fn the_lexical_planner_follows_names() {
    let memory = MemoryContext::default();
    let mode = MultihopSearch { merge: Merge::MaxScore, ..multihop(Planner::Lexical) };
    let (rows, _) = ask(&memory, SearchMode::Multihop(mode), 1, &[BUILDER]);
    // With one result per round, the first round finds the builder, whose name leads to her father.
    let reports = &rows[0].metadata["round_reports"];
    assert_eq!(
        *reports,
        json!([
            {"round": 1, "query": BUILDER, "result_count": 1, "information": "builder, lighthouse", "sufficient": false,
             "next_query": "father Ada Brunt Hull"},
            {"round": 2, "query": "father Ada Brunt Hull", "result_count": 1, "information": "father", "sufficient": true,
             "next_query": null},
        ])
    );
    assert_eq!(rows[0].metadata["planner"], "lexical");
}

#[test]
fn what_a_case_gets_depends_on_that_case_alone() {
    let script = |prompt: &str| {
        if prompt.contains("\"order\"") {
            Ok(json!({"order": [2]}))
        } else if prompt.contains("\"queries\"") {
            // Wordings that several cases have in common.
            Ok(json!({"queries": ["tides", "Ada Brunt"]}))
        } else {
            detective(prompt)
        }
    };
    let server = ChatServer::of_prompts(script);
    let texts = [BUILDER, GRAIN, "ships", "xylophone", "tides of Hull", "What is it?"];
    let rerank = || Box::new(SearchMode::Rerank(rerank_by_llm(server.model("scripted"))));
    for mode in [
        SearchMode::Rerank(rerank_by(RerankBy::Lexical)),
        SearchMode::Rewrite(rewrite(Rewriter::Lexical)),
        SearchMode::Multihop(multihop(Planner::Lexical)),
        SearchMode::Rewrite(RewriteSearch { base: rerank(), ..rewrite_by_llm(server.model("scripted")) }),
        SearchMode::Multihop(MultihopSearch { base: rerank(), ..multihop_by_llm(server.model("scripted")) }),
    ] {
        let many = ask(&MemoryContext::default(), mode.clone(), 2, &texts).0;
        server.prompts();
        for (text, expected) in texts.iter().zip(many) {
            let one = ask(&MemoryContext::default(), mode.clone(), 2, &[text]).0.remove(0);
            assert_eq!(
                Retrieved { case_id: String::new(), ..one },
                Retrieved { case_id: String::new(), ..expected },
                "{text}"
            );
        }
    }
}

#[test]
fn equal_questions_of_several_cases_are_asked_once() {
    let script = |prompt: &str| {
        Ok(if prompt.contains("\"order\"") {
            json!({"order": [1]})
        } else {
            json!({"queries": ["tides", "Ada Brunt"]})
        })
    };
    let server = ChatServer::of_prompts(script);
    let base = Box::new(SearchMode::Rerank(rerank_by_llm(server.model("scripted"))));
    let mode = SearchMode::Rewrite(RewriteSearch { base, ..rewrite_by_llm(server.model("scripted")) });
    let (rows, observations) = ask(&MemoryContext::default(), mode, 5, &[BUILDER, GRAIN]);
    assert!(rows.iter().all(|row| row.error.is_none()));
    // Two rewrites; orders for two queries and one wording, for of `tides` there is but one candidate.
    assert_eq!(server.prompts().len(), 5);
    // Each case took its rewrite and two orders.
    assert_eq!(observations.rows.iter().map(|row| row.usage[0].calls).collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn keys_hold_every_option_and_nothing_of_where_a_model_is() {
    let memory = MemoryContext::default();
    let key = |mode: SearchMode| key_of(&retrieve(&memory, mode, 5, &[("q", GRAIN)]));
    let model = unreachable();
    let elsewhere = ChatModel {
        name: "other".to_string(),
        endpoint: Endpoint { base_url: "http://example.org/v1".to_string(), ..model.endpoint.clone() },
        price: Price { input_per_million: 3.0, output_per_million: 3.0 },
        ..model.clone()
    };
    let renamed = ChatModel { model: "larger".to_string(), ..model.clone() };
    let prompt = Prompt::new("{{ query }}");
    let rerank = rerank_by_llm(model.clone());
    let by = |model: ChatModel, prompt: Prompt, max_tokens: u32, passage_chars: u32| RerankBy::Llm {
        model: PromptedModel { max_tokens, ..prompted(model, prompt) },
        passage_chars,
    };
    let original = RerankSearch::prompt;
    assert_eq!(key(SearchMode::Rerank(rerank.clone())), key(SearchMode::Rerank(rerank_by_llm(elsewhere.clone()))));
    let lexical = SearchMode::Rerank(rerank_by(RerankBy::Lexical));
    distinct(vec![
        key(lexical.clone()),
        key(SearchMode::Rerank(RerankSearch { base: Box::new(lexical), ..rerank_by(RerankBy::Lexical) })),
        key(SearchMode::Rerank(rerank.clone())),
        key(SearchMode::Rerank(rerank_by_llm(renamed.clone()))),
        key(SearchMode::Rerank(RerankSearch { candidates: Some(7), ..rerank.clone() })),
        key(SearchMode::Rerank(RerankSearch { on_failure: OnFailure::Base, ..rerank.clone() })),
        key(SearchMode::Rerank(rerank_by(by(model.clone(), prompt.clone(), 128, 30)))),
        key(SearchMode::Rerank(rerank_by(by(model.clone(), original(), 64, 30)))),
        key(SearchMode::Rerank(rerank_by(by(model.clone(), original(), 128, 31)))),
    ]);

    let rewrite_llm = rewrite_by_llm(model.clone());
    assert_eq!(
        key(SearchMode::Rewrite(rewrite_llm.clone())),
        key(SearchMode::Rewrite(rewrite_by_llm(elsewhere.clone())))
    );
    distinct(vec![
        key(SearchMode::Rewrite(rewrite(Rewriter::Lexical))),
        key(SearchMode::Rewrite(rewrite_llm.clone())),
        key(SearchMode::Rewrite(rewrite_by_llm(renamed.clone()))),
        key(SearchMode::Rewrite(rewrite(Rewriter::Llm(prompted(model.clone(), prompt.clone()))))),
        key(SearchMode::Rewrite(RewriteSearch { variants: 3, ..rewrite_llm.clone() })),
        key(SearchMode::Rewrite(RewriteSearch { include_original: false, ..rewrite_llm.clone() })),
        key(SearchMode::Rewrite(RewriteSearch { rrf_k: 10.0, ..rewrite_llm.clone() })),
        key(SearchMode::Rewrite(RewriteSearch { on_failure: OnFailure::Base, ..rewrite_llm })),
    ]);

    let multihop_llm = multihop_by_llm(model.clone());
    assert_eq!(key(SearchMode::Multihop(multihop_llm.clone())), key(SearchMode::Multihop(multihop_by_llm(elsewhere))));
    let planner =
        |evidence_chars| Planner::Llm { model: prompted(model.clone(), MultihopSearch::prompt()), evidence_chars };
    distinct(vec![
        key(SearchMode::Multihop(multihop(Planner::Lexical))),
        key(SearchMode::Multihop(multihop_llm.clone())),
        key(SearchMode::Multihop(multihop_by_llm(renamed))),
        key(SearchMode::Multihop(multihop(planner(401)))),
        key(SearchMode::Multihop(MultihopSearch { rounds: 2, ..multihop_llm.clone() })),
        key(SearchMode::Multihop(MultihopSearch { merge: Merge::MaxScore, ..multihop_llm.clone() })),
        key(SearchMode::Multihop(MultihopSearch { on_failure: OnFailure::Base, ..multihop_llm })),
    ]);
}

fn distinct(mut keys: Vec<Digest>) {
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}
