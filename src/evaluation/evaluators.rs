//! `evaluators`: what responses are scored by, as text (`nDCG@10`, `P(rel=2)@5`) or as a mapping.

use std::fmt;

use ragstage_stages::score::EvaluatorSpec;

use super::diagnostic::Faults;
use super::judge::{self, JUDGE, JudgeConfig};
use super::own_evaluator::OwnEvaluator;
use super::program::{self, PROGRAM, PYTHON, ProgramConfig};
use super::shape::{Field, Need, Record, Refusal, Shape, TextRule};
use super::view::View;

/// Says whether an evaluator exists and takes these options: a message, and the nearest name that does.
pub type CheckEvaluator<'a> = dyn Fn(&EvaluatorSpec) -> Result<(), (String, Option<String>)> + 'a;

/// An entry of `evaluators`.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluatorConfig {
    /// One of ours that asks nobody.
    Spec(EvaluatorSpec),
    /// One that asks a chat model.
    Judge(Box<JudgeConfig>),
    /// A program of the user's.
    Program(Box<ProgramConfig>),
    /// One of whoever links this library.
    Own(OwnEvaluator),
}

impl EvaluatorConfig {
    /// The names of its columns.
    pub fn names(&self) -> Vec<String> {
        match self {
            EvaluatorConfig::Program(config) => config.names(),
            EvaluatorConfig::Spec(_) | EvaluatorConfig::Judge(_) | EvaluatorConfig::Own(_) => vec![self.to_string()],
        }
    }
}

/// The name that gates, reports and the command line know it by.
impl fmt::Display for EvaluatorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluatorConfig::Spec(spec) => spec.fmt(f),
            EvaluatorConfig::Judge(config) => f.write_str(&config.judge.name),
            EvaluatorConfig::Program(config) => f.write_str(&config.name),
            EvaluatorConfig::Own(evaluator) => f.write_str(&evaluator.name()),
        }
    }
}

/// An evaluator as text.
pub(super) const EVALUATOR_TEXT: Shape = Shape::Text(&TextRule {
    expected: "an evaluator such as `nDCG@10`",
    pattern: Some(r"^[A-Za-z][A-Za-z0-9_.+-]*(?:\(.*\))?(?:@[0-9]+)?$"),
    refuse: |text| {
        EvaluatorSpec::parse(text).err().map(|why| Refusal {
            message: format!(
                "expected an evaluator such as `nDCG@10` or `P(rel=2)@5`: {} at its column {}",
                why.message, why.column
            ),
            hint: None,
        })
    },
});

/// The name of a column: that of an evaluator that asks somebody, or of one of its scores.
pub(super) const COLUMN: Shape = Shape::Text(&TextRule {
    expected: "the name of a column",
    pattern: Some(r"^[A-Za-z][A-Za-z0-9_-]*$"),
    refuse: |text| {
        (!is_name(text)).then(|| Refusal {
            message: "expected the name of a column: letters, digits, `_` and `-`".to_string(),
            hint: None,
        })
    },
});

/// The name of one of our evaluators.
const NAME: Shape = Shape::Text(&TextRule {
    expected: "the name of an evaluator",
    pattern: Some(r"^[A-Za-z][A-Za-z0-9_-]*$"),
    refuse: |text| {
        (!is_name(text)).then(|| Refusal {
            message: "expected the name of an evaluator: letters, digits, `_` and `-`".to_string(),
            hint: Some("the cut-off has a key of its own: `cutoff`".to_string()),
        })
    },
});

static MAPPING: Record = Record {
    name: "evaluator",
    doc: "An evaluator with its options.",
    fields: &[
        Field { name: "name", doc: "Name of the evaluator.", shape: NAME, need: Need::Required },
        Field {
            name: "cutoff",
            doc: "How many results count; what follows `@` in the text form.",
            shape: Shape::Int { min: 1, max: u32::MAX as u64 },
            need: Need::Optional,
        },
        Field {
            name: "options",
            doc: "Parameters; what stands in parentheses in the text form.",
            shape: Shape::Free,
            need: Need::Default("{}"),
        },
    ],
    together: &[],
};

/// What an entry of `evaluators` accepts.
pub(super) static EVALUATOR: Shape = Shape::Either(&[
    EVALUATOR_TEXT,
    Shape::Tagged(&JUDGE),
    Shape::Keyed("program", &PROGRAM),
    Shape::Keyed("python", &PYTHON),
    Shape::Record(&MAPPING),
]);

/// What evaluators may name.
pub(super) struct Known<'a> {
    /// What judges may name.
    pub judges: judge::Known<'a>,
    /// What programs may name.
    pub programs: program::Known<'a>,
}

