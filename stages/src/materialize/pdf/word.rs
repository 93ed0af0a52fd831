//! Glyphs to words, and words to the stretches of a line in which nothing is far apart.

use std::collections::HashMap;

use hayro_interpret::kurbo::{Point, Vec2};
use unicode_normalization::char::compose;

use super::glyph::Glyph;

/// A wider gap between glyphs, in ems, parts two words. Letters of justified text stand up to 0.1 em apart, and the narrowest
/// spaces of TeX are 0.2 em.
const WORD_GAP: f64 = 0.13;

/// A wider gap between words, in ems, parts two stretches: a space of justified text is seldom wider, and the gutter between
/// columns or cells seldom narrower.
const STRETCH_GAP: f64 = 1.2;

/// How far a glyph may go back into the one before it, in ems, and still follow it: kerning, and accents.
const OVERLAP: f64 = 0.6;

/// What goes further back than this, in ems, into the word before it on its line stands over it or under it.
const STACKED: f64 = 0.3;

/// How far, in ems, a glyph may stand above or below its neighbour's baseline and still be on the same line.
const SHIFT: f64 = 0.2;

/// A word within its line. All lengths are in points, along the line and upwards from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) base: f64,
    pub(super) size: f64,
    /// Whether a space stands before it, or after it, whatever the distance.
    pub(super) is_spaced: (bool, bool),
}

impl Word {
    /// Whether nothing but kerning stands between this word and `next`, a part of the same word that was drawn apart. What
    /// stands over the other, as a superscript over a subscript, is no such part.
    pub(super) fn goes_on_with(&self, next: &Word) -> bool {
        let (gap, size) = (next.start - self.end, self.size.min(next.size));
        !self.is_spaced.1 && !next.is_spaced.0 && gap < WORD_GAP * size && gap > -STACKED * size
    }

    /// Whether `next` stands so far off that it is in another column of a table.
    pub(super) fn is_far_from(&self, next: &Word) -> bool {
        next.start - self.end > STRETCH_GAP * self.size.max(next.size)
    }

    /// Bottom and top of its letters.
    pub(super) fn extent(&self) -> (f64, f64) {
        (self.base - 0.2 * self.size, self.base + 0.7 * self.size)
    }
}

/// Words of one line that follow each other in the order of drawing, with no more than a space between them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    /// At least one.
    pub(super) words: Vec<Word>,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) base: f64,
    pub(super) size: f64,
}

impl Stretch {
    fn new(word: Word) -> Self {
        Stretch { start: word.start, end: word.end, base: word.base, size: word.size, words: vec![word] }
    }

    /// How many characters it has.
    pub(super) fn characters(&self) -> usize {
        self.words.iter().map(|word| word.text.chars().count()).sum()
    }
}

/// The stretches of the lines that run in one direction, in the order of drawing.
///
/// `direction` is the unit vector along the lines.
pub(super) fn stretches<'a>(glyphs: impl Iterator<Item = &'a Glyph>, direction: Vec2) -> Vec<Stretch> {
    let upwards = Vec2::new(-direction.y, direction.x);
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut drawn = Drawn::default();
    // Whether the next glyph may go on with the last stretch, and whether a blank stands between them.
    let (mut is_open, mut is_blank) = (false, false);
    for glyph in glyphs {
        let origin = glyph.origin.to_vec2();
        let (start, base, size) = (origin.dot(direction), origin.dot(upwards), glyph.size);
        let last = stretches.last_mut().filter(|_| is_open);
        let last = last.filter(|last| (base - last.base).abs() <= SHIFT * size.max(last.size));
        if glyph.text.trim().is_empty() {
            is_open = last.is_some();
            is_blank = true;
            if let Some(word) = last.and_then(|last| last.words.last_mut()) {
                word.is_spaced.1 = true;
            }
            continue;
        }
        if drawn.holds(&glyph.text, Point::new(start, base), size) {
            continue;
        }
        let end = start + glyph.advance.max(0.0);
        let word = || Word { text: glyph.text.clone(), start, end, base, size, is_spaced: (is_blank, false) };
        match last {
            Some(last) if start - last.end <= STRETCH_GAP * size && start - last.end >= -OVERLAP * size => {
                let gap = start - last.end;
                match last.words.last_mut() {
                    Some(before) if !is_blank && gap < WORD_GAP * size => before.append(&glyph.text, start, end),
                    _ => last.words.push(Word { is_spaced: (true, false), ..word() }),
                }
                last.end = last.end.max(end);
                last.size = last.size.max(size);
            }
            _ => stretches.push(Stretch::new(word())),
        }
        (is_open, is_blank) = (true, false);
    }
    stretches
}

impl Word {
    /// Appends a glyph. An accent that is drawn over a letter, or a letter over its accent, becomes one character.
    fn append(&mut self, text: &str, start: f64, end: f64) {
        let mut letters = text.chars();
        let is_over = (start + end) / 2.0 < self.end - 0.1 * self.size;
        let accented = match (self.text.chars().next_back(), letters.next(), letters.next()) {
            (Some(before), Some(letter), None) if is_over => accented(before, letter),
            _ => None,
        };
        match accented {
            Some(accented) => {
                self.text.pop();
                self.text.push(accented);
            }
            None => self.text.push_str(text),
        }
        self.end = self.end.max(end);
    }
}

