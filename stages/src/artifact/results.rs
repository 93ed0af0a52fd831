//! `results`: what one query mode found for each case of a unit.

use std::collections::HashMap;
use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::table::{TableReader, TableWriter, TextLists, Texts};
use ragstage_cache::table_file::{Rows, TableFile, TableSource};
use serde::{Deserialize, Serialize};

use super::answers::Answer;
use super::json::{Json, from_json, object, to_json};
use super::row_outcomes::RowOutcomes;
use super::row_parts::RowParts;
use super::shared;
use crate::contract::{Artifact, TableArtifact};
use crate::error::{DecodeError, RowError};

/// The key of a hit's metadata for the recall that OpenViking's own file states of its response, where it keeps no texts.
pub const STATED_RECALL: &str = "openviking_recall";

/// One result (spec/heta 1, QueryResult).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Chunk id, or the system's own id.
    pub id: String,
    /// The passage. A passage that many cases find is in memory once, and so is its source.
    #[serde(serialize_with = "shared::serialize", deserialize_with = "shared::text")]
    pub text: Arc<str>,
    /// The ranking score; higher is better.
    #[serde(default)]
    pub score: Option<f64>,
    /// `chunk` for passages.
    #[serde(default = "chunk_kind")]
    pub kind: String,
    /// Where it is from: `document_id`, `source_key`, `name`, `page_index`, `start`, `end`, ...
    #[serde(default, serialize_with = "shared::serialize", deserialize_with = "shared::object")]
    pub source: Arc<Json>,
    /// Anything else.
    #[serde(default)]
    pub metadata: Json,
}

fn chunk_kind() -> String {
    "chunk".to_string()
}

/// The results of one case, or the reason why there are none. This is the value that the row cache keeps (as JSON,
/// without `case_id` and `error`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Retrieved {
    /// The case.
    #[serde(skip)]
    pub case_id: String,
    /// The hits, best first.
    pub results: Vec<Hit>,
    /// The answer, where the system under test gives one along with the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Anything else the mode says of the case.
    #[serde(default)]
    pub metadata: Json,
    /// Why the case failed; then there are no hits.
    #[serde(skip)]
    pub error: Option<RowError>,
}

impl Retrieved {
    /// The row's value, as the row cache keeps it.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn value(&self) -> Result<Vec<u8>, DecodeError> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Digest of the value: what later stages depend on.
    ///
    /// # Errors
    /// Only through a fault of ours.
    pub fn digest(&self) -> Result<Digest, DecodeError> {
        Ok(Digest::of(&self.value()?))
    }
}

/// The table of results, in case order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The rows.
    pub rows: Vec<Retrieved>,
}

const NAME: &str = "results";
const VERSION: u32 = 1;

impl TableArtifact for Results {
    fn open(source: TableSource) -> Result<TableFile, DecodeError> {
        Ok(TableFile::open(source, NAME, VERSION)?)
    }
}

impl Artifact for Results {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let rows = &self.rows;
        let mut sources = Vec::with_capacity(rows.len());
        let mut hit_metadata = Vec::with_capacity(rows.len());
        let mut answers = Vec::with_capacity(rows.len());
        let mut metadata = Vec::with_capacity(rows.len());
        let mut errors = Vec::with_capacity(rows.len());
        for row in rows {
            sources.push(row.results.iter().map(|hit| to_json(&*hit.source)).collect::<Result<Vec<_>, _>>()?);
            hit_metadata.push(row.results.iter().map(|hit| to_json(&hit.metadata)).collect::<Result<Vec<_>, _>>()?);
            answers.push(row.answer.as_ref().map(to_json).transpose()?);
            metadata.push(to_json(&row.metadata)?);
            errors.push(row.error.as_ref().map(to_json).transpose()?);
        }
        let mut table = TableWriter::new(NAME, VERSION);
        table.text("case_id", rows.iter().map(|row| row.case_id.as_str()));
        table.text_list("id", rows.iter().map(|row| row.results.iter().map(|hit| hit.id.as_str())));
        table.text_list("text", rows.iter().map(|row| row.results.iter().map(|hit| &*hit.text)));
        table.float_list("score", rows.iter().map(|row| row.results.iter().map(|hit| hit.score)));
        table.text_list("kind", rows.iter().map(|row| row.results.iter().map(|hit| hit.kind.as_str())));
        table.text_list("source", sources.iter().map(|list| list.iter().map(String::as_str)));
        table.text_list("hit_metadata", hit_metadata.iter().map(|list| list.iter().map(String::as_str)));
        table.opt_text("answer", answers.iter().map(Option::as_deref));
        table.text("metadata", metadata.iter().map(String::as_str));
        table.opt_text("error", errors.iter().map(Option::as_deref));
        Ok(table.finish()?)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        Ok(Results { rows: rows_of(&TableReader::open(bytes, NAME, VERSION)?)? })
    }
}

