//! `embeddings`: the vectors of a unit's texts, in a file of our own.
//!
//! # Format
//!
//! Numbers are little-endian.
//!
//! | part | type | content |
//! |---|---|---|
//! | magic | 8 bytes | `RSVECF32` |
//! | version | u32 | 1 |
//! | dimensions | u32 | numbers per vector; 0 where there are no vectors |
//! | texts | u64 | how many texts there were |
//! | missing | u64 | how many of them have no vector |
//! | padding | zeros | up to byte 64 |
//! | vectors | f32 x dimensions x (texts - missing) | in the order of the texts |
//! | missing texts | u32 x missing | their numbers, ascending |

use super::little_endian::{HEAD_BYTES, Reader, f32s, pad_head, put_f32s, put_u32s};
use crate::contract::Artifact;
use crate::error::DecodeError;

const MAGIC: &[u8; 8] = b"RSVECF32";
const VERSION: u32 = 1;
const WHAT: &str = "embeddings";

/// The vectors of texts that are numbered from 0. A text that could not be embedded has none: it is named instead, and what
/// is made of the vectors leaves it out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    dimensions: u32,
    texts: u32,
    vectors: Vec<f32>,
    missing: Vec<u32>,
}

impl Embeddings {
    /// The vectors of texts, in order; `None` for a text that has none.
    ///
    /// # Errors
    /// When vectors have different lengths or none, when a number is not finite, and when there are more texts than a `u32`
    /// can number.
    pub fn new<'a>(vectors: impl IntoIterator<Item = Option<&'a [f32]>>) -> Result<Self, DecodeError> {
        let mut embeddings = Embeddings::default();
        let wrong = |why: String| Err(DecodeError::Format(format!("{WHAT}: {why}")));
        for (number, vector) in vectors.into_iter().enumerate() {
            let Some(next) = u32::try_from(number).ok().and_then(|number| number.checked_add(1)) else {
                return wrong(format!("more than {} texts", u32::MAX));
            };
            embeddings.texts = next;
            let Some(vector) = vector else {
                embeddings.missing.push(next - 1);
                continue;
            };
            let dimensions = u32::try_from(vector.len()).unwrap_or(u32::MAX);
            if dimensions == 0 {
                return wrong(format!("the vector of text {number} is empty"));
            }
            if embeddings.dimensions != 0 && embeddings.dimensions != dimensions {
                return wrong(format!(
                    "text {number} has a vector of {dimensions} numbers, those before it have {}",
                    embeddings.dimensions
                ));
            }
            if vector.iter().any(|number| !number.is_finite()) {
                return wrong(format!("the vector of text {number} has a number that is not finite"));
            }
            embeddings.dimensions = dimensions;
            embeddings.vectors.extend_from_slice(vector);
        }
        Ok(embeddings)
    }

    /// Numbers per vector; 0 where there are no vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions as usize
    }

    /// How many texts there were.
    pub fn texts(&self) -> u32 {
        self.texts
    }

    /// All vectors one after the other, in the order of their texts.
    pub fn vectors(&self) -> &[f32] {
        &self.vectors
    }

    /// The numbers of the texts that have a vector, ascending.
    pub fn present(&self) -> Vec<u32> {
        let mut missing = self.missing.iter().peekable();
        (0..self.texts).filter(|text| missing.next_if_eq(&text).is_none()).collect()
    }
}

