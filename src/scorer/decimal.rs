//! Numbers of a run file.

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Whole numbers up to this are doubles.
const MOST_EXACT: u64 = 1 << 53;

/// The double next to the number that `text` is, as C's `strtod` rounds it; `None` where it is none.
pub fn decimal(text: &[u8]) -> Option<f64> {
    plain(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
}

/// The same for short numbers without exponent: the quotient of two numbers that are exact is rounded once, and so right.
fn plain(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let mut number = 0u64;
    let mut count = 0usize;
    let mut point = None;
    // Nineteen digits always fit.
    for &byte in digits.get(..digits.len().min(20))? {
        match byte {
            b'0'..=b'9' => {
                number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                count += 1;
            }
            b'.' if point.is_none() => point = Some(count),
            _ => return None,
        }
    }
    if count == 0 || count > 19 || digits.len() > 20 || number > MOST_EXACT {
        return None;
    }
    let value = number as f64 / POWERS.get(count - point.unwrap_or(count))?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_a_number() {
        let numbers = [("1", 1.0), ("+2.5", 2.5), ("-.5", -0.5), ("3.", 3.0), ("1e3", 1000.0), ("-2.5E-1", -0.25)];
        for (text, value) in numbers {
            assert_eq!(decimal(text.as_bytes()), Some(value), "{text}");
        }
        assert_eq!(decimal(b"9007199254740993"), Some(9007199254740992.0));
        assert_eq!(decimal(b"99999999999999999999"), Some(1e20));
        assert_eq!(decimal(b"-0").map(f64::to_bits), Some((-0f64).to_bits()));
        for text in ["", "-", ".", "+.", "1.2.3", "1,5", "0x10", "one", "1e", "--1"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn rounded_as_the_standard_library_does(text in "[+-]?[0-9]{1,12}(\\.[0-9]{0,12})?") {
            prop_assert_eq!(decimal(text.as_bytes()), text.parse().ok());
        }
    }
}
