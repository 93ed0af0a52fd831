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

/// As [`common`], of words in whatever order.
pub(super) fn common_words<W: Ord + Copy>(one: &[W], other: &[W]) -> usize {
    // Most answers are short, and to look at each pair of words takes less than to sort them. A bit for each word that is taken.
    const FEW: usize = 256;
    if one.len() > u64::BITS as usize || one.len() * other.len() > FEW {
        let [mut one, mut other] = [one, other].map(<[W]>::to_vec);
        one.sort_unstable();
        other.sort_unstable();
        return common(&one, &other);
    }
    let mut taken = 0u64;
    for word in other {
        let free = one.iter().enumerate().find(|(at, known)| taken & (1 << at) == 0 && *known == word);
        if let Some((at, _)) = free {
            taken |= 1 << at;
        }
    }
    taken.count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_counts_as_often_as_both_have_it() {
        assert_eq!(common(&["a", "a", "b", "d"], &["a", "a", "a", "c", "d"]), 3);
        assert_eq!(common::<u8>(&[], &[1]), 0);
    }

    proptest::proptest! {
        #[test]
        fn words_need_no_order(one in "[ab ]{0,200}", other in "[ab ]{0,60}") {
            let [one, other]: [Vec<&str>; 2] = [&one, &other].map(|text| text.split(' ').collect());
            let [mut a, mut b] = [one.clone(), other.clone()];
            a.sort();
            b.sort();
            proptest::prop_assert_eq!(common_words(&one, &other), common(&a, &b));
        }
    }
}
