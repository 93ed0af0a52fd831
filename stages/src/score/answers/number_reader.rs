//! Numbers in texts, as people write them in reports and answers.
//!
//! | read as | written |
//! |---|---|
//! | digits | of any script; full-width ones too |
//! | thousands | groups of exactly three after `,`, `'` or a space of any width (1,234 / 1'234 / 1 234); with `decimal=comma` `.` in place of `,` |
//! | decimals | after `.` (with `decimal=comma` after `,`); `.5` is 0.5; `1e6` has an exponent |
//! | negative | after `-`, a Unicode minus or dash that follows no letter, digit or bracket (`2019-2020` are two positive numbers), after the words minus and negative, and alone in parentheses: `(1,234)`, `($5 million)`, `(3.1)%`. A bare year in parentheses is a year |
//! | percent | `%`, `％`, percent, per cent, pct, percentage |
//! | scale | thousand, million, billion, trillion, lakh, crore; mn, mm, bn, tn, trn; k, m, b right behind the digits, K, M, B also after a space; 万, 亿, 万亿 |
//! | words | zero to nine hundred and ninety-nine, before a scale or percent word or alone (`five million`, `twenty-one percent`, `three`); but `one` alone, which mostly is no number |
//! | currency | signs and codes of three capitals before and behind are passed over, and so are units |
//! | nothing | marks of citations (`[1]`, `[2, 3]`, `【1】`), digits in names (`Q3`, `GPT-4`), and what has more than one point (`1.2.3`, `192.168.0.1`, `1.234.567`) |
//!
//! A number with several scale words (`two million three hundred thousand`, `1亿5000万`) is read as several. Ordinals in words,
//! fractions (1/2) and Roman numerals are not read.

use std::borrow::Cow;

use super::number::Number;
use super::number_words::words_of_number;
use crate::python::digit;

/// Which sign parts whole numbers from decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalSign {
    Point,
    Comma,
}

/// All numbers of `text`, in its order.
pub(super) fn numbers(text: &str, decimal: DecimalSign) -> Vec<Number> {
    let reader = Reader { text: &signs(text), decimal };
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < reader.text.len() {
        if let Some(end) = reader.citation_mark(at) {
            at = end;
        } else if reader.starts_number(at) {
            let (number, end) = reader.number(at);
            numbers.extend(number.filter(|number| number.stated().is_finite()));
            at = end.max(at + 1);
        } else if let Some((number, end)) = reader.words(at) {
            numbers.extend(number);
            at = end.max(at + 1);
        } else {
            at += 1;
        }
    }
    numbers
}

/// 万, ten thousand.
const MYRIAD: u8 = 0x80;
/// 亿, a hundred million.
const MYRIAD_SQUARED: u8 = 0x81;

/// One byte for each character that matters here: digits of all scripts as ASCII ones, all spaces, minus signs, currency
/// signs and so on as one each, letters of spaced scripts as `x`, the Chinese scale words as bytes that no ASCII has, and all
/// else as a line end.
fn signs(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    Cow::Owned(text.chars().map(sign).collect())
}

fn sign(c: char) -> u8 {
    match c {
        _ if c.is_ascii() => u8::try_from(c).unwrap_or(b'\n'),
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{200a}' | '\u{202f}' | '\u{3000}' => b' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => b'-',
        '\u{2019}' | '\u{ff07}' => b'\'',
        '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20c0}' | '\u{ff04}' | '\u{ffe1}' | '\u{ffe5}' => b'$',
        '，' => b',',
        '．' => b'.',
        '％' | '﹪' => b'%',
        '【' | '［' => b'[',
        '】' | '］' => b']',
        '（' => b'(',
        '）' => b')',
        '＋' => b'+',
        '万' | '萬' => MYRIAD,
        '亿' | '億' => MYRIAD_SQUARED,
        _ => match digit(c).and_then(|value| u8::try_from(value).ok()) {
            Some(value) => b'0' + value,
            // Chinese, Japanese and Korean units stand beside numbers without a space.
            None if c.is_alphabetic() && !('\u{2e80}'..='\u{d7ff}').contains(&c) => b'x',
            None => b'\n',
        },
    }
}

