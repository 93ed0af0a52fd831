//! Text for a terminal. What programs and servers say is quoted in messages, and a terminal must not obey it.

use std::borrow::Cow;

/// Without escape sequences and control characters; line breaks and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    let obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // A control sequence (ECMA-48, 5.4): parameters, then the one letter that says what it does.
            '\u{1b}' if letters.next_if_eq(&'[').is_some() => {
                while letters.next_if(|letter| matches!(letter, ' '..='?')).is_some() {}
                letters.next_if(|letter| matches!(letter, '@'..='~'));
            }
            letter if obeyed(letter) => {}
            letter => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_terminal_would_obey_is_left_out() {
        for (text, expected) in [
            ("plain\ttext\nof two lines: é, 灯", "plain\ttext\nof two lines: é, 灯"),
            ("\u{1b}[2J\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("a\rb\u{8}c\u{9b}d", "abcd"),
            ("\u{1b}[", ""),
            ("\u{1b}[12é", "é"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
