//! Results of others that ours must match: golden vectors under `$RAGSTAGE_GOLDEN` (default `../shared/golden`) and real
//! datasets under `$RAGSTAGE_DATA` (default `../shared/data`), all with one command: `cargo test --test parity`.
//!
//! Whatever vectors are there are walked. What is absent, and what is there for a measure, an evaluator or an adapter that
//! ours lacks, is said on standard error whether or not the test harness captures the output of tests.

mod docx_text;
mod embedders;
mod golden;
mod heta_adapters;
mod heta_evaluators;
mod heta_report;
mod ir_measures;
mod ir_metrics;
#[path = "../../stages/tests/made_up/mod.rs"]
mod made_up;
#[path = "../../stages/tests/memory/mod.rs"]
mod memory;
mod mended;
mod mended_gold;
mod openviking_adapters;
mod openviking_docx;
mod openviking_financebench;
mod openviking_judge;
mod openviking_locomo;
mod openviking_metrics;
mod openviking_qasper;
mod openviking_recall;
mod openviking_sampling;
mod openviking_syllabusqa;
mod openviking_variant;
mod papers;
mod parsed;
mod pdf_text;
mod prepared;
mod question_datasets;
mod record_rules;
mod scifact;
