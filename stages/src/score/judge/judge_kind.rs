//! What a judge decides.

use ragstage_cache::KeyVisitor;
use serde_json::{Value, json};

use super::rubric::Rubric;
use crate::model::Prompt;
use crate::score::Reads;

/// OpenViking's two scales (spec/openviking 6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenVikingScale {
    /// 0 to 4.
    Graded,
    /// 0 or 4: what it asks about Locomo.
    Binary,
}

/// What a judge decides.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeKind {
    /// The share of the answer's claims that the retrieved passages support (Es et al. 2024).
    Faithfulness,
    /// The share of the gold answer's claims that the retrieved passages support (RAGAS' context recall).
    ContextRecall,
    /// The share of the answer's claims that the gold answers support (Ru et al. 2024).
    ClaimPrecision,
    /// The share of the gold answer's claims that the answer supports (Ru et al. 2024).
    ClaimRecall,
    /// Average precision of the passages, those relevant that the judge calls useful (RAGAS' context precision).
    ContextPrecision,
    /// How well the answer addresses the question, 0 to 4, over 4.
    AnswerRelevance,
    /// The answer against the gold answers, 0 to 4, over 4.
    Correctness,
    /// OpenViking's judge; its value is the score itself.
    OpenViking(OpenVikingScale),
    /// A rubric of the user's own.
    Rubric(Rubric),
}

/// A judge that there is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeInfo {
    /// What an evaluation file calls it.
    pub name: &'static str,
    /// One line on what it gives.
    pub description: &'static str,
}

/// All judges, in the order of documentation.
pub static JUDGES: [JudgeInfo; 9] = [
    JudgeInfo { name: "faithfulness", description: "share of the answer's claims that the passages support" },
    JudgeInfo { name: "answer_relevance", description: "how well the answer addresses the question" },
    JudgeInfo { name: "context_precision", description: "average precision of the useful passages" },
    JudgeInfo { name: "context_recall", description: "share of the gold answer's claims that the passages support" },
    JudgeInfo { name: "correctness", description: "the answer graded against the gold answers" },
    JudgeInfo { name: "claim_precision", description: "share of the answer's claims that the gold answers support" },
    JudgeInfo { name: "claim_recall", description: "share of the gold answer's claims that the answer supports" },
    JudgeInfo { name: "openviking", description: "the score of 0 to 4 that OpenViking's benchmark asks for" },
    JudgeInfo { name: "rubric", description: "a rubric of your own" },
];

impl JudgeKind {
    /// What an evaluation file calls it.
    pub fn name(&self) -> &'static str {
        match self {
            JudgeKind::Faithfulness => "faithfulness",
            JudgeKind::ContextRecall => "context_recall",
            JudgeKind::ClaimPrecision => "claim_precision",
            JudgeKind::ClaimRecall => "claim_recall",
            JudgeKind::ContextPrecision => "context_precision",
            JudgeKind::AnswerRelevance => "answer_relevance",
            JudgeKind::Correctness => "correctness",
            JudgeKind::OpenViking(_) => "openviking",
            JudgeKind::Rubric(_) => "rubric",
        }
    }

    /// What it reads beside the gold.
    pub(super) fn reads(&self) -> Reads {
        let (results, answer) = match self {
            JudgeKind::Faithfulness | JudgeKind::Rubric(_) => (true, true),
            JudgeKind::ContextRecall | JudgeKind::ContextPrecision => (true, false),
            _ => (false, true),
        };
        Reads { results, answer, question: true, ..Reads::default() }
    }

    /// The prompt of its verdict, where an evaluation gives none.
    pub fn prompt(&self) -> Prompt {
        Prompt::new(match self {
            JudgeKind::Faithfulness | JudgeKind::ContextRecall | JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall => {
                include_str!("prompts/entailment.md")
            }
            JudgeKind::ContextPrecision => include_str!("prompts/context_precision.md"),
            JudgeKind::AnswerRelevance => include_str!("prompts/answer_relevance.md"),
            JudgeKind::Correctness => include_str!("prompts/correctness.md"),
            JudgeKind::OpenViking(OpenVikingScale::Graded) => include_str!("prompts/openviking_graded.md"),
            JudgeKind::OpenViking(OpenVikingScale::Binary) => include_str!("prompts/openviking_binary.md"),
            JudgeKind::Rubric(rubric) => return rubric.prompt().clone(),
        })
    }

    /// What its prompt is filled with, as an example.
    pub fn example(&self) -> Value {
        match self {
            JudgeKind::Faithfulness | JudgeKind::ContextRecall | JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall => {
                json!({"question": "Who?", "sources": ["A passage."], "claims": ["It is Ada."]})
            }
            JudgeKind::ContextPrecision => {
                json!({"question": "Who?", "gold": ["Ada"], "contexts": ["A passage."]})
            }
            _ => json!({"question": "Who?", "gold": ["Ada"], "answer": "Ada.", "contexts": ["A passage."]}),
        }
    }

    /// Visits what tells it apart beside its prompt.
    pub(super) fn walk(&self, v: &mut dyn KeyVisitor) {
        v.text("judge", self.name());
        match self {
            JudgeKind::OpenViking(OpenVikingScale::Graded) => v.text("scale", "graded"),
            JudgeKind::OpenViking(OpenVikingScale::Binary) => v.text("scale", "binary"),
            JudgeKind::Rubric(rubric) => v.digest("rubric", rubric.digest()),
            _ => {}
        }
    }
}
