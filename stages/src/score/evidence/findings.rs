//! What was found of a case's evidence.

use super::matcher::Matcher;
use super::piece::Piece;
use crate::artifact::{Evidence, Json};
use crate::error::RowError;
use crate::score::text_match::Passages;

/// Which pieces of evidence are found and where. Ranks count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    /// For each piece that is judged, its place in the case's evidence, and the rank of the first result that matches it.
    pub(super) pieces: Vec<(usize, Option<u32>)>,
    /// Pieces without the label that alone counts.
    pub(super) unjudged: Vec<usize>,
    /// The ranks of the results that match a piece; empty unless they were asked for.
    pub(crate) matching: Vec<u32>,
}

impl Findings {
    /// Looks for all of `evidence` in the first `count` of `passages`. Whether a result matches any piece is found out only
    /// `with_matching`: that takes a look at every result.
    pub(crate) fn of(
        matcher: &Matcher,
        evidence: &[Evidence],
        passages: &Passages<'_>,
        count: usize,
        with_matching: bool,
    ) -> Result<Self, RowError> {
        let mut findings = Findings::default();
        let mut matching = vec![false; count];
        for (i, evidence) in evidence.iter().enumerate() {
            let piece = Piece::new(evidence);
            if !matcher.judges(&piece) {
                findings.unjudged.push(i);
                continue;
            }
            let mut first = None;
            for ((rank, passage), matched) in (1u32..).zip(passages.iter()).zip(&mut matching) {
                if first.is_some() && *matched {
                    continue;
                }
                if matcher.matches(&piece, passage)? {
                    *matched = true;
                    first = first.or(Some(rank));
                    if !with_matching {
                        break;
                    }
                }
            }
            findings.pieces.push((i, first));
        }
        if with_matching {
            findings.matching = (1u32..).zip(matching).filter(|(_, matched)| *matched).map(|(rank, _)| rank).collect();
        }
        Ok(findings)
    }

    /// The places (from 0) of the pieces that were found.
    pub(crate) fn found(&self) -> Vec<usize> {
        self.pieces.iter().filter(|(_, rank)| rank.is_some()).map(|(i, _)| *i).collect()
    }

    /// The rank of each piece that was found, in the order of the evidence.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        self.pieces.iter().filter_map(|(_, rank)| *rank)
    }

    /// What is kept of it beside the value: `matched` of `expected` pieces; the places (from 0) of those `found`, of those
    /// `missing` and of those `unjudged`, if any; the `ranks` and the `matched_reference_ids` of those found.
    pub(super) fn detail(&self, evidence: &[Evidence]) -> Json {
        let found = self.found();
        let missing: Vec<usize> = self.pieces.iter().filter(|(_, rank)| rank.is_none()).map(|(i, _)| *i).collect();
        let references: Vec<&str> = found.iter().filter_map(|i| evidence.get(*i)?.reference_id.as_deref()).collect();
        let mut detail = Json::new();
        detail.insert("matched".to_string(), found.len().into());
        detail.insert("expected".to_string(), self.pieces.len().into());
        detail.insert("matched_reference_ids".to_string(), references.into());
        detail.insert("found".to_string(), found.into());
        detail.insert("ranks".to_string(), self.ranks().collect::<Vec<_>>().into());
        detail.insert("missing".to_string(), missing.into());
        if !self.unjudged.is_empty() {
            detail.insert("unjudged".to_string(), self.unjudged.clone().into());
        }
        detail
    }
}
