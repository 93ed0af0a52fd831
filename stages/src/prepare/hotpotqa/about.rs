//! What is known of HotpotQA.

use crate::prepare::about::{About, Category, Count};

/// The distractor setting.
pub(in super::super) static HOTPOTQA: About = About {
    name: "hotpotqa",
    adapter: "hotpotqa",
    title: "HotpotQA (distractor setting)",
    task: "Asks questions that take two paragraphs of Wikipedia, given among eight that mislead, and which sentences of them are \
           needed.",
    homepage: "https://hotpotqa.github.io/",
    license: "CC BY-SA 4.0",
    citation: "Yang, Qi, Zhang, Bengio, Cohen, Salakhutdinov and Manning. HotpotQA: A Dataset for Diverse, Explainable Multi-hop \
               Question Answering. EMNLP 2018.",
    version: "hotpot_dev_distractor_v1",
    units: "one per question, over its own paragraphs; with `scope: corpus` one over the paragraphs of all questions, each once",
    counts: &[Count { what: "questions of the dev split", count: 7_405 }],
    categories: &[
        Category { name: "bridge", meaning: "the first paragraph names what the second one is about", cases: 5_918 },
        Category { name: "comparison", meaning: "two paragraphs are compared, often for a yes or a no", cases: 1_487 },
    ],
    left_out: &[],
    evaluators: &[
        "squad_em",
        "token_f1(normal=hotpotqa)",
        "supporting_facts_em@2",
        "supporting_facts_f1@2",
        "joint_f1@2",
    ],
    judge: None,
    notes: &[
        "The official script is given the supporting facts by the system. Here they are the sentences that the answer cites, \
         and where it cites nothing those of the first two results, so their precision depends on how long passages are.",
        "Supporting facts that name no sentence of the question's paragraphs are left out and counted as \
         `dangling_supporting_facts`; the official script counts them as missed.",
        "Every question of the dev split has the level hard.",
    ],
};

/// What a chat model is told, by category: gold answers are short, and so must answers be that are compared with them.
pub(super) static INSTRUCTIONS: [(&str, &str); 2] =
    [("bridge", include_str!("prompts/bridge.md")), ("comparison", include_str!("prompts/comparison.md"))];
