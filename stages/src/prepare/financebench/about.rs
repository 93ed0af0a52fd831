//! What is known of FinanceBench.

use crate::prepare::about::{About, Category, Count};
use crate::score::judge::JudgeKind;

/// The dataset: its open-source sample.
pub(in crate::prepare) static FINANCEBENCH: About = About {
    name: "financebench",
    adapter: "financebench",
    title: "FinanceBench (open-source sample)",
    task: "Questions about filings of companies listed in the United States, answered from the filing.",
    homepage: "https://github.com/patronus-ai/financebench",
    license: "CC BY-NC 4.0, as its authors' page says; the repository states none",
    citation: "Islam, Kannappan, Kiela, Qian, Scherrer and Vidgen, \"FinanceBench: A New Benchmark for Financial Question \
               Answering\", arXiv 2311.11944, 2023",
    version: "open source (cc39aeb)",
    units: "one over all filings that questions are about; `scope: document` has one per filing",
    counts: &[
        Count { what: "filings that questions are about", count: 84 },
        Count { what: "questions", count: 150 },
        Count { what: "pieces of evidence", count: 189 },
    ],
    categories: &[
        Category { name: "domain-relevant", meaning: "what an analyst asks of any filing", cases: 50 },
        Category { name: "metrics-generated", meaning: "a figure, or one computed of several", cases: 50 },
        Category { name: "novel-generated", meaning: "what is asked of this filing only", cases: 50 },
    ],
    left_out: &[],
    evaluators: &[
        "evidence_recall(match=locator)@5",
        "evidence_recall(match=locator)@10",
        "numeric_match(percent=either,scale=optional)",
        "token_f1",
    ],
    judge: Some(JudgeKind::Correctness),
    notes: &[
        "A question whose filing is not among the PDFs is skipped, never scored 0, and the report says which file is missing.",
        "Of the filings only those are documents that a question is about: 84 of 368.",
        "Evidence is a page of the PDF, counted from 0. Two questions name a page twice, which then counts twice.",
        "numeric_match skips the cases whose gold answer does not hold exactly one number.",
    ],
};

/// What a chat model is told, by type of question.
pub(super) static INSTRUCTIONS: [(&str, &str); 3] = [
    ("domain-relevant", include_str!("prompts/domain_relevant.md")),
    ("metrics-generated", include_str!("prompts/metrics_generated.md")),
    ("novel-generated", include_str!("prompts/novel_generated.md")),
];
