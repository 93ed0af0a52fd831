//! One response of a set.

use crate::artifact::{AnswerSample, Citation, Hit, Json};

/// The case that a response is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// By its id.
    Case(String),
    /// By its question, where the file does not know ids; `unit` tells apart the same question about different documents.
    Question {
        /// The question, without white space at its ends.
        question: String,
        /// The run unit, or what the file has in its place.
        unit: Option<String>,
    },
}

/// What some system gave for one case, as a file tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The case that it is for.
    pub whose: Whose,
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

impl Response {
    /// A response to `whose` that says nothing yet.
    pub fn to(whose: Whose) -> Self {
        Response {
            whose,
            results: Vec::new(),
            answer: None,
            citations: Vec::new(),
            samples: Vec::new(),
            latency_ms: None,
            error: None,
            metadata: Json::new(),
        }
    }
}