struct Reader<'a> {
    text: &'a [u8],
    decimal: DecimalSign,
}

impl Reader<'_> {
    /// The byte at `at`; 0 outside of the text.
    fn at(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// The byte `back` before `at`; 0 before the text.
    fn before(&self, at: usize, back: usize) -> u8 {
        at.checked_sub(back).map_or(0, |at| self.at(at))
    }

    fn is_digit(&self, at: usize) -> bool {
        self.at(at).is_ascii_digit()
    }

    fn run(&self, start: usize, accept: fn(&u8) -> bool) -> &[u8] {
        let rest = self.text.get(start..).unwrap_or_default();
        rest.split(|byte| !accept(byte)).next().unwrap_or_default()
    }

    fn decimal_sign(&self) -> u8 {
        match self.decimal {
            DecimalSign::Point => b'.',
            DecimalSign::Comma => b',',
        }
    }

    fn is_thousands_sign(&self, sign: u8) -> bool {
        let other = match self.decimal {
            DecimalSign::Point => b',',
            DecimalSign::Comma => b'.',
        };
        sign == other || matches!(sign, b'\'' | b' ')
    }

    /// Where the mark of a citation ends that starts at `at`: numbers of up to three digits in square brackets.
    fn citation_mark(&self, at: usize) -> Option<usize> {
        if self.at(at) != b'[' {
            return None;
        }
        let inside = self.run(at + 1, |byte| byte.is_ascii_digit() || matches!(byte, b',' | b' ' | b'-'));
        let is_mark = inside.split(|byte| !byte.is_ascii_digit()).all(|digits| digits.len() <= 3);
        let end = at + 1 + inside.len();
        (is_mark && self.at(end) == b']').then_some(end + 1)
    }

    fn starts_number(&self, at: usize) -> bool {
        self.is_digit(at)
            || (self.at(at) == self.decimal_sign()
                && self.is_digit(at + 1)
                && !self.before(at, 1).is_ascii_alphanumeric())
    }

    /// The number whose digits start at `start`, unless they are part of something else, and where to read on.
    fn number(&self, start: usize) -> (Option<Number>, usize) {
        let (value, end) = self.digits(start);
        let Some(value) = value else { return (None, end) };
        let Some(prefix) = self.prefix(start) else {
            // Digits in a name; what follows belongs to it.
            return (None, end + self.run(end, u8::is_ascii_alphanumeric).len());
        };
        let mut suffix = self.suffix(end);
        let closed = prefix.opened && self.at(suffix.end) == b')';
        if closed && suffix.is_empty() {
            suffix = self.suffix(suffix.end + 1);
        }
        let digits = self.text.get(start..end).unwrap_or_default();
        let is_whole = digits.len() == 4 && digits.iter().all(u8::is_ascii_digit);
        let year = is_whole && prefix.start == start && suffix.is_empty() && (1900.0..2100.0).contains(&value);
        let negative = prefix.negative || (closed && !year);
        let number = Number {
            value: if negative { -value } else { value },
            scale: suffix.scale.unwrap_or(1.0),
            percent: suffix.percent,
            year,
        };
        (Some(number), suffix.end)
    }

    /// The number whose words start at `start`, and where to read on; `None` where no number word does.
    fn words(&self, start: usize) -> Option<(Option<Number>, usize)> {
        let before = self.before(start, 1);
        if before.is_ascii_alphanumeric() || before == b'_' {
            return None;
        }
        let (value, length) = words_of_number(self.text.get(start..)?)?;
        let Some(prefix) = self.prefix(start) else { return Some((None, start + length)) };
        let suffix = self.suffix(start + length);
        // In `no one` and `one of them` it is no number.
        if value == 1 && suffix.is_empty() {
            return Some((None, suffix.end));
        }
        let value = f64::from(value);
        let number = Number {
            value: if prefix.negative { -value } else { value },
            scale: suffix.scale.unwrap_or(1.0),
            percent: suffix.percent,
            year: false,
        };
        Some((Some(number), suffix.end))
    }

    /// The value of the digits from `start`, with their separators, and where they end; no value where they are no number.
    fn digits(&self, start: usize) -> (Option<f64>, usize) {
        let first = self.run(start, u8::is_ascii_digit);
        let mut digits = String::with_capacity(16);
        digits.extend(first.iter().copied().map(char::from));
        let mut end = start + first.len();
        let separator = self.at(end);
        if (1..=3).contains(&first.len()) && first.first() != Some(&b'0') && self.is_thousands_sign(separator) {
            while self.at(end) == separator && self.run(end + 1, u8::is_ascii_digit).len() == 3 {
                digits.extend(self.run(end + 1, u8::is_ascii_digit).iter().copied().map(char::from));
                end += 4;
            }
        }
        if self.at(end) == self.decimal_sign() && self.is_digit(end + 1) {
            let decimals = self.run(end + 1, u8::is_ascii_digit);
            digits.push('.');
            digits.extend(decimals.iter().copied().map(char::from));
            end += 1 + decimals.len();
            if self.at(end) == self.decimal_sign() && self.is_digit(end + 1) {
                return (None, end + self.run(end, |byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).len());
            }
        }
        end += self.exponent(end, &mut digits);
        (digits.parse().ok(), end)
    }

    /// Puts the exponent at `end` behind the digits and gives its length; 0 where there is none.
    fn exponent(&self, end: usize, digits: &mut String) -> usize {
        let sign = usize::from(matches!(self.at(end + 1), b'+' | b'-'));
        let exponent = self.run(end + 1 + sign, u8::is_ascii_digit);
        let length = 1 + sign + exponent.len();
        if !matches!(self.at(end), b'e' | b'E') || exponent.is_empty() || self.at(end + length).is_ascii_alphabetic() {
            return 0;
        }
        digits.extend(self.text.get(end..end + length).unwrap_or_default().iter().copied().map(char::from));
        length
    }

    /// What stands before the digits at `start`; `None` where they are part of a name.
    fn prefix(&self, start: usize) -> Option<Prefix> {
        let mut at = self.skip_currency(start)?;
        let mut negative = false;
        if matches!(self.before(at, 1), b'-' | b'+') {
            match self.before(at, 2) {
                // A hyphen in a name.
                before if before.is_ascii_alphabetic() || before == b'_' => return None,
                // A range.
                before if before.is_ascii_digit() || matches!(before, b')' | b'%') => {}
                _ => {
                    negative = self.before(at, 1) == b'-';
                    at = self.skip_currency(at - 1)?;
                }
            }
        }
        let words = self.text.get(..at).unwrap_or_default().trim_ascii_end();
        let is_word = |word: &[u8]| {
            let start = words.len().checked_sub(word.len());
            start.is_some_and(|start| {
                words.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word))
                    && !self.before(start, 1).is_ascii_alphanumeric()
            })
        };
        negative |= words.len() < at && (is_word(b"minus") || is_word(b"negative"));
        Some(Prefix { start: at, negative, opened: self.before(at, 1) == b'(' })
    }

    /// Where the currency sign or code starts that ends at `end`, with a space between or without; `end` where there is none.
    /// `None` where a name ends there.
    fn skip_currency(&self, end: usize) -> Option<usize> {
        let space = usize::from(self.before(end, 1) == b' ');
        let mut start = end - space;
        let has_sign = self.before(start, 1) == b'$';
        if has_sign {
            start -= 1;
        }
        let before = self.text.get(..start).unwrap_or_default();
        let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let name = before.get(before.len() - letters..).unwrap_or_default();
        let is_code = (1..=3).contains(&letters) && name.iter().all(u8::is_ascii_uppercase);
        match has_sign {
            true if is_code => Some(start - letters),
            true => Some(start),
            // Three capitals are a currency; behind a space they may be any word, which matters to the sign alone.
            false if is_code && letters == 3 => Some(start - letters),
            false if letters == 0 || space == 1 => Some(end),
            false => None,
        }
    }

    /// What stands behind the digits that end at `end`.
    fn suffix(&self, end: usize) -> Suffix {
        let space = usize::from(matches!(self.at(end), b' ' | b'-'));
        let start = end + space;
        if self.at(start) == b'%' && self.at(end) != b'-' {
            return Suffix { percent: true, end: start + 1, scale: None };
        }
        if self.at(end) != b'-'
            && let Some((scale, length)) = match (self.at(start), self.at(start + 1)) {
                (MYRIAD, MYRIAD_SQUARED) => Some((1e12, 2)),
                (MYRIAD, _) => Some((1e4, 1)),
                (MYRIAD_SQUARED, _) => Some((1e8, 1)),
                _ => None,
            }
        {
            return Suffix { scale: Some(scale), percent: false, end: start + length };
        }
        let word = self.run(start, u8::is_ascii_alphabetic);
        let behind = start + word.len();
        // `10-K` is no ten thousand.
        let is_hyphened_letter = self.at(end) == b'-' && word.len() == 1;
        if word.is_empty() || is_hyphened_letter || self.at(behind).is_ascii_digit() {
            return Suffix { end, ..Suffix::default() };
        }
        if let Some(scale) = scale(word, space == 0) {
            // Percents of a scale there are none.
            return Suffix { scale: Some(scale), percent: false, end: behind };
        }
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("percent") || is("pct") || is("percentage") {
            return Suffix { percent: true, end: behind, scale: None };
        }
        let next = self.run(behind + 1, u8::is_ascii_alphabetic);
        if is("per") && self.at(behind) == b' ' && next.eq_ignore_ascii_case(b"cent") {
            return Suffix { percent: true, end: behind + 1 + next.len(), scale: None };
        }
        // A unit or a word: a unit's letters belong to the number, other words do not.
        Suffix { end: if space == 0 { behind } else { end }, ..Suffix::default() }
    }
}

