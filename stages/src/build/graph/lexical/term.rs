//! Terms: the words of a passage that others gather around.

use std::collections::BTreeMap;

use petgraph::graph::{NodeIndex, UnGraph};

use super::super::page_rank::page_rank;
use super::candidates::{At, Candidates};

/// Words that are at most so far apart are joined by an edge (Mihalcea and Tarau 2004 take 2 to 10).
const WINDOW: usize = 3;
const DAMPING: f64 = 0.85;
const ROUNDS: u32 = 30;

/// A word that says something, where it stands, and whether the one before it in the list stands right before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Content {
    /// In small letters.
    pub(super) word: String,
    pub(super) at: At,
    pub(super) follows: bool,
}

/// Adds the terms of a passage to `candidates`: its words by their rank in the graph of words that stand near each other
/// (TextRank: Mihalcea and Tarau, "Bringing Order into Texts", 2004), and pairs of words that stand together twice, with the sum
/// of their ranks.
pub(super) fn add_terms(content: &[Content], candidates: &mut Candidates) {
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut words: Vec<(&str, Vec<At>)> = Vec::new();
    let mut numbers = Vec::with_capacity(content.len());
    for Content { word, at, .. } in content {
        let number = *index.entry(word).or_insert(words.len());
        match words.get_mut(number) {
            Some((_, places)) => places.push(*at),
            None => words.push((word, vec![*at])),
        }
        numbers.push(number);
    }
    let mut edges: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (i, (number, here)) in numbers.iter().zip(content).enumerate() {
        for (other, there) in numbers.iter().zip(content).skip(i + 1).take(WINDOW) {
            if here.at.sentence == there.at.sentence && number != other {
                *edges.entry((*number.min(other), *number.max(other))).or_insert(0.0) += 1.0;
            }
        }
    }
    let mut graph: UnGraph<(), f64> = UnGraph::with_capacity(words.len(), edges.len());
    for _ in &words {
        graph.add_node(());
    }
    for ((a, b), weight) in edges {
        graph.add_edge(NodeIndex::new(a), NodeIndex::new(b), weight);
    }
    let ranks = page_rank(&graph, &vec![1.0; words.len()], DAMPING, ROUNDS);
    let rank = |number: usize| ranks.get(number).copied().unwrap_or_default();
    let mut pairs: BTreeMap<(usize, usize), Vec<At>> = BTreeMap::new();
    for (pair, numbers) in content.windows(2).zip(numbers.windows(2)) {
        if let ([before, after], [a, b]) = (pair, numbers)
            && after.follows
            && a != b
        {
            pairs.entry((*a, *b)).or_default().push(before.at);
        }
    }
    for (number, (word, places)) in words.iter().enumerate() {
        candidates.add_term(word, rank(number), places);
    }
    for ((a, b), places) in pairs.iter().filter(|(_, places)| places.len() > 1) {
        if let (Some((first, _)), Some((second, _))) = (words.get(*a), words.get(*b)) {
            candidates.add_term(&format!("{first} {second}"), rank(*a) + rank(*b), places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_others_gather_around_ranks_first() {
        let sentence = |sentence: usize, words: &[&str]| -> Vec<Content> {
            let content = |(word, text): (usize, &&str)| Content {
                word: text.to_string(),
                at: At { sentence, word },
                follows: word > 0,
            };
            words.iter().enumerate().map(content).collect()
        };
        let mut content = sentence(0, &["row", "cache", "keeps", "rows"]);
        content.extend(sentence(1, &["row", "cache", "journal"]));
        content.extend(sentence(2, &["cache", "folder"]));
        let mut candidates = Candidates::default();
        add_terms(&content, &mut candidates);
        let best = candidates.best(2);
        let names: Vec<&str> = best.iter().map(|candidate| candidate.name.as_str()).collect();
        assert_eq!(names, ["cache", "row cache"]);
        assert_eq!(best[1].places, [At { sentence: 0, word: 0 }, At { sentence: 1, word: 0 }]);
        assert!(best[1].rank > best[0].rank);
    }

    #[test]
    fn a_passage_without_words_has_no_terms() {
        let mut candidates = Candidates::default();
        add_terms(&[], &mut candidates);
        assert!(candidates.list.is_empty());
    }
}
