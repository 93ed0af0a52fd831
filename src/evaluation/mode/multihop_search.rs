//! Options of `multihop_search` and `heta_multihop_search`.

use ragstage_stages::query::search::{Merge, MultihopSearch, Planner, SearchMode};

use super::super::diagnostic::Faults;
use super::super::prompt::PROMPT_FIELD;
use super::super::shape::{Choice, Field, Need, Record, Shape};
use super::super::view::View;
use super::asked_mode::{self, ASKED_MODE_FIELD};
use super::modes::Modes;
use super::prompted::{self, LLM_FIELD, LLM_OR_LEXICAL, ON_FAILURE_FIELD, Ours};

const MAX_TOKENS: u32 = 200;
const EVIDENCE_CHARS: u32 = 4000;
const ROUNDS: u32 = 3;

/// What its options accept.
pub(super) static OPTIONS: Record = Record {
    name: "multihop_search",
    doc: "Another mode, asked in rounds until what was found suffices.",
    fields: &[
        ASKED_MODE_FIELD,
        Field { name: "rounds", doc: "Most rounds.", shape: Shape::Int { min: 1, max: 20 }, need: Need::Default("3") },
        Field {
            name: "planner",
            doc: "Who judges what was found and says what to search for next; the chat model where `llm` names one.",
            shape: LLM_OR_LEXICAL,
            need: Need::Optional,
        },
        LLM_FIELD,
        PROMPT_FIELD,
        Field {
            name: "evidence_chars",
            doc: "How many characters of a round's results the chat model is shown, best first.",
            shape: Shape::Int { min: 20, max: 1_000_000 },
            need: Need::Default("4000"),
        },
        Field {
            name: "max_tokens",
            doc: "Most tokens of the chat model's reply, one per round.",
            shape: Shape::Int { min: 1, max: 100_000 },
            need: Need::Default("200"),
        },
        Field {
            name: "merge",
            doc: "How the rounds' results become one list; `rrf` by default, and `max_score` in `heta_multihop_search`.",
            shape: Shape::Choice(&[
                Choice { word: "rrf", doc: "by reciprocal rank, with k = 60" },
                Choice { word: "max_score", doc: "by the highest score, which must be comparable between queries" },
            ]),
            need: Need::Optional,
        },
        ON_FAILURE_FIELD,
    ],
    together: &[],
};

pub(super) fn convert(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    with_defaults(view, "hybrid_search", Merge::Rrf, modes, faults)
}

/// As Heta does it by default (spec/heta 7.3): over `heta_rerank_search`, merged by the highest score.
pub(super) fn convert_heta(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    with_defaults(view, "heta_rerank_search", Merge::MaxScore, modes, faults)
}

fn with_defaults(
    view: &View<'_>,
    base: &str,
    merge: Merge,
    modes: &Modes<'_>,
    faults: &mut Faults,
) -> Option<SearchMode> {
    let base = asked_mode::convert(view, base, modes, faults);
    let planner = match prompted::asks_llm(view, "planner", faults) {
        None => None,
        Some(false) => {
            let keys = ["prompt", "evidence_chars", "max_tokens", "on_failure"];
            prompted::refuse_without_model(view, &keys, "`llm`", faults);
            Some(Planner::Lexical)
        }
        Some(true) => {
            let ours =
                Ours { prompt: MultihopSearch::prompt(), example: MultihopSearch::example(), max_tokens: MAX_TOKENS };
            let evidence_chars = view.get("evidence_chars").int().unwrap_or(EVIDENCE_CHARS);
            prompted::model(view, modes, ours, faults).map(|model| Planner::Llm { model, evidence_chars })
        }
    };
    Some(SearchMode::Multihop(MultihopSearch {
        base: base?,
        rounds: view.get("rounds").int().unwrap_or(ROUNDS),
        planner: planner?,
        merge: view.get("merge").choice().unwrap_or(merge),
        on_failure: prompted::on_failure(view),
    }))
}
