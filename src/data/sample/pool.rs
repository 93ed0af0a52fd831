//! A dataset as samples are drawn from it.

/// The documents with their questions, in the order in which OpenViking has them before any draw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pool {
    /// The documents.
    pub documents: Vec<PoolDocument>,
}

/// A document with its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolDocument {
    /// Its id, unique in the dataset.
    pub id: String,
    /// Its questions, in the dataset's order.
    pub questions: Vec<PoolQuestion>,
}

/// A question of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolQuestion {
    /// Its id, by which it is drawn.
    pub id: String,
    /// Its category; `None` for one that is not asked, since it has no answer.
    pub category: Option<String>,
    /// The first question of the document with the same content.
    pub same: usize,
}

impl Pool {
    /// How many questions there are.
    pub fn questions(&self) -> usize {
        self.documents.iter().map(|document| document.questions.len()).sum()
    }

    /// How many questions are asked.
    pub fn asked(&self) -> usize {
        self.documents.iter().map(PoolDocument::asked).sum()
    }
}

impl PoolDocument {
    /// How many of its questions are asked.
    pub fn asked(&self) -> usize {
        self.questions.iter().filter(|question| question.category.is_some()).count()
    }

    /// How many of its questions are asked and of that category.
    pub fn asked_of(&self, category: &str) -> usize {
        self.questions.iter().filter(|question| question.category.as_deref() == Some(category)).count()
    }
}
