//! Columns: in which order the parts of a page are read.

use super::word::Stretch;

/// Half of the least width of a gutter, in ems.
const HALF_GUTTER: f64 = 0.35;

/// A stretch of running text is at least this wide, in ems: shorter ones are cells of a table, or ends of paragraphs.
const PROSE_WIDTH: f64 = 9.0;

/// On each side of a gutter there are at least so many lines of running text.
const FEWEST_LINES: usize = 3;

/// How often a part of a page may be parted again.
const MOST_PARTINGS: usize = 40;

/// A vertical strip that no line crosses, with running text on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gutter {
    at: f64,
    /// Positions of the first and past the last stretch beside it.
    first: usize,
    last: usize,
    /// Characters of running text on the side that has fewer.
    weight: usize,
}

/// The parts of a page in the order of reading, each of one column: what is above two columns, the left one, the right one,
/// and what is below them. Cells of a table are no columns, so its rows stay together.
pub(super) fn blocks(mut stretches: Vec<Stretch>) -> Vec<Vec<Stretch>> {
    stretches.sort_by(|a, b| b.base.total_cmp(&a.base).then(a.start.total_cmp(&b.start)));
    let mut blocks = Vec::new();
    // What is read first is on top.
    let mut parts = vec![(stretches, MOST_PARTINGS)];
    while let Some((mut part, partings)) = parts.pop() {
        let gutter = if partings > 0 { gutter(&part) } else { None };
        match gutter {
            None => blocks.push(part),
            Some(gutter) => {
                let below = part.split_off(gutter.last);
                let beside = part.split_off(gutter.first);
                let (left, right) = beside.into_iter().partition(|stretch| stretch.end <= gutter.at);
                parts.extend([below, right, left, part].map(|part| (part, partings - 1)));
            }
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The gutter with the most text beside it, of stretches sorted from the top.
fn gutter(stretches: &[Stretch]) -> Option<Gutter> {
    let prose: Vec<&Stretch> = stretches.iter().filter(|stretch| is_prose(stretch)).collect();
    if prose.len() < 2 * FEWEST_LINES {
        return None;
    }
    // A gutter begins where a line of the left column ends; of lines that end together, where the longest does.
    let mut places: Vec<f64> = prose.iter().map(|stretch| stretch.end + HALF_GUTTER * stretch.size).collect();
    places.sort_by(|a, b| b.total_cmp(a));
    places.dedup_by(|a, b| (*a - *b).abs() < 1.0);
    let gutters = places.into_iter().filter_map(|at| longest(stretches, at));
    gutters.max_by_key(|gutter| gutter.weight)
}

fn is_prose(stretch: &Stretch) -> bool {
    stretch.end - stretch.start >= PROSE_WIDTH * stretch.size
}

/// What stands on one side of a gutter.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    lines: usize,
    prose: usize,
    characters: usize,
}

impl Side {
    fn add(&mut self, stretch: &Stretch) {
        let characters = stretch.characters();
        self.characters += characters;
        if is_prose(stretch) {
            self.lines += 1;
            self.prose += characters;
        }
    }

    fn is_column(&self) -> bool {
        self.lines >= FEWEST_LINES && self.prose * 10 >= self.characters * 4
    }
}

/// The piece of the vertical at `at` that is the best gutter.
fn longest(stretches: &[Stretch], at: f64) -> Option<Gutter> {
    let crossing = |stretch: &Stretch| !is_left(stretch, at) && !is_right(stretch, at);
    let mut best: Option<Gutter> = None;
    let mut first = 0;
    while first < stretches.len() {
        let free = stretches.iter().skip(first).take_while(|stretch| !crossing(stretch)).count();
        let gutter = between(stretches, first, first + free, at);
        if let Some(gutter) = gutter.filter(|gutter| best.is_none_or(|best| best.weight < gutter.weight)) {
            best = Some(gutter);
        }
        first += free + 1;
    }
    best
}

/// The gutter beside the stretches from `first` to `last`, if they are columns.
fn between(stretches: &[Stretch], first: usize, last: usize, at: f64) -> Option<Gutter> {
    // What is on the same line as a stretch that crosses is not beside the gutter, but above or below it.
    let is_on_line = |stretch: &Stretch, other: Option<&Stretch>| {
        other.is_some_and(|other| (stretch.base - other.base).abs() < 0.5 * stretch.size.min(other.size))
    };
    let above = first.checked_sub(1).and_then(|above| stretches.get(above));
    let below = stretches.get(last);
    let free = stretches.get(first..last).unwrap_or_default();
    let skipped = free.iter().take_while(|stretch| is_on_line(stretch, above)).count();
    let left_out = free.iter().skip(skipped).rev().take_while(|stretch| is_on_line(stretch, below)).count();
    let (first, last) = (first + skipped, last - left_out);
    let (mut left, mut right) = (Side::default(), Side::default());
    for stretch in stretches.get(first..last)? {
        if is_left(stretch, at) { left.add(stretch) } else { right.add(stretch) }
    }
    let weight = left.prose.min(right.prose);
    (left.is_column() && right.is_column()).then_some(Gutter { at, first, last, weight })
}

fn is_left(stretch: &Stretch, at: f64) -> bool {
    // A little less than the width that the place was chosen with, for sums of fractions.
    stretch.end <= at - 0.99 * HALF_GUTTER * stretch.size
}

fn is_right(stretch: &Stretch, at: f64) -> bool {
    stretch.start >= at + 0.99 * HALF_GUTTER * stretch.size
}

#[cfg(test)]
mod tests {
    use super::super::word::Word;
    use super::*;

    /// A stretch of 10 points from `start` to `end`, named by its only word, which is as long as the stretch is wide.
    fn stretch(name: &str, start: f64, end: f64, base: f64) -> Stretch {
        let text = format!("{name:x<width$}", width = ((end - start) / 5.0) as usize);
        let word = Word { text, start, end, base, size: 10.0, is_spaced: (false, false) };
        Stretch { words: vec![word], start, end, base, size: 10.0 }
    }

    fn order(stretches: Vec<Stretch>) -> Vec<Vec<String>> {
        let name = |stretch: &Stretch| stretch.words[0].text.trim_end_matches('x').to_string();
        blocks(stretches).iter().map(|block| block.iter().map(name).collect()).collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let mut page = vec![stretch("title", 100.0, 500.0, 800.0), stretch("foot", 250.0, 350.0, 10.0)];
        for line in 0..4u32 {
            let base = 700.0 - 12.0 * f64::from(line);
            page.push(stretch(&format!("l{line}"), 50.0, 290.0 - f64::from(line % 2), base));
            page.push(stretch(&format!("r{line}"), 310.0, 550.0, base - 3.0));
        }
        assert_eq!(
            order(page),
            [vec!["title"], vec!["l0", "l1", "l2", "l3"], vec!["r0", "r1", "r2", "r3"], vec!["foot"]]
        );
    }

    #[test]
    fn a_table_is_no_columns() {
        let mut page = Vec::new();
        for line in 0..8u32 {
            let base = 700.0 - 12.0 * f64::from(line);
            page.push(stretch(&format!("l{line}"), 50.0, 290.0, base));
            page.push(stretch(&format!("n{line}"), 400.0, 440.0, base));
            page.push(stretch(&format!("m{line}"), 500.0, 540.0, base));
        }
        assert_eq!(order(page).len(), 1);
    }

    #[test]
    fn three_columns() {
        let mut page = Vec::new();
        for line in 0..5u32 {
            for column in 0..3u32 {
                let start = 50.0 + 180.0 * f64::from(column);
                page.push(stretch(&format!("{column}.{line}"), start, start + 160.0, 700.0 - 12.0 * f64::from(line)));
            }
        }
        let firsts: Vec<String> = order(page).iter().map(|block| block[0].clone()).collect();
        assert_eq!(firsts, ["0.0", "1.0", "2.0"]);
    }

    #[test]
    fn an_empty_page_has_no_blocks() {
        assert_eq!(order(Vec::new()).len(), 0);
    }
}
