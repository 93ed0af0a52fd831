//! The options of the adapter, and the files that it reads.

use std::collections::HashMap;
use std::path::PathBuf;

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};

use super::about::{INSTRUCTIONS, LOCOMO};
use super::conversation::conversation;
use super::questions::Questions;
use crate::artifact::Documents;
use crate::error::{InputError, Place};
use crate::prepare::about::About;
use crate::prepare::adapter::{Adapter, ReadFiles};
use crate::prepare::benchmark::{Benchmark, append_in_line_order, nothing};
use crate::prepare::dataset::{evaluators, first_file, info, markdown, object};
use crate::prepare::json_file::{JsonFile, JsonPart};
use crate::prepare::listing::ListingFile;
use crate::prepare::scope::Scope;
use crate::prepare::sources::FindDocument;
use crate::prepare::variant::Variant;

/// Options of the `locomo` adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocomoSpec {
    /// The file with the conversations, or the folder that holds `locomo10.json`, itself or below `data`. May be gzip.
    pub path: PathBuf,
    /// What a knowledge base is built for.
    #[serde(default = "scope")]
    pub scope: Scope,
    /// Whether adversarial questions (category 5) are asked too: what they ask for was never said, so a refusal is right.
    #[serde(default)]
    pub adversarial: bool,
    /// Whose reading of the questions is evaluated.
    #[serde(default)]
    pub variant: Variant,
}

fn scope() -> Scope {
    Scope::Document
}

/// The role of the only file.
const CONVERSATIONS: &str = "conversations";

/// The dataset has one split.
const SPLIT: &str = "all";

impl Adapter for LocomoSpec {
    fn name(&self) -> &'static str {
        "locomo"
    }

    fn version(&self) -> u64 {
        1
    }

    fn benchmark_name(&self) -> String {
        LOCOMO.name.to_string()
    }

    fn walk_options(&self, v: &mut dyn KeyVisitor) {
        self.scope.walk(v);
        v.bool("adversarial", self.adversarial);
        self.variant.walk(v);
    }

    fn listing(&self) -> Vec<ListingFile> {
        let places = ["locomo10.json", "data/locomo10.json", "locomo10.json.gz", "data/locomo10.json.gz"];
        vec![ListingFile::required(CONVERSATIONS, first_file(&self.path, &places))]
    }

    fn advice(&self) -> &'static str {
        "name the file locomo10.json, or the folder that holds it"
    }

    fn root(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, files: &ReadFiles<'_>, _find: &FindDocument<'_>) -> Result<Benchmark, Vec<InputError>> {
        let source = files.needed(CONVERSATIONS);
        let mut found = Vec::new();
        let file = JsonFile::open(source, &mut found);
        let samples = file.as_ref().map(|file| samples(file.root(), &mut found)).unwrap_or_default();
        let mut info = info(&LOCOMO, SPLIT, self.scope);
        let mut names: HashMap<String, String> = HashMap::new();
        let mut documents = Documents::default();
        let mut questions = Questions::new(self.adversarial, self.variant);
        let mut groups = Vec::new();
        for sample in &samples {
            let Some(conversation) = conversation(sample, &mut found) else { continue };
            let id = &conversation.id;
            let position = u32::try_from(documents.rows.len()).unwrap_or(u32::MAX);
            if let Some(other) = names.insert(id.clone(), sample.name.clone()) {
                let message = format!("`{}.sample_id` {id:?} is that of `{other}` too", sample.name);
                found.push(sample.error(message).hint("give every conversation an id of its own"));
            }
            let cases = questions.read(&conversation, &mut found);
            let metadata = object([("sessions", conversation.sessions.into()), ("turns", conversation.turns.into())]);
            documents.rows.push(markdown(&info, id, conversation.text.clone(), metadata));
            groups.push((id.clone(), Some(position), cases));
        }
        if found.is_empty() && documents.rows.is_empty() {
            found.push(nothing(Place::file(source.path), "conversation", "is this locomo10.json?"));
        } else if found.is_empty() && questions.queries.rows.is_empty() {
            found.push(nothing(Place::file(source.path), "question to ask", "is this locomo10.json?"));
        }
        let mut errors = Vec::new();
        append_in_line_order(&mut errors, found);
        if !errors.is_empty() {
            return Err(errors);
        }
        info.metadata = questions.counted();
        let mut default_evaluators = evaluators(&LOCOMO);
        if self.adversarial {
            default_evaluators.push("refusal_agreement".to_string());
        }
        Ok(Benchmark {
            info,
            documents,
            queries: questions.queries,
            golds: questions.golds,
            units: self.scope.units(groups),
            default_evaluators,
            ..Benchmark::default()
        })
    }

    fn cases_role(&self) -> &'static str {
        CONVERSATIONS
    }

    fn about(&self) -> Option<&'static About> {
        Some(&LOCOMO)
    }

    fn instructions(&self) -> &'static [(&'static str, &'static str)] {
        &INSTRUCTIONS
    }
}

/// The samples of the file: a list, or one alone.
fn samples<'f>(root: JsonPart<'f>, errors: &mut Vec<InputError>) -> Vec<JsonPart<'f>> {
    if root.is_object() { vec![root] } else { root.items(errors) }
}
