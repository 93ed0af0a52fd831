//! Character references: `&amp;`, `&#233;` and the others of HTML.

use std::borrow::Cow;
use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer};

/// `text`, which has no markup in it, with its character references replaced. Those that HTML does not know stay.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    // The tokenizer would take what looks like markup for it.
    let parts: Vec<String> = text.split('<').map(without_brackets).collect();
    Cow::Owned(parts.join("<"))
}

fn without_brackets(text: &str) -> String {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(text));
    let tokenizer = Tokenizer::new(Characters::default(), Default::default());
    // The sink runs no scripts, so the tokenizer never pauses before the end of its input.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.text.into_inner()
}

/// Takes characters and nothing else.
#[derive(Default)]
struct Characters {
    text: RefCell<String>,
}

impl TokenSink for Characters {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::CharacterTokens(text) => self.text.borrow_mut().push_str(&text),
            Token::NullCharacterToken => self.text.borrow_mut().push('\0'),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced() {
        assert_eq!(decoded("AT&amp;T &#233;t&eacute; &lt;b&gt; &hyph; A&B"), "AT&T été <b> &hyph; A&B");
        assert!(matches!(decoded("plain"), Cow::Borrowed("plain")));
        assert_eq!(decoded("a < b &amp; <c"), "a < b & <c");
    }
}
