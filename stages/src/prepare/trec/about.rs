//! What is known of the Cranfield collection.

use crate::prepare::about::{About, Count};

/// Cranfield 1400.
pub(in super::super) static CRANFIELD: About = About {
    name: "cranfield",
    adapter: "trec",
    title: "Cranfield 1400",
    task: "Ranks abstracts of papers on aerodynamics for questions of their readers.",
    homepage: "https://ir.dcs.gla.ac.uk/resources/test_collections/cran/",
    license: "none stated; distributed freely for research",
    citation: "Cleverdon. The Cranfield Tests on Index Language Devices. Aslib Proceedings 19(6), 1967.",
    version: "cran.all.1400",
    units: "one over all documents",
    counts: &[
        Count { what: "documents", count: 1_400 },
        Count { what: "questions", count: 225 },
        Count { what: "judgements", count: 1_837 },
    ],
    categories: &[],
    left_out: &[],
    evaluators: &["nDCG@10", "AP", "R@100"],
    judge: None,
    notes: &[
        "`cran.qry` numbers its questions 001, 002, 004, ... 365; the judgements number them 1 to 225 by their order: say \
         `query_ids: position`.",
        "In `cranqrel` a smaller code is a higher relevance: say `relevance: cranfield`. It makes the grades that \
         `QRelsCorrectedforTRECeval` has, with which nothing has to be said.",
        "One document of each question has the code -1, which its authors do not define. The corrected judgements take it for \
         the highest grade, and so does `relevance: cranfield`: full-text search finds these documents first of all.",
        "Documents 471 and 995 have no text.",
    ],
};
