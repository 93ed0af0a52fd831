//! Our own draw: documents and questions are ordered by a hash of seed and id, and the first are taken. So it does not matter
//! in which order the files have them, and one more changes little.

use std::collections::{BTreeMap, BTreeSet};

use ragstage_cache::Digest;
use ragstage_stages::prepare::quotas;

use super::drawn::{Drawn, DrawnDocument};
use super::pool::Pool;

/// Draws from `pool`; documents and their questions stay in its order.
pub fn draw(pool: &Pool, documents: Option<usize>, questions: Option<usize>, exact: bool, seed: u64) -> Drawn {
    let draw = Draw { pool, seed };
    match (documents, questions) {
        (None, None) => Drawn::whole(pool, 0..pool.documents.len()),
        (Some(documents), None) => Drawn::whole(pool, draw.documents(documents)),
        (Some(documents), Some(questions)) => {
            let documents = draw.documents(documents);
            let mut drawn = draw.questions(&documents, questions);
            // The documents are what was asked for: all stay, whichever of them have a question.
            drawn
                .documents
                .extend(documents.iter().map(|document| DrawnDocument { document: *document, questions: Vec::new() }));
            drawn.documents.sort_by_key(|drawn| (drawn.document, drawn.questions.is_empty()));
            drawn.documents.dedup_by_key(|drawn| drawn.document);
            drawn
        }
        (None, Some(questions)) if exact => {
            let all: Vec<usize> = (0..pool.documents.len()).collect();
            draw.questions(&all, questions)
        }
        (None, Some(questions)) => Drawn::whole(pool, draw.whole(questions)),
    }
}

struct Draw<'a> {
    pool: &'a Pool,
    seed: u64,
}

