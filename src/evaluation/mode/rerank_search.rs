//! Options of `rerank_search` and `heta_rerank_search`.

use ragstage_stages::query::search::{
    FullTextSearch, GraphSearch, HybridPart, HybridSearch, RerankBy, RerankSearch, SearchMode, VectorSearch,
};

use super::super::diagnostic::Faults;
use super::super::prompt::PROMPT_FIELD;
use super::super::shape::{Field, Need, Record, Shape, TEXT, Together};
use super::super::view::View;
use super::asked_mode::{self, ASKED_MODE_FIELD};
use super::modes::Modes;
use super::prompted::{self, LLM_FIELD, ON_FAILURE_FIELD, Ours};

const MAX_TOKENS: u32 = 128;
const PASSAGE_CHARS: u32 = 300;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "rerank_search",
    doc: "Candidates of another mode, put into a better order: by the cross-encoder that `reranker` names, by the chat model \
          that `llm` names, or, with neither, by the words that they share with the query.",
    fields: &[
        ASKED_MODE_FIELD,
        Field {
            name: "candidates",
            doc: "How many results of the base mode are put in order, though never fewer than top_k; by default 3 * top_k, \
                  at least 50, and 20 for a chat model, which reads all of them at once.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Optional,
        },
        Field {
            name: "reranker",
            doc: "The cross-encoder: a name under `rerankers` at the top of the file.",
            shape: TEXT,
            need: Need::Optional,
        },
        LLM_FIELD,
        PROMPT_FIELD,
        Field {
            name: "passage_chars",
            doc: "How many characters of a candidate the chat model is shown.",
            shape: Shape::Int { min: 20, max: 100_000 },
            need: Need::Default("300"),
        },
        Field {
            name: "max_tokens",
            doc: "Most tokens of the chat model's reply, a list of numbers.",
            shape: Shape::Int { min: 1, max: 100_000 },
            need: Need::Default("128"),
        },
        ON_FAILURE_FIELD,
    ],
    together: &[Together::Excludes("reranker", &["llm", "prompt", "passage_chars", "max_tokens"])],
};

pub(super) fn convert(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    let base = asked_mode::convert(view, "hybrid_search", modes, faults);
    with_base(view, base, modes, faults)
}

/// As Heta composes it by default (spec/heta 7): vectors and graph are fused, then that with full text.
pub(super) fn convert_heta(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    let base = if view.get("base_mode").is_given() || view.is_faulty("base_mode") {
        asked_mode::convert(view, "hybrid_search", modes, faults)
    } else {
        let inner = fused(SearchMode::Vector(VectorSearch), SearchMode::Graph(GraphSearch::default()));
        Some(Box::new(fused(inner, SearchMode::FullText(FullTextSearch))))
    };
    with_base(view, base, modes, faults)
}

fn fused(one: SearchMode, other: SearchMode) -> SearchMode {
    let parts = [one, other].into_iter().map(|mode| HybridPart { mode, weight: 1.0 }).collect();
    SearchMode::Hybrid(HybridSearch { parts, rrf_k: 60.0, candidates: None })
}

fn with_base(
    view: &View<'_>,
    base: Option<Box<SearchMode>>,
    modes: &Modes<'_>,
    faults: &mut Faults,
) -> Option<SearchMode> {
    let by = if view.get("reranker").is_given() {
        modes.rerankers.find(&view.get("reranker"), faults).map(RerankBy::Endpoint)
    } else if view.get("llm").is_given() {
        let ours = Ours { prompt: RerankSearch::prompt(), example: RerankSearch::example(), max_tokens: MAX_TOKENS };
        let passage_chars = view.get("passage_chars").int().unwrap_or(PASSAGE_CHARS);
        prompted::model(view, modes, ours, faults).map(|model| RerankBy::Llm { model, passage_chars })
    } else {
        prompted::refuse_without_model(view, &["prompt", "passage_chars", "max_tokens"], "`llm`", faults);
        prompted::refuse_without_model(view, &["on_failure"], "`reranker` or `llm`", faults);
        Some(RerankBy::Lexical)
    };
    let candidates = view.get("candidates").int();
    let on_failure = prompted::on_failure(view);
    Some(SearchMode::Rerank(RerankSearch { base: base?, candidates, by: by?, on_failure }))
}
