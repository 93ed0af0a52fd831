//! What is known of LoCoMo.

use crate::prepare::about::{About, Category, Count, LeftOut};
use crate::score::judge::{JudgeKind, OpenVikingParse, OpenVikingScale};

/// The dataset.
pub(in crate::prepare) static LOCOMO: About = About {
    name: "locomo",
    adapter: "locomo",
    title: "LoCoMo: very long-term conversational memory (LoCoMo10)",
    task: "Questions about what two people told each other over weeks of chats.",
    homepage: "https://github.com/snap-research/locomo",
    license: "CC BY-NC 4.0",
    citation: "Maharana, Lee, Tulyakov, Bansal, Barbieri and Fang, \"Evaluating Very Long-Term Conversational Memory of LLM \
               Agents\", ACL 2024",
    version: "locomo10 (3eb6f2c)",
    units: "one per conversation; `scope: corpus` has one over all of them, as OpenViking's benchmark",
    counts: &[
        Count { what: "conversations", count: 10 },
        Count { what: "sessions", count: 272 },
        Count { what: "turns", count: 5882 },
        Count { what: "questions", count: 1986 },
        Count { what: "questions asked", count: 1540 },
    ],
    categories: &[
        Category {
            name: "multi-hop",
            meaning: "several sessions hold parts of the answer (1 in the file)",
            cases: 282,
        },
        Category { name: "temporal", meaning: "when something happened (2)", cases: 321 },
        Category { name: "open-domain", meaning: "what was said, with common knowledge (3)", cases: 96 },
        Category { name: "single-hop", meaning: "one session holds the answer (4)", cases: 841 },
    ],
    left_out: &[
        LeftOut {
            what: "adversarial questions (5)",
            why: "what they ask for was never said; `adversarial: true` asks them, and a refusal is right",
            count: 446,
        },
        LeftOut {
            what: "ids in evidence",
            why: "they name no turn of the conversation (`D`, `D:11:26`, `D10:19`, `D4:36`)",
            count: 4,
        },
    ],
    evaluators: &["evidence_recall@5", "evidence_recall@10", "token_f1"],
    judge: Some(JudgeKind::OpenViking {
        scale: OpenVikingScale::Binary,
        parse: OpenVikingParse::Strict,
        refusals: false,
    }),
    notes: &[
        "Ids in evidence that are packed into one text (`D8:6; D9:17`) or have a leading zero (`D30:05`) are read.",
        "4 questions have no evidence: evaluators of evidence skip them.",
        "The questions of 11 pairs in conv-48 and of one in conv-30 are the same; each is a case of its own.",
        "Captions of images without an address are not in the documents, as in OpenViking's benchmark: 316 turns.",
        "Some gold answers are known to be wrong (snap-research/locomo issue 27); they are kept.",
    ],
};

/// What a chat model is told, by category. Of adversarial questions nothing: it would give the answer away.
pub(super) static INSTRUCTIONS: [(&str, &str); 4] = [
    ("multi-hop", include_str!("prompts/multi_hop.md")),
    ("temporal", include_str!("prompts/temporal.md")),
    ("open-domain", include_str!("prompts/open_domain.md")),
    ("single-hop", include_str!("prompts/single_hop.md")),
];
