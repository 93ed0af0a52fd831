//! Lists of texts and numbers as Python writes them: `['1,802', "S&P's", 3.5]`.

/// Why a text is no list: where, in characters from 1, and what was expected there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoList {
    /// The place in characters, from 1.
    pub column: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// The items of the list that `text` is, numbers as they are written. Tuples, nested lists and names (`None`) are no such list.
///
/// # Errors
/// Where it stops being one.
pub fn text_list(text: &str) -> Result<Vec<String>, NoList> {
    let mut reader = Reader { rest: text.chars(), read: 0 };
    reader.blanks();
    reader.one('[', "`[`")?;
    let mut items = Vec::new();
    loop {
        reader.blanks();
        if reader.take(']') {
            break;
        }
        items.push(reader.item()?);
        reader.blanks();
        if !reader.take(',') {
            reader.one(']', "`,` or `]`")?;
            break;
        }
    }
    reader.blanks();
    match reader.peek() {
        None => Ok(items),
        Some(_) => Err(reader.expected("nothing more")),
    }
}

struct Reader<'a> {
    rest: std::str::Chars<'a>,
    read: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.read += 1;
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.next();
        }
        there
    }

    fn one(&mut self, wanted: char, expected: &'static str) -> Result<(), NoList> {
        if self.take(wanted) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(super::is_whitespace) {
            self.next();
        }
    }

    fn expected(&self, expected: &'static str) -> NoList {
        NoList { column: self.read + 1, expected }
    }

    fn item(&mut self) -> Result<String, NoList> {
        match self.peek() {
            Some(quote @ ('\'' | '"')) => {
                self.next();
                self.text(quote)
            }
            Some('0'..='9' | '+' | '-' | '.') => {
                let mut number = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
                    number.push(c);
                    self.next();
                }
                if number.parse::<f64>().is_ok_and(f64::is_finite) {
                    Ok(number)
                } else {
                    Err(self.expected("a number"))
                }
            }
            _ => Err(self.expected("a text in quotes or a number")),
        }
    }

    /// The text up to `quote`.
    fn text(&mut self, quote: char) -> Result<String, NoList> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.expected("the closing quote")),
                Some(c) if c == quote => return Ok(text),
                Some('\\') => self.escape(&mut text)?,
                Some(c) => text.push(c),
            }
        }
    }

    /// What follows a backslash. One that Python does not know stays as it is written.
    fn escape(&mut self, text: &mut String) -> Result<(), NoList> {
        let digits = match self.next() {
            None => return Err(self.expected("the closing quote")),
            Some('\n') => return Ok(()),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(c) => {
                match c {
                    '\\' | '\'' | '"' => text.push(c),
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    c => text.extend(['\\', c]),
                }
                return Ok(());
            }
        };
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.peek().and_then(|c| c.to_digit(16)).ok_or_else(|| self.expected("a hexadecimal digit"))?;
            self.next();
            code = code * 16 + digit;
        }
        text.push(char::from_u32(code).ok_or_else(|| self.expected("the code of a character"))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        text_list(text).expect("a list")
    }

    #[test]
    fn texts_as_python_quotes_them() {
        assert_eq!(items("['1,802', '1,673']"), ["1,802", "1,673"]);
        assert_eq!(
            items(r#" ["S&P's", 'a "b"', 'it\'s \\ \n\t\x41\u00e9\U0001F600\q'] "#),
            ["S&P's", "a \"b\"", "it's \\ \n\tAé😀\\q"]
        );
        assert_eq!(items("[]"), Vec::<String>::new());
        assert_eq!(items("['a',]"), ["a"]);
        assert_eq!(items("[1, -2.50, '']"), ["1", "-2.50", ""]);
    }

    #[test]
    fn what_is_no_list_says_where_it_stops_being_one() {
        let cases = [
            ("", 1, "`[`"),
            ("span", 1, "`[`"),
            ("['é' 'b']", 6, "`,` or `]`"),
            ("['a'", 5, "`,` or `]`"),
            ("['a", 4, "the closing quote"),
            ("['a\\", 5, "the closing quote"),
            ("[None]", 2, "a text in quotes or a number"),
            ("[['a']]", 2, "a text in quotes or a number"),
            ("['a'] x", 7, "nothing more"),
            ("[1e]", 4, "a number"),
            ("['\\xg0']", 5, "a hexadecimal digit"),
            ("['\\ud800']", 9, "the code of a character"),
        ];
        for (text, column, expected) in cases {
            assert_eq!(text_list(text), Err(NoList { column, expected }), "{text}");
        }
    }
}
