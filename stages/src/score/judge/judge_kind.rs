//! The judges that there are.

use ragstage_cache::{KeyVisitor, Walk};
use serde_json::{Value, json};

use super::prompts;
use super::rubric::Rubric;
use crate::model::Prompt;
use crate::score::evaluator::Reads;

/// Which of OpenViking's two judges is meant (openviking 6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenVikingScale {
    /// 0 to 4: `Generic_0-4`.
    #[default]
    Graded,
    /// 0 or 4: `Locomo_0or4`.
    Binary,
}

impl OpenVikingScale {
    /// The one that OpenViking takes for a dataset: binary where its name has `locomo` in it, in whatever case.
    pub fn of_dataset(dataset: &str) -> Self {
        match dataset.to_lowercase().contains("locomo") {
            true => OpenVikingScale::Binary,
            false => OpenVikingScale::Graded,
        }
    }

    /// What OpenViking's result files call it.
    pub fn prompt_type(self) -> &'static str {
        match self {
            OpenVikingScale::Graded => "Generic_0-4",
            OpenVikingScale::Binary => "Locomo_0or4",
        }
    }
}

/// How the reply to OpenViking's judge is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenVikingParse {
    /// As every other judge's: what is not as asked for is no score.
    #[default]
    Strict,
    /// As OpenViking does, to compare with its results: [`super::parse_openviking_reply`].
    OpenViking,
}

/// What a judge judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeKind {
    /// Share of the answer's claims that the retrieved passages support.
    Faithfulness,
    /// Share of the answer's claims that the accepted answers support.
    ClaimPrecision,
    /// Share of the first accepted answer's claims that the answer supports.
    ClaimRecall,
    /// Share of the first accepted answer's claims that the retrieved passages support.
    ContextRecall,
    /// Average precision of the useful passages' ranks.
    ContextPrecision,
    /// How well the answer addresses the question.
    AnswerRelevance,
    /// The answer against the accepted answers, by a rubric of 0 to 4.
    Correctness,
    /// OpenViking's judge.
    OpenViking {
        /// Which of the two.
        scale: OpenVikingScale,
        /// How replies are read.
        parse: OpenVikingParse,
        /// Whether an answer that refuses as a gold answer does is right without being judged (spec/openviking 5.4).
        refusals: bool,
    },
    /// A judge of the user's own.
    Rubric(Box<Rubric>),
}

/// What a built-in judge says of itself.
pub(super) struct About {
    pub(super) pretty: &'static str,
    pub(super) description: &'static str,
    pub(super) citation: Option<&'static str>,
}

const RAGAS: &str = "Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024";
const RAGCHECKER: &str = "Ru et al., RAGChecker: A Fine-grained Framework for Diagnosing RAG, NeurIPS 2024";

