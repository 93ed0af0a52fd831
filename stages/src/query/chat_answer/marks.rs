//! Citations in a reply: `[1]`, `[2, 3]`, `[1-3]`.

/// The passages that a reply cites.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// Their numbers in order of first appearance, each once.
    pub(super) numbers: Vec<usize>,
    /// How many numbers are those of no passage.
    pub(super) out_of_range: u64,
}

impl Marks {
    /// What `text` cites of `passages` passages. Brackets that hold anything but numbers, ranges and commas cite nothing.
    pub(super) fn of(text: &str, passages: usize) -> Self {
        let mut marks = Marks::default();
        // What stands between an opening bracket and the next bracket, if that closes it.
        for inner in text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(inner, _)| inner) {
            if let Some(ranges) = inner.split([',', ';']).map(range).collect::<Option<Vec<_>>>() {
                ranges.into_iter().for_each(|(first, last)| marks.add(first, last, passages));
            }
        }
        marks
    }

    fn add(&mut self, first: u64, last: u64, passages: usize) {
        let known = passages as u64;
        let (from, to) = (first.max(1), last.min(known));
        let inside = if from <= to { to - from + 1 } else { 0 };
        self.out_of_range = self.out_of_range.saturating_add((last - first).saturating_add(1).saturating_sub(inside));
        for number in (from..=to).filter_map(|number| usize::try_from(number).ok()) {
            if !self.numbers.contains(&number) {
                self.numbers.push(number);
            }
        }
    }
}

/// A number, or a range of numbers in ascending order. One that is too large to be read is that of no passage.
fn range(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| {
        let digits = text.trim();
        let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        sound.then(|| digits.parse::<u64>().unwrap_or(u64::MAX))
    };
    match text.split_once(['-', '–']) {
        Some((first, last)) => Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last),
        None => number(text).map(|number| (number, number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> (Vec<usize>, u64) {
        let marks = Marks::of(text, 4);
        (marks.numbers, marks.out_of_range)
    }

    #[test]
    fn numbers_lists_and_ranges_are_read_in_order_of_first_appearance() {
        assert_eq!(marks("In 1871 [3]. It burns oil [1, 3][2]."), (vec![3, 1, 2], 0));
        assert_eq!(marks("Both [2-4] and [ 1 – 2 ; 4 ]."), (vec![2, 3, 4, 1], 0));
        assert_eq!(marks("Nothing."), (vec![], 0));
    }

    #[test]
    fn numbers_of_no_passage_are_counted() {
        assert_eq!(marks("[0] [5] [4-6] [7, 2]"), (vec![4, 2], 5));
        assert_eq!(marks("[1-18446744073709551615]").0, [1, 2, 3, 4]);
        assert_eq!(marks("[99999999999999999999999]"), (vec![], 1));
    }

    #[test]
    fn other_brackets_cite_nothing() {
        assert_eq!(marks("[a] [] [1a] [-1] [1-] [3-1] [1, ] [[2]] [^1] [1"), (vec![2], 0));
        assert_eq!(marks("[see [1]"), (vec![1], 0));
    }
}
