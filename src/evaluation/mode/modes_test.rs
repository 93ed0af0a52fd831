//! Modes that ask other modes and models: what their options accept.

use std::path::Path;

use ragstage_stages::query::search::{
    FullTextSearch, Merge, MultihopSearch, OnFailure, Planner, RerankBy, RerankSearch, RewriteSearch, Rewriter,
    SearchMode,
};
use serde_json::json;

use super::super::models::{self, MODEL};
use super::super::prompt::PromptFiles;
use super::super::rerankers::{self, RERANKER};
use super::super::shape::{Field, Need, Record, Shape};
use super::super::view::tests::checked;
use super::modes::Modes;

const MODELS: Shape = Shape::List { of: &Shape::Record(&MODEL), least: 0 };
const RERANKERS: Shape = Shape::List { of: &Shape::Record(&RERANKER), least: 0 };

/// What options are part of here.
static QUERY: Record = Record {
    name: "query",
    doc: "",
    fields: &[Field { name: "options", doc: "", shape: Shape::Free, need: Need::Optional }],
    together: &[],
};

/// The mode `name` with the options in `text`, one chat model `small`, one reranker `bge` and prompts in `folder`.
fn read_in(folder: &Path, name: &str, text: &str) -> Result<Option<SearchMode>, Vec<String>> {
    let server = "base_url: 'http://h/v1'";
    let models = checked(&format!("[{{name: small, model: m, {server}}}]"), &MODELS, |view, faults| {
        models::convert(view, &|_| None, faults)
    });
    let rerankers = checked(&format!("[{{name: bge, model: b, {server}}}]"), &RERANKERS, |view, faults| {
        rerankers::convert(view, &|_| None, faults)
    });
    let prompts = PromptFiles::new(folder);
    let modes = Modes { models: &models?, rerankers: &rerankers?, prompts: &prompts };
    checked(text, &Shape::Record(&QUERY), |view, faults| modes.convert(name, &view.get("options"), faults))
}

fn read(name: &str, options: &str) -> Result<SearchMode, Vec<String>> {
    read_in(Path::new(""), name, &format!("{{options: {options}}}")).map(|mode| mode.expect("a mode"))
}

fn full_text() -> Box<SearchMode> {
    Box::new(SearchMode::FullText(FullTextSearch))
}

#[test]
fn without_a_model_everything_is_lexical() {
    let expected =
        RerankSearch { base: full_text(), candidates: None, by: RerankBy::Lexical, on_failure: OnFailure::Fail };
    assert_eq!(read("rerank_search", "{base_mode: full_text_search}").unwrap(), SearchMode::Rerank(expected));
    let expected = RewriteSearch {
        base: full_text(),
        variants: 3,
        include_original: true,
        by: Rewriter::Lexical,
        rrf_k: 60.0,
        on_failure: OnFailure::Fail,
    };
    let mode = read("rewrite_search", "{base_mode: full_text_search, rewriter: lexical}").unwrap();
    assert_eq!(mode, SearchMode::Rewrite(expected));
    let expected = MultihopSearch {
        base: full_text(),
        rounds: 3,
        planner: Planner::Lexical,
        merge: Merge::Rrf,
        on_failure: OnFailure::Fail,
    };
    let mode = read("multihop_search", "{base_mode: {mode: full_text_search}, planner: lexical}").unwrap();
    assert_eq!(mode, SearchMode::Multihop(expected));
}

#[test]
fn models_are_named_and_have_prompts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.md"), "Other words for {{ query }}!").unwrap();
    let text =
        "{options: {base_mode: full_text_search, llm: small, prompt: mine.md, max_tokens: 50, on_failure: base}}";
    let Some(SearchMode::Rewrite(mode)) = read_in(folder.path(), "rewrite_search", text).unwrap() else { panic!() };
    let Rewriter::Llm(model) = &mode.by else { panic!("{mode:?}") };
    assert_eq!((model.model.model.as_str(), model.max_tokens, mode.on_failure), ("m", 50, OnFailure::Base));
    assert_eq!(model.prompt.fill(&json!({"query": "x"})).unwrap(), "Other words for x!");

    let SearchMode::Rerank(mode) = read("rerank_search", "{base_mode: full_text_search, llm: small}").unwrap() else {
        panic!()
    };
    let RerankBy::Llm { model, passage_chars } = &mode.by else { panic!("{mode:?}") };
    assert_eq!((model.max_tokens, *passage_chars), (128, 300));
    let mode = read("rerank_search", "{base_mode: full_text_search, reranker: bge, candidates: 7}").unwrap();
    let SearchMode::Rerank(mode) = mode else { panic!() };
    assert_eq!(mode.candidates, Some(7));
    assert!(matches!(&mode.by, RerankBy::Endpoint(reranker) if reranker.model == "b"), "{mode:?}");
    let mode = read("multihop_search", "{base_mode: full_text_search, llm: small, planner: llm}").unwrap();
    let SearchMode::Multihop(mode) = mode else { panic!() };
    let Planner::Llm { model, evidence_chars } = &mode.planner else { panic!("{mode:?}") };
    assert_eq!((model.max_tokens, *evidence_chars), (200, 4000));
}

