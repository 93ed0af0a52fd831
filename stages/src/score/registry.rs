//! All evaluators that there are, by name.

use super::answers::{
    ANSWER_ACCURACY, ANSWER_CONTAINS, ANSWER_EXACT_MATCH, ANSWER_LENGTH, CITATION_PRECISION, CITATION_RECALL, FIN_EM,
    LABEL_ACCURACY, NUMERIC_MATCH, OPENVIKING_BENCHMARK_F1, REFUSAL_AGREEMENT, ROUGE_1, ROUGE_2, ROUGE_L, SQUAD_EM,
    TAT_EM, TAT_F1, TOKEN_F1, TOKEN_PRECISION, TOKEN_RECALL, UDA_F1,
};
use super::definition::Definition;
use super::evaluator::Evaluator;
use super::evidence::{
    EVIDENCE_HITS, EVIDENCE_MAP, EVIDENCE_MRR, EVIDENCE_NDCG, EVIDENCE_PRECISION, EVIDENCE_RECALL, OPENVIKING_RECALL,
};
use super::facts::{
    JOINT_EM, JOINT_F1, JOINT_PRECISION, JOINT_RECALL, SUPPORTING_FACTS_EM, SUPPORTING_FACTS_F1,
    SUPPORTING_FACTS_PRECISION, SUPPORTING_FACTS_RECALL,
};
use super::identity::Identity;
use super::measures::{
    AP, BPREF, ERR, INFAP, JUDGED, NDCG, NUM_REL, NUM_REL_RET, NUM_RET, PRECISION, RBP, RECALL, RPREC, RR, SET_F1,
    SET_PRECISION, SET_RECALL, SUCCESS,
};
use super::spec::EvaluatorSpec;
use crate::nearest::nearest;

static DEFINITIONS: [&Definition; 54] = [
    &NDCG,
    &AP,
    &RR,
    &PRECISION,
    &RECALL,
    &SUCCESS,
    &JUDGED,
    &RPREC,
    &BPREF,
    &RBP,
    &ERR,
    &INFAP,
    &SET_PRECISION,
    &SET_RECALL,
    &SET_F1,
    &NUM_RET,
    &NUM_REL,
    &NUM_REL_RET,
    &EVIDENCE_RECALL,
    &EVIDENCE_PRECISION,
    &EVIDENCE_NDCG,
    &EVIDENCE_HITS,
    &EVIDENCE_MRR,
    &EVIDENCE_MAP,
    &OPENVIKING_RECALL,
    &ANSWER_CONTAINS,
    &ANSWER_EXACT_MATCH,
    &ANSWER_ACCURACY,
    &SQUAD_EM,
    &TOKEN_F1,
    &TOKEN_PRECISION,
    &TOKEN_RECALL,
    &OPENVIKING_BENCHMARK_F1,
    &ROUGE_1,
    &ROUGE_2,
    &ROUGE_L,
    &NUMERIC_MATCH,
    &LABEL_ACCURACY,
    &UDA_F1,
    &FIN_EM,
    &TAT_EM,
    &TAT_F1,
    &REFUSAL_AGREEMENT,
    &CITATION_PRECISION,
    &CITATION_RECALL,
    &SUPPORTING_FACTS_EM,
    &SUPPORTING_FACTS_F1,
    &SUPPORTING_FACTS_PRECISION,
    &SUPPORTING_FACTS_RECALL,
    &JOINT_EM,
    &JOINT_F1,
    &JOINT_PRECISION,
    &JOINT_RECALL,
    &ANSWER_LENGTH,
];

/// Another name for an evaluator with fixed options: the names that others have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// The other name.
    pub name: &'static str,
    /// The evaluator's own name.
    pub of: &'static str,
    /// The options that it is run with: names and words.
    pub options: &'static [(&'static str, &'static str)],
    /// The cut-off where none is given.
    pub cutoff: Option<u32>,
}

impl Alias {
    /// A name that Heta Evaluation prints.
    const fn heta(name: &'static str, of: &'static str) -> Self {
        Alias { name, of, options: &[("variant", "heta")], cutoff: Some(10) }
    }

    /// What the name stands for, with `cutoff` where one is given.
    fn spec(&self, cutoff: Option<u32>) -> EvaluatorSpec {
        let options = self.options.iter().map(|(key, word)| (key.to_string(), (*word).into())).collect();
        EvaluatorSpec { name: self.of.to_string(), cutoff, options }
    }
}

static ALIASES: [Alias; 7] = [
    Alias::heta("beir_ndcg", "nDCG"),
    Alias::heta("beir_map", "AP"),
    Alias::heta("beir_recall", "R"),
    Alias::heta("beir_precision", "P"),
    Alias::heta("beir_mrr", "RR"),
    Alias { name: "openviking_f1", of: "token_f1", options: &[("normal", "openviking")], cutoff: None },
    Alias { name: "hotpotqa_f1", of: "token_f1", options: &[("normal", "hotpotqa")], cutoff: None },
];

