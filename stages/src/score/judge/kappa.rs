//! How far two who judge the same cases agree beyond chance.

use std::collections::BTreeMap;

/// What labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KappaScale {
    /// Words without an order: two labels are the same or not.
    Nominal,
    /// Numbers: the further apart two labels are, the worse (quadratic weights).
    Ordinal,
}

/// Agreement of two on the same cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// How many cases both judged.
    pub cases: usize,
    /// Share of the cases on which both say the same.
    pub same: f64,
    /// Cohen's kappa (Cohen 1960); with [`KappaScale::Ordinal`] weighted by squared distance (Cohen 1968). 1 is perfect, 0 is
    /// what chance would give. `None` where both always say one and the same, for then chance agrees as well.
    pub kappa: Option<f64>,
}

/// How far the two labels of each pair agree; `None` of no pair. Labels of [`KappaScale::Ordinal`] are numbers; where one is not,
/// they are compared as words.
pub fn agreement(scale: KappaScale, pairs: &[(String, String)]) -> Option<Agreement> {
    if pairs.is_empty() {
        return None;
    }
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Option<Vec<(f64, f64)>> = match scale {
        KappaScale::Nominal => None,
        KappaScale::Ordinal => pairs.iter().map(|(one, other)| Some((number(one)?, number(other)?))).collect(),
    };
    let count = pairs.len() as f64;
    let (same, observed, expected) = match numbers {
        Some(numbers) => {
            let square = |one: f64, other: f64| (one - other) * (one - other);
            let observed: f64 = numbers.iter().map(|(one, other)| square(*one, *other)).sum();
            let expected: f64 =
                numbers.iter().flat_map(|(one, _)| numbers.iter().map(|(_, other)| square(*one, *other))).sum();
            let same = numbers.iter().filter(|(one, other)| one == other).count();
            (same, observed / count, expected / (count * count))
        }
        None => {
            let mut ones: BTreeMap<&str, f64> = BTreeMap::new();
            let mut others: BTreeMap<&str, f64> = BTreeMap::new();
            for (one, other) in pairs {
                *ones.entry(one.trim()).or_default() += 1.0;
                *others.entry(other.trim()).or_default() += 1.0;
            }
            let chance: f64 = ones.iter().map(|(label, count)| count * others.get(label).unwrap_or(&0.0)).sum();
            let same = pairs.iter().filter(|(one, other)| one.trim() == other.trim()).count();
            (same, 1.0 - same as f64 / count, 1.0 - chance / (count * count))
        }
    };
    // Of numbers whose squares are infinite nothing is known.
    let kappa = (expected > 0.0 && expected.is_finite()).then(|| 1.0 - observed / expected);
    Some(Agreement { cases: pairs.len(), same: same as f64 / count, kappa })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scale: KappaScale, counts: &[(&str, &str, usize)]) -> Agreement {
        let pairs: Vec<(String, String)> =
            counts.iter().flat_map(|(one, other, count)| vec![(one.to_string(), other.to_string()); *count]).collect();
        agreement(scale, &pairs).expect("pairs")
    }

    #[test]
    fn as_worked_out_by_hand() {
        // Observed 35/50; by chance (25*30 + 25*20)/2500 = 1/2.
        let found =
            of(KappaScale::Nominal, &[("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)]);
        assert_eq!((found.cases, found.same), (50, 0.7));
        assert!((found.kappa.expect("kappa") - 0.4).abs() < 1e-12);
        // Squared distances: 0, 1, 4, 0 of four pairs, 5/4. By chance, ones 0 1 2 4 and others 0 2 4 4:
        // (0+4+16+16 + 1+1+9+9 + 4+0+4+4 + 16+4+0+0)/16 = 88/16.
        let found = of(KappaScale::Ordinal, &[("0", "0", 1), ("1", "2", 1), ("2", "4", 1), ("4", "4", 1)]);
        assert!((found.kappa.expect("kappa") - (1.0 - 1.25 / 5.5)).abs() < 1e-12);
        assert_eq!(found.same, 0.5);
    }

    #[test]
    fn one_label_alone_has_no_kappa() {
        assert_eq!(of(KappaScale::Nominal, &[("yes", "yes", 3)]).kappa, None);
        assert_eq!(of(KappaScale::Ordinal, &[("4", "4.0", 3)]), Agreement { cases: 3, same: 1.0, kappa: None });
        assert_eq!(of(KappaScale::Nominal, &[("yes", "no", 3)]).kappa, Some(0.0));
        assert_eq!(agreement(KappaScale::Nominal, &[]), None);
        assert_eq!(of(KappaScale::Ordinal, &[("1e300", "0", 1), ("0", "1e300", 1)]).kappa, None);
    }
}
