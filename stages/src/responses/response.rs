//! One response of a set.

use crate::artifact::{AnswerSample, Citation, Hit, Json};

/// What some system gave for one case, as a file tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// The case that it is for; empty where the file knows only the question.
    pub case_id: String,
    /// The question, without white space at its ends, where the file knows no ids.
    pub question: Option<String>,
    /// The run unit, or what the file has in its place: it tells apart the same question about different documents.
    pub unit: Option<String>,
    /// The hits, best first.
    pub results: Vec<Hit>,
    /// The answer; `None` where the file has none.
    pub answer: Option<String>,
    /// What the answer rests on.
    pub citations: Vec<Citation>,
    /// All answers, where the file has several; `answer` is the first.
    pub samples: Vec<AnswerSample>,
    /// Milliseconds that the response took, where the file says.
    pub latency_ms: Option<f64>,
    /// Why there is no response, where the file says that the case failed.
    pub error: Option<String>,
    /// Anything else that the file says of the case.
    pub metadata: Json,
}
