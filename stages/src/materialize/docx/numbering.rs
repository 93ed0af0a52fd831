//! Numbered lists: what stands before an item.

use std::collections::{HashMap, HashSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::DocxError;
use super::package::attribute;

/// Word has nine levels.
const DEEPEST_LEVEL: usize = 8;

/// How a level counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    format: Format,
    start: u64,
}

/// What a level writes. Formats of other scripts are written as decimal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Bullet,
    Decimal,
    Letter { is_upper: bool },
    Roman { is_upper: bool },
}

impl Format {
    fn of(name: &str) -> Self {
        match name {
            "bullet" | "none" => Format::Bullet,
            "lowerLetter" => Format::Letter { is_upper: false },
            "upperLetter" => Format::Letter { is_upper: true },
            "lowerRoman" => Format::Roman { is_upper: false },
            "upperRoman" => Format::Roman { is_upper: true },
            _ => Format::Decimal,
        }
    }

    fn marker(self, count: u64) -> String {
        match self {
            Format::Bullet => "- ".to_string(),
            Format::Letter { is_upper } if count > 0 => format!("{}. ", letters(count, is_upper)),
            Format::Roman { is_upper } if (1..4000).contains(&count) => format!("{}. ", roman(count, is_upper)),
            _ => format!("{count}. "),
        }
    }
}

/// `a` to `z`, then `aa`, `bb` and so on, as Word counts.
fn letters(count: u64, is_upper: bool) -> String {
    let first = if is_upper { b'A' } else { b'a' };
    let letter = char::from(first + ((count - 1) % 26) as u8);
    let times = ((count - 1) / 26 + 1).min(10) as usize;
    letter.to_string().repeat(times)
}

fn roman(mut count: u64, is_upper: bool) -> String {
    const NUMERALS: [(u64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut written = String::new();
    for (value, numeral) in NUMERALS {
        while count >= value {
            written.push_str(numeral);
            count -= value;
        }
    }
    if is_upper { written.to_uppercase() } else { written }
}

/// A list: what counts with it, and where it begins anew.
#[derive(Debug, Default)]
struct List {
    /// Lists of one kind count on from each other.
    kind: String,
    starts: HashMap<usize, u64>,
}

/// The lists of a document, from `numbering.xml`.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    kinds: HashMap<String, HashMap<usize, Level>>,
    lists: HashMap<String, List>,
}

impl Numbering {
    /// Reads `numbering.xml`.
    ///
    /// # Errors
    /// When it is no XML.
    pub(super) fn read(xml: &str) -> Result<Self, DocxError> {
        let mut numbering = Numbering::default();
        // The kind, the list and the level that are open.
        let (mut kind, mut list, mut level) = (None::<String>, None::<String>, 0);
        let mut reader = Reader::from_str(xml);
        loop {
            match reader.read_event().map_err(|error| DocxError::xml("the numbering", &reader, &error))? {
                Event::Start(element) | Event::Empty(element) => {
                    let value = || attribute(&element, "val");
                    let number =
                        |name: &str| attribute(&element, name).and_then(|value| value.trim().parse::<u64>().ok());
                    match element.local_name().as_ref() {
                        "abstractNum" => (kind, list) = (attribute(&element, "abstractNumId"), None),
                        "num" => (kind, list) = (None, attribute(&element, "numId")),
                        "lvl" | "lvlOverride" => level = number("ilvl").map_or(0, |level| level as usize),
                        "start" => {
                            if let Some(level) = numbering.open_level(kind.as_deref(), level) {
                                level.start = number("val").unwrap_or(1);
                            }
                        }
                        "numFmt" => {
                            if let Some(level) = numbering.open_level(kind.as_deref(), level) {
                                level.format = Format::of(&value().unwrap_or_default());
                            }
                        }
                        "abstractNumId" => {
                            if let (Some(list), Some(kind)) = (&list, value()) {
                                numbering.lists.entry(list.clone()).or_default().kind = kind;
                            }
                        }
                        "startOverride" => {
                            if let (Some(list), Some(start)) = (&list, number("val")) {
                                numbering.lists.entry(list.clone()).or_default().starts.insert(level, start);
                            }
                        }
                        _ => {}
                    }
                }
                Event::Eof => return Ok(numbering),
                _ => {}
            }
        }
    }

    fn open_level(&mut self, kind: Option<&str>, level: usize) -> Option<&mut Level> {
        let levels = self.kinds.entry(kind?.to_string()).or_default();
        Some(levels.entry(level).or_insert(Level { format: Format::Decimal, start: 1 }))
    }
}

/// Counts the items of a document's lists, in its order.
#[derive(Debug)]
pub(super) struct ItemCounter<'a> {
    numbering: &'a Numbering,
    /// Of each kind: the number of the last item on each level.
    counts: HashMap<&'a str, Vec<Option<u64>>>,
    /// The lists that have begun.
    begun: HashSet<&'a str>,
}

