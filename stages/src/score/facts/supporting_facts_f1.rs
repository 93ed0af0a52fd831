//! `supporting_facts_f1`: how the facts that a response rests on agree with the gold ones.

use super::fact_evaluator::FactEvaluator;
use super::parameters::{FACT, FROM};
use crate::artifact::ScoreValue;
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static SUPPORTING_FACTS_F1: Definition = Definition {
    name: "supporting_facts_f1",
    pretty: "Supporting Facts F1",
    description: "harmonic mean of precision and recall of the facts that the response rests on",
    citation: Some(
        "Yang, Qi, Zhang et al. HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering. EMNLP 2018.",
    ),
    higher_is_better: true,
    other_names: &["sp_f1", "support_f1", "supporting_fact_f1"],
    cutoff: CutoffRule::Default(5),
    parameters: &[FROM, FACT],
    code_version: 1,
    build: |identity| Ok(FactEvaluator::boxed(identity, |agreement| ScoreValue::Number(agreement.f1()))),
};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::artifact::{Citation, Gold, Hit, Score};
    use crate::score::{CaseView, EvaluatorSpec, ResponseView, evaluator};

    fn evidence() -> Value {
        json!([
            {"reference_id": "peart", "text": "Neil Peart was the drummer of Rush.", "metadata": {"title": "Neil Peart"}},
            {"reference_id": "peart", "text": "He wrote lyrics.", "metadata": {"title": "Neil Peart"}},
            {"reference_id": "rush", "text": "Rush were a band from Toronto.", "metadata": {"title": "Rush"}},
        ])
    }

    fn hit(document: &str, text: &str) -> Value {
        json!({"id": format!("c_{document}"), "text": text, "source": {"document_id": document}})
    }

    fn score(text: &str, evidence: Value, hits: Value, citations: Value) -> Score {
        let evaluator = evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator");
        let gold = Gold { evidence: serde_json::from_value(evidence).expect("evidence"), ..Gold::default() };
        let hits: Vec<Hit> = serde_json::from_value(hits).expect("hits");
        let citations: Vec<Citation> = serde_json::from_value(citations).expect("citations");
        let response = ResponseView::new(&hits, Some("Toronto"), &citations);
        evaluator.evaluate(&CaseView { case_id: "q", query: "", gold: &gold }, &response).expect("a score")
    }

    /// Exact match, precision, recall and F1.
    fn all(options: &str, hits: Value, citations: Value) -> [f64; 4] {
        ["em", "precision", "recall", "f1"].map(|part| {
            let score =
                score(&format!("supporting_facts_{part}{options}"), evidence(), hits.clone(), citations.clone());
            score.value.and_then(|value| value.number()).expect("a number")
        })
    }

    #[test]
    fn the_sentences_of_the_first_results_are_the_prediction() {
        let hits = json!([
            hit("peart", "Neil Peart\n\nNeil Peart was the drummer of RUSH.\nHe wrote  lyrics.\nHe died in 2020."),
            hit("porcaro", "Jeff Porcaro\n\nJeff Porcaro was the drummer of Toto.\nHe wrote lyrics."),
            hit("rush", "Rush were a band from Toronto."),
        ]);
        // At 1: predicted are three sentences, two of them gold, of three gold ones: P 2/3, R 2/3.
        assert_eq!(all("@1", hits.clone(), json!([])), [0.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        // At 2 there are two more; the same words in another document are another fact: P 2/5, R 2/3, F1 1/2.
        let [em, precision, recall, f1] = all("@2", hits.clone(), json!([]));
        assert_eq!((em, precision, recall), (0.0, 0.4, 2.0 / 3.0));
        assert!((f1 - 0.5).abs() < 1e-12);
        // At 5, the default: P 3/6, R 1, F1 2/3.
        let [em, precision, recall, f1] = all("", hits.clone(), json!([]));
        assert_eq!((em, precision, recall), (0.0, 0.5, 1.0));
        assert!((f1 - 2.0 / 3.0).abs() < 1e-12);
        let score = score("supporting_facts_f1@1", evidence(), hits, json!([]));
        assert_eq!(json!(score.detail), json!({"found": [0, 1], "missing": [2], "wrong": 1, "from": "results"}));
    }

    #[test]
    fn passages_that_overlap_are_one_set() {
        let hits = json!([
            hit("peart", "Neil Peart was the drummer of Rush.\nHe wrote lyrics."),
            hit("peart", "He wrote lyrics.\nHe died in 2020."),
            hit("peart", "He died in 2020."),
            hit("rush", "Rush were a band from Toronto."),
        ]);
        assert_eq!(all("", hits, json!([])), [0.0, 0.75, 1.0, 2.0 * 0.75 / 1.75]);
    }

    #[test]
    fn just_the_gold_facts_are_an_exact_match() {
        let hits = json!([
            hit("peart", "Neil Peart was the drummer of Rush.\nHe wrote lyrics."),
            hit("rush", "Rush\n\nRush were a band from Toronto."),
        ]);
        assert_eq!(all("", hits, json!([])), [1.0; 4]);
        assert_eq!(all("", json!([]), json!([])), [0.0; 4]);
    }

    #[test]
    fn citations_are_the_prediction_where_there_are_any() {
        let hits = json!([
            hit("peart", "Neil Peart was the drummer of Rush.\nHe wrote lyrics."),
            hit("rush", "Rush were a band from Toronto."),
        ]);
        // A citation of a whole hit, and a quote that is not in the hits.
        let whole = json!([{"id": "citation_1", "result_id": "c_rush"}]);
        assert_eq!(all("", hits.clone(), whole.clone()), [0.0, 1.0, 1.0 / 3.0, 0.5]);
        assert_eq!(all("(from=results)", hits.clone(), whole.clone()), [1.0; 4]);
        let quotes = json!([
            {"id": "citation_1", "result_id": "c_peart", "text": "He wrote lyrics."},
            {"id": "citation_2", "result_id": "c_rush", "text": "a band from Toronto"},
            {"id": "citation_3", "source": {"document_id": "rush"}, "text": "It rains."},
        ]);
        // A part of a sentence stands for it: P 2/3, R 2/3.
        assert_eq!(all("", hits.clone(), quotes), [0.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(all("(from=citations)", hits, json!([])), [0.0; 4]);
    }

    #[test]
    fn a_line_of_several_sentences_is_the_gold_ones_and_one_that_is_wrong() {
        let flat = json!([hit("peart", "Neil Peart Neil Peart was the drummer of Rush. He wrote lyrics.")]);
        assert_eq!(all("", flat, json!([])), [0.0, 1.0, 2.0 / 3.0, 0.8]);
        let more = json!([hit("peart", "Neil Peart was the drummer of Rush. He died. He wrote lyrics. He died.")]);
        assert_eq!(all("", more, json!([])), [0.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn documents_are_compared_by_where_they_are_from() {
        let hits = json!([hit("peart", ""), hit("peart", ""), hit("porcaro", ""), hit("rush", "")]);
        // Gold {peart, rush}, predicted {peart, porcaro, rush}.
        let [em, precision, recall, f1] = all("(unit=document)", hits.clone(), json!([]));
        assert_eq!((em, precision, recall), (0.0, 2.0 / 3.0, 1.0));
        assert!((f1 - 0.8).abs() < 1e-12);
        assert_eq!(all("(unit=document)@2", hits.clone(), json!([])), [0.0, 1.0, 0.5, 2.0 * 0.5 / 1.5]);
        let skipped = score("supporting_facts_f1", evidence(), hits, json!([]));
        let why = "no passage of the response has a text; unit=document compares documents";
        assert_eq!(skipped.reason.as_deref(), Some(why));
    }

    #[test]
    fn without_gold_of_the_kind_a_case_is_skipped() {
        let reason = |text: &str, evidence: Value| score(text, evidence, json!([hit("d", "x")]), json!([])).reason;
        assert_eq!(reason("supporting_facts_f1", json!([])).as_deref(), Some("the case has no gold evidence"));
        let why = "no gold evidence of the case has a text; unit=document compares documents";
        assert_eq!(reason("supporting_facts_f1", json!([{"reference_id": "d"}])).as_deref(), Some(why));
        let why = "no gold evidence of the case names a document";
        assert_eq!(reason("supporting_facts_f1(unit=document)", json!([{"text": "x"}])).as_deref(), Some(why));
    }

    #[test]
    fn answers_are_read_where_their_citations_may_count() {
        let reads = |text: &str| evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator").reads();
        let either = reads("supporting_facts_f1");
        assert!(either.answer && either.answer_is_optional && either.results && !either.without_texts);
        let results = reads("supporting_facts_f1(from=results,unit=document)");
        assert!(!results.answer && results.without_texts);
        let citations = reads("supporting_facts_f1(from=citations)");
        assert!(citations.answer && !citations.answer_is_optional);
    }
}