fn rows_of(table: &TableReader) -> Result<Vec<Retrieved>, DecodeError> {
    let mut ids = table.text_list("id")?.into_iter();
    let mut texts = table.shared_text_list("text")?.into_iter();
    let scores = table.float_list("score")?;
    let mut kinds = table.text_list("kind")?.into_iter();
    let sources = table.shared_text_list("source")?;
    let hit_metadata = table.shared_text_list("hit_metadata")?;
    let mut known: HashMap<Arc<str>, Arc<Json>> = HashMap::new();
    let mut source = |text: &Arc<str>| -> Result<Arc<Json>, DecodeError> {
        if let Some(source) = known.get(text) {
            return Ok(source.clone());
        }
        let source: Arc<Json> = Arc::new(from_json(text)?);
        known.insert(text.clone(), source.clone());
        Ok(source)
    };
    let answers = table.opt_text("answer")?;
    let metadata = table.texts("metadata")?;
    let errors = table.opt_text("error")?;
    let mut rows = Vec::with_capacity(table.rows());
    for (i, case_id) in table.text("case_id")?.into_iter().enumerate() {
        let (ids, texts, kinds) =
            (ids.next().unwrap_or_default(), texts.next().unwrap_or_default(), kinds.next().unwrap_or_default());
        let (scores, sources, hit_metadata) = (&scores[i], &sources[i], &hit_metadata[i]);
        let hits = ids.len();
        if [texts.len(), kinds.len(), scores.len(), sources.len(), hit_metadata.len()] != [hits; 5] {
            return Err(DecodeError::Format(format!("row {i}: expected {hits} hits in every column")));
        }
        let mut results = Vec::with_capacity(hits);
        for (j, ((id, text), kind)) in ids.into_iter().zip(texts).zip(kinds).enumerate() {
            results.push(Hit {
                id,
                text,
                score: scores[j],
                kind,
                source: source(&sources[j])?,
                metadata: object(&hit_metadata[j])?,
            });
        }
        rows.push(Retrieved {
            case_id,
            results,
            answer: answers[i].as_deref().map(from_json).transpose()?,
            metadata: object(metadata.get(i).unwrap_or_default())?,
            error: errors[i].as_deref().map(from_json).transpose()?,
        });
    }
    Ok(rows)
}

impl Results {
    /// All columns of `rows` of row group `group`.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, rows: &Rows) -> Result<Vec<Retrieved>, DecodeError> {
        let columns =
            ["case_id", "id", "text", "score", "kind", "source", "hit_metadata", "answer", "metadata", "error"];
        rows_of(&table.read_rows(group, &columns, rows)?)
    }

    /// The cases of row group `group`, why they have no results, and whether an answer that came along is a refusal.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn outcomes(table: &TableFile, group: usize) -> Result<RowOutcomes, DecodeError> {
        let table = table.read(group, &["case_id", "error", "answer"])?;
        let errors = table.opt_texts("error")?;
        let errors = errors.iter().map(|error| error.map(from_json).transpose()).collect::<Result<_, _>>()?;
        let refused = |answer: Option<&str>| match answer {
            // Only a refusal says whether it is one.
            Some(answer) if answer.contains("\"refused\"") => Ok(from_json::<Answer>(answer)?.refused),
            _ => Ok(false),
        };
        let refused = table.opt_texts("answer")?.iter().map(refused).collect::<Result<_, DecodeError>>()?;
        Ok((table.texts("case_id")?, errors, refused))
    }
}

