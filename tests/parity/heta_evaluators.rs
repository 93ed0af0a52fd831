//! heta_evaluators
