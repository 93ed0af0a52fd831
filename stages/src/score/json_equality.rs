//! When two JSON values are the same.

use serde_json::{Number, Value};

/// Whether truth values are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Booleans {
    /// `true` is no number.
    Apart,
    /// `true` is 1 and `false` is 0, as in Python.
    AreNumbers,
}

/// Typed equality: texts with texts, numbers by value (4 is 4.0), lists and objects entry by entry.
pub(crate) fn equal(a: &Value, b: &Value, booleans: Booleans) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => equal_numbers(a, b),
        (Value::Bool(flag), Value::Number(number)) | (Value::Number(number), Value::Bool(flag)) => {
            booleans == Booleans::AreNumbers && equal_numbers(number, &Number::from(u8::from(*flag)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, booleans)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other, booleans)))
        }
        _ => a == b,
    }
}

fn equal_numbers(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// The number as an integer, where it is one. Exact, so that a double does not equal an integer it cannot hold.
fn integer(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i64() {
        return Some(i128::from(value));
    }
    if let Some(value) = number.as_u64() {
        return Some(i128::from(value));
    }
    number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 1e38).map(|value| value as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_by_value_and_types_apart() {
        let strictly = |a, b| equal(&a, &b, Booleans::Apart);
        assert!(strictly(json!(4), json!(4.0)));
        assert!(!strictly(json!(4), json!("4")));
        assert!(!strictly(json!(1), json!(true)));
        assert!(!strictly(json!(9007199254740993u64), json!(9007199254740992.0)));
        assert!(strictly(json!({"r": 1, "c": ["B"]}), json!({"c": ["B"], "r": 1.0})));
        assert!(!strictly(json!([1, 2]), json!([1, 2, 3])));
        assert!(strictly(json!(1e300), json!(1e300)));
        let loosely = |a, b| equal(&a, &b, Booleans::AreNumbers);
        assert!(loosely(json!([true, 0]), json!([1, false])));
        assert!(!loosely(json!(true), json!("True")));
    }
}