/// The evaluators that a checked list stands for; `None` when it is absent.
pub(super) fn convert(
    view: &View<'_>,
    check: &CheckEvaluator<'_>,
    known: &Known<'_>,
    faults: &mut Faults,
) -> Option<Vec<EvaluatorConfig>> {
    let mut configs: Vec<EvaluatorConfig> = Vec::new();
    for item in view.items()? {
        let Some(config) = entry(&item, known, faults) else { continue };
        let twin = config.names().into_iter().find(|name| configs.iter().any(|known| known.names().contains(name)));
        if let Some(name) = twin {
            let hint = matches!(config, EvaluatorConfig::Program(_) | EvaluatorConfig::Judge(_))
                .then(|| "give one of them another `name`".to_string());
            faults.add_hint(item.start(), &item.path, format!("`{name}` is listed twice"), hint);
            continue;
        }
        if let EvaluatorConfig::Spec(spec) = &config {
            check_spec(spec, &item, check, faults);
        }
        configs.push(config);
    }
    Some(configs)
}

/// What an entry stands for; `None` where a fault hides it.
fn entry(item: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<EvaluatorConfig> {
    if item.get("judge").is_given() {
        return judge::convert(item, &known.judges, faults).map(|config| EvaluatorConfig::Judge(Box::new(config)));
    }
    if item.get("program").is_given() || item.get("python").is_given() {
        return program::convert(item, &known.programs, faults)
            .map(|config| EvaluatorConfig::Program(Box::new(config)));
    }
    if !item.is_map() {
        return Some(EvaluatorConfig::Spec(EvaluatorSpec::parse(item.text()?).ok()?));
    }
    // What says that it is another kind of evaluator, and is wrong, makes it no name of ours.
    if ["judge", "program", "python", "cutoff"].iter().any(|key| item.is_faulty(key)) {
        return None;
    }
    Some(EvaluatorConfig::Spec(EvaluatorSpec {
        name: item.get("name").text()?.to_string(),
        cutoff: item.get("cutoff").int(),
        options: item.get("options").json().unwrap_or_default(),
    }))
}

/// Reports what `check` has against `spec`, which stands at `view`.
pub(super) fn check_spec(spec: &EvaluatorSpec, view: &View<'_>, check: &CheckEvaluator<'_>, faults: &mut Faults) {
    if let Err((message, nearest)) = check(spec) {
        let hint = nearest.map(|nearest| super::check::did_you_mean(&nearest));
        faults.add_hint(view.start(), &view.path, message, hint);
    }
}

/// Whether `text` may name a column: what gates and the command line can write.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::{Value, json};

    use super::super::models::Models;
    use super::super::prompt::PromptFiles;
    use super::super::view::tests::checked;
    use super::*;

    fn spec(name: &str, cutoff: Option<u32>, options: Value) -> EvaluatorConfig {
        let options = options.as_object().expect("an object").clone();
        EvaluatorConfig::Spec(EvaluatorSpec { name: name.to_string(), cutoff, options })
    }

    fn read(text: &str) -> Result<Option<Vec<EvaluatorConfig>>, Vec<String>> {
        let check = |spec: &EvaluatorSpec| match spec.name.as_str() {
            "ndgc" => Err(("unknown evaluator `ndgc`".to_string(), Some("nDCG".to_string()))),
            _ => Ok(()),
        };
        let models = Models { list: Vec::new(), incomplete: false };
        let prompts = PromptFiles::new("".as_ref());
        let files = RefCell::default();
        let known = Known {
            judges: judge::Known { models: &models, files: &prompts },
            programs: program::Known { base: "".as_ref(), environment: &|_| None, files: &files },
        };
        checked(text, &Shape::List { of: &EVALUATOR, least: 0 }, |view, faults| convert(view, &check, &known, faults))
    }

    #[test]
    fn both_forms_in_one_list() {
        let specs = read("[nDCG@10, {name: token_f1, cutoff: 5, options: {mode: macro}}]")
            .expect("evaluators")
            .expect("evaluators");
        assert_eq!(specs, [spec("nDCG", Some(10), json!({})), spec("token_f1", Some(5), json!({"mode": "macro"}))]);
        assert_eq!(specs[1].to_string(), "token_f1(mode=macro)@5");
    }

    #[test]
    fn unknown_and_repeated_evaluators_are_reported() {
        assert_eq!(
            read("[ndgc@10, P@5, {name: P, cutoff: 5}, 7, P@x, {name: P@5}]").unwrap_err(),
            [
                "1:2 [0]: unknown evaluator `ndgc` [did you mean `nDCG`?]",
                "1:16 [2]: `P@5` is listed twice",
                "1:38 [3]: expected an evaluator such as `nDCG@10` or a mapping with `judge` or a mapping with `program` or \
                  a mapping with `python` or a mapping, found the number 7",
                "1:41 [4]: expected an evaluator such as `nDCG@10` or `P(rel=2)@5`: expected a cut-off (a whole \
                 number from 1), found 'x' at its column 3",
                "1:53 [5].name: expected the name of an evaluator: letters, digits, `_` and `-` [the cut-off \
                 has a key of its own: `cutoff`]",
            ]
        );
    }

    #[test]
    fn a_program_without_words_is_reported_once() {
        assert_eq!(
            read("[{program: [], name: ndgc}, {python: [], name: ndgc}]").unwrap_err(),
            [
                "1:12 [0].program: expected a list of at least 1, found 0",
                "1:38 [1].python: expected a text, found a list",
            ]
        );
    }
}