impl<'a> ItemCounter<'a> {
    /// Before the first item.
    pub(super) fn new(numbering: &'a Numbering) -> Self {
        ItemCounter { numbering, counts: HashMap::new(), begun: HashSet::new() }
    }

    /// What stands before the next item of the list `id` on `level`: `3. `, `c. `, or `- ` where it is not numbered.
    pub(super) fn marker(&mut self, id: &str, level: usize) -> String {
        let level = level.min(DEEPEST_LEVEL);
        let Some((id, list)) = self.numbering.lists.get_key_value(id) else { return Format::Bullet.marker(0) };
        let levels = self.numbering.kinds.get(&list.kind);
        let Some(shape) = levels.and_then(|levels| levels.get(&level)) else { return Format::Bullet.marker(0) };
        let counts = self.counts.entry(list.kind.as_str()).or_default();
        if self.begun.insert(id) {
            let anew = list.starts.keys().min().copied().unwrap_or(counts.len());
            counts.truncate(anew);
        }
        // A deeper list begins anew below each item.
        counts.resize(level + 1, None);
        let start = list.starts.get(&level).copied().unwrap_or(shape.start);
        let count = counts.last().copied().flatten().map_or(start, |count| count.saturating_add(1));
        if let Some(last) = counts.last_mut() {
            *last = Some(count);
        }
        shape.format.marker(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERING: &str = r#"<w:numbering xmlns:w="w">
        <w:abstractNum w:abstractNumId="7">
            <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/></w:lvl>
            <w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/></w:lvl>
            <w:lvl w:ilvl="2"><w:numFmt w:val="upperRoman"/></w:lvl>
        </w:abstractNum>
        <w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
        <w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num>
        <w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
        <w:num w:numId="4"><w:abstractNumId w:val="8"/></w:num>
        </w:numbering>"#;

    #[test]
    fn items_are_counted_by_level_and_list() {
        let numbering = Numbering::read(NUMBERING).expect("numbering");
        let mut counter = ItemCounter::new(&numbering);
        let items = [
            ("1", 0, "1. "),
            ("1", 1, "c. "),
            ("1", 1, "d. "),
            ("1", 2, "I. "),
            ("1", 0, "2. "),
            ("1", 1, "c. "),
            ("2", 0, "3. "),
            ("3", 0, "5. "),
            ("3", 0, "6. "),
            ("4", 0, "- "),
            ("gone", 0, "- "),
            ("1", 7, "- "),
        ];
        for (id, level, marker) in items {
            assert_eq!(counter.marker(id, level), marker, "{id} {level}");
        }
    }

    #[test]
    fn letters_and_roman_numerals() {
        assert_eq!([1, 26, 27, 54].map(|count| letters(count, false)), ["a", "z", "aa", "bbb"]);
        assert_eq!([4, 9, 1994].map(|count| roman(count, true)), ["IV", "IX", "MCMXCIV"]);
        assert_eq!(Format::Letter { is_upper: true }.marker(0), "0. ");
    }
}