impl Artifact for Embeddings {
    fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 4 * (self.vectors.len() + self.missing.len()));
        bytes.extend_from_slice(MAGIC);
        put_u32s(&mut bytes, &[VERSION, self.dimensions]);
        for count in [u64::from(self.texts), self.missing.len() as u64] {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        pad_head(&mut bytes);
        put_f32s(&mut bytes, &self.vectors);
        put_u32s(&mut bytes, &self.missing);
        Ok(bytes)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, DecodeError> {
        let mut reader = Reader::open(WHAT, &bytes, MAGIC, VERSION)?;
        let dimensions = reader.u32()?;
        let [texts, missing] = [reader.count()?, reader.count()?];
        let read = bytes.len() - reader.left();
        reader.take(HEAD_BYTES.saturating_sub(read))?;
        let texts = u32::try_from(texts).map_err(|_| reader.error(format!("{texts} texts are too many")))?;
        let rows = (texts as usize)
            .checked_sub(missing)
            .ok_or_else(|| reader.error(format!("{missing} of {texts} texts are missing")))?;
        let numbers = rows.saturating_mul(dimensions as usize);
        let vectors = f32s(reader.take(numbers.saturating_mul(4))?);
        let missing = reader.u32s(missing)?;
        if vectors.iter().any(|number| !number.is_finite()) {
            return Err(reader.error("a number is not finite"));
        }
        if missing.windows(2).any(|pair| pair[0] >= pair[1]) || missing.last().is_some_and(|last| *last >= texts) {
            return Err(reader.error("the missing texts are not ascending, or not among the texts"));
        }
        if (dimensions == 0) != (rows == 0) {
            return Err(reader.error(format!("{rows} vectors of {dimensions} numbers")));
        }
        reader.end()?;
        Ok(Embeddings { dimensions, texts, vectors, missing })
    }
}

#[cfg(test)]
mod tests {
    use ragstage_cache::Digest;

    use super::*;

    fn example() -> Embeddings {
        Embeddings::new([Some([1.0, -2.5].as_slice()), None, Some(&[0.0, 0.25]), None]).expect("embeddings")
    }

    #[test]
    fn what_is_written_is_read() {
        for embeddings in [example(), Embeddings::default(), Embeddings::new([None, None]).expect("embeddings")] {
            assert_eq!(Embeddings::decode(embeddings.encode().expect("encode")).expect("decode"), embeddings);
        }
        assert_eq!((example().texts(), example().dimensions(), example().present()), (4, 2, vec![0, 2]));
        assert_eq!(example().vectors(), [1.0, -2.5, 0.0, 0.25]);
    }

    #[test]
    fn the_bytes_are_pinned() {
        let bytes = example().encode().expect("encode");
        assert_eq!(bytes.len(), 64 + 4 * 4 + 2 * 4);
        assert_eq!(bytes[64..72], [0, 0, 128, 63, 0, 0, 32, 192]);
        // Changed bytes for the same vectors: bump the code version of `embed`, then this value.
        assert_eq!(Digest::of(&bytes).short(), "af26024e72cb");
    }

    #[test]
    fn vectors_that_are_none_are_refused() {
        let error =
            |vectors: &[Option<&[f32]>]| Embeddings::new(vectors.iter().copied()).expect_err("refused").to_string();
        assert!(error(&[Some(&[1.0]), Some(&[1.0, 2.0])]).contains("text 1 has a vector of 2 numbers"));
        assert!(error(&[None, Some(&[f32::NAN])]).contains("text 1 has a number that is not finite"));
        assert!(error(&[Some(&[f32::INFINITY])]).contains("not finite"));
        assert!(error(&[Some(&[])]).contains("text 0 is empty"));
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let bytes = example().encode().expect("encode");
        let error = |bytes: &[u8]| Embeddings::decode(bytes.to_vec()).expect_err("refused").to_string();
        assert!(error(b"PAR1").contains("8 bytes expected, 4 left"));
        assert!(error(&[b'x'; 100]).contains("RSVECF32"));
        assert!(error(&bytes[..bytes.len() - 1]).contains("bytes expected"));
        assert!(error(&[bytes.as_slice(), &[0]].concat()).contains("1 bytes too many"));
        let with = |at: usize, byte: u8| {
            let mut other = bytes.clone();
            other[at] = byte;
            error(&other)
        };
        assert!(with(8, 2).contains("expected version 1, found 2"));
        assert!(with(24, 5).contains("5 of 4 texts are missing"));
        assert!(with(80, 3).contains("not ascending"));
        assert!(with(84, 4).contains("not among the texts"));
        let mut infinite = bytes.clone();
        infinite[64..68].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert!(error(&infinite).contains("not finite"));
    }
}
