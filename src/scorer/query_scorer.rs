//! Scores the rows of one query.

use ragstage_stages::score::measures::{JudgedRanking, Measure};

use super::judged_queries::JudgedQuery;

/// Puts the rows of a query in trec_eval's order and measures them. Its tables are used again for the next query.
#[derive(Debug, Default)]
pub struct QueryScorer {
    /// Open addressing: the upper half of a hash above the row's number + 1; 0 is free.
    table: Vec<u64>,
    /// Keys above row numbers, best first; empty where the rows are in order.
    order: Vec<u64>,
    /// The rank of each row, where they are not in order.
    ranks: Vec<u32>,
    grades: Vec<Option<i64>>,
}

/// Two rows of one query with the same document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twins {
    /// The earlier row.
    pub first: usize,
    /// The later row.
    pub second: usize,
}

impl QueryScorer {
    /// Looks for documents that stand twice among rows with these ids.
    ///
    /// # Errors
    /// The first that does.
    pub fn check<'i>(&mut self, rows: usize, id: impl Fn(usize) -> &'i [u8]) -> Result<(), Twins> {
        let size = (rows * 2).next_power_of_two().max(2);
        self.table.clear();
        self.table.resize(size, 0);
        let mask = size - 1;
        for row in 0..rows {
            let text = id(row);
            let hash = hash(text);
            let mut slot = hash as usize & mask;
            while let Some(entry) = self.table.get_mut(slot) {
                if *entry == 0 {
                    *entry = hash >> 32 << 32 | (row as u64 + 1);
                    break;
                }
                let earlier = (*entry & 0xffff_ffff) as usize - 1;
                if *entry >> 32 == hash >> 32 && id(earlier) == text {
                    return Err(Twins { first: earlier, second: row });
                }
                slot = (slot + 1) & mask;
            }
        }
        Ok(())
    }

    /// The row with this id among those that were last checked.
    fn find<'i>(&self, hash: u64, text: &[u8], id: &impl Fn(usize) -> &'i [u8]) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = hash as usize & mask;
        loop {
            let entry = *self.table.get(slot)?;
            let row = ((entry & 0xffff_ffff) as usize).checked_sub(1)?;
            if entry >> 32 == hash >> 32 && id(row) == text {
                return Some(row);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Row numbers in trec_eval's order: by key, then by id descending.
    pub fn order<'i>(&mut self, keys: &[u32], id: impl Fn(usize) -> &'i [u8]) -> impl Iterator<Item = usize> {
        self.sort(keys, &id);
        let sorted = !self.order.is_empty();
        let rows = if sorted { 0 } else { keys.len() };
        self.order.iter().map(|entry| (entry & 0xffff_ffff) as usize).chain(0..rows)
    }

    fn sort<'i>(&mut self, keys: &[u32], id: &impl Fn(usize) -> &'i [u8]) {
        self.order.clear();
        let in_order = keys.windows(2).enumerate().all(|(row, pair)| match pair {
            [a, b] => a < b || (a == b && id(row) > id(row + 1)),
            _ => true,
        });
        if in_order {
            return;
        }
        self.order.extend(keys.iter().zip(0u64..).map(|(key, row)| u64::from(*key) << 32 | row));
        self.order.sort_unstable();
        for ties in self.order.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|ties| ties.len() > 1) {
            ties.sort_unstable_by(|a, b| id((b & 0xffff_ffff) as usize).cmp(id((a & 0xffff_ffff) as usize)));
        }
    }

    /// Adds the value of each of `measures` to `values`.
    ///
    /// # Errors
    /// When a document stands twice.
    pub fn score<'i>(
        &mut self,
        query: &JudgedQuery,
        measures: &[&dyn Measure],
        keys: &[u32],
        id: impl Fn(usize) -> &'i [u8],
        values: &mut Vec<f64>,
    ) -> Result<(), Twins> {
        self.check(keys.len(), &id)?;
        self.sort(keys, &id);
        self.ranks.clear();
        if !self.order.is_empty() {
            self.ranks.resize(keys.len(), 0);
            for (entry, rank) in self.order.iter().zip(0u32..) {
                if let Some(place) = self.ranks.get_mut((entry & 0xffff_ffff) as usize) {
                    *place = rank;
                }
            }
        }
        self.grades.clear();
        self.grades.resize(keys.len(), None);
        for document in &query.documents {
            let Some(row) = self.find(document.hash, &document.id, &id) else { continue };
            let rank = self.ranks.get(row).map_or(row, |rank| *rank as usize);
            if let Some(grade) = self.grades.get_mut(rank) {
                *grade = Some(document.grade);
            }
        }
        let ranking = JudgedRanking { grades: &self.grades, judgements: &query.judgements };
        values.extend(measures.iter().map(|measure| measure.value(&ranking)));
        Ok(())
    }
}

/// A hash of an id, for tables in memory only.
pub fn hash(id: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64| {
        let wide = u128::from(a) * u128::from(MULTIPLIER);
        (wide as u64) ^ (wide >> 64) as u64
    };
    let (words, rest) = id.as_chunks::<8>();
    let mut hash = id.len() as u64 ^ 0x2545_f491_4f6c_dd1d;
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word));
    }
    let mut last = 0u64;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    fold(hash ^ last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::rows::rank_key;

    fn order(rows: &[(f64, &str)]) -> Vec<usize> {
        let keys: Vec<u32> = rows.iter().map(|(score, _)| rank_key(*score)).collect();
        QueryScorer::default().order(&keys, |row| rows[row].1.as_bytes()).collect()
    }

    #[test]
    fn equal_scores_are_ordered_by_id_descending() {
        assert_eq!(order(&[(3.0, "a"), (2.0, "c"), (2.0, "b")]), [0, 1, 2]);
        assert_eq!(order(&[(1.0, "a"), (2.0, "b"), (2.0, "c"), (2.0, "ca")]), [3, 2, 1, 0]);
        assert_eq!(order(&[(0.0, "a"), (-0.0, "b"), (-1.0, "c")]), [1, 0, 2]);
        assert_eq!(order(&[]), [0usize; 0]);
    }

    #[test]
    fn twins_are_found_and_others_are_not() {
        let ids: Vec<String> = (0..3000).map(|i| format!("doc_{}", i * 7)).collect();
        let mut scorer = QueryScorer::default();
        assert_eq!(scorer.check(ids.len(), |row| ids[row].as_bytes()), Ok(()));
        let id = |row: usize| ids[row].as_bytes();
        for (i, text) in ids.iter().enumerate() {
            assert_eq!(scorer.find(hash(text.as_bytes()), text.as_bytes(), &id), Some(i));
        }
        assert_eq!(scorer.find(hash(b"doc_1"), b"doc_1", &id), None);
        let mut ids = ids.clone();
        ids[2999] = "doc_7".to_string();
        let twins = scorer.check(ids.len(), |row| ids[row].as_bytes());
        assert_eq!(twins, Err(Twins { first: 1, second: 2999 }));
    }
}
