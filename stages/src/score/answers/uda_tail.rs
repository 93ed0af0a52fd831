//! Where UDA-Benchmark's models say their answer.

const MARK: &str = "The answer is:";

/// What follows the last `The answer is:` of `answer`, to the letter; all of it where it does not say so.
pub(super) fn tail(answer: &str) -> &str {
    answer.rsplit(MARK).next().unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts_to_the_letter() {
        assert_eq!(tail("The answer is: 4. No. The answer is: 5"), " 5");
        assert_eq!(tail("the answer is: 4"), "the answer is: 4");
        assert_eq!(tail(""), "");
    }
}
