//! A run configuration of OpenViking's benchmark as the text of an evaluation file.

use std::fmt::Write as _;
use std::path::Path;

use ragstage_stages::score::judge::OpenVikingScale;

use super::server_place::{SERVER_KEY, ServerPlace};
use crate::evaluation::OpenVikingConfig;

/// The environment variable that the evaluation file names where the configuration has the model's key in clear.
pub const LITERAL_LLM_KEY: &str = "OPENVIKING_LLM_API_KEY";
/// Most tokens of an answer. Theirs sets no bound, and so takes the server's.
const ANSWER_TOKENS: u32 = 2048;
/// A bound of the context that no context reaches: theirs has none but that of a single result.
const CONTEXT_TOKENS: u32 = 10_000_000;
/// Code points that are read of each result (spec/openviking 5.3).
const RESULT_CHARS: u32 = 8000;

/// What the evaluation is made of beside the configuration.
pub struct EvaluationText<'a> {
    /// The server.
    pub server: &'a ServerPlace,
    /// What the server's `/health` states; `None` where it was not asked.
    pub version: Option<&'a str>,
    /// Whether what is below `viking://resources` is asked as it is.
    pub as_it_is: bool,
    /// The folder that our own reports go to.
    pub output: &'a Path,
}

/// The evaluation file that does what `config` says.
pub fn evaluation_text(config: &OpenVikingConfig, of: &EvaluationText<'_>) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    };
    let model = &config.llm;
    line(format!("# Made by `ragstage import openviking` of {}.", config.path.display()));
    line(format!("name: {}", quoted(&name(config))));
    let first = config.max_queries.map(|first| format!(", first: {first}")).unwrap_or_default();
    let path = quoted(&config.dataset_path.display().to_string());
    line(format!(
        "benchmark: {{adapter: {}, path: {path}, scope: corpus, variant: openviking{first}}}",
        config.adapter
    ));
    line("models:".to_string());
    let key = match (&model.api_key, &model.api_key_env) {
        (Some(_), _) => format!(", api_key_env: {LITERAL_LLM_KEY}"),
        (None, Some(variable)) => format!(", api_key_env: {}", quoted(variable)),
        (None, None) => String::new(),
    };
    let (name, url) = (quoted(&model.model), quoted(&model.base_url));
    line(format!("  - {{name: llm, model: {name}, base_url: {url}{key}}}"));
    line("recipe:".to_string());
    line("  name: openviking".to_string());
    line("  system:".to_string());
    line("    provider: openviking".to_string());
    // Answers of one way to hand documents over must not stand for those of another.
    let mode = if config.directory { "directory" } else { "per_file" };
    let mode = if of.as_it_is { "none" } else { mode };
    line(format!("    name: openviking-{}", mode.replace('_', "-")));
    line(format!("    url: {}", quoted(&of.server.url)));
    match of.version {
        Some(version) => line(format!("    version: {}", quoted(version))),
        None => line("    version: \"0\"  # nobody was asked: write here what the server's /health states".to_string()),
    }
    if of.server.has_key {
        line(format!("    api_key_env: {SERVER_KEY}"));
    }
    for (field, value) in [("account", &of.server.account), ("user", &of.server.user)] {
        value.iter().for_each(|value| line(format!("    {field}: {}", quoted(value))));
    }
    line(format!("    ingest_mode: {mode}"));
    if !of.as_it_is {
        line(format!("    ingest_workers: {}", config.ingest_workers));
        if config.adapter == "syllabusqa" {
            line("    word: markdown".to_string());
        }
    }
    if !config.retrieval_instruction.is_empty() {
        line(format!("    retrieval_instruction: {}", quoted(&config.retrieval_instruction)));
    }
    if let Some(file) = &config.ov_conf {
        line(format!("    files: [{}]", quoted(&file.display().to_string())));
    }
    let topk = config.retrieval_topk;
    line(format!("queries: [{{mode: find, top_k: {topk}}}]"));
    line("answer:".to_string());
    line("  provider: openai".to_string());
    line("  llm: llm".to_string());
    line(format!("  temperature: {}", model.temperature));
    line(format!("  max_tokens: {ANSWER_TOKENS}"));
    let refusal = if config.adapter == "financebench" { "Insufficient information" } else { "Not mentioned" };
    line(format!("  refusal: {}", quoted(refusal)));
    line("  citations: false".to_string());
    line(format!("  context: {{results: {topk}, result_chars: {RESULT_CHARS}, tokens: {CONTEXT_TOKENS}}}"));
    let scale = match OpenVikingScale::of_dataset(&config.dataset_name) {
        OpenVikingScale::Binary => "binary",
        OpenVikingScale::Graded => "graded",
    };
    let judge =
        format!("judge: openviking, model: llm, scale: {scale}, refusal: override, temperature: {}", model.temperature);
    line(format!("evaluators: [openviking_recall, openviking_benchmark_f1, {{{judge}}}]"));
    // Theirs tells an average of whatever there is.
    line("statistics: {coverage_floor: 0}".to_string());
    line("report: {case_results: all}".to_string());
    line("limits:".to_string());
    let workers = config.max_workers;
    line(format!("  queries: {{concurrency: {workers}}}"));
    line(format!("  llm: {{concurrency: {workers}}}"));
    line(format!("  judge: {{concurrency: {workers}}}"));
    line(format!("output: {}", quoted(&of.output.display().to_string())));
    text
}

/// A name of the experiment: the dataset's and the output folder's.
fn name(config: &OpenVikingConfig) -> String {
    const LONGEST: usize = 80;
    let folder = config.output_dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() || " _.-".contains(c) { c } else { '_' };
    let name: String = format!("{} {folder}", config.dataset_name).chars().map(safe).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).trim();
    let name: String = name.chars().take(LONGEST).collect();
    if name.is_empty() { "openviking".to_string() } else { name.trim_end().to_string() }
}

/// A text in double quotes: what JSON writes, YAML reads.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
