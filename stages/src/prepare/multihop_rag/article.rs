//! The news articles of MultiHop-RAG.

use std::collections::HashMap;

use ragstage_cache::Digest;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::super::benchmark::{nothing, source_key};
use super::super::fields::Fields;
use super::super::json_file::JsonFile;
use super::super::lines::SourceBytes;
use super::super::record_faults::RecordFaults;
use super::{NAME, SPLIT};
use crate::artifact::{Document, Documents, Json};
use crate::error::{InputError, Place};
use crate::python::strip;

/// What tells an article from others: its URL, or its title where it has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ArticleId {
    /// The id of its document.
    pub(super) document: String,
}

impl ArticleId {
    /// That of the article with this title, and this URL where there is one that is not blank.
    pub(super) fn of(title: &str, url: Option<&str>) -> Self {
        let identity = url.map(strip).filter(|url| !url.is_empty()).unwrap_or(title);
        let hash: String =
            Sha256::digest(identity.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        ArticleId { document: format!("article_{hash}") }
    }

    /// The name of its document.
    pub(super) fn name(&self) -> String {
        format!("{}.txt", self.document)
    }

    /// The object-store style key of its document.
    pub(super) fn source_key(&self) -> String {
        source_key(NAME, SPLIT, &self.document, &self.name())
    }
}

/// The fields of an article that evidence repeats.
pub(super) struct Article {
    pub(super) title: Option<String>,
    pub(super) id: Option<ArticleId>,
    pub(super) metadata: Json,
}

impl Article {
    /// The title, which must be there, and what else is said of the article, null where it is not.
    pub(super) fn of(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Self {
        let title = fields.text("title", errors);
        let mut text = |key: &str| fields.verbatim(key, errors);
        let url = text("url").map(|url| strip(&url).to_string()).filter(|url| !url.is_empty());
        let mut metadata = Json::new();
        for key in ["author", "source", "published_at", "category"] {
            metadata.insert(key.to_string(), json!(text(key)));
        }
        metadata.insert("title".to_string(), json!(title));
        metadata.insert("url".to_string(), json!(url));
        let id = title.as_deref().map(|title| ArticleId::of(title, url.as_deref()));
        Article { title, id, metadata }
    }
}

/// The articles of `source` as documents, and the positions of all by their ids.
pub(super) fn read_articles(
    source: SourceBytes<'_>,
    errors: &mut Vec<InputError>,
) -> (Documents, HashMap<String, usize>) {
    let mut documents = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let before = errors.len();
    let file = JsonFile::open(source, errors);
    let parts = file.as_ref().map(|file| file.root().items(errors)).unwrap_or_default();
    let mut faults = RecordFaults::new("articles");
    for (position, part) in parts.iter().enumerate() {
        let mut found = Vec::new();
        match part.row() {
            Ok(row) => {
                let fields = Fields::named(source.path, &row, &part.name);
                if let Some(document) = document(&fields, &mut found) {
                    if let Some(other) = positions.insert(document.document_id.clone(), position) {
                        let message =
                            format!("`{}` has the url (or, without one, the title) of `[{other}]`", part.name);
                        found.push(fields.error(message).hint("every article is there once"));
                    }
                    documents.push(document);
                }
            }
            Err(error) => found.push(error),
        }
        faults.add(found);
    }
    faults.append_to(errors);
    if documents.is_empty() && errors.len() == before {
        errors.push(nothing(Place::file(source.path), "article", "is this the corpus of the dataset?"));
    }
    (Documents { rows: documents }, positions)
}

fn document(fields: &Fields<'_>, errors: &mut Vec<InputError>) -> Option<Document> {
    let article = Article::of(fields, errors);
    let body = fields.text("body", errors);
    let (title, id, body) = (article.title?, article.id?, body?);
    let said = |key: &str| article.metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let content = format!(
        "Title: {title}\nSource: {}\nPublished at: {}\nURL: {}\n\n{body}",
        said("source"),
        said("published_at"),
        said("url"),
    );
    let data = content.into_bytes();
    Some(Document {
        source_key: id.source_key(),
        name: id.name(),
        document_id: id.document,
        media_type: "text/plain".to_string(),
        digest: Some(Digest::of(&data)),
        size: Some(data.len() as u64),
        data: Some(data),
        source_uri: None,
        metadata: article.metadata,
    })
}
