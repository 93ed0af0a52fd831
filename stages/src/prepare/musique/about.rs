//! What is known of MuSiQue.

use crate::prepare::about::{About, Category, Count};

/// MuSiQue-Answerable.
pub(in super::super) static MUSIQUE: About = About {
    name: "musique",
    adapter: "musique",
    title: "MuSiQue-Answerable",
    task: "Asks questions made of two to four simpler ones, each of which a paragraph of its own answers, given among those that \
           mislead.",
    homepage: "https://github.com/StonyBrookNLP/musique",
    license: "CC BY 4.0",
    citation: "Trivedi, Balasubramanian, Khot and Sabharwal. MuSiQue: Multihop Questions via Single-hop Question Composition. \
               TACL 10, 2022.",
    version: "musique_ans_v1.0",
    units: "one per question, over its own paragraphs; with `scope: corpus` one over the paragraphs of all questions, each once",
    counts: &[
        Count { what: "questions of the dev split", count: 2_417 },
        Count { what: "paragraphs of each question", count: 20 },
    ],
    categories: &[
        Category { name: "2hop", meaning: "made of two questions", cases: 1_252 },
        Category { name: "3hop", meaning: "made of three questions", cases: 760 },
        Category { name: "4hop", meaning: "made of four questions", cases: 405 },
    ],
    left_out: &[],
    evaluators: &[
        "squad_em",
        "token_f1",
        "supporting_facts_em(unit=document)@4",
        "supporting_facts_f1(unit=document)@4",
    ],
    judge: None,
    notes: &[
        "The official script is given the supporting paragraphs by the system. Here they are those that the answer cites, and \
         where it cites nothing those of the first four results.",
        "Two paragraphs of one question with the same title and text are one document.",
        "A question of MuSiQue-Full that its paragraphs do not answer has no gold answer, and answers to it are not scored.",
    ],
};

/// What a chat model is told, by category: gold answers are short, and so must answers be that are compared with them.
pub(super) static INSTRUCTIONS: [(&str, &str); 3] = [
    ("2hop", include_str!("prompts/2hop.md")),
    ("3hop", include_str!("prompts/3hop.md")),
    ("4hop", include_str!("prompts/4hop.md")),
];