/// A specification that names no evaluator, an option that it does not have or a value that the option cannot take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnknownEvaluator {
    /// What is wrong, and what there is.
    pub message: String,
    /// What was probably meant: a name, an option or a value.
    pub nearest: Option<String>,
}

impl UnknownEvaluator {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        UnknownEvaluator { message: message.into(), nearest: None }
    }

    /// The same with what was probably meant.
    pub(crate) fn or(self, nearest: impl Into<String>) -> Self {
        UnknownEvaluator { nearest: Some(nearest.into()), ..self }
    }
}

/// All evaluators, in the order of documentation.
pub fn definitions() -> &'static [&'static Definition] {
    &DEFINITIONS
}

/// All other names that are understood.
pub fn aliases() -> &'static [Alias] {
    &ALIASES
}

/// All names that are understood: the evaluators' own, then the aliases.
pub fn names() -> Vec<&'static str> {
    DEFINITIONS.iter().map(|definition| definition.name).chain(ALIASES.iter().map(|alias| alias.name)).collect()
}

/// The evaluator that `spec` asks for.
///
/// # Errors
/// When there is none; with the nearest one that there is.
pub fn evaluator(spec: &EvaluatorSpec) -> Result<Box<dyn Evaluator>, UnknownEvaluator> {
    match ALIASES.iter().find(|alias| alias.name == spec.name) {
        None => build(spec),
        Some(alias) => {
            if let Some(key) = spec.options.keys().next() {
                let message = format!("{} takes no options, found {key}: it is {}", alias.name, alias.spec(None));
                return Err(UnknownEvaluator::new(message).or(alias.of));
            }
            build(&alias.spec(spec.cutoff.or(alias.cutoff)))
        }
    }
}

fn build(spec: &EvaluatorSpec) -> Result<Box<dyn Evaluator>, UnknownEvaluator> {
    let definition =
        DEFINITIONS.iter().find(|definition| definition.name == spec.name).ok_or_else(|| unknown(&spec.name))?;
    (definition.build)(Identity::new(definition, spec)?).map_err(UnknownEvaluator::new)
}

