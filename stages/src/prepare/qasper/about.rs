//! What is known of Qasper.

use crate::prepare::about::{About, Category, Count, LeftOut};
use crate::score::judge::JudgeKind;

/// The dataset. Counts of categories are those of the test set.
pub(in crate::prepare) static QASPER: About = About {
    name: "qasper",
    adapter: "qasper",
    title: "Qasper: information-seeking questions anchored in research papers",
    task: "Questions that readers asked after seeing a paper's title and abstract only, answered from its full text.",
    homepage: "https://allenai.org/data/qasper",
    license: "CC BY 4.0",
    citation: "Dasigi, Lo, Beltagy, Cohan, Smith and Gardner, \"A Dataset of Information-Seeking Questions and Answers Anchored \
               in Research Papers\", NAACL 2021",
    version: "0.3",
    units: "one over all papers; `scope: document` has one per paper",
    counts: &[
        Count { what: "papers", count: 1585 },
        Count { what: "papers of the test set", count: 416 },
        Count { what: "questions", count: 5049 },
        Count { what: "questions of the test set", count: 1451 },
    ],
    categories: &[
        Category { name: "extractive", meaning: "passages of the paper (test set)", cases: 760 },
        Category { name: "free_form", meaning: "an annotator's own words (test set)", cases: 390 },
        Category { name: "yes_no", meaning: "yes or no (test set)", cases: 222 },
        Category {
            name: "unanswerable",
            meaning: "all annotators say that the paper does not tell (test set)",
            cases: 79,
        },
    ],
    left_out: &[LeftOut {
        what: "questions, with `unanswerable: false`",
        why: "no annotator found an answer, as OpenViking's benchmark leaves them out (test set)",
        count: 79,
    }],
    evaluators: &[
        "evidence_recall@5",
        "evidence_recall@10",
        "token_f1",
        "label_accuracy(labels=[\"yes\",\"no\"],pick=start)",
        "refusal_agreement",
    ],
    judge: Some(JudgeKind::Correctness),
    notes: &[
        "Annotators differ: the category is the type of the first annotation that is an answer, and any annotator's answer is gold.",
        "Evidence is all annotators' together: paragraphs, headings, and the captions of figures and tables.",
        "21 of the 3,726 pieces of evidence of the test set stand nowhere in their paper to the letter; they are kept.",
        "Where one annotator answers and another calls the question unanswerable, an answer is expected.",
        "In a knowledge base of all papers a question is asked with the title of its paper before it.",
    ],
};

/// What a chat model is told, by category. Of unanswerable questions nothing: it would give the answer away.
pub(super) static INSTRUCTIONS: [(&str, &str); 3] = [
    ("extractive", include_str!("prompts/extractive.md")),
    ("free_form", include_str!("prompts/free_form.md")),
    ("yes_no", include_str!("prompts/yes_no.md")),
];