/// What evaluators read of a row group of results.
pub struct ResultRows {
    case_ids: Texts,
    ids: TextLists,
    /// `None` where nobody reads them.
    texts: Option<TextLists>,
    scores: Vec<Vec<Option<f64>>>,
    kinds: TextLists,
    sources: TextLists,
    metadata: TextLists,
    errors: Texts,
}

/// Sources of hits that were read before, by their JSON text.
pub type KnownSources = HashMap<String, Arc<Json>>;

impl ResultRows {
    /// Reads row group `group` of a table of [`Results`].
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read(table: &TableFile, group: usize, texts: bool) -> Result<Self, DecodeError> {
        let columns = ["case_id", "id", "score", "kind", "source", "hit_metadata", "error", "text"];
        let table = table.read(group, if texts { &columns } else { &columns[..7] })?;
        Ok(ResultRows {
            case_ids: table.texts("case_id")?,
            ids: table.text_lists("id")?,
            texts: if texts { Some(table.text_lists("text")?) } else { None },
            scores: table.float_list("score")?,
            kinds: table.text_lists("kind")?,
            sources: table.text_lists("source")?,
            metadata: table.text_lists("hit_metadata")?,
            errors: table.opt_texts("error")?,
        })
    }

    /// The case of `row`.
    pub fn case_id(&self, row: usize) -> &str {
        self.case_ids.get(row).unwrap_or_default()
    }

    /// Why `row` has no results.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn error(&self, row: usize) -> Result<Option<RowError>, DecodeError> {
        self.errors.get(row).map(from_json).transpose()
    }

    /// The hits of `row`; their texts are empty where they were not read.
    ///
    /// # Errors
    /// When they are not what was written.
    pub fn hits(&self, row: usize, known: &mut KnownSources) -> Result<Vec<Hit>, DecodeError> {
        let ids = self.ids.get(row);
        let scores = self.scores.get(row).map(Vec::as_slice).unwrap_or_default();
        let (mut kinds, mut sources, mut metadata) =
            (self.kinds.get(row), self.sources.get(row), self.metadata.get(row));
        let mut texts = self.texts.as_ref().map(|texts| texts.get(row));
        let expected = ids.len();
        let lengths = [scores.len(), kinds.len(), sources.len(), metadata.len()];
        if lengths != [expected; 4] || texts.as_ref().is_some_and(|texts| texts.len() != expected) {
            return Err(DecodeError::Format(format!("row {row}: expected {expected} hits in every column")));
        }
        let nothing: Arc<str> = Arc::from("");
        let mut hits = Vec::with_capacity(expected);
        for (id, score) in ids.zip(scores) {
            let source = sources.next().unwrap_or_default();
            let source = match known.get(source) {
                Some(source) => source.clone(),
                None => {
                    let read: Arc<Json> = Arc::new(object(source)?);
                    known.insert(source.to_string(), read.clone());
                    read
                }
            };
            hits.push(Hit {
                id: id.to_string(),
                text: match &mut texts {
                    Some(texts) => texts.next().unwrap_or_default().into(),
                    None => nothing.clone(),
                },
                score: *score,
                kind: kinds.next().unwrap_or_default().to_string(),
                source,
                metadata: object(metadata.next().unwrap_or_default())?,
            });
        }
        Ok(hits)
    }

    /// Hands on all that [`ResultRows::hits`] is made of.
    pub fn parts(&self, row: usize, part: &mut RowParts) {
        for column in [&self.ids, &self.kinds, &self.sources, &self.metadata].into_iter().chain(&self.texts) {
            part.list(column.get(row));
        }
        self.scores.get(row).into_iter().flatten().for_each(|score| part.number(*score));
    }
}
