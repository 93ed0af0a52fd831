//! Rows of a run: those of one query that follow each other are a segment.

use std::ops::Range;

/// Some rows of a run; document ids are elsewhere.
#[derive(Debug, Default)]
pub struct Rows {
    /// What each row ranks by: [`rank_key`] of its score.
    pub keys: Vec<u32>,
    /// Where each row's document id begins and ends.
    pub ids: Vec<(u32, u32)>,
    /// The line of each row, counted from the first row's block.
    pub lines: Vec<u32>,
    /// Which rows are of which query.
    pub segments: Vec<Segment>,
}

/// Rows of one query that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where the query's id begins and ends.
    pub query: Range<usize>,
    /// Its rows.
    pub rows: Range<usize>,
}

impl Rows {
    /// The document id of a row, of the text that it stands in.
    pub fn document<'t>(&self, text: &'t [u8], row: usize) -> &'t [u8] {
        let place = self.ids.get(row).map(|(start, end)| *start as usize..*end as usize);
        place.and_then(|place| text.get(place)).unwrap_or_default()
    }

    /// Takes all rows out.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.ids.clear();
        self.lines.clear();
        self.segments.clear();
    }
}

/// Orders scores as trec_eval does, best first: as 32-bit floats, 0 and -0 the same.
pub fn rank_key(score: f64) -> u32 {
    let bits = (score as f32 + 0.0).to_bits();
    if bits >> 31 == 1 { bits } else { !(bits | 1 << 31) }
}

/// The score that [`rank_key`] was made of.
pub fn score_of(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key } else { !(key | 1 << 31) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_scores_come_first() {
        let scores = [f64::INFINITY, 3e9, 2.5, 1e-30, 0.0, -1e-30, -1.0, -2.0, f64::NEG_INFINITY];
        assert!(scores.windows(2).all(|pair| rank_key(pair[0]) < rank_key(pair[1])));
        assert_eq!(rank_key(0.0), rank_key(-0.0));
        assert_eq!(rank_key(0.1), rank_key(f64::from(0.1f32)));
        for score in scores {
            assert_eq!(score_of(rank_key(score)), score as f32);
        }
    }
}
