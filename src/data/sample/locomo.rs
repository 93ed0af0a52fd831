//! Locomo: one file, an array of conversations (spec/openviking 2.1).

use std::path::Path;

use ragstage_stages::error::InputError;
use serde_json::Value;
use serde_json::value::RawValue;

use super::algorithm::Algorithm;
use super::drawn::{Drawn, DrawnDocument};
use super::json_file::{Object, TextFile, array, find_file, firsts};
use super::layout::{Content, Layout, OutFile};
use super::pool::{Pool, PoolDocument, PoolQuestion};
use super::sample_error::SampleError;

const FILE: &str = "locomo10.json";
/// Questions of this category have no answer and are not asked.
const ADVERSARIAL: &str = "5";

/// The conversations.
pub(super) struct Locomo {
    file: TextFile,
    pool: Pool,
}

impl Locomo {
    /// Reads the file in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, SampleError> {
        let file = TextFile::read(find_file(folder, &[FILE, "data/locomo10.json"])?)?;
        let mut errors = Vec::new();
        let mut documents = Vec::new();
        for (i, text) in samples(&file)?.into_iter().enumerate() {
            match document(&file, text, i) {
                Ok(document) => documents.push(document),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Locomo { pool: Pool { documents }, file }) } else { Err(SampleError::Input(errors)) }
    }
}

/// The texts of the conversations. A single object stands for an array of one.
fn samples(file: &TextFile) -> Result<Vec<&str>, InputError> {
    if file.text.trim_start().starts_with('{') {
        let one: &RawValue = file.json()?;
        return Ok(vec![one.get()]);
    }
    let all: Vec<&RawValue> = file.json()?;
    Ok(all.into_iter().map(RawValue::get).collect())
}

/// The texts of a conversation's questions.
fn questions<'a>(file: &'a TextFile, sample: &Object<'a>) -> Result<Vec<&'a str>, InputError> {
    let Some(text) = sample.get("qa") else { return Ok(Vec::new()) };
    let all: Vec<&RawValue> = file.parse(text)?;
    Ok(all.into_iter().map(RawValue::get).collect())
}

fn document(file: &TextFile, text: &str, position: usize) -> Result<PoolDocument, InputError> {
    let sample: Object<'_> = file.parse(text)?;
    let id = sample.value::<String>("sample_id").unwrap_or_else(|| format!("unknown {position}"));
    let texts = questions(file, &sample)?;
    let mut values: Vec<Value> = Vec::new();
    for text in &texts {
        let value: Value = file.parse(text)?;
        if !value["question"].is_string() {
            return Err(file.fault(text, "expected a question with a text as `question`"));
        }
        values.push(value);
    }
    let same = firsts(values.iter().map(Value::to_string));
    let questions = values.iter().zip(same).enumerate();
    let questions = questions.map(|(i, (value, same))| {
        let category = match &value["category"] {
            Value::String(category) => category.clone(),
            Value::Null => "None".to_string(),
            category => category.to_string(),
        };
        // Its text rather than its position, so that the order does not matter; of equal ones the position tells.
        let text = value["question"].as_str().unwrap_or_default();
        let id = if same == i { text.to_string() } else { format!("{text} {i}") };
        PoolQuestion { id, category: (category != ADVERSARIAL).then_some(category), same }
    });
    Ok(PoolDocument { id, questions: questions.collect() })
}

impl Layout for Locomo {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn files(&self, drawn: &Drawn, _: Algorithm) -> Vec<OutFile> {
        // It was read before, so that nothing fails here.
        let all = samples(&self.file).unwrap_or_default();
        let of = |drawn: &DrawnDocument| {
            let sample: Object<'_> = self.file.parse(all.get(drawn.document)?).ok()?;
            let texts = questions(&self.file, &sample).ok()?;
            let kept: Vec<&str> = drawn.questions.iter().filter_map(|question| texts.get(*question).copied()).collect();
            Some(sample.with("qa", &format!("[{}]", kept.join(", "))))
        };
        let samples: Vec<String> = drawn.documents.iter().filter_map(of).collect();
        vec![OutFile { path: FILE.into(), content: Content::Bytes(array(&samples).into_bytes()) }]
    }
}