#[test]
fn modes_compose_and_those_of_heta_do_so_by_default() {
    let text = "{rewriter: lexical, base_mode: {mode: rerank_search, options: {base_mode: full_text_search}}}";
    let SearchMode::Rewrite(mode) = read("rewrite_search", text).unwrap() else { panic!() };
    assert_eq!((mode.base.name(), mode.include_original), ("rerank_search", true));

    let SearchMode::Rewrite(mode) = read("heta_rewrite_search", "{rewriter: lexical}").unwrap() else { panic!() };
    assert!(!mode.include_original);
    let SearchMode::Rerank(rerank) = &*mode.base else { panic!("{mode:?}") };
    let SearchMode::Hybrid(outer) = &*rerank.base else { panic!("{rerank:?}") };
    assert_eq!(
        outer.parts.iter().map(|part| part.mode.name()).collect::<Vec<_>>(),
        ["hybrid_search", "full_text_search"]
    );
    let SearchMode::Hybrid(inner) = &outer.parts[0].mode else { panic!("{outer:?}") };
    assert_eq!(inner.parts.iter().map(|part| part.mode.name()).collect::<Vec<_>>(), ["vector_search", "graph_search"]);

    let SearchMode::Multihop(mode) = read("heta_multihop_search", "{planner: lexical}").unwrap() else { panic!() };
    assert_eq!((mode.base.name(), mode.merge), ("rerank_search", Merge::MaxScore));
    let SearchMode::Rerank(mode) = read("rerank_search", "{}").unwrap() else { panic!() };
    assert_eq!(mode.base.name(), "hybrid_search");
}

#[test]
fn faults_say_what_to_do() {
    let of_none = "missing `llm`, the chat model that is asked [name one of `models`, or write";
    for (name, options, expected) in [
        (
            "rerank_search",
            "{base_mode: fulltext_search}",
            "1:23 options.base_mode: there is no mode `fulltext_search` [did you mean `full_text_search`?]".to_string(),
        ),
        (
            "hybrid_search",
            "{modes: [{mode: vector_search, weight: 0}, {mode: full_text_search, weight: 0}]}",
            "1:19 options.modes: every mode has the weight 0, so nothing can be found [give one that is to count a `weight` above 0]"
                .to_string(),
        ),
        (
            "rerank_search",
            "{base_mode: {mode: full_text_search, options: {k1: 2}}}",
            "1:58 options.base_mode.options: unknown key `k1` [remove it: there are no keys here]".to_string(),
        ),
        (
            "rerank_search",
            "{base_mode: {mode: full_text_search, weight: 2}}",
            "1:48 options.base_mode: unknown key `weight` [keys here are mode, options]".to_string(),
        ),
        (
            "rerank_search",
            "{reranker: bgee}",
            "1:22 options.reranker: no reranker is named `bgee` [did you mean `bge`?]".to_string(),
        ),
        (
            "rerank_search",
            "{reranker: bge, llm: small}",
            "1:27 options: `llm` has no meaning beside `reranker` [remove `llm` or `reranker`]".to_string(),
        ),
        (
            "rerank_search",
            "{passage_chars: 100}",
            "1:27 options.passage_chars: `passage_chars` has no meaning without `llm` [remove it, or name `llm`]"
                .to_string(),
        ),
        (
            "rerank_search",
            "{on_failure: base}",
            "1:24 options.on_failure: `on_failure` has no meaning without `reranker` or `llm` [remove it, or name \
             `reranker` or `llm`]"
                .to_string(),
        ),
        (
            "rerank_search",
            "{llm: smal}",
            "1:17 options.llm: no model is named `smal` [did you mean `small`?]".to_string(),
        ),
        ("rewrite_search", "{}", format!("1:11 options: {of_none} `rewriter: lexical`, which needs no model]")),
        (
            "multihop_search",
            "{planner: llm}",
            format!("1:11 options: {of_none} `planner: lexical`, which needs no model]"),
        ),
        (
            "multihop_search",
            "{planner: lexical, llm: small}",
            "1:35 options.llm: `llm` has no meaning beside `planner: lexical` [remove one of the two]".to_string(),
        ),
        (
            "rewrite_search",
            "{rewriter: lexical, max_tokens: 5}",
            "1:43 options.max_tokens: `max_tokens` has no meaning without `llm` [remove it, or name `llm`]".to_string(),
        ),
        (
            "rewrite_search",
            "{llm: small, variants: 0}",
            "1:34 options.variants: expected a whole number from 1 to 20, found 0".to_string(),
        ),
        (
            "multihop_search",
            "{llm: small, on_failure: bas}",
            "1:36 options.on_failure: expected one of `fail`, `base`, found the text `bas` [did you mean `base`?]"
                .to_string(),
        ),
    ] {
        assert_eq!(read(name, options).unwrap_err(), [expected], "{name} {options}");
    }
    // Without any options, the fault is where the query is.
    let none = read_in(Path::new(""), "rewrite_search", "{}").unwrap_err();
    assert_eq!(none, [format!("1:1 options: {of_none} `rewriter: lexical`, which needs no model]")]);
}

#[test]
fn faults_of_prompts_name_the_file_and_the_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("typo.md"), "Rewrite\n{{ question }}").unwrap();
    std::fs::write(folder.path().join("blank.md"), " \n").unwrap();
    let fault = |prompt: &str| {
        let text = format!("{{options: {{llm: small, prompt: {prompt}}}}}");
        read_in(folder.path(), "rewrite_search", &text).unwrap_err()
    };
    let at = |name: &str| folder.path().join(name).display().to_string();
    let given = "[it is given `query`, `variants`]";
    let typo = "options.prompt: the template uses `question`, which it is not given";
    assert_eq!(fault("typo.md"), [format!("2:- {} {typo} {given}", at("typo.md"))]);
    let blank = "options.prompt: the template comes out empty";
    assert_eq!(fault("blank.md"), [format!("-:- {} {blank} {given}", at("blank.md"))]);
    let missing = &fault("gone.md")[0];
    assert!(missing.starts_with("1:32 options.prompt: `gone.md` cannot be read: "), "{missing}");
    assert!(missing.ends_with("[paths are relative to the evaluation file]"), "{missing}");
}
