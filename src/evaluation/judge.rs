//! Evaluators that are judges: a chat model that scores responses.

use ragstage_stages::error::Place;
use ragstage_stages::score::judge::{Gives, JudgeKind, JudgeOptions, OpenVikingScale, Rubric};

use super::diagnostic::Faults;
use super::models::Models;
use super::prompt::PromptFiles;
use super::shape::{Choice, Field, Need, Range, Shape, TEXT};
use super::view::View;

/// Most tokens of a judge's reply, where nothing is said.
const MAX_TOKENS: u32 = 1500;

pub(super) const JUDGE_FIELD: Field = Field {
    name: "judge",
    doc: "What a chat model judges.",
    shape: Shape::Choice(&[
        Choice { word: "faithfulness", doc: "share of the answer's claims that the passages support" },
        Choice { word: "answer_relevance", doc: "how well the answer addresses the question" },
        Choice { word: "context_precision", doc: "average precision of the useful passages" },
        Choice { word: "context_recall", doc: "share of the gold answer's claims that the passages support" },
        Choice { word: "correctness", doc: "the answer graded against the gold answers" },
        Choice { word: "claim_precision", doc: "share of the answer's claims that the gold answers support" },
        Choice { word: "claim_recall", doc: "share of the gold answer's claims that the answer supports" },
        Choice { word: "openviking", doc: "the score of 0 to 4 that OpenViking's benchmark asks for" },
        Choice { word: "rubric", doc: "a rubric of your own" },
    ]),
    need: Need::Optional,
};

pub(super) const MODEL_FIELD: Field = Field {
    name: "model",
    doc: "The chat model that judges: a name under `models` at the top of the file.",
    shape: TEXT,
    need: Need::Optional,
};

pub(super) const RUBRIC_FIELD: Field = Field {
    name: "rubric",
    doc: "For `judge: rubric`, the Markdown file that has it, relative to this file. It may use `question`, `answer`, \
          `gold` and `contexts`; a block of JSON in it is the JSON Schema of the reply.",
    shape: TEXT,
    need: Need::Optional,
};

pub(super) const SCALE_FIELD: Field = Field {
    name: "scale",
    doc: "The scale of `judge: openviking`.",
    shape: Shape::Choice(&[
        Choice { word: "graded", doc: "0 to 4" },
        Choice { word: "binary", doc: "0 or 4: what OpenViking asks about Locomo" },
    ]),
    need: Need::Default("\"graded\""),
};

pub(super) const READING_FIELD: Field = Field {
    name: "reading",
    doc: "How replies of `judge: openviking` are read.",
    shape: Shape::Choice(&[
        Choice { word: "strict", doc: "a reply that is not what was asked for fails the case" },
        Choice { word: "openviking", doc: "as OpenViking does, which finds a score in any prose; to compare with it" },
    ]),
    need: Need::Default("\"strict\""),
};

pub(super) const SAMPLES_FIELD: Field = Field {
    name: "samples",
    doc: "How often each response is judged; the value is the mean.",
    shape: Shape::Int { min: 1, max: 100 },
    need: Need::Default("1"),
};

pub(super) const GIVES_FIELD: Field = Field {
    name: "gives",
    doc: "What the value is.",
    shape: Shape::Choice(&[
        Choice { word: "score", doc: "the score" },
        Choice { word: "consistency", doc: "how often two of the `samples` agree" },
    ]),
    need: Need::Default("\"score\""),
};

pub(super) const MAX_TOKENS_FIELD: Field = Field {
    name: "max_tokens",
    doc: "Most tokens of a reply.",
    shape: Shape::Int { min: 1, max: 1_000_000 },
    need: Need::Default("1500"),
};

pub(super) const TEMPERATURE_FIELD: Field = Field {
    name: "temperature",
    doc: "Sampling temperature.",
    shape: Shape::Float(Range::closed(0.0, 2.0)),
    need: Need::Default("0"),
};

pub(super) const ATTEMPTS_FIELD: Field = Field {
    name: "attempts",
    doc: "How often a reply is asked for until it is what was asked for. In no key.",
    shape: Shape::Int { min: 1, max: 20 },
    need: Need::Default("3"),
};

pub(super) const CONTEXTS_FIELD: Field = Field {
    name: "contexts",
    doc: "How many of the passages the judge is shown, best first; all by default.",
    shape: Shape::Int { min: 1, max: 10_000 },
    need: Need::Optional,
};

pub(super) const PASS_FIELD: Field = Field {
    name: "pass",
    doc: "What passes a rubric: the least score, or a list of labels.",
    shape: Shape::Either(&[Shape::Float(Range::closed(f64::MIN, f64::MAX)), Shape::List { of: &TEXT, least: 1 }]),
    need: Need::Optional,
};

/// The keys that only a judge has.
pub(super) const KEYS: [&str; 12] = [
    "model",
    "rubric",
    "prompt",
    "scale",
    "reading",
    "samples",
    "gives",
    "max_tokens",
    "temperature",
    "attempts",
    "contexts",
    "pass",
];

/// What a judge may name.
pub(super) struct Known<'a> {
    /// The chat models.
    pub models: &'a Models,
    /// Files with prompts.
    pub prompts: &'a PromptFiles<'a>,
}

