//! Where a run of OpenViking's benchmark leaves its files.

use std::path::PathBuf;

use crate::evaluation::OpenVikingConfig;

/// The folders and files of one experiment (spec/openviking 4, paths).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPlace {
    /// The dataset's name as reports have it.
    pub dataset_name: String,
    /// The folder of the result files.
    pub output_dir: PathBuf,
    /// The folder of the documents that are handed over.
    pub doc_output_dir: PathBuf,
    /// The log.
    pub log_file: PathBuf,
}

impl OutputPlace {
    /// That of `config`.
    pub fn of(config: &OpenVikingConfig) -> Self {
        OutputPlace {
            dataset_name: config.dataset_name.clone(),
            output_dir: config.output_dir.clone(),
            doc_output_dir: config.doc_output_dir.clone(),
            log_file: config.log_file.clone(),
        }
    }

    /// The answers.
    pub fn generated(&self) -> PathBuf {
        self.output_dir.join("generated_answers.json")
    }

    /// The answers with what they were scored.
    pub fn details(&self) -> PathBuf {
        self.output_dir.join("qa_eval_detailed_results.json")
    }

    /// The averages.
    pub fn metrics(&self) -> PathBuf {
        self.output_dir.join("benchmark_metrics_report.json")
    }

    /// The folder of what is ours: the evaluation file and our reports.
    pub fn own(&self) -> PathBuf {
        self.output_dir.join("ragstage")
    }
}
