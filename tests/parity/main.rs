//! Results of others that ours must match: golden vectors under `$RAGSTAGE_GOLDEN` (default `../shared/golden`) and real
//! datasets under `$RAGSTAGE_DATA` (default `../shared/data`). Whatever vectors are there are walked; what is absent is
//! said loudly and skipped.

mod golden;
mod heta_adapters;
mod heta_evaluators;
mod heta_report;
mod ir_metrics;
#[path = "../../stages/tests/made_up/mod.rs"]
mod made_up;
#[path = "../../stages/tests/memory/mod.rs"]
mod memory;
mod prepared;
mod scifact;
