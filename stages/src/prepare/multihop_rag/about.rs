//! What is known of MultiHop-RAG.

use super::super::about::{About, Category, Count};

/// MultiHop-RAG.
pub(in super::super) static MULTIHOP_RAG: About = About {
    name: "multihop_rag",
    adapter: "multihop_rag",
    title: "MultiHop-RAG",
    task: "Questions on English news of 2023 whose answers need facts from two to four articles.",
    homepage: "https://github.com/yixuantt/MultiHop-RAG",
    license: "ODC-BY-1.0",
    citation: "MultiHop-RAG: Benchmarking Retrieval-Augmented Generation for Multi-Hop Queries",
    version: "official",
    units: "one over all articles",
    counts: &[Count { what: "articles", count: 609 }, Count { what: "questions", count: 2556 }],
    categories: &[
        Category {
            name: "inference_query",
            meaning: "which person, company or thing several facts speak of",
            cases: 816,
        },
        Category { name: "comparison_query", meaning: "whether articles agree, mostly a yes or a no", cases: 856 },
        Category { name: "temporal_query", meaning: "what came first, or what changed between articles", cases: 583 },
        Category {
            name: "null_query",
            meaning: "what the articles do not tell; the answer is \"Insufficient information.\", and there is no evidence",
            cases: 301,
        },
    ],
    left_out: &[],
    evaluators: &[
        "evidence_recall@5",
        "evidence_recall@10",
        "evidence_map(match=text,text=unspaced)@10",
        "evidence_hits(match=text,text=unspaced)@4",
        "evidence_hits(match=text,text=unspaced)@10",
        "evidence_mrr(match=text,text=unspaced)@10",
        "answer_accuracy",
    ],
    judge: None,
    notes: &[
        "MAP@10, Hits@4, Hits@10 and MRR@10 are those of the authors' retrieval_evaluate.py: a fact is found where its text, white \
         space aside, is within a result. Evaluators of evidence skip null queries, as the script does; answer accuracy counts them.",
        "The authors' chunks have 256 tokens. With other chunks, ranks and facts cut in two differ.",
        "answer_accuracy wants all words of the gold answer. The authors' qa_evaluate.py is content with one word in common: \
         answer_accuracy(variant=multihop_rag) compares with their tables.",
        "Questions have no ids: a case is called after its position in the file.",
    ],
};
