//! Measures that trec_eval's vectors do not have, against ir-measures 0.4.3: `infAP` and `Judged` to 1e-9 (through pytrec_eval and
//! its own code), `ERR` and `nDCG(gain=exp)` to the five decimals that gdeval prints.

use std::collections::BTreeMap;

use ragstage_stages::score::measures::JudgedRanking;
use ragstage_stages::score::{EvaluatorSpec, evaluator};

/// Judgements, and a ranking.
type Topic = (&'static [(&'static str, i64)], &'static [&'static str]);

const TOPICS: [Topic; 2] = [
    (
        &[
            ("d00", 0),
            ("d01", 0),
            ("d02", 3),
            ("d03", 3),
            ("d04", 3),
            ("d05", 0),
            ("d06", 0),
            ("d07", 3),
            ("d08", 3),
            ("d09", 0),
            ("d11", 0),
            ("d12", 2),
            ("d13", 0),
        ],
        &["d00", "d08", "d02", "d04", "d06", "d11", "d01", "d10", "d12", "d09", "d07", "d13", "d05", "d03"],
    ),
    (
        &[
            ("d00", 0),
            ("d01", 3),
            ("d02", 3),
            ("d03", 1),
            ("d04", 2),
            ("d05", 0),
            ("d08", 3),
            ("d09", 2),
            ("d12", 0),
            ("d13", 2),
        ],
        &["d02", "d12", "d05", "d13", "d07", "d06", "d00", "d11", "d09"],
    ),
];

const VALUES: [(&str, [f64; 2], f64); 9] = [
    ("infAP", [0.5407054232645367, 0.2619049126974921], 1e-9),
    ("infAP(rel=2)", [0.5407054232645367, 0.30555573148040743], 1e-9),
    ("bpref", [0.5, 0.1904761904761905], 1e-9),
    ("Rprec(rel=2)", [0.5, 0.3333333333333333], 1e-9),
    ("Judged@5", [1.0, 0.8], 1e-9),
    ("Judged@10", [0.9, 0.6666666666666666], 1e-9),
    ("ERR@5", [0.33539, 0.46387], 5e-6),
    ("ERR@20", [0.34739, 0.47339], 5e-6),
    ("nDCG(gain=exp)@5", [0.52963, 0.4774], 5e-6),
];

#[test]
fn measures_match_ir_measures() {
    for (text, expected, tolerance) in VALUES {
        let of_text = evaluator(&EvaluatorSpec::parse(text).expect("a spec")).expect("an evaluator");
        let measure = of_text.measure().expect("a measure of documents");
        for ((judged, ranking), expected) in TOPICS.iter().zip(expected) {
            let judged: BTreeMap<&str, i64> = judged.iter().copied().collect();
            let grades: Vec<Option<i64>> = ranking.iter().map(|document| judged.get(document).copied()).collect();
            let judgements = judged.values().copied().collect();
            let found = measure.value(&JudgedRanking { grades: &grades, judgements: &judgements });
            assert!((found - expected).abs() <= tolerance, "{text}: {found}, ir-measures has {expected}");
        }
    }
}
