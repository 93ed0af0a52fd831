//! What is known of UDA-Benchmark's subsets.

use super::super::about::{About, Category, Count, LeftOut};

const HOMEPAGE: &str = "https://github.com/qinchuanhui/UDA-Benchmark";
const LICENSE: &str = "CC-BY-SA-4.0";
const CITATION: &str = "UDA: A Benchmark Suite for Retrieval Augmented Generation in Real-world Document Analysis";
const VERSION: &str = "official";
const UNITS: &str = "one per document; cases whose documents are not on disk are skipped, in a unit of their own";
const NOTE_DOCUMENTS: &str = "Documents are found by name anywhere below the folder. With `documents: present` only questions on \
                              documents that are there are cases.";
const NOTE_TAIL: &str = "The authors' scorers take what follows the last \"The answer is:\" of an answer, and all of it where it does \
                         not say so. What a model is told by default asks for that line.";
const NOTE_PAPERS: &str = "Evidence are the annotators' paragraphs, which a PDF rarely has to the letter: use \
                           evidence_recall(text=cover).";
const F1: &[&str] = &["uda_f1"];

/// FinQA's questions.
pub(in super::super) static FIN: About = About {
    name: "uda_fin",
    adapter: "uda",
    title: "UDA-Benchmark, FinHybrid",
    task: "Sums over tables and text of annual reports, from FinQA.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 788 }, Count { what: "questions", count: 8190 }],
    categories: &[],
    left_out: &[],
    evaluators: &["numeric_match(variant=uda_fin)", "fin_em"],
    judge: None,
    notes: &[
        NOTE_DOCUMENTS,
        NOTE_TAIL,
        "fin_em is the authors' script, which takes the first or the last number of an answer; numeric_match(variant=uda_fin) wants the \
         number alone.",
        "451 questions on 99 documents have evidence, and it is made of table rows as sentences, which no PDF has to the letter.",
    ],
};

/// TAT-QA's questions.
pub(in super::super) static TAT: About = About {
    name: "uda_tat",
    adapter: "uda",
    title: "UDA-Benchmark, TatHybrid",
    task: "Spans, counts and sums over tables and text of annual reports, from TAT-QA.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 170 }, Count { what: "questions", count: 14703 }],
    categories: &[
        Category { name: "span", meaning: "words or a figure of the report", cases: 6339 },
        Category { name: "arithmetic", meaning: "a number that has to be worked out", cases: 6191 },
        Category { name: "multi-span", meaning: "several words or figures of the report", cases: 1837 },
        Category { name: "count", meaning: "how many there are", cases: 336 },
    ],
    left_out: &[],
    evaluators: &["tat_em", "tat_f1"],
    judge: None,
    notes: &[
        NOTE_DOCUMENTS,
        NOTE_TAIL,
        "The authors' scorer reads an answer that begins with a number as that number, so that lists of years or amounts are wrong: \
         tat_em(spans=aligned) and tat_f1(spans=aligned) compare part by part.",
        "450 questions on 150 documents have evidence: the words and figures that the answer is made of.",
    ],
};

/// Qasper's questions that text answers.
pub(in super::super) static PAPER_TEXT: About = About {
    name: "uda_paper_text",
    adapter: "uda",
    title: "UDA-Benchmark, PaperText",
    task: "Questions that the text of a paper answers, from Qasper.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 1087 }, Count { what: "questions", count: 2804 }],
    categories: &[],
    left_out: &[],
    evaluators: F1,
    judge: None,
    notes: &[NOTE_DOCUMENTS, NOTE_TAIL, NOTE_PAPERS],
};

/// Qasper's questions that tables answer.
pub(in super::super) static PAPER_TAB: About = About {
    name: "uda_paper_tab",
    adapter: "uda",
    title: "UDA-Benchmark, PaperTab",
    task: "Questions that the tables of a paper answer, from Qasper.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 307 }, Count { what: "questions", count: 393 }],
    categories: &[],
    left_out: &[],
    evaluators: F1,
    judge: None,
    notes: &[NOTE_DOCUMENTS, NOTE_TAIL, NOTE_PAPERS],
};

/// FeTaQA's questions.
pub(in super::super) static FETA: About = About {
    name: "uda_feta",
    adapter: "uda",
    title: "UDA-Benchmark, FetaTab",
    task: "Questions that tables of Wikipedia pages answer, each in a sentence, from FeTaQA.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 878 }, Count { what: "questions", count: 1023 }],
    categories: &[],
    left_out: &[],
    evaluators: F1,
    judge: None,
    notes: &[
        NOTE_DOCUMENTS,
        NOTE_TAIL,
        "One question of the released file has a carriage return in it: it is a part of the cell, not the end of a record.",
        "350 questions on 300 documents have evidence: the cells of the table that the sentence is made of.",
    ],
};

/// Natural Questions.
pub(in super::super) static NQ: About = About {
    name: "uda_nq",
    adapter: "uda",
    title: "UDA-Benchmark, NqText",
    task: "Questions of people to a search engine that Wikipedia pages answer, from Natural Questions.",
    homepage: HOMEPAGE,
    license: LICENSE,
    citation: CITATION,
    version: VERSION,
    units: UNITS,
    counts: &[Count { what: "documents", count: 645 }, Count { what: "questions", count: 2477 }],
    categories: &[],
    left_out: &[LeftOut {
        what: "short answers that are blank",
        why: "the authors compare with an empty text, with which nothing agrees; the long answer is gold alone",
        count: 783,
    }],
    evaluators: F1,
    judge: None,
    notes: &[NOTE_DOCUMENTS, NOTE_TAIL],
};
