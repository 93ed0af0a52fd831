//! The text of a page: words to lines, lines to blocks.

use hayro_interpret::kurbo::Vec2;

use super::columns::blocks;
use super::glyph::Glyph;
use super::word::{Stretch, Word, stretches};

/// How many rows back a word may still belong to: rows overlap where sizes differ.
const ROWS_BACK: usize = 4;

/// Lines that are further apart than this many times the usual distance have an empty line between them.
const PARAGRAPH_GAP: f64 = 1.4;

/// Signs that stand before an amount.
const CURRENCIES: [&str; 4] = ["$", "€", "£", "¥"];

/// The text that the glyphs of a page make.
///
/// Lines in the direction of most glyphs come first, then those that are turned otherwise: a stamp along the margin, a table
/// on its side. The page's own turn (`Rotate`) does not matter to that.
pub(super) fn page_text(glyphs: &[Glyph]) -> String {
    let mut directions: Vec<(i32, usize)> = Vec::new();
    for glyph in glyphs {
        let direction = degrees(glyph);
        match directions.iter_mut().find(|(known, _)| *known == direction) {
            Some((_, count)) => *count += 1,
            None => directions.push((direction, 1)),
        }
    }
    directions.sort_by_key(|(direction, count)| (std::cmp::Reverse(*count), *direction));
    let mut texts = Vec::new();
    for (direction, _) in directions {
        let along = Vec2::from_angle(f64::from(direction).to_radians());
        let turned = glyphs.iter().filter(|glyph| degrees(glyph) == direction);
        texts.extend(blocks(stretches(turned, along)).into_iter().map(block_text));
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n\n")
}

/// The direction of a glyph's line in whole degrees, from 0 to 359.
fn degrees(glyph: &Glyph) -> i32 {
    (glyph.along.atan2().to_degrees().round() as i32).rem_euclid(360)
}

/// Words side by side.
struct Row {
    words: Vec<Word>,
    /// The largest size, and the baseline and the extent of the word that has it.
    size: f64,
    base: f64,
    extent: (f64, f64),
}

impl Row {
    fn new(word: Word) -> Self {
        Row { size: word.size, base: word.base, extent: word.extent(), words: vec![word] }
    }

    /// Whether at least half of the lower of the two is beside the other; so a superscript is on the line that it belongs to.
    fn is_beside(&self, word: &Word) -> bool {
        let (bottom, top) = word.extent();
        let common = top.min(self.extent.1) - bottom.max(self.extent.0);
        common >= 0.5 * (top - bottom).min(self.extent.1 - self.extent.0)
    }

    fn add(&mut self, word: Word) {
        if word.size > self.size {
            (self.size, self.base, self.extent) = (word.size, word.base, word.extent());
        }
        self.words.push(word);
    }

    /// The words from left to right: a space between words, a tab where they stand as far apart as the cells of a table.
    fn text(mut self) -> String {
        self.words.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut text = String::new();
        let mut before: Option<&Word> = None;
        for word in &self.words {
            match before {
                None => {}
                // Accounts have the sign of a currency at the other end of its cell.
                Some(before) if before.is_far_from(word) && !CURRENCIES.contains(&before.text.as_str()) => {
                    text.push('\t')
                }
                Some(before) if before.goes_on_with(word) => {}
                Some(_) => text.push(' '),
            }
            text.push_str(&word.text);
            before = Some(word);
        }
        text
    }
}

/// The lines of a block from the top down.
fn block_text(block: Vec<Stretch>) -> String {
    let mut words: Vec<Word> = block.into_iter().flat_map(|stretch| stretch.words).collect();
    words.sort_by(|a, b| b.base.total_cmp(&a.base));
    let mut rows: Vec<Row> = Vec::new();
    for word in words {
        match rows.iter_mut().rev().take(ROWS_BACK).find(|row| row.is_beside(&word)) {
            Some(row) => row.add(word),
            None => rows.push(Row::new(word)),
        }
    }
    rows.sort_by(|a, b| b.base.total_cmp(&a.base));
    let mut gaps: Vec<f64> = rows.windows(2).filter_map(|pair| Some(pair.first()?.base - pair.get(1)?.base)).collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    let mut text = String::new();
    let mut before: Option<f64> = None;
    for row in rows {
        if let Some(before) = before {
            text.push_str(if before - row.base > PARAGRAPH_GAP * usual { "\n\n" } else { "\n" });
        }
        before = Some(row.base);
        text.push_str(&row.text());
    }
    text
}

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::Point;

    use super::*;

    /// The glyphs of `text`, half an em wide, from (`x`, `y`) on.
    fn line(text: &str, x: f64, y: f64, size: f64) -> Vec<Glyph> {
        let glyph = |(i, c): (u32, char)| Glyph {
            text: c.to_string(),
            origin: Point::new(x + f64::from(i) * size / 2.0, y),
            along: Vec2::new(1.0, 0.0),
            advance: size / 2.0,
            size,
        };
        (0..).zip(text.chars()).map(glyph).collect()
    }

    #[test]
    fn rows_of_a_table_are_lines() {
        let page = [
            line("1,200", 300.0, 700.0, 10.0),
            line("Net sales", 50.0, 700.0, 10.0),
            line("Cost", 50.0, 688.0, 10.0),
            line("900", 310.0, 688.5, 10.0),
            line("$", 250.0, 688.5, 10.0),
            line("Text below.", 50.0, 640.0, 10.0),
        ];
        assert_eq!(page_text(&page.concat()), "Net sales\t1,200\nCost\t$ 900\n\nText below.");
    }

    #[test]
    fn a_superscript_stays_on_its_line() {
        let page = [line("above", 50.0, 712.0, 10.0), line("word", 50.0, 700.0, 10.0), line("2", 70.0, 704.0, 6.0)];
        assert_eq!(page_text(&page.concat()), "above\nword2");
    }

    #[test]
    fn turned_lines_come_after_the_others() {
        let mut stamp = line("stamp", 10.0, 100.0, 10.0);
        for (i, glyph) in (0u32..).zip(&mut stamp) {
            glyph.along = Vec2::new(0.0, 1.0);
            glyph.origin = Point::new(10.0, 100.0 + 5.0 * f64::from(i));
        }
        let page = [stamp, line("The page", 50.0, 700.0, 10.0)];
        assert_eq!(page_text(&page.concat()), "The page\n\nstamp");
    }

    #[test]
    fn no_glyphs_are_no_text() {
        assert_eq!(page_text(&[]), "");
    }
}
