//! What was drawn.

use super::pool::Pool;

/// The drawn documents, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drawn {
    /// The documents.
    pub documents: Vec<DrawnDocument>,
}

/// A drawn document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnDocument {
    /// Its position in the pool.
    pub document: usize,
    /// The positions of its questions that are kept, in the order in which they are written.
    pub questions: Vec<usize>,
}

impl Drawn {
    /// These documents of `pool`, with all their questions.
    pub fn whole(pool: &Pool, documents: impl IntoIterator<Item = usize>) -> Self {
        let whole = |document: usize| {
            let questions = pool.documents.get(document).map_or(0, |document| document.questions.len());
            DrawnDocument { document, questions: (0..questions).collect() }
        };
        Drawn { documents: documents.into_iter().map(whole).collect() }
    }

    /// How many questions are kept, and how many of these are asked.
    pub fn count(&self, pool: &Pool) -> (usize, usize) {
        let kept = self.documents.iter().flat_map(|drawn| {
            let questions = pool.documents.get(drawn.document).map_or(&[][..], |document| &document.questions);
            drawn.questions.iter().filter_map(|question| questions.get(*question))
        });
        kept.fold((0, 0), |(all, asked), question| (all + 1, asked + usize::from(question.category.is_some())))
    }
}
