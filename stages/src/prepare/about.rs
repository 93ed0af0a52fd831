//! What is known of a public dataset, whichever part of it is evaluated.

use super::financebench::FINANCEBENCH;
use super::hotpotqa::HOTPOTQA;
use super::locomo::LOCOMO;
use super::musique::MUSIQUE;
use super::qasper::QASPER;
use super::syllabusqa::SYLLABUSQA;
use super::trec::CRANFIELD;
use super::{multihop_rag, uda};
use crate::score::judge::JudgeKind;

/// A public dataset that an adapter reads: what `ragstage data info` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its name on the command line. It is the adapter's, but where an adapter reads several.
    pub name: &'static str,
    /// The name of the adapter that reads it.
    pub adapter: &'static str,
    /// What its authors call it.
    pub title: &'static str,
    /// One sentence on what it asks.
    pub task: &'static str,
    /// Where it is from.
    pub homepage: &'static str,
    /// Its licence, as its authors state it, or that they state none.
    pub license: &'static str,
    /// How to cite it.
    pub citation: &'static str,
    /// The release or commit that the counts are of.
    pub version: &'static str,
    /// Which documents and cases share a knowledge base.
    pub units: &'static str,
    /// How many there are of what, in the whole dataset.
    pub counts: &'static [Count],
    /// The categories of its cases, by the label's words.
    pub categories: &'static [Category],
    /// What the adapter leaves out.
    pub left_out: &'static [LeftOut],
    /// The evaluators, in evaluator grammar, of an evaluation that names none.
    pub evaluators: &'static [&'static str],
    /// The judge beside them, where the evaluation has a model that judges.
    pub judge: Option<JudgeKind>,
    /// What to know before numbers are compared.
    pub notes: &'static [&'static str],
}

/// How many of something a dataset has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Of what, in the plural.
    pub what: &'static str,
    /// How many.
    pub count: u64,
}

/// A category of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    /// The word in labels and reports.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How many cases of the whole dataset are of it.
    pub cases: u64,
}

/// What an adapter leaves out of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// What.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    /// How many of the whole dataset.
    pub count: u64,
}

/// All public datasets that adapters read, by name.
pub static DATASETS: &[&About] = &[
    &CRANFIELD,
    &FINANCEBENCH,
    &HOTPOTQA,
    &LOCOMO,
    &multihop_rag::ABOUT,
    &MUSIQUE,
    &QASPER,
    &SYLLABUSQA,
    &uda::FETA,
    &uda::FIN,
    &uda::NQ,
    &uda::PAPER_TAB,
    &uda::PAPER_TEXT,
    &uda::TAT,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{EvaluatorSpec, evaluator};

    /// The datasets whose questions are all of a category, or none.
    fn of_papers() -> impl Iterator<Item = &'static &'static About> {
        DATASETS.iter().filter(|about| ["multihop_rag", "uda"].contains(&about.adapter))
    }

    #[test]
    fn datasets_are_in_order_and_their_evaluators_exist() {
        let names: Vec<&str> = DATASETS.iter().map(|about| about.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for about in of_papers() {
            for text in about.evaluators {
                let spec = EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
                let made = evaluator(&spec).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(made.name(), *text, "the canonical name");
            }
        }
    }

    #[test]
    fn categories_add_up_where_all_cases_have_one() {
        for about in of_papers().filter(|about| !about.categories.is_empty()) {
            let of_categories: u64 = about.categories.iter().map(|category| category.cases).sum();
            let left_out: u64 = about.left_out.iter().map(|left_out| left_out.count).sum();
            let questions = about.counts.iter().find(|count| count.what == "questions").expect("a count of questions");
            assert_eq!(of_categories + left_out, questions.count, "{}", about.name);
        }
    }
}
