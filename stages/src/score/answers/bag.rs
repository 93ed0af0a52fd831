//! Bags: collections in which things may be more than once.

use std::cmp::Ordering;

/// How many things two bags have in common, each as often as both have it; both are sorted.
pub(super) fn common<T: Ord>(one: &[T], other: &[T]) -> usize {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut common = 0;
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        match a.cmp(b) {
            Ordering::Less => drop(one.next()),
            Ordering::Greater => drop(other.next()),
            Ordering::Equal => {
                common += 1;
                one.next();
                other.next();
            }
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_counts_as_often_as_both_have_it() {
        assert_eq!(common(&["a", "a", "b", "d"], &["a", "a", "a", "c", "d"]), 3);
        assert_eq!(common::<u8>(&[], &[1]), 0);
    }
}
