//! `answers`: what was answered for each case of a unit in one query mode.

use ragstage_cache::table::{TableReader, TableWriter, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};
use serde::{Deserialize, Serialize};

use super::json::{Json, from_json, list, to_json};
use super::row_outcomes::RowOutcomes;
use super::row_parts::RowParts;
use crate::contract::{Artifact, TableArtifact};
use crate::error::{DecodeError, RowError};

/// A citation of a result in an answer (spec/heta 1, QueryCitation).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// `citation_1`, ...
    pub id: String,
    /// The cited hit's id.
    #[serde(default)]
    pub result_id: Option<String>,
    /// Where the cited hit is from.
    #[serde(default)]
    pub source: Json,
    /// The cited passage.
    #[serde(default)]
    pub text: Option<String>,
}

/// One of several answers to one case.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerSample {
    /// The answer.
    pub text: String,
    /// What it rests on.
    #[serde(default)]
    pub citations: Vec<Citation>,
}

/// The answer to one case, or the reason why there is none. This is the value that the row cache keeps (as JSON, without
/// `case_id` and `error`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The case.
    #[serde(skip)]
    pub case_id: String,
    /// The answer; `None` where the system declined to give one. May be empty.
    pub text: Option<String>,
    /// What it rests on.
    #[serde(default)]
    pub citations: Vec<Citation>,
    /// All answers, where several were asked for; `text` and `citations` are those of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<AnswerSample>,
    /// Whether `text` is what the model was told to reply where the passages do not hold the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// What else is known of how it was made: no evaluator reads it.
    #[serde(default, skip_serializing_if = "Json::is_empty")]
    pub metadata: Json,
    /// Why the case failed; then there is no answer.
    #[serde(skip)]
    pub error: Option<RowError>,
}

/// The table of answers, in case order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// The rows.
    pub rows: Vec<Answer>,
}

const NAME: &str = "answers";
const VERSION: u32 = 1;

impl TableArtifact for Answers {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Artifact for Answers {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let citations = rows.iter().map(|row| to_json(&row.citations)).collect::<Result<Vec<_>, _>>()?;
        let errors =
            rows.iter().map(|row| row.error.as_ref().map(to_json).transpose()).collect::<Result<Vec<_>, _>>()?;
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", rows.iter().map(|row| row.case_id.as_str()));
        table.opt_text("answer", rows.iter().map(|row| row.text.as_deref()));
        table.text("citations", citations.iter().map(String::as_str));
        table.opt_text("error", errors.iter().map(Option::as_deref));
        // Only where there is any: tables of others keep their bytes.
        if rows.iter().any(|row| !row.samples.is_empty()) {
            let samples = rows.iter().map(|row| to_json(&row.samples)).collect::<Result<Vec<_>, _>>()?;
            table.text("samples", samples.iter().map(String::as_str));
        }
        if rows.iter().any(|row| row.refused) {
            table.opt_bool("refused", rows.iter().map(|row| Some(row.refused)));
        }
        if rows.iter().any(|row| !row.metadata.is_empty()) {
            let metadata = rows.iter().map(|row| to_json(&row.metadata)).collect::<Result<Vec<_>, _>>()?;
            table.text("metadata", metadata.iter().map(String::as_str));
        }
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(Answers { rows: rows_of(&TableReader::open(bytes, NAME, VERSION)?)? })
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<Answer>, DecodeError> {
    let mut texts = table.opt_text("answer")?.into_iter();
    let citations = table.texts("citations")?;
    let errors = table.opt_text("error")?;
    let optional = |name: &str| if table.has(name) { table.text(name).map(Some) } else { Ok(None) };
    let samples = optional("samples")?;
    let refused = if table.has("refused") { table.opt_bool("refused")? } else { Vec::new() };
    let metadata = optional("metadata")?;
    let mut rows = Vec::with_capacity(table.rows());
    for (i, case_id) in table.text("case_id")?.into_iter().enumerate() {
        rows.push(Answer {
            case_id,
            text: texts.next().flatten(),
            citations: list(citations.get(i).unwrap_or_default())?,
            samples: samples.as_ref().map(|texts| from_json(&texts[i])).transpose()?.unwrap_or_default(),
            refused: refused.get(i).copied().flatten().unwrap_or(false),
            metadata: metadata.as_ref().map(|texts| from_json(&texts[i])).transpose()?.unwrap_or_default(),
            error: errors[i].as_deref().map(from_json).transpose()?,
        });
    }
    Ok(rows)
}

impl Answers {
    /// All columns of `rows` of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, rows: &Rows) -> Result<Vec<Answer>, DecodeError> {
        let columns = ["case_id", "answer", "citations", "error", "samples", "refused", "metadata"];
        rows_of(&table.read_rows(group, &columns, rows)?)
    }

    /// The cases of row group `group`, why they have no answer, and whether the answer is a refusal.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn outcomes(table: &TableFile, group: usize) -> Result<RowOutcomes, DecodeError> {
        let table = table.read(group, &["case_id", "error", "refused"])?;
        let errors = table.opt_texts("error")?;
        let errors = errors.iter().map(|error| error.map(from_json).transpose()).collect::<Result<_, _>>()?;
        let refused = match table.has("refused") {
            true => table.opt_bool("refused")?.into_iter().map(|refused| refused == Some(true)).collect(),
            false => vec![false; table.rows()],
        };
        Ok((table.texts("case_id")?, errors, refused))
    }
}

/// What evaluators read of a row group of answers.
pub struct AnswerRows {
    case_ids: Texts,
    texts: Texts,
    /// `None` where nobody reads them.
    citations: Option<Texts>,
    samples: Option<Texts>,
    errors: Texts,
}

impl AnswerRows {
    /// Reads row group `group` of a table of [`Answers`].
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, citations: bool) -> Result<Self, DecodeError> {
        let columns = ["case_id", "answer", "samples", "error", "citations"];
        let table = table.read(group, if citations { &columns } else { &columns[..4] })?;
        Ok(AnswerRows {
            case_ids: table.texts("case_id")?,
            texts: table.opt_texts("answer")?,
            citations: if citations { Some(table.texts("citations")?) } else { None },
            samples: if table.has("samples") { Some(table.texts("samples")?) } else { None },
            errors: table.opt_texts("error")?,
        })
    }

    /// The case of `row`.
    pub fn case_id(&self, row: usize) -> &str {
        self.case_ids.get(row).unwrap_or_default()
    }

    /// Why `row` has no answer.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn error(&self, row: usize) -> Result<Option<RowError>, DecodeError> {
        self.errors.get(row).map(from_json).transpose()
    }

    /// The answer of `row`, without what evaluators do not read: the case's id among it.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn answer(&self, row: usize) -> Result<Answer, DecodeError> {
        Ok(Answer {
            text: self.texts.get(row).map(str::to_string),
            citations: match &self.citations {
                Some(citations) => list(citations.get(row).unwrap_or_default())?,
                None => Vec::new(),
            },
            samples: match &self.samples {
                Some(samples) => list(samples.get(row).unwrap_or_default())?,
                None => Vec::new(),
            },
            ..Answer::default()
        })
    }

    /// Hands on all that [`AnswerRows::answer`] is made of, but the case's id.
    pub fn parts(&self, row: usize, part: &mut RowParts) {
        part.text(self.texts.get(row));
        if let Some(citations) = &self.citations {
            part.text(citations.get(row));
        }
        // Of one answer there are no samples, whether or not other cases have some.
        part.text(self.samples.as_ref().and_then(|samples| samples.get(row)).filter(|samples| *samples != "[]"));
    }
}
