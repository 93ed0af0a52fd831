//! All responses of a file, by case.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::format::ResponseFormat;
use super::jsonl::read_jsonl_responses;
use super::response::Response;
use super::{heta_report, openviking_answers, parquet, trec_run};
use crate::artifact::{Query, Units};
use crate::error::{InputError, Place};
use crate::prepare::SourceBytes;
use crate::python::strip;

/// Which of the responses of a file that has several for a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pick {
    /// The recipe.
    pub recipe: Option<String>,
    /// The query, or the query mode.
    pub query: Option<String>,
}

/// The responses of a file, in its order.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSet {
    /// What the file was read as.
    pub format: ResponseFormat,
    /// The responses.
    pub responses: Vec<Response>,
}

impl ResponseSet {
    /// The responses in `bytes`, which may be gzip; `path` is for messages. Without a `format` the content tells it.
    ///
    /// # Errors
    /// All that is malformed, and cases with two responses.
    pub fn read(
        path: &Path,
        bytes: &[u8],
        format: Option<ResponseFormat>,
        pick: &Pick,
    ) -> Result<Self, Vec<InputError>> {
        let bytes = SourceBytes { path, bytes }.unpacked().map_err(|error| vec![error])?;
        let fault = |message: &str, hint: &str| vec![InputError::new(Place::file(path), message).hint(hint)];
        if bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii().is_empty() {
            return Err(fault("the file is empty", "a set of responses has at least one"));
        }
        let format = format.unwrap_or_else(|| ResponseFormat::of_named(path, &bytes));
        if format != ResponseFormat::HetaReport && *pick != Pick::default() {
            let message =
                format!("a recipe or query of it is named, and only reports have several; this is {}", format.name());
            return Err(fault(&message, "leave `recipe` and `query` out; on the command line --recipe and --query"));
        }
        let read = match format {
            ResponseFormat::Jsonl => {
                let responses = read_jsonl_responses(path, &bytes)?;
                let says = |response: &Response| {
                    response.answer.is_some() || !response.results.is_empty() || response.error.is_some()
                };
                if !responses.iter().any(says) {
                    let message = "no line has an `answer`, `results` or an `error`: these are no responses";
                    return Err(fault(
                        message,
                        "a response is {\"case_id\": ..., \"answer\": ..., \"results\": [...]}",
                    ));
                }
                return Ok(ResponseSet { format, responses });
            }
            ResponseFormat::Parquet => parquet::read(path, &bytes)?,
            ResponseFormat::TrecRun => trec_run::read(path, &bytes)?,
            ResponseFormat::HetaReport => heta_report::read(path, &bytes, pick)?,
            ResponseFormat::OpenVikingAnswers => openviking_answers::read(path, &bytes)?,
        };
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        let mut twice = Vec::new();
        // What is known by its question may be there twice: a conversation of Locomo has a question twice.
        for (place, response) in read.iter().filter(|(_, response)| !response.case_id.is_empty()) {
            let case_id = &response.case_id;
            if let Some(first) = seen.insert(case_id, *place) {
                let message = format!("case {case_id:?} has a response in entry {first} and another in entry {place}");
                twice.push(InputError::new(Place::file(path), message).hint("keep one response per case"));
            }
        }
        if !twice.is_empty() {
            return Err(twice);
        }
        Ok(ResponseSet { format, responses: read.into_iter().map(|(_, response)| response).collect() })
    }

    /// The position in `queries` of each response's case; `None` where the benchmark has no such case.
    pub fn cases(&self, units: &Units, queries: &[Query]) -> Vec<Option<usize>> {
        let by_id: HashMap<&str, usize> =
            queries.iter().enumerate().map(|(i, query)| (query.case_id.as_str(), i)).collect();
        let mut unit_of: Vec<&str> = vec![""; queries.len()];
        for unit in &units.units {
            for row in unit.case_positions(queries.len()) {
                if let Some(known) = unit_of.get_mut(row) {
                    *known = &unit.unit_id;
                }
            }
        }
        let mut by_question: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, query) in queries.iter().enumerate() {
            by_question.entry(strip(&query.text)).or_default().push(i);
        }
        // A question that is there twice has its responses in the order of its cases.
        let mut taken: HashSet<usize> = HashSet::new();
        let mut of = |response: &Response| match &response.question {
            None => by_id.get(response.case_id.as_str()).copied(),
            Some(question) => {
                let all = by_question.get(question.as_str())?;
                let unit = |i: usize| unit_of.get(i).copied();
                let here: Vec<usize> = all.iter().copied().filter(|i| response.unit.as_deref() == unit(*i)).collect();
                // Where all cases are of one unit its name says nothing.
                let alike = all.iter().all(|i| unit(*i) == all.first().and_then(|first| unit(*first)));
                let those = if here.is_empty() && alike { all.as_slice() } else { here.as_slice() };
                let case = those.iter().find(|i| !taken.contains(i)).or(those.first()).copied()?;
                taken.insert(case);
                Some(case)
            }
        };
        self.responses.iter().map(&mut of).collect()
    }
}
