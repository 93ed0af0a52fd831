//! What is known of SyllabusQA.

use crate::prepare::about::{About, Category, Count, LeftOut};
use crate::score::judge::JudgeKind;

/// The dataset.
pub(in crate::prepare) static SYLLABUSQA: About = About {
    name: "syllabusqa",
    adapter: "syllabusqa",
    title: "SyllabusQA: course logistics questions",
    task: "Questions of students about a course, answered from its syllabus.",
    homepage: "https://github.com/umass-ml4ed/SyllabusQA",
    license: "not stated by its authors",
    citation: "Fernandez, Scarlatos and Lan, \"SyllabusQA: A Course Logistics Question Answering Dataset\", ACL 2024",
    version: "72baa74",
    units: "one over all syllabi; `scope: document` has one per syllabus",
    counts: &[
        Count { what: "syllabi", count: 63 },
        Count { what: "questions", count: 5078 },
        Count { what: "questions asked", count: 4358 },
    ],
    categories: &[
        Category { name: "single factual", meaning: "one fact of the syllabus", cases: 725 },
        Category { name: "multi factual", meaning: "several facts", cases: 727 },
        Category { name: "single reasoning", meaning: "one step of inference", cases: 727 },
        Category { name: "multi reasoning", meaning: "several steps of inference", cases: 727 },
        Category { name: "summarization", meaning: "a summary of a part", cases: 727 },
        Category { name: "yes/no", meaning: "yes or no", cases: 725 },
    ],
    left_out: &[LeftOut {
        what: "questions of the type `no answer`",
        why: "the syllabus does not answer them; `no_answer: true` asks them, and a refusal is right",
        count: 720,
    }],
    evaluators: &[
        "evidence_recall(text=cover)@5",
        "evidence_recall(text=cover)@10",
        "token_f1",
        "label_accuracy(labels=[\"yes\",\"no\"],pick=start)",
    ],
    judge: Some(JudgeKind::Correctness),
    notes: &[
        "A syllabus is read from its Word file, where there is none from its text file; `documents: text|word|pdf` wants one form only.",
        "Evidence are the annotated spans; questions of reasoning have none, only the annotators' own steps, which are no evidence.",
        "Spans were copied from PDF, so they differ from the other forms in line ends and marks of lists: `text=cover` finds them.",
        "In a knowledge base of all syllabi a question is asked with the name of its syllabus before it.",
        "The splits share no syllabus: 39 in train, 11 in val, 13 in test.",
    ],
};

/// What a chat model is told, by type of question. Of those without an answer nothing: it would give the answer away.
pub(super) static INSTRUCTIONS: [(&str, &str); 6] = [
    ("single factual", include_str!("prompts/single_factual.md")),
    ("multi factual", include_str!("prompts/multi_factual.md")),
    ("single reasoning", include_str!("prompts/single_reasoning.md")),
    ("multi reasoning", include_str!("prompts/multi_reasoning.md")),
    ("summarization", include_str!("prompts/summarization.md")),
    ("yes/no", include_str!("prompts/yes_no.md")),
];
