//! The command line: the only place that reads flags, prints and decides exit codes.

mod cache;
mod compare;
mod completions;
mod data;
mod data_text;
mod depfile;
mod download_bar;
mod explain;
mod failure;
mod flags;
mod graph;
mod import;
mod init;
mod kb;
mod models;
mod open;
mod openviking;
mod out;
mod plan;
mod report;
mod run;
mod schema;
mod score;
mod standalone;
mod standalone_cases;
mod status;

pub use flags::main;
