//! `gates`: bounds that a measured value must keep.

use ragstage_stages::aggregate::{GateRule, NoWorseThan};
use ragstage_stages::score::{EvaluatorSpec, evaluator};

use super::check::did_you_mean;
use super::diagnostic::Faults;
use super::evaluators::{CheckEvaluator, EVALUATOR_TEXT, EvaluatorConfig, check_spec};
use super::judge::JudgeConfig;
use super::queries::{Queries, RecipeNames};
use super::shape::{Choice, Field, Need, Range, Record, Shape, TEXT, Together};
use super::view::View;
use ragstage_stages::nearest::nearest;

const BOUND: Shape = Shape::Float(Range::closed(f64::MIN, f64::MAX));

/// What an entry of `gates` accepts.
pub(super) static GATE: Record = Record {
    name: "gate",
    doc: "A bound that a mean must keep; a gate that fails decides the exit code.",
    fields: &[
        Field {
            name: "measure",
            doc: "One of the evaluators, in its text form.",
            shape: EVALUATOR_TEXT,
            need: Need::Required,
        },
        Field {
            name: "recipe",
            doc: "The recipe that it holds for; every one by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "query",
            doc: "The query that it holds for; every one by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field { name: "at_least", doc: "The least value that passes.", shape: BOUND, need: Need::Optional },
        Field { name: "at_most", doc: "The greatest value that passes.", shape: BOUND, need: Need::Optional },
        Field {
            name: "no_worse_than",
            doc: "Another recipe, or `baseline`, that it must not be worse than, case by case.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "margin",
            doc: "How much worse is no matter; 0 by default.",
            shape: Shape::Float(Range::closed(0.0, f64::MAX)),
            need: Need::Optional,
        },
        Field {
            name: "rule",
            doc: "What it takes to fail the comparison; `significant` by default.",
            shape: Shape::Choice(&[
                Choice {
                    word: "significant",
                    doc: "worse by more than the margin, and the paired interval excludes 0: too few cases pass",
                },
                Choice {
                    word: "non_inferior",
                    doc: "the paired interval reaches beyond the margin: too few cases fail",
                },
            ]),
            need: Need::Optional,
        },
    ],
    together: &[Together::AtLeastOne(&["at_least", "at_most", "no_worse_than"])],
};

/// A bound that a mean must keep.
#[derive(Debug, Clone, PartialEq)]
pub struct GateSpec {
    /// The evaluator in its text form, e.g. `nDCG@10`; options are in the order of their names.
    pub measure: String,
    /// The recipe that it holds for; every one when `None`.
    pub recipe: Option<String>,
    /// The query that it holds for; every one when `None`.
    pub query: Option<String>,
    /// The least value that passes.
    pub at_least: Option<f64>,
    /// The greatest value that passes.
    pub at_most: Option<f64>,
    /// What it must not be worse than, by how much, and by which rule.
    pub no_worse_than: Option<(String, f64, GateRule)>,
}

impl GateSpec {
    /// Whether it is compared with the baseline.
    pub fn compares_with_baseline(&self) -> bool {
        self.no_worse_than.as_ref().is_some_and(|(reference, ..)| reference == NoWorseThan::BASELINE)
    }
}

impl From<&GateSpec> for ragstage_stages::aggregate::GateSpec {
    fn from(gate: &GateSpec) -> Self {
        // Summaries go by canonical names: an alias such as `beir_ndcg@10` means the measure that it spells out.
        let canonical = EvaluatorSpec::parse(&gate.measure).ok().and_then(|spec| evaluator(&spec).ok());
        ragstage_stages::aggregate::GateSpec {
            name: None,
            no_worse_than: gate.no_worse_than.as_ref().map(|(reference, margin, rule)| NoWorseThan {
                reference: reference.clone(),
                margin: *margin,
                rule: *rule,
                lower_is_better: canonical.as_ref().is_some_and(|evaluator| !evaluator.describe().higher_is_better),
            }),
            measure: canonical.map_or_else(|| gate.measure.clone(), |evaluator| evaluator.name()),
            recipe: gate.recipe.clone(),
            query: gate.query.clone(),
            at_least: gate.at_least,
            at_most: gate.at_most,
        }
    }
}

/// What a gate may refer to.
pub(super) struct Known<'a> {
    /// The recipes.
    pub recipes: &'a RecipeNames<'a>,
    /// The queries.
    pub queries: &'a Queries,
    /// The evaluators; `None` when they are the benchmark's own.
    pub evaluators: Option<&'a [EvaluatorConfig]>,
    /// The judge beside the benchmark's own.
    pub benchmark_judge: Option<&'a JudgeConfig>,
    /// Whether an evaluator is faulty.
    pub evaluators_incomplete: bool,
}

