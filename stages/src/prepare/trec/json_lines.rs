//! JSON lines with an id and texts, under any of the names that collections use.

use crate::error::InputError;
use crate::prepare::fields::Fields;

/// The stripped text at the first of `keys` that is there; that none is, is an error about the first.
pub(super) fn first_text(fields: &Fields<'_>, keys: &[&str], errors: &mut Vec<InputError>) -> Option<String> {
    let key = keys.iter().find(|key| fields.value(key).is_some()).or(keys.first())?;
    fields.text(key, errors)
}

/// The text at the first of `keys` that is there, as it is written; `None` where none is.
pub(super) fn first_verbatim(fields: &Fields<'_>, keys: &[&str], errors: &mut Vec<InputError>) -> Option<String> {
    let key = keys.iter().find(|key| fields.value(key).is_some())?;
    fields.verbatim(key, errors)
}
