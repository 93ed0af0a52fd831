//! The subsets of UDA-Benchmark.

use serde::{Deserialize, Serialize};

use super::super::about::About;
use super::about;

/// A subset, which has questions, documents and gold of its own kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UdaSubset {
    /// FinQA: sums over annual reports.
    Fin,
    /// TAT-QA: spans and sums over annual reports.
    Tat,
    /// Qasper: questions that a paper's text answers.
    PaperText,
    /// Qasper: questions that a paper's tables answer.
    PaperTab,
    /// FeTaQA: questions that tables of Wikipedia pages answer, in sentences.
    Feta,
    /// Natural Questions on Wikipedia pages.
    Nq,
}

impl UdaSubset {
    /// All of them.
    pub const ALL: [UdaSubset; 6] =
        [UdaSubset::Fin, UdaSubset::Tat, UdaSubset::PaperText, UdaSubset::PaperTab, UdaSubset::Feta, UdaSubset::Nq];

    /// Its name in files and evaluation files.
    pub fn word(self) -> &'static str {
        match self {
            UdaSubset::Fin => "fin",
            UdaSubset::Tat => "tat",
            UdaSubset::PaperText => "paper_text",
            UdaSubset::PaperTab => "paper_tab",
            UdaSubset::Feta => "feta",
            UdaSubset::Nq => "nq",
        }
    }

    /// The subset of that name.
    pub fn of_word(word: &str) -> Option<Self> {
        UdaSubset::ALL.into_iter().find(|subset| subset.word() == word)
    }

    /// The folder in which its documents are shipped.
    pub(super) fn folder(self) -> &'static str {
        match self {
            UdaSubset::Fin => "fin_docs",
            UdaSubset::Tat => "tat_docs",
            UdaSubset::PaperText | UdaSubset::PaperTab => "paper_docs",
            UdaSubset::Feta => "wiki_feta_docs",
            UdaSubset::Nq => "wiki_nq_docs",
        }
    }

    /// The columns of its file beside those that all have.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            UdaSubset::Fin => &["answer_1", "answer_2"],
            UdaSubset::Tat => &["answer", "answer_scale", "answer_type"],
            UdaSubset::PaperText | UdaSubset::PaperTab => &["answer_1", "answer_2", "answer_3"],
            UdaSubset::Feta => &["answer"],
            UdaSubset::Nq => &["short_answer", "long_answer"],
        }
    }

    /// What is known of it.
    pub(super) fn about(self) -> &'static About {
        match self {
            UdaSubset::Fin => &about::FIN,
            UdaSubset::Tat => &about::TAT,
            UdaSubset::PaperText => &about::PAPER_TEXT,
            UdaSubset::PaperTab => &about::PAPER_TAB,
            UdaSubset::Feta => &about::FETA,
            UdaSubset::Nq => &about::NQ,
        }
    }

    /// What a chat model is told, by category; all questions of a subset but TAT's are of none.
    pub(super) fn instructions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            UdaSubset::Fin => &[("", include_str!("prompts/fin.md"))],
            UdaSubset::Tat => &[
                ("span", include_str!("prompts/tat_span.md")),
                ("multi-span", include_str!("prompts/tat_multi_span.md")),
                ("arithmetic", include_str!("prompts/tat_arithmetic.md")),
                ("count", include_str!("prompts/tat_count.md")),
            ],
            UdaSubset::PaperText | UdaSubset::PaperTab => &[("", include_str!("prompts/paper.md"))],
            UdaSubset::Feta => &[("", include_str!("prompts/feta.md"))],
            UdaSubset::Nq => &[("", include_str!("prompts/nq.md"))],
        }
    }
}