/// The judge that a checked entry with `judge` stands for.
pub(super) fn convert(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<JudgeOptions> {
    let kind = kind(view, known, faults);
    let model = view.get("model");
    let missing = !model.is_given() && !view.is_faulty("model");
    if missing {
        let hint = "name one of `models`, the chat models at the top of the file".to_string();
        faults.add_hint(view.start(), &view.path, "missing `model`, the chat model that judges", hint);
    }
    let model = if missing { None } else { known.models.find(&model, faults) };
    let kind = kind?;
    let own = view.get("prompt");
    if own.is_given() && matches!(kind, JudgeKind::Rubric(_)) {
        let hint = "the rubric is the prompt; remove one of the two".to_string();
        faults.add_hint(own.start(), &own.path, "`prompt` has no meaning beside `rubric`", hint);
        return None;
    }
    let prompt = known.prompts.prompt(&own, kind.prompt(), &kind.example(), faults)?;
    let samples = view.get("samples").int().unwrap_or(1);
    let gives = match view.get("gives").text() {
        Some("consistency") => Gives::Consistency,
        _ => Gives::Score,
    };
    if gives == Gives::Consistency && samples < 2 {
        let at = view.get("gives");
        let hint = "set `samples` to 2 or more".to_string();
        faults.add_hint(at.start(), &at.path, "one judgement has nothing to be consistent with", hint);
        return None;
    }
    let default = match gives {
        Gives::Score => kind.name().to_string(),
        Gives::Consistency => format!("{}-consistency", kind.name()),
    };
    Some(JudgeOptions {
        name: view.get("name").text().map_or(default, str::to_string),
        kind,
        model: model?,
        prompt,
        max_tokens: view.get("max_tokens").int().unwrap_or(MAX_TOKENS),
        temperature: view.get("temperature").float().unwrap_or(0.0),
        samples,
        further_times: view.get("attempts").int::<u32>().unwrap_or(3).saturating_sub(1),
        contexts: view.get("contexts").int(),
        gives,
        openviking_reading: view.get("reading").text() == Some("openviking"),
    })
}

fn kind(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<JudgeKind> {
    let word = view.get("judge").text()?;
    let mut only_for = |keys: &[&str], judge: &str| {
        for key in keys.iter().filter(|_| word != judge) {
            let option = view.get(key);
            if option.is_given() {
                let message = format!("`{key}` has no meaning without `judge: {judge}`");
                faults.add_hint(option.start(), &option.path, message, "remove it".to_string());
            }
        }
    };
    only_for(&["scale", "reading"], "openviking");
    only_for(&["rubric", "pass"], "rubric");
    Some(match word {
        "faithfulness" => JudgeKind::Faithfulness,
        "answer_relevance" => JudgeKind::AnswerRelevance,
        "context_precision" => JudgeKind::ContextPrecision,
        "context_recall" => JudgeKind::ContextRecall,
        "correctness" => JudgeKind::Correctness,
        "claim_precision" => JudgeKind::ClaimPrecision,
        "claim_recall" => JudgeKind::ClaimRecall,
        "openviking" => JudgeKind::OpenViking(match view.get("scale").text() {
            Some("binary") => OpenVikingScale::Binary,
            _ => OpenVikingScale::Graded,
        }),
        _ => JudgeKind::Rubric(rubric(view, known, faults)?),
    })
}

fn rubric(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<Rubric> {
    let named = view.get("rubric");
    if !named.is_given() {
        let hint = "name a Markdown file with the rubric".to_string();
        faults.add_hint(view.start(), &view.path, "missing `rubric`, the file that has it", hint);
        return None;
    }
    let (file, text) = known.prompts.text(&named, faults)?;
    let place = |line| Place { file: file.clone(), line, column: None };
    let mut rubric = match Rubric::parse(&text) {
        Ok(rubric) => rubric,
        Err(fault) => {
            let hint = "docs/evaluators.md shows a rubric".to_string();
            faults.add_in_file(place(Some(fault.line)), &named.path, fault.message, hint);
            return None;
        }
    };
    let kind = JudgeKind::Rubric(rubric.clone());
    if let Err(fault) = rubric.prompt().check(&kind.example()) {
        let hint = fault.hint.unwrap_or_else(|| "it is given `question`, `answer`, `gold` and `contexts`".to_string());
        faults.add_in_file(place(fault.line), &named.path, fault.message, hint);
        return None;
    }
    let pass = view.get("pass");
    if !pass.is_given() {
        return Some(rubric);
    }
    let labels: Vec<String> = rubric.labels().into_iter().map(str::to_string).collect();
    match (pass.float(), pass.texts()) {
        (Some(least), _) if rubric.scale().is_some_and(|(low, high)| (low..=high).contains(&least)) => {
            rubric.pass = Some(least);
        }
        (None, Some(given)) if !labels.is_empty() && given.iter().all(|label| labels.contains(label)) => {
            rubric.pass_labels = given;
        }
        _ => {
            let expected = match (rubric.scale(), labels.is_empty()) {
                (Some((low, high)), _) => format!("expected a number from {low} to {high}"),
                (None, false) => format!("expected a list of some of {}", labels.join(", ")),
                (None, true) => "a truth value passes by itself".to_string(),
            };
            faults.add(pass.start(), &pass.path, expected);
            return None;
        }
    }
    Some(rubric)
}
