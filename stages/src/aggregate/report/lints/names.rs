//! The names of all lints, by which they are silenced.

/// All lints of reports, of plans and of comparisons, sorted.
pub const LINTS: [&str; 16] = [
    "constant-scores",
    "dangling-gold",
    "duplicate-hits",
    "floating-model",
    "judge-drift",
    "no-document-ids",
    "no-qrels",
    "other-data",
    "qrels-without-query",
    "retrieval-bypass",
    "self-hit",
    "self-judge",
    "shared-answers",
    "small-n",
    "ties",
    "unjudged-heavy",
];
