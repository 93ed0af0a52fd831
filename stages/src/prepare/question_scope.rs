//! What a knowledge base is built for, where every question comes with documents of its own.

use ragstage_cache::KeyVisitor;
use serde::{Deserialize, Serialize};

use super::benchmark::Benchmark;
use super::scope::Scope;
use crate::artifact::{Json, UnitRows};

/// Which documents share a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionScope {
    /// Those of one question.
    #[default]
    Question,
    /// Those of all questions, each once.
    Corpus,
}

impl QuestionScope {
    /// What benchmarks call it.
    pub(super) fn scope(self) -> Scope {
        match self {
            QuestionScope::Question => Scope::Document,
            QuestionScope::Corpus => Scope::Corpus,
        }
    }

    /// Visits it as a part of a key.
    pub(super) fn walk(self, v: &mut dyn KeyVisitor) {
        self.scope().walk(v);
    }

    /// The units of questions, each given by its id and the positions of its documents, in case order.
    pub(super) fn units(self, questions: Vec<(String, Vec<u32>)>) -> Vec<UnitRows> {
        match self {
            QuestionScope::Corpus => vec![Benchmark::whole(Json::new())],
            QuestionScope::Question => (0..)
                .zip(questions)
                .map(|(case, (unit_id, documents))| UnitRows {
                    unit_id,
                    document_rows: Some(documents),
                    case_rows: Some(vec![case]),
                    metadata: Json::new(),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_a_unit_or_none_is() {
        let questions = || vec![("a".to_string(), vec![1, 0]), ("b".to_string(), vec![1])];
        assert_eq!(QuestionScope::Corpus.units(questions()), [Benchmark::whole(Json::new())]);
        let units = QuestionScope::Question.units(questions());
        let rows: Vec<_> = units.into_iter().map(|unit| (unit.unit_id, unit.document_rows, unit.case_rows)).collect();
        let expected =
            [("a".to_string(), Some(vec![1, 0]), Some(vec![0])), ("b".to_string(), Some(vec![1]), Some(vec![1]))];
        assert_eq!(rows, expected);
    }
}
