//! Options of `rewrite_search` and `heta_rewrite_search`.

use ragstage_stages::query::search::{RewriteSearch, Rewriter, SearchMode};

use super::super::diagnostic::Faults;
use super::super::prompt::PROMPT_FIELD;
use super::super::shape::{Field, Need, Range, Record, Shape};
use super::super::view::View;
use super::asked_mode::{self, ASKED_MODE_FIELD};
use super::modes::Modes;
use super::prompted::{self, LLM_FIELD, LLM_OR_LEXICAL, ON_FAILURE_FIELD, Ours};

const MAX_TOKENS: u32 = 128;
const VARIANTS: u32 = 3;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "rewrite_search",
    doc: "Another mode, asked with several wordings of the query, fused by reciprocal rank.",
    fields: &[
        ASKED_MODE_FIELD,
        Field {
            name: "variants",
            doc: "How many wordings beside the query itself, at most.",
            shape: Shape::Int { min: 1, max: 20 },
            need: Need::Default("3"),
        },
        Field {
            name: "include_original",
            doc: "Whether the query itself is asked as well: by default it is, but not in `heta_rewrite_search`.",
            shape: Shape::Bool,
            need: Need::Optional,
        },
        Field {
            name: "rewriter",
            doc: "Who finds the wordings; the chat model where `llm` names one.",
            shape: LLM_OR_LEXICAL,
            need: Need::Optional,
        },
        LLM_FIELD,
        PROMPT_FIELD,
        Field {
            name: "max_tokens",
            doc: "Most tokens of the chat model's reply, which has all wordings.",
            shape: Shape::Int { min: 1, max: 100_000 },
            need: Need::Default("128"),
        },
        Field {
            name: "rrf_k",
            doc: "The constant k in 1 / (k + rank).",
            shape: Shape::Float(Range::closed(0.0, 1e6)),
            need: Need::Default("60"),
        },
        ON_FAILURE_FIELD,
    ],
    together: &[],
};

pub(super) fn convert(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    with_defaults(view, "hybrid_search", true, modes, faults)
}

/// As Heta does it by default (spec/heta 7): over `heta_rerank_search`, without the query itself.
pub(super) fn convert_heta(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    with_defaults(view, "heta_rerank_search", false, modes, faults)
}

fn with_defaults(
    view: &View<'_>,
    base: &str,
    include_original: bool,
    modes: &Modes<'_>,
    faults: &mut Faults,
) -> Option<SearchMode> {
    let base = asked_mode::convert(view, base, modes, faults);
    let by = match prompted::asks_llm(view, "rewriter", faults) {
        None => None,
        Some(false) => {
            let keys = ["prompt", "max_tokens", "on_failure"];
            prompted::refuse_without_model(view, &keys, "`llm`", faults);
            Some(Rewriter::Lexical)
        }
        Some(true) => {
            let ours =
                Ours { prompt: RewriteSearch::prompt(), example: RewriteSearch::example(), max_tokens: MAX_TOKENS };
            prompted::model(view, modes, ours, faults).map(Rewriter::Llm)
        }
    };
    Some(SearchMode::Rewrite(RewriteSearch {
        base: base?,
        variants: view.get("variants").int().unwrap_or(VARIANTS),
        include_original: view.get("include_original").bool().unwrap_or(include_original),
        by: by?,
        rrf_k: view.get("rrf_k").float().unwrap_or(60.0),
        on_failure: prompted::on_failure(view),
    }))
}