/// What stands before a number.
struct Prefix {
    /// Where the number starts with its sign and currency.
    start: usize,
    negative: bool,
    /// Whether a parenthesis opens before it.
    opened: bool,
}

/// What stands behind a number.
#[derive(Default)]
struct Suffix {
    scale: Option<f64>,
    percent: bool,
    end: usize,
}

impl Suffix {
    fn is_empty(&self) -> bool {
        self.scale.is_none() && !self.percent
    }
}

/// What a scale word multiplies with; `touches` where it stands right behind the digits.
fn scale(word: &[u8], touches: bool) -> Option<f64> {
    let names: [(&[&str], f64); 6] = [
        (&["thousand", "thousands"], 1e3),
        (&["million", "millions", "mn", "mm", "mln"], 1e6),
        (&["billion", "billions", "bn", "bln"], 1e9),
        (&["trillion", "trillions", "tn", "trn"], 1e12),
        (&["lakh", "lakhs"], 1e5),
        (&["crore", "crores"], 1e7),
    ];
    let named = names.iter().find(|(names, _)| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())));
    match (named, word) {
        (Some((_, scale)), _) => Some(*scale),
        (None, b"K") => Some(1e3),
        (None, b"M") => Some(1e6),
        (None, b"B") => Some(1e9),
        (None, b"k") if touches => Some(1e3),
        (None, b"m") if touches => Some(1e6),
        (None, b"b") if touches => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Vec<f64> {
        numbers(text, DecimalSign::Point).iter().map(Number::stated).collect()
    }

    #[test]
    fn separators() {
        assert_eq!(stated("1,234 1'234’567 1\u{a0}234.5 12 345 6 789."), [1234.0, 1234567.0, 1234.5, 12345.0, 6789.0]);
        assert_eq!(stated("1,23 and 1234,567; 0,123"), [1.0, 23.0, 1234.0, 567.0, 0.0, 123.0]);
        assert_eq!(stated("It was .5, then 3. 1e3 2.5E-1 7em"), [0.5, 3.0, 1000.0, 0.25, 7.0]);
        assert_eq!(stated("1.234.567 192.168.0.1 v1.2.3"), [0.0; 0]);
        let european = |text| numbers(text, DecimalSign::Comma).iter().map(Number::stated).collect::<Vec<_>>();
        assert_eq!(european("1.234,5 € und 1.234.567, 0,25"), [1234.5, 1234567.0, 0.25]);
    }

    #[test]
    fn signs_before_and_parentheses() {
        assert_eq!(
            stated("-5 −5 –5 ＋5 $-5 -$5 minus 5 Negative $5 (-5)"),
            [-5.0, -5.0, -5.0, 5.0, -5.0, -5.0, -5.0, -5.0, -5.0]
        );
        assert_eq!(stated("2019-2020 5%-7% 10–20"), [2019.0, 2020.0, 0.05, 0.07, 10.0, 20.0]);
        assert_eq!(stated("(1,234) ($5 million) (USD 3) (50)%"), [-1234.0, -5e6, -3.0, -0.5]);
        assert_eq!(stated("(2019) (5 employees) (4 or 5)"), [2019.0, 5.0, 4.0, 5.0]);
    }

    #[test]
    fn percent_scale_and_currency() {
        assert_eq!(stated("12% 12 % 12 percent 12 per cent 12pct １２％"), [0.12; 6]);
        assert_eq!(stated("5 million 5mn 5M 5m 5-million"), [5e6; 5]);
        assert_eq!(stated("$1.5bn US$1.5 billion EUR1.5B 1.5 B"), [1.5e9; 4]);
        assert_eq!(stated("5 m 5km 5 kg 3rd 5bps 10-K"), [5.0, 5.0, 5.0, 3.0, 5.0, 10.0]);
        assert_eq!(stated("2 lakh 3 crore 10k"), [2e5, 3e7, 1e4]);
        assert_eq!(stated("收入为5000元, ٣٤"), [5000.0, 34.0]);
    }

    #[test]
    fn words() {
        assert_eq!(stated("five million, Twenty-one percent and minus three"), [5e6, 0.21, -3.0]);
        assert_eq!(stated("one hundred and five; between one hundred and two hundred"), [105.0, 100.0, 200.0]);
        assert_eq!(stated("one million and one percent, two thousand and nineteen"), [1e6, 0.01, 2000.0, 19.0]);
        assert_eq!(stated("No one, one of them, someone, at the tenth, the twenty-first, x_two, fiver"), [0.0; 0]);
        assert_eq!(stated("USD five billion, a seventeen-year plan (two)"), [5e9, 17.0, 2.0]);
    }

    #[test]
    fn chinese_scale_words() {
        assert_eq!(stated("5万 1.5亿元 3万亿 ２億 １０ 萬"), [5e4, 1.5e8, 3e12, 2e8, 1e5]);
        assert_eq!(stated("1亿5000万 第5年 万5"), [1e8, 5e7, 5.0, 5.0]);
    }

    #[test]
    fn names_and_citation_marks_are_no_numbers() {
        assert_eq!(stated("Q3 GPT-4 A380 COVID-19 x_1 H2O 2nd"), [2.0]);
        assert_eq!(stated("5 [1] of 9 [2, 3][4-6] 【7】 [2019] [8.5]"), [5.0, 9.0, 2019.0, 8.5]);
        assert_eq!(stated(""), [0.0; 0]);
        assert_eq!(stated(&"9".repeat(400)), [0.0; 0]);
    }

    #[test]
    fn years() {
        let years = |text| numbers(text, DecimalSign::Point).iter().map(|number| number.year).collect::<Vec<_>>();
        assert_eq!(
            years("2019 (2020) 2,019 $2019 2019.0 1850 2019 million"),
            [true, true, false, false, false, false, false]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,24}|[-+0-9.,'$%()eE kmM]{0,16}") {
            numbers(&text, DecimalSign::Point);
            numbers(&text, DecimalSign::Comma);
        }

        #[test]
        fn a_printed_number_is_read_as_it_is(number in proptest::num::f64::NORMAL) {
            proptest::prop_assert_eq!(stated(&format!(" {number:e} ")), [number]);
        }
    }
}