/// The character that a letter and a spacing accent make, in either order.
fn accented(one: char, other: char) -> Option<char> {
    let (letter, accent) = match (combining(one), combining(other)) {
        (Some(accent), None) => (other, accent),
        (None, Some(accent)) => (one, accent),
        _ => return None,
    };
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    compose(letter, accent)
}

/// The combining form of a spacing accent.
fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '`' | '\u{300}' => '\u{300}',
        '´' | '\u{301}' => '\u{301}',
        '^' | 'ˆ' | '\u{302}' => '\u{302}',
        '~' | '˜' | '\u{303}' => '\u{303}',
        '¯' | '\u{304}' => '\u{304}',
        '˘' | '\u{306}' => '\u{306}',
        '˙' | '\u{307}' => '\u{307}',
        '¨' | '\u{308}' => '\u{308}',
        '˚' | '\u{30a}' => '\u{30a}',
        '˝' | '\u{30b}' => '\u{30b}',
        'ˇ' | '\u{30c}' => '\u{30c}',
        '¸' | '\u{327}' => '\u{327}',
        '˛' | '\u{328}' => '\u{328}',
        _ => return None,
    })
}

/// Where which glyphs were drawn: bold type is often the same glyph drawn twice, a little apart.
#[derive(Debug, Default)]
struct Drawn {
    places: HashMap<(i64, i64), Vec<(Point, String)>>,
}

impl Drawn {
    /// Whether the same glyph was drawn there before; if not, it is now.
    fn holds(&mut self, text: &str, place: Point, size: f64) -> bool {
        // Less than half of the narrowest letter.
        let near = 0.1 * size;
        // Cells as wide as a letter is high, so that a place near the border of one is looked for in its neighbour too.
        let cell = |x: f64, y: f64| ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64);
        let (low, high) = (cell(place.x - near, place.y - near), cell(place.x + near, place.y + near));
        for x in low.0..=high.0.min(low.0 + 8) {
            for y in low.1..=high.1.min(low.1 + 8) {
                let found = self.places.get(&(x, y)).into_iter().flatten();
                let mut found = found.filter(|(at, same)| same == text && (*at - place).hypot() < near);
                if found.next().is_some() {
                    return true;
                }
            }
        }
        self.places.entry(cell(place.x, place.y)).or_default().push((place, text.to_string()));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Glyphs of 10 points, half an em wide, at the given places; `base` 0.
    fn glyphs(drawn: &[(&str, f64)]) -> Vec<Glyph> {
        let glyph = |(text, x): &(&str, f64)| Glyph {
            text: text.to_string(),
            origin: Point::new(*x, 0.0),
            along: Vec2::new(1.0, 0.0),
            advance: 5.0,
            size: 10.0,
        };
        drawn.iter().map(glyph).collect()
    }

    fn read(drawn: &[(&str, f64)]) -> Vec<String> {
        let stretches = stretches(glyphs(drawn).iter(), Vec2::new(1.0, 0.0));
        let words =
            |stretch: &Stretch| stretch.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        stretches.iter().map(words).collect()
    }

    #[test]
    fn gaps_and_blanks_part_words_and_wide_gaps_part_stretches() {
        assert_eq!(read(&[("a", 0.0), ("b", 5.5), ("c", 13.0), (" ", 18.0), ("d", 20.0)]), ["ab c d"]);
        assert_eq!(read(&[("a", 0.0), ("b", 30.0), ("c", 35.0)]), ["a", "bc"]);
        assert_eq!(read(&[("a", 0.0), (" ", 5.0), (" ", 10.0), (" ", 15.0), ("b", 20.0)]), ["a", "b"]);
        assert_eq!(read(&[("a", 50.0), ("b", 0.0)]), ["a", "b"], "a line that begins anew");
        assert_eq!(read(&[(" ", 0.0)]), [""; 0]);
    }

    #[test]
    fn what_is_drawn_twice_is_read_once() {
        assert_eq!(read(&[("a", 0.0), ("a", 0.3), ("l", 5.0), ("l", 5.3), ("l", 7.2), ("l", 7.5)]), ["all"]);
    }

    #[test]
    fn an_accent_and_its_letter_are_one_character() {
        assert_eq!(read(&[("´", 0.2), ("e", 0.0), ("t", 5.0)]), ["ét"]);
        assert_eq!(read(&[("u", 0.0), ("¨", 0.1), ("b", 5.0)]), ["üb"]);
        assert_eq!(read(&[("¨", 0.0), ("ı", 0.5)]), ["ï"]);
        assert_eq!(read(&[("x", 0.0), ("^", 5.0), ("y", 10.0)]), ["x^y"], "side by side they are two");
    }
}