impl JudgeKind {
    /// Its name in an evaluation file.
    pub fn name(&self) -> &'static str {
        match self {
            JudgeKind::Faithfulness => "faithfulness",
            JudgeKind::ClaimPrecision => "claim_precision",
            JudgeKind::ClaimRecall => "claim_recall",
            JudgeKind::ContextRecall => "context_recall",
            JudgeKind::ContextPrecision => "context_precision",
            JudgeKind::AnswerRelevance => "answer_relevance",
            JudgeKind::Correctness => "correctness",
            JudgeKind::OpenViking { .. } => "openviking",
            JudgeKind::Rubric(_) => "rubric",
        }
    }

    /// Bumped by hand whenever the same replies give another score, or the same case another request by other means than its
    /// prompt; in the key.
    pub(super) fn code_version(&self) -> u64 {
        match self {
            JudgeKind::Faithfulness | JudgeKind::ContextRecall | JudgeKind::ContextPrecision => 3,
            _ => 2,
        }
    }

    pub(super) fn about(&self) -> About {
        let (pretty, description, citation) = match self {
            JudgeKind::Faithfulness => (
                "Faithfulness",
                "share of the answer's claims that the retrieved passages support, as a model judges",
                Some(RAGAS),
            ),
            JudgeKind::ClaimPrecision => (
                "Claim precision",
                "share of the answer's claims that the accepted answers support, as a model judges",
                Some(RAGCHECKER),
            ),
            JudgeKind::ClaimRecall => (
                "Claim recall",
                "share of the claims of the first accepted answer that the answer supports, as a model judges",
                Some(RAGCHECKER),
            ),
            JudgeKind::ContextRecall => (
                "Context recall",
                "share of the claims of the first accepted answer that the retrieved passages support, as a model judges",
                Some(RAGAS),
            ),
            JudgeKind::ContextPrecision => (
                "Context precision",
                "average precision of the ranks of passages that a model finds useful for the accepted answer",
                Some(RAGAS),
            ),
            JudgeKind::AnswerRelevance => (
                "Answer relevance",
                "how well the answer addresses the question, graded 0 to 4 by a model and divided by 4; 0 where it is \
                 noncommittal (RAGAS instead compares questions that are made from the answer)",
                None,
            ),
            JudgeKind::Correctness => (
                "Correctness",
                "the answer against the accepted answers, graded 0 to 4 by a model and divided by 4",
                None,
            ),
            JudgeKind::OpenViking { scale: OpenVikingScale::Graded, .. } => (
                "OpenViking's judge (0 to 4)",
                "the answer against the gold answers, 0 to 4 points by a model",
                Some("OpenViking benchmark/RAG, Generic_0-4"),
            ),
            JudgeKind::OpenViking { scale: OpenVikingScale::Binary, .. } => (
                "OpenViking's judge (0 or 4)",
                "the answer against the gold answers, judged generously: 4 points or 0 by a model",
                Some("OpenViking benchmark/RAG, Locomo_0or4"),
            ),
            JudgeKind::Rubric(_) => ("Rubric", "a rubric of this evaluation, judged by a model", None),
        };
        About { pretty, description, citation }
    }

    /// What it reads beside the gold.
    pub(super) fn reads(&self) -> Reads {
        let (results, answer, question) = match self {
            JudgeKind::Faithfulness => (true, true, true),
            JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall => (false, true, true),
            JudgeKind::ContextRecall | JudgeKind::ContextPrecision => (true, false, true),
            JudgeKind::AnswerRelevance | JudgeKind::Correctness | JudgeKind::OpenViking { .. } => (false, true, true),
            JudgeKind::Rubric(rubric) => {
                let bare = rubric.is_bare();
                let answer = bare || rubric.uses(&["answer"]);
                (rubric.uses(&["contexts", "passages"]), answer, bare || rubric.uses(&["question"]))
            }
        };
        Reads { results, answer, question, ..Reads::default() }
    }

    /// The prompt of ours that it is asked with; a rubric is its own.
    pub fn prompt(&self) -> Prompt {
        match self {
            JudgeKind::Rubric(rubric) => rubric.instruction.clone(),
            JudgeKind::ContextPrecision => Prompt::new(prompts::CONTEXT_PRECISION),
            JudgeKind::AnswerRelevance => Prompt::new(prompts::ANSWER_RELEVANCE),
            JudgeKind::Correctness => Prompt::new(prompts::CORRECTNESS),
            JudgeKind::OpenViking { scale: OpenVikingScale::Graded, .. } => Prompt::new(prompts::OPENVIKING_GENERIC),
            JudgeKind::OpenViking { scale: OpenVikingScale::Binary, .. } => Prompt::new(prompts::OPENVIKING_LOCOMO),
            JudgeKind::Faithfulness | JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall | JudgeKind::ContextRecall => {
                Prompt::new(prompts::ENTAILMENT)
            }
        }
    }

    /// What its prompt is filled with, by example.
    pub fn example(&self) -> Value {
        let numbered = json!([{"number": 1, "text": "t"}]);
        match self {
            JudgeKind::Rubric(_) => Rubric::example(),
            JudgeKind::ContextPrecision => json!({"question": "q", "gold": "a | b", "passages": numbered}),
            JudgeKind::AnswerRelevance => json!({"question": "q", "answer": "a"}),
            JudgeKind::Correctness | JudgeKind::OpenViking { .. } => {
                json!({"question": "q", "answer": "a", "gold": "a | b"})
            }
            JudgeKind::Faithfulness | JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall | JudgeKind::ContextRecall => {
                json!({"question": "q", "sources": numbered, "claims": numbered})
            }
        }
    }

    /// Whether it is asked of claims.
    pub(super) fn of_claims(&self) -> bool {
        matches!(
            self,
            JudgeKind::Faithfulness | JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall | JudgeKind::ContextRecall
        )
    }
}

impl Walk for JudgeKind {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        v.begin_record("judge", self.name());
        v.uint("code_version", self.code_version());
        match self {
            JudgeKind::OpenViking { scale, parse, refusals } => {
                v.text("scale", scale.prompt_type());
                v.bool("strict", *parse == OpenVikingParse::Strict);
                if *refusals {
                    v.text("refusal", "override");
                }
            }
            JudgeKind::Rubric(rubric) => rubric.walk(v),
            _ => {}
        }
        v.end();
    }
}
