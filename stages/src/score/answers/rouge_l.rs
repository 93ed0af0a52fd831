//! `rouge_l`: the longest common subsequence of words of answer and gold answer.

use super::rouge::{CITATION, PARAMETERS, Shared, build};
use crate::score::definition::{CutoffRule, Definition};

pub(crate) static ROUGE_L: Definition = Definition {
    name: "rouge_l",
    pretty: "ROUGE-L",
    description: "F-measure of the longest common subsequence of words of answer and gold answer, for the best gold answer",
    citation: Some(CITATION),
    higher_is_better: true,
    other_names: &["rougel", "rouge-l", "rouge_lcs"],
    cutoff: CutoffRule::None,
    parameters: &PARAMETERS,
    code_version: 1,
    build: |identity| {
        Ok(build(identity, |answer, gold| Shared {
            shared: common_subsequence(answer, gold),
            answer: answer.len(),
            gold: gold.len(),
        }))
    },
};

/// The length of the longest common subsequence, 64 words of `gold` at a time (Hyyrö. Bit-Parallel LCS-length Computation
/// Revisited. AWOCA 2004): a zero in `row` is a place of `gold` at which a common subsequence of what was read grows.
fn common_subsequence(answer: &[&str], gold: &[&str]) -> usize {
    let mut places: Vec<(&str, usize)> = gold.iter().enumerate().map(|(place, word)| (*word, place)).collect();
    places.sort_unstable();
    let mut row = vec![u64::MAX; gold.len().div_ceil(64)];
    let mut matches = vec![0u64; row.len()];
    for word in answer {
        let first = places.partition_point(|(known, _)| known < word);
        let here = || places.iter().skip(first).take_while(|(known, _)| known == word).map(|(_, place)| *place);
        if here().next().is_none() {
            continue;
        }
        set(&mut matches, here());
        let mut carry = false;
        for (bits, matched) in row.iter_mut().zip(&matches) {
            let both = *bits & matched;
            let (sum, over) = bits.overflowing_add(both);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *bits = sum | (*bits & !matched);
        }
        matches.fill(0);
    }
    // Bits beyond the last word match nothing, and no carry takes a one from them: they stay ones.
    row.iter().map(|bits| bits.count_zeros() as usize).sum()
}

fn set(bits: &mut [u64], places: impl Iterator<Item = usize>) {
    for place in places {
        if let Some(bits) = bits.get_mut(place / 64) {
            *bits |= 1 << (place % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::score::test_case::score;

    /// The textbook's table.
    fn by_table(one: &[&str], other: &[&str]) -> usize {
        let mut row = vec![0; other.len() + 1];
        for a in one {
            let mut diagonal = 0;
            for (j, b) in other.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if a == b { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[other.len()]
    }

    proptest! {
        #[test]
        fn bits_find_what_the_table_finds(
            answer in prop::collection::vec(0usize..6, 0..150),
            gold in prop::collection::vec(0usize..6, 0..150),
        ) {
            let words = ["a", "b", "c", "d", "e", "f"];
            let of = |ids: &[usize]| -> Vec<&str> { ids.iter().map(|id| words[*id]).collect() };
            let (answer, gold) = (of(&answer), of(&gold));
            prop_assert_eq!(common_subsequence(&answer, &gold), by_table(&answer, &gold));
        }
    }

    fn value(text: &str, gold: &[&str], answer: &str) -> f64 {
        score(text, gold, answer).value.and_then(|value| value.number()).expect("a number")
    }

    #[test]
    fn the_example_of_the_paper() {
        // Lin 2004, section 3: S2 has an LCS of 3 of 4 words with S1, S3 one of 2.
        let gold = ["police killed the gunman"];
        assert_eq!(value("rouge_l", &gold, "police kill the gunman"), 0.75);
        assert_eq!(value("rouge_l", &gold, "the gunman kill police"), 0.5);
        assert_eq!(value("rouge_l(stem=porter)", &gold, "police kill the gunman"), 1.0);
        assert_eq!(value("rouge_2", &gold, "the gunman kill police"), 1.0 / 3.0);
    }

    #[test]
    fn recall_counts_as_often_as_beta_says() {
        // P 1/2, R 1/4.
        let f = |text: &str| value(text, &["red fox ran home"], "red hat");
        assert!((f("rouge_l") - 1.0 / 3.0).abs() < 1e-12);
        assert!((f("rouge_l(beta=2)") - 5.0 * 0.125 / (0.25 + 4.0 * 0.5)).abs() < 1e-12);
        assert_eq!(f("rouge_l(beta=0)"), 0.5);
        assert_eq!(value("rouge_l", &["", "x"], ""), 0.0);
    }

    /// Values of rouge-score 0.1.2.
    #[test]
    fn values_of_rouge_score() {
        let vectors: [(&str, &str, [f64; 3], [f64; 3]); 7] = [
            (
                "The quick brown foxes were jumping over two lazy dogs.",
                "A quick brown fox jumps over the laziest of dogs!",
                [0.5, 0.1111111111111111, 0.4000000000000001],
                [0.7, 0.3333333333333333, 0.6],
            ),
            (
                "Revenue rose 3.1% to $1,204 million in Q4-2019.",
                "In Q4 2019, revenues rising by 3.1 % reached 1,204 million dollars",
                [0.6666666666666667, 0.45454545454545453, 0.41666666666666663],
                [0.7500000000000001, 0.45454545454545453, 0.4999999999999999],
            ),
            (
                "It is blue; it is not green, it is blue.",
                "blue it is it is",
                [0.6666666666666666, 0.46153846153846156, 0.6666666666666666],
                [0.6666666666666666, 0.46153846153846156, 0.6666666666666666],
            ),
            (
                "Le café était fermé à midi",
                "the cafe was closed at noon; café fermé",
                [0.3076923076923077, 0.0, 0.3076923076923077],
                [0.3076923076923077, 0.0, 0.3076923076923077],
            ),
            (
                "operational necessities were relationally conditional",
                "the operation needed conditions and relational relations",
                [0.0, 0.0, 0.0],
                [0.5, 0.0, 0.3333333333333333],
            ),
            ("", "something", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
            (
                "one two three four five six seven eight nine ten one two three",
                "ten nine eight one two three seven three two one two",
                [0.8333333333333333, 0.2727272727272727, 0.4999999999999999],
                [0.8333333333333333, 0.2727272727272727, 0.4999999999999999],
            ),
        ];
        for (answer, gold, plain, stemmed) in vectors {
            for (measure, (plain, stemmed)) in ["rouge_1", "rouge_2", "rouge_l"].iter().zip(plain.iter().zip(stemmed)) {
                let found = value(measure, &[gold], answer);
                assert!((found - plain).abs() < 1e-12, "{measure} of {answer}: {found}, not {plain}");
                let found = value(&format!("{measure}(stem=porter)"), &[gold], answer);
                assert!((found - stemmed).abs() < 1e-12, "stemmed {measure} of {answer}: {found}, not {stemmed}");
            }
        }
    }
}