impl Draw<'_> {
    fn order(&self, parts: &[&str]) -> Digest {
        let seed = self.seed.to_le_bytes();
        Digest::of_parts(
            "ragstage.data.sample",
            [seed.as_slice()].into_iter().chain(parts.iter().map(|part| part.as_bytes())),
        )
    }

    /// The positions of the documents that have questions, in drawn order.
    fn ordered(&self) -> Vec<usize> {
        let with_questions = self.pool.documents.iter().enumerate().filter(|(_, document)| document.asked() > 0);
        let mut ordered: Vec<(Digest, &str, usize)> =
            with_questions.map(|(i, document)| (self.order(&[&document.id]), document.id.as_str(), i)).collect();
        ordered.sort_unstable();
        ordered.into_iter().map(|(_, _, document)| document).collect()
    }

    fn documents(&self, count: usize) -> Vec<usize> {
        let mut documents = self.ordered();
        documents.truncate(count);
        documents.sort_unstable();
        documents
    }

    /// So many questions of `documents`, in proportion to their categories.
    fn questions(&self, documents: &[usize], count: usize) -> Drawn {
        let mut categories: BTreeMap<&str, Vec<(Digest, usize, usize)>> = BTreeMap::new();
        for &document in documents {
            let of = &self.pool.documents[document];
            for (i, question) in of.questions.iter().enumerate() {
                if let Some(category) = &question.category {
                    let at = (self.order(&[&of.id, &question.id]), document, i);
                    categories.entry(category).or_default().push(at);
                }
            }
        }
        let sizes: Vec<usize> = categories.values().map(Vec::len).collect();
        let mut kept: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (mut list, quota) in categories.into_values().zip(quotas(&sizes, count)) {
            list.sort_unstable();
            for (_, document, question) in list.into_iter().take(quota) {
                kept.entry(document).or_default().insert(question);
            }
        }
        let drawn = kept.into_iter();
        Drawn {
            documents: drawn
                .map(|(document, questions)| DrawnDocument { document, questions: questions.into_iter().collect() })
                .collect(),
        }
    }

    /// Documents with at most so many asked questions in all: first those that fit the shares of all categories, then those
    /// that fit at all. Where none fits, the one with the fewest.
    fn whole(&self, count: usize) -> Vec<usize> {
        let ordered = self.ordered();
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for question in self.pool.documents.iter().flat_map(|document| &document.questions) {
            if let Some(category) = &question.category {
                *sizes.entry(category).or_default() += 1;
            }
        }
        let shares = quotas(&sizes.values().copied().collect::<Vec<_>>(), count);
        let mut open: BTreeMap<&str, usize> = sizes.keys().copied().zip(shares).collect();
        let mut taken = BTreeSet::new();
        let mut total = 0;
        for is_first in [true, false] {
            for &document in &ordered {
                let of = &self.pool.documents[document];
                let fits = |(category, open): (&&str, &usize)| of.asked_of(category) <= *open;
                if taken.contains(&document) || total + of.asked() > count || (is_first && !open.iter().all(fits)) {
                    continue;
                }
                for (category, open) in &mut open {
                    *open = open.saturating_sub(of.asked_of(category));
                }
                taken.insert(document);
                total += of.asked();
            }
        }
        if taken.is_empty() {
            taken.extend(ordered.into_iter().min_by_key(|document| self.pool.documents[*document].asked()));
        }
        taken.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::{PoolDocument, PoolQuestion};
    use super::*;

    /// Documents `d0`, `d1`, ... with these numbers of questions of the categories `a` and `b`, and one that is not asked.
    fn pool(documents: &[(usize, usize)]) -> Pool {
        let document = |(i, (a, b)): (usize, &(usize, usize))| {
            let categories = vec![Some("a"); *a].into_iter().chain(vec![Some("b"); *b]).chain([None]);
            let question = |(i, category): (usize, Option<&str>)| PoolQuestion {
                id: format!("q{i}"),
                category: category.map(str::to_string),
                same: i,
            };
            PoolDocument { id: format!("d{i}"), questions: categories.enumerate().map(question).collect() }
        };
        Pool { documents: documents.iter().enumerate().map(document).collect() }
    }

    /// What was drawn, by ids.
    fn ids(pool: &Pool, drawn: &Drawn) -> BTreeSet<(String, String)> {
        let of = |drawn: &DrawnDocument| {
            let document = pool.documents[drawn.document].clone();
            let questions = drawn.questions.clone().into_iter();
            questions.map(move |question| (document.id.clone(), document.questions[question].id.clone()))
        };
        drawn.documents.iter().flat_map(of).collect()
    }

    const SIZES: [(usize, usize); 12] =
        [(9, 1), (1, 0), (0, 0), (4, 4), (2, 7), (0, 3), (5, 1), (3, 3), (8, 0), (1, 1), (2, 2), (6, 5)];

    #[test]
    fn the_order_of_the_files_does_not_matter() {
        let straight = pool(&SIZES);
        let mut turned = straight.clone();
        turned.documents.reverse();
        for document in &mut turned.documents {
            document.questions.reverse();
        }
        for (documents, questions, exact) in
            [(Some(4), None, false), (Some(4), Some(9), false), (None, Some(9), true), (None, Some(20), false)]
        {
            let of = |pool: &Pool, seed| ids(pool, &draw(pool, documents, questions, exact, seed));
            assert_eq!(of(&straight, 7), of(&turned, 7));
            assert_ne!(of(&straight, 7), of(&straight, 8));
        }
    }

    #[test]
    fn exactly_so_many_questions_in_proportion() {
        let pool = pool(&SIZES);
        let (a, b) = SIZES.iter().fold((0, 0), |(a, b), more| (a + more.0, b + more.1));
        for count in 0..=pool.asked() + 1 {
            let drawn = draw(&pool, None, Some(count), true, 1);
            assert_eq!(drawn.count(&pool), (count.min(a + b), count.min(a + b)));
            assert!(drawn.documents.iter().all(|drawn| !drawn.questions.is_empty()));
        }
        let drawn = draw(&pool, None, Some(20), true, 1);
        let of_b = drawn.documents.iter().flat_map(|drawn| {
            let questions = &pool.documents[drawn.document].questions;
            drawn.questions.iter().filter(|question| questions[**question].category.as_deref() == Some("b"))
        });
        assert_eq!(of_b.count(), quotas(&[a, b], 20)[1]);
    }

    #[test]
    fn whole_documents_have_at_most_so_many() {
        let pool = pool(&SIZES);
        for count in 1..=pool.asked() {
            let drawn = draw(&pool, None, Some(count), false, 3);
            let (_, asked) = drawn.count(&pool);
            assert!(asked <= count && asked > 0, "{asked} of {count}");
            assert!(drawn.documents.iter().all(|d| d.questions.len() == pool.documents[d.document].questions.len()));
        }
        let large = super::tests::pool(&[(9, 9), (7, 7)]);
        assert_eq!(draw(&large, None, Some(2), false, 0), Drawn::whole(&large, [1]));
    }

    #[test]
    fn documents_that_were_asked_for_stay() {
        let pool = pool(&SIZES);
        let drawn = draw(&pool, Some(5), Some(2), false, 1);
        assert_eq!((drawn.documents.len(), drawn.count(&pool).1), (5, 2));
        assert_eq!(draw(&pool, Some(99), None, false, 1).documents.len(), 11, "one has no question");
        assert_eq!(draw(&Pool::default(), Some(2), Some(2), false, 1), Drawn::default());
    }
}
