//! The parts of rows, one after the other, each with its length: what a row's digest is made of.

use ragstage_cache::Digest;

/// Parts of one row. Different parts in the same order never give the same bytes.
#[derive(Debug, Clone, Default)]
pub struct RowParts(Vec<u8>);

impl RowParts {
    /// Forgets the parts, so that those of another row can be collected.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&(length as u64).to_le_bytes());
    }

    /// Bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// A text, or that there is none.
    pub fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.bytes(text.as_bytes()),
            None => self.length(usize::MAX),
        }
    }

    /// A number, or that there is none.
    pub fn number(&mut self, number: Option<f64>) {
        self.0.push(u8::from(number.is_some()));
        self.0.extend_from_slice(&number.unwrap_or_default().to_le_bytes());
    }

    /// A list of texts.
    pub fn list<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.length(texts.len());
        texts.for_each(|text| self.bytes(text.as_bytes()));
    }

    /// The digest of all parts.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}
