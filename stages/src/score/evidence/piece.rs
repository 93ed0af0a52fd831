//! One piece of gold evidence.

use std::sync::OnceLock;

use memchr::memmem::Finder;

use super::token_cover::TokenSet;
use crate::artifact::Evidence;
use crate::score::normal::normal_form;
use crate::score::text_match::unspaced;

/// A piece of gold evidence with what its text is compared by, each made when it is first asked for.
pub(super) struct Piece<'a> {
    pub(super) evidence: &'a Evidence,
    normal: OnceLock<String>,
    finder: OnceLock<Finder<'static>>,
    unspaced: OnceLock<String>,
    words: OnceLock<TokenSet>,
}

impl<'a> Piece<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> Self {
        Piece {
            evidence,
            normal: OnceLock::new(),
            finder: OnceLock::new(),
            unspaced: OnceLock::new(),
            words: OnceLock::new(),
        }
    }

    /// The text as it stands, unless it is blank.
    pub(super) fn text(&self) -> Option<&'a str> {
        self.evidence.text.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// The text in normal form; empty where there is none.
    pub(super) fn normal(&self) -> &str {
        self.normal.get_or_init(|| self.evidence.text.as_deref().map(normal_form).unwrap_or_default())
    }

    /// What finds the text in normal form. Making one costs about as much as looking through a passage.
    pub(super) fn finder(&self) -> &Finder<'static> {
        self.finder.get_or_init(|| Finder::new(self.normal()).into_owned())
    }

    /// The text without white space; empty where there is none.
    pub(super) fn unspaced(&self) -> &str {
        self.unspaced.get_or_init(|| self.evidence.text.as_deref().map(unspaced).unwrap_or_default())
    }

    /// The words of the text.
    pub(super) fn words(&self) -> &TokenSet {
        self.words.get_or_init(|| TokenSet::of(self.evidence.text.as_deref().unwrap_or_default()))
    }
}
