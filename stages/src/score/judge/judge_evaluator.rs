//! A judge as an evaluator.

use std::borrow::Cow;
use std::sync::Arc;

use ragstage_cache::{KeyVisitor, Walk};

use super::contexts::ContextLimits;
use super::judge_kind::JudgeKind;
use super::prompts::CLAIMS;
use super::rubric::RubricScale;
use super::{claims, grades, passages};
use crate::artifact::Score;
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::model::{CHAT_VERSION, ChatModel, Prompt};
use crate::score::evaluator::{Description, Evaluator, Reads, Scorable, ScoreTogether};

/// How a judge asks.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// The model that judges.
    pub model: Arc<ChatModel>,
    /// What it is asked: a template of what [`JudgeKind::example`] has. What the reply must look like is put after it.
    pub prompt: Prompt,
    /// How many judgements are asked for on each response, at least 1; each has a seed of its own.
    pub samples: u32,
    /// Sampling temperature.
    pub temperature: f64,
    /// Most tokens of a reply.
    pub max_tokens: u32,
    /// Which passages it reads.
    pub contexts: ContextLimits,
    /// How often a reply that is not as asked for is asked for, at least 1. In no key: it says how long to insist, not what
    /// counts.
    pub attempts: u32,
}

impl JudgeOptions {
    /// The defaults of a judge of `kind`.
    pub fn new(kind: &JudgeKind, model: Arc<ChatModel>) -> Self {
        JudgeOptions {
            model,
            prompt: kind.prompt(),
            samples: 1,
            temperature: 0.0,
            max_tokens: 1024,
            contexts: ContextLimits::default(),
            attempts: 3,
        }
    }

    /// How many judgements are asked for on each response.
    pub(super) fn judgements(&self) -> u32 {
        self.samples.max(1)
    }
}

/// An evaluator that asks a chat model. What it is told, by whom, and which replies count is all in its key; a reply that is
/// not exactly as asked for is a failed score of class `bad_reply`, and never a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    /// The column's name in reports; in no key.
    pub name: String,
    /// What it judges.
    pub kind: JudgeKind,
    /// How it asks.
    pub options: JudgeOptions,
}

impl Evaluator for Judge {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn describe(&self) -> Description {
        let about = self.kind.about();
        let higher_is_better = match &self.kind {
            JudgeKind::Rubric(rubric) => match rubric.scale {
                RubricScale::Number { .. } => rubric.higher_is_better,
                RubricScale::Labels { .. } => true,
            },
            _ => true,
        };
        Description {
            pretty: match &self.kind {
                JudgeKind::Rubric(_) => Cow::Owned(format!("{} ({})", about.pretty, self.name)),
                _ => Cow::Borrowed(about.pretty),
            },
            description: Cow::Borrowed(about.description),
            citation: about.citation.map(Cow::Borrowed),
            higher_is_better,
            model: Some(self.options.model.model.clone()),
        }
    }

    fn reads(&self) -> Reads {
        self.kind.reads()
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        let options = &self.options;
        v.begin_record("evaluator", "judge");
        self.kind.walk(v);
        v.uint("chat_version", CHAT_VERSION);
        options.model.walk(v);
        v.digest("prompt", options.prompt.digest());
        if self.kind.of_claims() {
            v.digest("claims_prompt", Prompt::new(CLAIMS).digest());
        }
        v.uint("samples", u64::from(options.samples));
        v.float("temperature", options.temperature);
        v.uint("max_tokens", u64::from(options.max_tokens));
        if self.kind.reads().results {
            options.contexts.walk(v);
        }
        v.end();
    }

    fn together(&self) -> Option<&dyn ScoreTogether> {
        Some(self)
    }
}

impl ScoreTogether for Judge {
    fn score(
        &self,
        context: &dyn Context,
        responses: &[Scorable<'_>],
    ) -> Result<Vec<Result<Score, RowError>>, StageError> {
        match &self.kind {
            kind if kind.of_claims() => claims::score(context, kind, &self.options, responses),
            JudgeKind::ContextPrecision => passages::score(context, &self.options, responses),
            kind => grades::score(context, kind, &self.options, responses),
        }
    }
}
