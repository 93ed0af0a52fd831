//! The characters that a page draws, and where.

use std::panic::resume_unwind;

use hayro_interpret::font::{Glyph as DrawnGlyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Vec2};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

/// Units of a glyph's own space in an em.
const UNITS_PER_EM: f64 = 1000.0;

/// What a page may draw before it is taken for an attack: forms that draw forms multiply without bound. The densest page of
/// a real document that was seen has some 10,000 glyphs.
const MOST_DRAWN: usize = 2_000_000;

/// A form, which is clipped, is as much work as so many glyphs.
const CLIP: usize = 20;

/// A character in the page's space: points, y upwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    /// One character, or those of a ligature; never empty.
    pub(super) text: String,
    /// Where its baseline begins.
    pub(super) origin: Point,
    /// The unit vector in which the line goes on.
    pub(super) along: Vec2,
    /// How far along that is the end of the glyph.
    pub(super) advance: f64,
    /// The size of the font.
    pub(super) size: f64,
}

/// Raised by a page that draws too much.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawsTooMuch;

/// Collects what a page draws: its glyphs, in the order of drawing.
#[derive(Debug)]
pub(super) struct GlyphCollector {
    /// Glyphs whose characters are known.
    pub(super) glyphs: Vec<Glyph>,
    /// How many there are of which the font does not say what character they are.
    pub(super) unknown: usize,
    media_box: Rect,
    drawn: usize,
}

impl GlyphCollector {
    /// For a page of this size; what is drawn outside is not on the page.
    pub(super) fn new(media_box: Rect) -> Self {
        GlyphCollector { glyphs: Vec::new(), unknown: 0, media_box, drawn: 0 }
    }

    /// Counts `count` more things drawn. Drawing has no way to end early but a panic; this one is not reported.
    fn count(&mut self, count: usize) {
        self.drawn += count;
        if self.drawn > MOST_DRAWN {
            resume_unwind(Box::new(DrawsTooMuch));
        }
    }
}

impl Device<'_> for GlyphCollector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let glyphs = run.glyphs();
        self.count(glyphs.len());
        let is_vertical = run.writing_mode() == hayro_interpret::hayro_cmap::WritingMode::Vertical;
        for glyph in glyphs {
            let Some(text) = glyph.as_unicode().map(readable).filter(|text| !text.is_empty()) else {
                self.unknown += 1;
                continue;
            };
            let advance = match &**glyph {
                DrawnGlyph::Outline(outline) => outline.advance_width(),
                DrawnGlyph::Type3(type3) => type3.advance_width(),
            };
            let place = props.transform * glyph.transform();
            if let Some(glyph) = placed(text, place, f64::from(advance.unwrap_or(0.0)), is_vertical)
                && self.media_box.inflate(glyph.size, glyph.size).contains(glyph.origin)
            {
                self.glyphs.push(glyph);
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.count(1);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.count(CLIP);
    }

    fn push_clip_rect(&mut self, _: &Rect) {
        self.count(CLIP);
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.count(1);
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.count(1);
    }

    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'_>, _: &DrawMode) {
        self.count(1);
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

/// The glyph that `place` moves from its own space to the page's, unless it has no size there.
fn placed(text: String, place: Affine, advance: f64, is_vertical: bool) -> Option<Glyph> {
    let [a, b, c, d, x, y] = place.as_coeffs();
    let (right, up) = (Vec2::new(a, b), Vec2::new(c, d));
    // A glyph of a vertical line is an em high; its font tells its width only.
    let (axis, advance) = if is_vertical { (-up, UNITS_PER_EM) } else { (right, advance) };
    let size = up.hypot() * UNITS_PER_EM;
    let scale = axis.hypot();
    let is_drawn = size.is_finite() && size > 0.0 && scale.is_finite() && scale > 0.0 && (x + y).is_finite();
    is_drawn.then(|| Glyph {
        text,
        origin: Point::new(x, y),
        along: axis / scale,
        advance: (advance * scale).clamp(-4.0 * size, 4.0 * size),
        size,
    })
}

/// What a reader reads: ligatures as their letters, any space as a space, and nothing of what cannot be seen.
fn readable(text: BfString) -> String {
    let mut read = String::new();
    let mut add = |c: char| match c {
        '\u{fb00}' => read.push_str("ff"),
        '\u{fb01}' => read.push_str("fi"),
        '\u{fb02}' => read.push_str("fl"),
        '\u{fb03}' => read.push_str("ffi"),
        '\u{fb04}' => read.push_str("ffl"),
        '\u{fb05}' | '\u{fb06}' => read.push_str("st"),
        // The bullet of the font Symbol, in the private use area, where Word's bullets are.
        '\u{f0b7}' => read.push('•'),
        // A hyphen at the end of a line: a font's ToUnicode often says it is a soft one.
        '\u{ad}' => read.push('-'),
        '\u{feff}' | '\u{200b}' | '\u{fffd}' => {}
        c if c.is_whitespace() => read.push(' '),
        c if c.is_control() => {}
        c => read.push(c),
    };
    match text {
        BfString::Char(c) => add(c),
        BfString::String(text) => text.chars().for_each(add),
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_are_their_letters() {
        let read = |text: &str| readable(BfString::String(text.to_string()));
        assert_eq!(read("o\u{fb03}ce\u{a0}\u{fb01}le"), "office file");
        assert_eq!(read("\u{feff}a\0\u{ad}\u{f0b7}"), "a-•");
        assert_eq!(readable(BfString::Char('\u{1}')), "");
    }

    #[test]
    fn a_glyph_has_the_direction_and_the_size_of_its_matrix() {
        // A font of 10 points turned by a quarter.
        let quarter = Affine::new([0.0, 0.01, -0.01, 0.0, 100.0, 200.0]);
        let glyph = placed("a".to_string(), quarter, 500.0, false).expect("a glyph");
        assert_eq!((glyph.along, glyph.origin), (Vec2::new(0.0, 1.0), Point::new(100.0, 200.0)));
        assert!((glyph.advance - 5.0).abs() < 1e-9 && (glyph.size - 10.0).abs() < 1e-9, "{glyph:?}");
        assert_eq!(placed("a".to_string(), Affine::scale(0.0), 500.0, false), None);
        assert_eq!(placed("a".to_string(), Affine::scale(f64::NAN), 500.0, false), None);
    }

    #[test]
    fn a_page_that_draws_without_end_is_given_up() {
        let mut collector = GlyphCollector::new(Rect::new(0.0, 0.0, 600.0, 800.0));
        collector.count(MOST_DRAWN);
        let panic = super::super::super::caught::caught(|| collector.count(1)).expect_err("given up");
        assert!(panic.is::<DrawsTooMuch>());
    }
}
