//! The best one-to-one assignment of rows to columns.

/// The largest sum of `scores[row][column]` over pairs in which no row and no column is twice. All rows have one length; the
/// scores are finite. By the Hungarian method (Kuhn 1955) in the form with potentials, in O(r² c) for r rows and c columns, of
/// which the smaller is taken for r.
pub(super) fn best_sum(scores: &[Vec<f64>]) -> f64 {
    let columns = scores.first().map_or(0, Vec::len);
    let score = |row: usize, column: usize| scores.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0.0);
    if scores.len() <= columns {
        best(scores.len(), columns, score)
    } else {
        best(columns, scores.len(), |row, column| score(column, row))
    }
}

/// The same with no more rows than columns. Index 0 of the tables stands for no row and no column.
fn best(rows: usize, columns: usize, score: impl Fn(usize, usize) -> f64) -> f64 {
    let (mut row_potential, mut column_potential) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut from = vec![0; columns + 1];
        let mut reached = vec![false; columns + 1];
        while row_of[column] != 0 {
            reached[column] = true;
            let at = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for to in (1..=columns).filter(|&to| !reached[to]) {
                let cost = -score(at - 1, to - 1) - row_potential[at] - column_potential[to];
                if cost < least[to] {
                    least[to] = cost;
                    from[to] = column;
                }
                if least[to] < step {
                    step = least[to];
                    next = to;
                }
            }
            for to in 0..=columns {
                if reached[to] {
                    row_potential[row_of[to]] += step;
                    column_potential[to] -= step;
                } else {
                    least[to] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            let before = from[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    (1..=columns).filter(|&column| row_of[column] != 0).map(|column| score(row_of[column] - 1, column - 1)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By trying all.
    fn tried(scores: &[Vec<f64>], taken: &mut Vec<usize>) -> f64 {
        let Some(row) = scores.get(taken.len()) else {
            return taken.iter().enumerate().map(|(row, &column)| scores[row].get(column).unwrap_or(&0.0)).sum();
        };
        // A column past the last stands for none.
        let none = row.len() + taken.len();
        let mut best = f64::MIN;
        for column in (0..row.len()).chain([none]) {
            if !taken.contains(&column) {
                taken.push(column);
                best = best.max(tried(scores, taken));
                taken.pop();
            }
        }
        best
    }

    #[test]
    fn the_best_first_choice_is_not_always_the_best() {
        assert_eq!(best_sum(&[vec![0.9, 0.8], vec![0.8, 0.1]]), 1.6);
        assert_eq!(best_sum(&[vec![0.5], vec![0.75]]), 0.75);
        assert_eq!(best_sum(&[vec![0.5, 0.75]]), 0.75);
        assert_eq!(best_sum(&[]), 0.0);
        assert_eq!(best_sum(&[vec![], vec![]]), 0.0);
    }

    proptest! {
        #[test]
        fn none_is_better(rows in 1usize..5, columns in 1usize..5, cells in prop::collection::vec(0u8..5, 16)) {
            let scores: Vec<Vec<f64>> = (0..rows)
                .map(|row| (0..columns).map(|column| f64::from(cells[row * 4 + column]) / 4.0).collect())
                .collect();
            prop_assert!((best_sum(&scores) - tried(&scores, &mut Vec::new())).abs() < 1e-9);
        }
    }
}
