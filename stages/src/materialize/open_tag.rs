//! A tag of HTML that is not closed yet, and how many attributes it has so far.

use thiserror::Error;

/// The tokenizer compares each attribute with all before it, so the work grows with the square of their number. No page that
/// people wrote comes near.
const MOST_ATTRIBUTES: u32 = 1000;

/// A tag with more attributes than a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a tag has more than {MOST_ATTRIBUTES} attributes; this is no HTML page")]
pub(super) struct TooManyAttributes;

/// Where in a tag the next byte stands, as in the WHATWG's tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// After `<`.
    Open,
    /// After `</`.
    EndOpen,
    TagName,
    /// Where the next word is an attribute.
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    /// In a value that this quote ends.
    Quoted(u8),
    Unquoted,
    /// A comment or the like, which has no attributes.
    Comment,
}

/// What began with `<` and gave no token yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenTag {
    state: State,
    attributes: u32,
}

impl OpenTag {
    /// A tag of which `<` was read.
    pub(super) fn new() -> Self {
        OpenTag { state: State::Open, attributes: 0 }
    }

    /// Reads on. `None` where it was `</>`, which is nothing.
    ///
    /// # Errors
    /// When there are too many attributes.
    pub(super) fn read(mut self, text: &str) -> Result<Option<Self>, TooManyAttributes> {
        for byte in text.bytes() {
            if (self.state, byte) == (State::EndOpen, b'>') {
                return Ok(None);
            }
            let before = self.state;
            self.state = before.after(byte);
            if self.state == State::Name && before != State::Name {
                self.attributes += 1;
                if self.attributes > MOST_ATTRIBUTES {
                    return Err(TooManyAttributes);
                }
            }
        }
        Ok(Some(self))
    }
}

impl State {
    fn after(self, byte: u8) -> State {
        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        match (self, byte) {
            (State::Open, b'/') => State::EndOpen,
            (State::Open | State::EndOpen, byte) if byte.is_ascii_alphabetic() => State::TagName,
            (State::Open | State::EndOpen | State::Comment, _) => State::Comment,
            (State::TagName, _) if blank => State::BeforeName,
            (State::TagName | State::BeforeName | State::Name | State::AfterName, b'/') => State::BeforeName,
            (State::BeforeName, _) if blank => State::BeforeName,
            (State::Name | State::AfterName, _) if blank => State::AfterName,
            (State::Name | State::AfterName, b'=') => State::BeforeValue,
            (State::BeforeName | State::Name | State::AfterName, _) => State::Name,
            (State::BeforeValue, _) if blank => State::BeforeValue,
            (State::BeforeValue, b'"' | b'\'') => State::Quoted(byte),
            (State::Quoted(quote), byte) if byte == quote => State::BeforeName,
            (State::Unquoted, _) if blank => State::BeforeName,
            (State::BeforeValue, _) => State::Unquoted,
            (state @ (State::TagName | State::Quoted(_) | State::Unquoted), _) => state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(text: &str) -> u32 {
        OpenTag::new().read(text).expect("few attributes").expect("a tag").attributes
    }

    #[test]
    fn attributes_are_counted_as_the_standard_parts_them() {
        for (text, count) in [
            ("a", 0),
            ("a b", 1),
            ("a/b/c", 2),
            ("a b=c d = e f", 3),
            ("path d=\"M 1 2 / 3\" x='y z'w", 3),
            ("a b=1/2/3 =c", 2),
            ("/a b c", 2),
            ("!-- a b c", 0),
            ("/! b c", 0),
            ("?x b c", 0),
        ] {
            assert_eq!(attributes(text), count, "{text}");
        }
        assert_eq!(OpenTag::new().read("/>"), Ok(None));
    }
}
