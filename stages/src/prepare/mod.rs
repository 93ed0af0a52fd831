//! Prepare: a dataset's own files become documents, queries, gold and units.

mod about;
mod adapter;
mod beir;
mod benchmark;
mod cases_file;
mod document_path;
mod documents_file;
mod fields;
mod ids;
mod jsonl;
mod keys;
mod lines;
mod listing;
mod prepare_benchmark;
mod qrels;
mod rows;
mod safe_id;
mod selection;
mod sha1;
mod shared_documents;
mod sources;
mod spec;
mod strata;
mod units_file;

pub use about::{About, Category, Count, DATASETS, LeftOut};
pub(crate) use beir::QRELS_WITHOUT_QUERY;
pub use beir::{BeirFiles, BeirSpec, read_beir};
pub use benchmark::Benchmark;
pub use cases_file::read_jsonl_cases;
pub use jsonl::{JsonlFiles, JsonlSpec, read_jsonl};
pub use lines::SourceBytes;
pub use listing::{ListingFile, SourceFile};
pub use prepare_benchmark::{DocumentFile, PrepareBenchmark};
pub use sources::{FindDocument, SourceList, Sources};
pub use spec::{AdapterSpec, BenchmarkSpec, Selection};
pub use strata::quotas;