/// The gates that a checked list stands for.
pub(super) fn convert(
    view: &View<'_>,
    known: &Known<'_>,
    check: &CheckEvaluator<'_>,
    faults: &mut Faults,
) -> Vec<GateSpec> {
    let mut gates = Vec::new();
    for item in view.items().unwrap_or_default() {
        known.recipes.check(&item.get("recipe"), faults);
        check_query(&item, known, faults);
        let (at_least, at_most) = (item.get("at_least").float(), item.get("at_most").float());
        if let (Some(least), Some(most)) = (at_least, at_most)
            && least > most
        {
            let at = item.get("at_most");
            faults.add(at.start(), &at.path, format!("expected at least {least} (`at_least`), found {most}"));
        }
        let no_worse_than = no_worse_than(&item, known, faults);
        let measure = item.get("measure");
        let Some(spec) = measure.text().and_then(|text| EvaluatorSpec::parse(text).ok()) else { continue };
        check_measure(&spec, &measure, known, check, faults);
        gates.push(GateSpec {
            measure: spec.to_string(),
            recipe: item.get("recipe").text().map(str::to_string),
            query: item.get("query").text().map(str::to_string),
            at_least,
            at_most,
            no_worse_than,
        });
    }
    gates
}

fn no_worse_than(item: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<(String, f64, GateRule)> {
    let reference = item.get("no_worse_than");
    for key in ["margin", "rule"] {
        let option = item.get(key);
        if option.is_given() && !reference.is_given() {
            let message = format!("`{key}` has no meaning without `no_worse_than`");
            faults.add_hint(option.start(), &option.path, message, "remove it".to_string());
        }
    }
    let name = reference.text()?;
    if name != NoWorseThan::BASELINE && !known.recipes.check(&reference, faults) {
        return None;
    }
    let rule = match item.get("rule").text() {
        Some("non_inferior") => GateRule::NonInferior,
        _ => GateRule::Significant,
    };
    Some((name.to_string(), item.get("margin").float().unwrap_or(0.0), rule))
}

fn check_query(item: &View<'_>, known: &Known<'_>, faults: &mut Faults) {
    let view = item.get("query");
    let Some(name) = view.text() else { return };
    let names = || known.queries.list.iter().map(|query| query.name.as_str());
    if known.queries.incomplete {
        return;
    }
    let Some(query) = known.queries.list.iter().find(|query| query.name == name) else {
        let hint = match nearest(name, names()) {
            Some(near) => did_you_mean(near),
            None => format!("the queries are {}", names().collect::<Vec<_>>().join(", ")),
        };
        faults.add_hint(view.start(), &view.path, format!("no query is named `{name}`"), hint);
        return;
    };
    let recipe = item.get("recipe");
    let recipe = known.recipes.recipes.iter().find(|known| recipe.text() == Some(&known.name));
    if let Some(recipe) = recipe.filter(|recipe| !query.asks(&recipe.name)) {
        let message = format!("the query `{name}` does not ask the recipe `{}`", recipe.name);
        faults.add(view.start(), &view.path, message);
    }
}

fn check_measure(
    spec: &EvaluatorSpec,
    view: &View<'_>,
    known: &Known<'_>,
    check: &CheckEvaluator<'_>,
    faults: &mut Faults,
) {
    let text = spec.to_string();
    let Some(evaluators) = known.evaluators else {
        if known.benchmark_judge.is_none_or(|judge| judge.judge.name != text) {
            check_spec(spec, view, check, faults);
        }
        return;
    };
    let texts: Vec<String> = evaluators.iter().flat_map(EvaluatorConfig::names).collect();
    if texts.contains(&text) || known.evaluators_incomplete {
        return;
    }
    let hint = match nearest(&text, texts.iter().map(String::as_str)) {
        Some(near) => did_you_mean(near),
        None => format!("add it to `evaluators`, which are {}", texts.join(", ")),
    };
    faults.add_hint(view.start(), &view.path, format!("`{text}` is not among the evaluators"), hint);
}

#[cfg(test)]
mod tests {
    use super::super::queries::QuerySpec;
    use super::super::recipe::{Recipe, RecipeKind};
    use super::super::view::tests::checked;
    use super::*;

    fn read(text: &str, evaluators: Option<&[EvaluatorConfig]>) -> Result<Vec<GateSpec>, Vec<String>> {
        const LIST: Shape = Shape::List { of: &Shape::Record(&GATE), least: 0 };
        let kind = RecipeKind::Built(Default::default());
        let recipes =
            [Recipe { name: "small".to_string(), kind: kind.clone() }, Recipe { name: "large".to_string(), kind }];
        let query = |name: &str, recipes: Option<Vec<String>>| QuerySpec {
            name: name.to_string(),
            mode: "full_text_search".to_string(),
            top_k: 10,
            options: Default::default(),
            search: None,
            trace: false,
            recipes,
        };
        let list = vec![query("bm25", None), query("deep", Some(vec!["large".to_string()]))];
        let queries = Queries { list, incomplete: false };
        let names = RecipeNames { recipes: &recipes, places: &[], incomplete: false };
        let known = Known {
            recipes: &names,
            queries: &queries,
            evaluators,
            benchmark_judge: None,
            evaluators_incomplete: false,
        };
        let check = |spec: &EvaluatorSpec| match spec.name.as_str() {
            "nDCG" => Ok(()),
            name => Err((format!("unknown evaluator `{name}`"), None)),
        };
        checked(text, &LIST, |view, faults| convert(view, &known, &check, faults))
    }

    #[test]
    fn a_gate_is_read() {
        let evaluators = [EvaluatorConfig::Spec(EvaluatorSpec::parse("P(rel=2)@5").expect("a measure"))];
        let gates = read("[{measure: 'P( rel = 2 )@5', recipe: small, query: bm25, at_least: 0.6}]", Some(&evaluators))
            .expect("gates");
        let gate = GateSpec {
            measure: "P(rel=2)@5".to_string(),
            recipe: Some("small".to_string()),
            query: Some("bm25".to_string()),
            at_least: Some(0.6),
            at_most: None,
            no_worse_than: None,
        };
        assert_eq!(gates, [gate]);
    }

    #[test]
    fn dangling_names_and_empty_bounds_are_reported() {
        let evaluators = [EvaluatorConfig::Spec(EvaluatorSpec::parse("nDCG@10").expect("a measure"))];
        for (text, expected) in [
            (
                "[{measure: nDCG@5, at_most: 1}]",
                "1:12 [0].measure: `nDCG@5` is not among the evaluators [did you mean `nDCG@10`?]",
            ),
            (
                "[{measure: nDCG@10, recipe: smal, at_most: 1}]",
                "1:29 [0].recipe: no recipe is named `smal` [did you mean `small`?]",
            ),
            (
                "[{measure: nDCG@10, query: dense, at_most: 1}]",
                "1:28 [0].query: no query is named `dense` [the queries are bm25, deep]",
            ),
            (
                "[{measure: nDCG@10, query: deep, recipe: small, at_most: 1}]",
                "1:28 [0].query: the query `deep` does not ask the recipe `small`",
            ),
            ("[{measure: nDCG@10}]", "1:2 [0]: missing `at_least` or `at_most` or `no_worse_than`"),
            (
                "[{measure: nDCG@10, at_least: 1, at_most: 0.5}]",
                "1:43 [0].at_most: expected at least 1 (`at_least`), found 0.5",
            ),
            ("[{measure: nDCG@10, at_least: .inf}]", "1:31 [0].at_least: expected a number, found .inf"),
        ] {
            assert_eq!(read(text, Some(&evaluators)).unwrap_err(), [expected], "{text}");
        }
        assert!(read("[{measure: nDCG@5, at_most: 1}]", None).is_ok());
        assert_eq!(read("[{measure: x, at_most: 1}]", None).unwrap_err(), ["1:12 [0].measure: unknown evaluator `x`"]);
    }
}
