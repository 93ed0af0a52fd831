//! Evaluators of whoever links this library.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use ragstage_cache::KeyVisitor;
use ragstage_cache::key::key_of;
use ragstage_stages::score::Evaluator;

/// An evaluator of whoever links this library. Two are equal where their keys are.
#[derive(Clone)]
pub struct OwnEvaluator(pub Arc<dyn Evaluator>);

/// An evaluator as what is hashed.
struct Identity<'a>(&'a dyn Evaluator);

impl ragstage_cache::Walk for Identity<'_> {
    fn walk(&self, v: &mut dyn KeyVisitor) {
        self.0.walk(v);
    }
}

/// Whether two evaluators give the same scores, by their keys.
pub fn same(one: &dyn Evaluator, other: &dyn Evaluator) -> bool {
    key_of(&Identity(one)) == key_of(&Identity(other))
}

impl Deref for OwnEvaluator {
    type Target = dyn Evaluator;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for OwnEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnEvaluator").field(&self.name()).finish()
    }
}

impl PartialEq for OwnEvaluator {
    fn eq(&self, other: &Self) -> bool {
        same(&*self.0, &*other.0)
    }
}
