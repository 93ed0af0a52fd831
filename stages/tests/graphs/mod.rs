//! Searching graphs.

mod search;
mod vector;
