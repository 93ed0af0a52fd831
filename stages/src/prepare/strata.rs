//! How many of each category are drawn.

/// How many to draw of each of `sizes`, `count` in all: as many in proportion as there are (largest remainders; of equal
/// ones the first), but of each at least one where `count` allows it. Everything where there are not more than `count`.
pub fn quotas(sizes: &[usize], count: usize) -> Vec<usize> {
    let total: usize = sizes.iter().sum();
    if total <= count {
        return sizes.to_vec();
    }
    let share = |size: usize| size as u128 * count as u128;
    let whole = |size: usize| usize::try_from(share(size) / total as u128).unwrap_or(size);
    let least = usize::from(count >= sizes.iter().filter(|size| **size > 0).count());
    let mut quotas: Vec<usize> = sizes.iter().map(|size| whole(*size).max(least.min(*size))).collect();
    let mut drawn: usize = quotas.iter().sum();
    // How far a quota is from its share, in parts of one `total`th; positive where it is below.
    let below = |size: usize, quota: usize| share(size) as i128 - (quota as u128 * total as u128) as i128;
    while drawn != count {
        let positions = sizes.iter().zip(&quotas).enumerate();
        let changed = if drawn < count {
            let open = positions.filter(|(_, (size, quota))| quota < size);
            open.max_by_key(|(i, (size, quota))| (below(**size, **quota), std::cmp::Reverse(*i)))
                .map(|(i, _)| (i, true))
        } else {
            let open = positions.filter(|(_, (_, quota))| **quota > least);
            open.min_by_key(|(i, (size, quota))| (below(**size, **quota), std::cmp::Reverse(*i)))
                .map(|(i, _)| (i, false))
        };
        match changed.and_then(|(i, more)| Some((quotas.get_mut(i)?, more))) {
            Some((quota, true)) => {
                *quota += 1;
                drawn += 1;
            }
            Some((quota, false)) => {
                *quota -= 1;
                drawn -= 1;
            }
            None => break,
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::quotas;

    #[test]
    fn shares_are_in_proportion_and_nobody_is_left_out() {
        for (sizes, count, expected) in [
            (&[282, 321, 96, 841][..], 80, &[14, 17, 5, 44][..]),
            (&[282, 321, 96, 841], 4, &[1, 1, 1, 1]),
            (&[282, 321, 96, 841], 3, &[0, 1, 0, 2]),
            (&[282, 321, 96, 841], 0, &[0, 0, 0, 0]),
            (&[1, 1000], 10, &[1, 9]),
            (&[1, 1, 1000], 3, &[1, 1, 1]),
            (&[5, 5, 5], 7, &[3, 2, 2]),
            (&[5, 5], 10, &[5, 5]),
            (&[5, 5], 99, &[5, 5]),
            (&[0, 4, 4], 2, &[0, 1, 1]),
            (&[], 3, &[]),
        ] {
            assert_eq!(quotas(sizes, count), expected, "{count} of {sizes:?}");
        }
    }
}
