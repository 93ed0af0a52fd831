//! The options that the evaluators of supporting facts share.

use crate::score::definition::{Parameter, ParameterKind};

/// `from`: what says which facts a response rests on.
pub(super) const FROM: Parameter = Parameter {
    name: "from",
    description: "what says which facts a response rests on: either (the answer's citations where it has any, else the first \
                  k results), citations, or results",
    kind: ParameterKind::Choice(&["either", "citations", "results"]),
};

/// `unit`: what a fact is.
pub(super) const FACT: Parameter = Parameter {
    name: "unit",
    description: "what a fact is: a sentence of a document, which is a line of its text, or the document as a whole",
    kind: ParameterKind::Choice(&["sentence", "document"]),
};