fn unknown(name: &str) -> UnknownEvaluator {
    let also = |definition: &Definition| definition.other_names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let meant = match DEFINITIONS.iter().find(|definition| also(definition)) {
        Some(definition) => Some(definition.name),
        None => nearest(name, names()),
    };
    let message = format!("no evaluator is called {name:?}; there are {}", names().join(", "));
    UnknownEvaluator { message, nearest: meant.map(str::to_string) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ragstage_cache::KeyHasher;

    use super::*;

    fn make(text: &str) -> Result<Box<dyn Evaluator>, UnknownEvaluator> {
        evaluator(&EvaluatorSpec::parse(text).unwrap_or_else(|error| panic!("{error}")))
    }

    fn name(text: &str) -> String {
        make(text).unwrap_or_else(|error| panic!("{text}: {error}")).name()
    }

    fn refusal(text: &str) -> UnknownEvaluator {
        match make(text) {
            Ok(evaluator) => panic!("{text} is {}", evaluator.name()),
            Err(error) => error,
        }
    }

    fn key(text: &str) -> ragstage_cache::Digest {
        let mut hasher = KeyHasher::new();
        make(text).unwrap_or_else(|error| panic!("{text}: {error}")).walk(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn one_evaluator_has_one_name_and_one_key() {
        let same = [
            ("nDCG(gain=linear)@10", "nDCG@10"),
            ("P(rel=1)@5", "P@5"),
            ("evidence_recall", "evidence_recall@5"),
            ("evidence_ndcg(match=all)", "evidence_ndcg@5"),
            ("openviking_recall(minimum=4,threshold=0.8)", "openviking_recall"),
            ("beir_ndcg@3", "nDCG(variant=heta)@3"),
            ("beir_map", "AP(variant=heta)@10"),
            ("AP(variant=heta)", "AP(variant=heta)@10"),
            ("beir_recall", "R(variant=heta)@10"),
            ("beir_precision@1", "P(variant=heta)@1"),
            ("beir_mrr", "RR(variant=heta)@10"),
            ("openviking_f1", "token_f1(normal=openviking)"),
            ("label_accuracy(labels=[\"no\",\"yes\",\"no\"])", "label_accuracy(labels=[\"no\",\"yes\"])"),
            ("label_accuracy(labels=yes)", "label_accuracy(labels=[\"yes\"])"),
        ];
        for (written, canonical) in same {
            assert_eq!(name(written), canonical);
            assert_eq!(name(canonical), canonical);
            assert_eq!(key(written), key(canonical), "{written}");
        }
        let texts = [
            "nDCG@10",
            "nDCG",
            "nDCG@5",
            "nDCG(gain=exp)@10",
            "nDCG(variant=heta)@10",
            "AP",
            "AP@10",
            "AP(rel=2)",
            "RR",
            "P@10",
            "R@10",
            "Success@10",
            "evidence_recall@5",
            "evidence_recall(variant=heta)@5",
            "evidence_recall(match=first)@5",
            "evidence_recall(text=cover)@5",
            "evidence_recall(text=cover,threshold=0.5)@5",
            "evidence_precision@5",
            "evidence_ndcg@5",
            "evidence_hits@10",
            "evidence_hits(match=text,text=unspaced)@4",
            "evidence_mrr@10",
            "evidence_map@10",
            "openviking_recall",
            "openviking_recall(minimum=2)@3",
            "answer_contains",
            "answer_exact_match",
            "answer_contains(words=whole)",
            "answer_accuracy",
            "answer_accuracy(variant=multihop_rag)",
            "uda_f1",
            "fin_em",
            "tat_em",
            "tat_f1",
            "tat_f1(spans=aligned)",
            "squad_em",
            "token_f1",
            "token_f1(normal=openviking)",
            "token_precision",
            "rouge_l",
            "rouge_l(beta=1.2)",
            "numeric_match",
            "numeric_match(percent=same,tolerance=0.0)",
            "label_accuracy(labels=[\"no\",\"yes\"])",
            "refusal_agreement",
            "refusal_agreement(phrases=[\"no idea\"])",
            "citation_recall",
            "supporting_facts_f1@5",
            "supporting_facts_f1(unit=document)@2",
            "joint_f1(from=results)@5",
            "token_f1(normal=hotpotqa)",
            "answer_length(unit=characters)",
        ];
        let keys: BTreeSet<_> = texts.iter().map(|text| key(text)).collect();
        assert_eq!(keys.len(), texts.len());
        for text in texts {
            assert_eq!(name(text), text);
        }
    }

    #[test]
    fn unknown_names_and_options_are_answered_with_the_nearest() {
        let cases = [
            ("ndcg@10", "no evaluator is called \"ndcg\"", Some("nDCG")),
            ("MRR", "no evaluator is called \"MRR\"", Some("RR")),
            ("recall@5", "no evaluator is called \"recall\"", Some("R")),
            ("hit_rate@5", "no evaluator is called", Some("Success")),
            ("answer_contain", "no evaluator is called", Some("answer_contains")),
            ("zzz", "no evaluator is called", None),
            ("P(ral=2)@5", "P has no option ral; it has rel, unit, variant", Some("rel")),
            ("P(rel=0)@5", "option rel of P must be a whole number from 1, found 0", None),
            ("P(rel=high)@5", "option rel of P must be a whole number from 1, found \"high\"", None),
            ("nDCG(gain=expo)@5", "option gain of nDCG must be one of linear, exp, found \"expo\"", Some("exp")),
            ("P", "P needs a cut-off, as in P@10", Some("P@10")),
            ("token_f1@3", "token_f1 takes no cut-off, found @3", Some("token_f1")),
            ("token_f1(x=3)", "token_f1 has no option x; it has normal", None),
            ("squad_em(x=3)", "squad_em takes no options, found x", None),
            ("rouge_l(beta=-1)", "option beta of rouge_l must be a number from 0 to 100, found -1", None),
            ("label_accuracy(labels=[3])", "option labels of label_accuracy must be a text or a list of texts", None),
            ("label_accuracy(labels=[])", "option labels of label_accuracy must be a text or a list of texts", None),
            ("beir_ndcg(gain=exp)@3", "beir_ndcg takes no options, found gain", Some("nDCG")),
            ("P(rel=2,variant=heta)@5", "variant=heta of P fixes rel", None),
            ("ERR(max_grade=1001)", "option max_grade of ERR must be a whole number from 1 to 1000, found 1001", None),
        ];
        for (text, message, meant) in cases {
            let error = refusal(text);
            assert!(error.message.starts_with(message), "{text}: {}", error.message);
            assert_eq!(error.nearest.as_deref(), meant, "{text}");
        }
        let zero = EvaluatorSpec { name: "P".into(), cutoff: Some(0), options: Default::default() };
        assert!(evaluator(&zero).is_err_and(|error| error.message == "the cut-off of P must be at least 1"));
    }

    #[test]
    fn definitions_are_in_order() {
        for definition in definitions() {
            let parameters: Vec<&str> = definition.parameters.iter().map(|parameter| parameter.name).collect();
            assert!(parameters.is_sorted(), "{}", definition.name);
            assert!(!definition.description.is_empty() && definition.code_version > 0);
        }
        let distinct: BTreeSet<&str> = names().into_iter().collect();
        assert_eq!(distinct.len(), names().len());
    }
}
