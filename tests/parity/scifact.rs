//! scifact
