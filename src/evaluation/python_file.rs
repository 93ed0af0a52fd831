//! What a Python file with an evaluator says of itself, read without running it.
//!
//! Its columns must have names before anything runs, and planning starts no interpreter. So these are constants at the top
//! level, each in a line of its own: `NAME = "house"`.

/// The constants that are read.
const NAMES: [&str; 7] = ["NAME", "DESCRIPTION", "HIGHER_IS_BETTER", "SCORES", "READS", "FILES", "BATCH"];

/// What a Python file says of its evaluator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PythonFile {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) higher_is_better: Option<bool>,
    pub(super) scores: Option<Vec<String>>,
    pub(super) reads: Option<Vec<String>>,
    pub(super) files: Option<Vec<String>>,
    pub(super) batch: Option<u32>,
    /// Whether it defines `evaluate_batch`.
    pub(super) takes_batches: bool,
    /// The line of each constant that is there, from 1.
    lines: Vec<(&'static str, u64)>,
}

/// A constant that is not what it must be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConstantFault {
    /// Its line, from 1.
    pub(super) line: u64,
    /// What was expected and found.
    pub(super) message: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    Truth(bool),
    Whole(u32),
    List(Vec<String>),
}

impl PythonFile {
    /// What `text` says, or every constant that is wrong.
    pub(super) fn read(text: &str) -> Result<Self, Vec<ConstantFault>> {
        let mut file = PythonFile::default();
        let mut faults = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let start = line.strip_prefix("async ").map_or(line, str::trim_start);
            file.takes_batches |= start.starts_with("def evaluate_batch(");
            let Some((name, value)) = assigned(line) else { continue };
            file.lines.push((name, number));
            if let Err(expected) = file.set(name, literal(value)) {
                let message = format!("{name}: expected {expected} in this line, found `{}`", value.trim());
                faults.push(ConstantFault { line: number, message });
            }
        }
        if faults.is_empty() { Ok(file) } else { Err(faults) }
    }

    /// The line that the constant `name` is in.
    pub(super) fn line(&self, name: &str) -> Option<u64> {
        self.lines.iter().rev().find(|(known, _)| *known == name).map(|(_, line)| *line)
    }

    fn set(&mut self, name: &str, value: Option<Literal>) -> Result<(), &'static str> {
        match (name, value) {
            ("NAME", Some(Literal::Text(text))) => self.name = Some(text),
            ("NAME", _) => return Err("a text such as \"house\""),
            ("DESCRIPTION", Some(Literal::Text(text))) => self.description = Some(text),
            ("DESCRIPTION", _) => return Err("a text"),
            ("HIGHER_IS_BETTER", Some(Literal::Truth(truth))) => self.higher_is_better = Some(truth),
            ("HIGHER_IS_BETTER", _) => return Err("True or False"),
            ("BATCH", Some(Literal::Whole(size @ 1..))) => self.batch = Some(size),
            ("BATCH", _) => return Err("a whole number from 1"),
            ("SCORES", Some(Literal::List(list))) => self.scores = Some(list),
            ("READS", Some(Literal::List(list))) => self.reads = Some(list),
            ("FILES", Some(Literal::List(list))) => self.files = Some(list),
            _ => return Err("a list of texts such as [\"one\", \"two\"]"),
        }
        Ok(())
    }
}

/// The constant that a line assigns to, if it is one of ours, and what stands after the `=`.
fn assigned(line: &str) -> Option<(&'static str, &str)> {
    let name = NAMES.into_iter().find(|name| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })?;
    let rest = line.strip_prefix(name)?.trim_start();
    // An annotation has no `=` of its own.
    let rest = if rest.starts_with(':') { rest.get(rest.find('=')?..)? } else { rest };
    let value = rest.strip_prefix('=')?;
    (!value.starts_with('=')).then_some((name, value))
}

/// The literal that `text` is, up to a comment; `None` where it is anything else.
fn literal(text: &str) -> Option<Literal> {
    let text = text.trim_start();
    let (literal, rest) = if text.starts_with(['"', '\'']) {
        let (text, rest) = quoted(text)?;
        (Literal::Text(text), rest)
    } else if let Some(inner) = text.strip_prefix('[') {
        list(inner, ']')?
    } else if let Some(inner) = text.strip_prefix('(') {
        list(inner, ')')?
    } else {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end)?;
        let literal = match word {
            "True" => Literal::Truth(true),
            "False" => Literal::Truth(false),
            digits => Literal::Whole(digits.parse().ok()?),
        };
        (literal, rest)
    };
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(literal)
}

/// The text in quotes that `text` begins with, and what follows it. Escapes are none of ours.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (inner, rest) = text.strip_prefix(mark)?.split_once(mark)?;
    // A docstring's three marks would read as an empty text.
    (!inner.contains('\\') && !rest.starts_with(mark)).then(|| (inner.to_string(), rest))
}

fn list(mut text: &str, end: char) -> Option<(Literal, &str)> {
    let mut items = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix(end) {
            return Some((Literal::List(items), rest));
        }
        let (item, rest) = quoted(text)?;
        items.push(item);
        text = rest.trim_start();
        if !text.starts_with(end) {
            text = text.strip_prefix(',')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_the_top_level_are_read() {
        let file = PythonFile::read(
            "\"\"\"NAME = 'not this'\"\"\"\nimport os\nNAME = 'house'  # ours\nSCORES: list[str] = [\"a\", 'b',]\n\
             HIGHER_IS_BETTER=False\nREADS = (\"answer\",)\nBATCH = 8\nNAMES = 3\nNAME_2 = os.name\n\
             if NAME == 'x':\n    NAME = os.name\n\nasync def evaluate_batch(cases, responses):\n    pass\n",
        )
        .unwrap();
        assert_eq!((file.name.as_deref(), file.higher_is_better, file.batch), (Some("house"), Some(false), Some(8)));
        assert_eq!(file.scores.as_deref(), Some(&["a".to_string(), "b".to_string()][..]));
        assert_eq!(file.reads.as_deref(), Some(&["answer".to_string()][..]));
        assert!(file.takes_batches && file.files.is_none() && file.description.is_none());
        assert_eq!(file.line("SCORES"), Some(4));
        assert!(!PythonFile::read("def evaluate(case, response): ...").unwrap().takes_batches);
    }

    #[test]
    fn a_constant_that_is_computed_is_a_fault() {
        let faults =
            PythonFile::read("NAME = f'{x}'\nSCORES = [\nBATCH = 0\nFILES = ['a' 'b']\nNAME == 'x'\n").unwrap_err();
        let faults: Vec<String> = faults.iter().map(|fault| format!("{}: {}", fault.line, fault.message)).collect();
        assert_eq!(
            faults,
            [
                "1: NAME: expected a text such as \"house\" in this line, found `f'{x}'`",
                "2: SCORES: expected a list of texts such as [\"one\", \"two\"] in this line, found `[`",
                "3: BATCH: expected a whole number from 1 in this line, found `0`",
                "4: FILES: expected a list of texts such as [\"one\", \"two\"] in this line, found `['a' 'b']`",
            ]
        );
    }
}
