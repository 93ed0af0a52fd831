//! A judge as an evaluator.

use ragstage_cache::KeyVisitor;

use super::judge_kind::{JUDGES, JudgeKind};
use super::options::{Gives, JudgeOptions};
use super::panel::Panel;
use super::{claims, context_precision, entailment, graded};
use crate::artifact::{Score, ScoreValue};
use crate::contract::Context;
use crate::error::{RowError, StageError};
use crate::score::sample_scores::mean_score;
use crate::score::{Description, Evaluator, Reads, Scorable, ScoreTogether};

/// Bumped by hand whenever a judge's score changes for the same replies, or what is asked changes beside the prompts; in the key.
const JUDGE_VERSION: u64 = 1;

struct JudgeEvaluator {
    options: JudgeOptions,
}

/// The judge with these options.
pub fn judge(options: JudgeOptions) -> Box<dyn Evaluator> {
    Box::new(JudgeEvaluator { options })
}

impl JudgeEvaluator {
    fn splits_into_claims(&self) -> bool {
        use JudgeKind::{ClaimPrecision, ClaimRecall, ContextRecall, Faithfulness};
        matches!(self.options.kind, Faithfulness | ContextRecall | ClaimPrecision | ClaimRecall)
    }

    fn sample(
        &self,
        context: &dyn Context,
        sample: u32,
        responses: &[Scorable<'_>],
    ) -> Result<Vec<Result<Score, RowError>>, StageError> {
        let panel = Panel { context, options: &self.options, sample };
        match self.options.kind {
            JudgeKind::ContextPrecision => context_precision::score(&panel, responses),
            _ if self.splits_into_claims() => entailment::score(&panel, responses),
            _ => graded::score(&panel, responses),
        }
    }
}

impl Evaluator for JudgeEvaluator {
    fn name(&self) -> String {
        self.options.name.clone()
    }

    fn describe(&self) -> Description {
        let info = JUDGES.iter().find(|info| info.name == self.options.kind.name());
        let description = info.map(|info| info.description).unwrap_or_default();
        let gives = match self.options.gives {
            Gives::Score => "",
            Gives::Consistency => "; how often two judgements of one response agree",
        };
        Description {
            pretty: self.options.name.clone().into(),
            description: format!("{description}{gives}; judged by {}", self.options.model.model).into(),
            citation: match self.options.kind {
                JudgeKind::Faithfulness | JudgeKind::ContextRecall | JudgeKind::ContextPrecision => Some(
                    "Es, James, Espinosa-Anke and Schockaert. RAGAS: Automated Evaluation of Retrieval Augmented Generation. EACL 2024 demonstrations."
                        .into(),
                ),
                JudgeKind::ClaimPrecision | JudgeKind::ClaimRecall => Some(
                    "Ru et al. RAGChecker: A Fine-grained Framework for Diagnosing Retrieval-Augmented Generation. NeurIPS 2024."
                        .into(),
                ),
                _ => None,
            },
            higher_is_better: true,
            model: Some(self.options.model.model.clone()),
        }
    }

    fn reads(&self) -> Reads {
        self.options.kind.reads()
    }

    fn walk(&self, v: &mut dyn KeyVisitor) {
        use ragstage_cache::Walk;
        let options = &self.options;
        v.begin_record("evaluator", "judge");
        v.uint("code_version", JUDGE_VERSION);
        options.kind.walk(v);
        options.model.walk(v);
        v.digest("prompt", options.prompt.digest());
        if self.splits_into_claims() {
            v.digest("claims_prompt", claims::prompt().digest());
        }
        v.uint("max_tokens", u64::from(options.max_tokens));
        v.float("temperature", options.temperature);
        v.uint("samples", u64::from(options.samples));
        if let Some(contexts) = options.contexts {
            v.uint("contexts", u64::from(contexts));
        }
        v.text(
            "gives",
            match options.gives {
                Gives::Score => "score",
                Gives::Consistency => "consistency",
            },
        );
        v.bool("openviking_reading", options.openviking_reading);
        if let JudgeKind::Rubric(rubric) = &options.kind {
            if let Some(pass) = rubric.pass {
                v.float("pass", pass);
            }
            v.begin_list("pass_labels", rubric.pass_labels.len());
            rubric.pass_labels.iter().for_each(|label| v.text("", label));
            v.end();
        }
        v.end();
    }

    fn together(&self) -> Option<&dyn ScoreTogether> {
        Some(self)
    }
}

impl ScoreTogether for JudgeEvaluator {
    fn score(
        &self,
        context: &dyn Context,
        responses: &[Scorable<'_>],
    ) -> Result<Vec<Result<Score, RowError>>, StageError> {
        let mut samples = Vec::new();
        for sample in 0..self.options.samples.max(1) {
            samples.push(self.sample(context, sample, responses)?.into_iter());
        }
        let one = |samples: &mut Vec<std::vec::IntoIter<Result<Score, RowError>>>| {
            let own: Vec<Result<Score, RowError>> = samples.iter_mut().filter_map(Iterator::next).collect();
            let mut own: Vec<Score> = own.into_iter().collect::<Result<_, _>>()?;
            match (self.options.gives, own.len()) {
                (_, 0) => entailment::no_reply(),
                (Gives::Score, 1) => Ok(own.remove(0)),
                (Gives::Score, _) => Ok(mean_score(own)),
                (Gives::Consistency, _) => Ok(consistency(own)),
            }
        };
        Ok(responses.iter().map(|_| one(&mut samples)).collect())
    }
}

/// How often two of `scores` are equal. Skipped judgements are left out; below two there is nothing to compare.
fn consistency(scores: Vec<Score>) -> Score {
    let values: Vec<ScoreValue> = scores.iter().filter_map(|score| score.value.clone()).collect();
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    if pairs == 0 {
        return Score::skipped("fewer than two judgements");
    }
    let others = |i: usize| values.get(i + 1..).unwrap_or_default();
    let same: usize =
        values.iter().enumerate().map(|(i, one)| others(i).iter().filter(|other| *other == one).count()).sum();
    let detail = mean_score(scores).detail;
    Score::scored(ScoreValue::Number(same as f64 / pairs as f64), None, detail)
}
