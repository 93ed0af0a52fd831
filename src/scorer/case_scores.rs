//! placeholder
pub struct CaseScores; pub struct EvaluatorSummary; pub struct MissingCases;
