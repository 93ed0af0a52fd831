//! The formats of response sets, and how they are told apart.

/// How many bytes of a file tell what it is.
const BEGINNING: u64 = 64 << 10;

/// A format of response sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResponseFormat {
    /// A response per line, as JSON.
    Jsonl,
    /// A Parquet table with a response per row.
    Parquet,
    /// A TREC run: query, `Q0`, document, rank, score, tag.
    TrecRun,
    /// A `report.json` of Heta Evaluation, or of ours.
    HetaReport,
    /// OpenViking's `generated_answers.json`, or its `qa_eval_detailed_results.json`.
    OpenVikingAnswers,
}

/// All formats.
pub static RESPONSE_FORMATS: [ResponseFormat; 5] = [
    ResponseFormat::Jsonl,
    ResponseFormat::Parquet,
    ResponseFormat::TrecRun,
    ResponseFormat::HetaReport,
    ResponseFormat::OpenVikingAnswers,
];

impl ResponseFormat {
    /// Its name in evaluation files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ResponseFormat::Jsonl => "jsonl",
            ResponseFormat::Parquet => "parquet",
            ResponseFormat::TrecRun => "trec",
            ResponseFormat::HetaReport => "heta_report",
            ResponseFormat::OpenVikingAnswers => "openviking_answers",
        }
    }

    /// The format with that name.
    pub fn named(name: &str) -> Option<Self> {
        RESPONSE_FORMATS.into_iter().find(|format| format.name() == name)
    }

    /// The format of the file at `path`, as its beginning tells it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_file(path: &std::path::Path) -> std::io::Result<Self> {
        use std::io::Read;
        let mut beginning = Vec::new();
        std::fs::File::open(path)?.take(BEGINNING).read_to_end(&mut beginning)?;
        if beginning.starts_with(&[0x1f, 0x8b]) {
            let mut unpacked = Vec::new();
            // What is cut off cannot be unpacked to its end, and need not be.
            let _ = flate2::read::MultiGzDecoder::new(&beginning[..]).take(BEGINNING).read_to_end(&mut unpacked);
            beginning = unpacked;
        }
        Ok(ResponseFormat::of_named(path, &beginning))
    }

    /// The format of the file at `path` with these bytes: as they tell it, and where they tell nothing, its name does. What is
    /// called `.jsonl` and is none is no TREC run either.
    pub(super) fn of_named(path: &std::path::Path, bytes: &[u8]) -> Self {
        let format = ResponseFormat::of(bytes);
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("jsonl") if format == ResponseFormat::TrecRun => ResponseFormat::Jsonl,
            Some("parquet") if format == ResponseFormat::TrecRun => ResponseFormat::Parquet,
            Some("json") if format == ResponseFormat::TrecRun => ResponseFormat::HetaReport,
            _ => format,
        }
    }

    /// The format of a file with these bytes, by what it begins with: Parquet by its magic number, one JSON object by the list
    /// that it has, JSON lines by an object in the first line, and anything else is a run.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"PAR1") {
            return ResponseFormat::Parquet;
        }
        let text = bytes.trim_ascii_start();
        if !text.starts_with(b"{") {
            return ResponseFormat::TrecRun;
        }
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // A report on one line is an object as well; a line of ours has no such list.
        let line = serde_json::from_slice::<serde_json::Value>(first).ok();
        let has = |key: &str| match &line {
            Some(line) => line.get(key).is_some_and(serde_json::Value::is_array),
            None => contains(text, key),
        };
        // A line that is mistyped is still one of ours: it is told with its place, and not as a file that is cut off.
        let names_case = match &line {
            Some(line) => line.get("case_id").is_some(),
            None => contains(first, "case_id"),
        };
        match () {
            () if has("case_results") => ResponseFormat::HetaReport,
            () if has("results") && !names_case => ResponseFormat::OpenVikingAnswers,
            () => ResponseFormat::Jsonl,
        }
    }
}

fn contains(text: &[u8], key: &str) -> bool {
    memchr::memmem::find(text, format!("\"{key}\"").as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_its_content() {
        for (bytes, format) in [
            ("PAR1....", ResponseFormat::Parquet),
            ("q1 Q0 d1 1 2.5 tag\n", ResponseFormat::TrecRun),
            ("", ResponseFormat::TrecRun),
            ("{\"case_id\": \"a\", \"results\": []}\n{\"case_id\": \"b\"}\n", ResponseFormat::Jsonl),
            ("{\"case_id\": \"a\", \"answer\": \"x\"}", ResponseFormat::Jsonl),
            ("{\n \"schema_version\": \"1\",\n \"case_results\": []\n}", ResponseFormat::HetaReport),
            ("{\"schema_version\":\"1\",\"case_results\":[]}", ResponseFormat::HetaReport),
            ("{\n  \"summary\": {},\n  \"results\": []\n}", ResponseFormat::OpenVikingAnswers),
            ("{\"results\": []}", ResponseFormat::OpenVikingAnswers),
            ("{\"case_id\": \"a\", \"results\": [}\n{\"case_id\": \"b\", \"results\": []}\n", ResponseFormat::Jsonl),
        ] {
            assert_eq!(ResponseFormat::of(bytes.as_bytes()), format, "{bytes}");
            assert_eq!(ResponseFormat::named(format.name()), Some(format));
        }
        let named = |name: &str, bytes: &[u8]| ResponseFormat::of_named(std::path::Path::new(name), bytes);
        assert_eq!(named("a.jsonl", b"null"), ResponseFormat::Jsonl);
        assert_eq!(named("a.parquet", b"x y z"), ResponseFormat::Parquet);
        assert_eq!(named("a.json", b"x"), ResponseFormat::HetaReport);
        assert_eq!(named("a.json", b"{\"results\": []}"), ResponseFormat::OpenVikingAnswers);
        assert_eq!(named("a.trec", b"null"), ResponseFormat::TrecRun);
    }
}
