//! Little-endian numbers in files of vectors.

use crate::error::DecodeError;

/// Bytes of the head of a file of vectors: what follows is aligned to a cache line wherever the file is mapped.
pub(super) const HEAD_BYTES: usize = 64;

/// Appends numbers.
pub(super) fn put_f32s(bytes: &mut Vec<u8>, numbers: &[f32]) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(bytemuck::cast_slice(numbers));
    } else {
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
}

/// Appends numbers.
pub(super) fn put_u32s(bytes: &mut Vec<u8>, numbers: &[u32]) {
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

/// Fills the head of a file up to its length.
pub(super) fn pad_head(bytes: &mut Vec<u8>) {
    bytes.resize(HEAD_BYTES, 0);
}

/// Reads numbers off the front of bytes; never more than there are, and allocates only what is there.
pub(super) struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads a file that opens with `magic`; `what` is how errors call it.
    pub fn open(what: &'static str, bytes: &'a [u8], magic: &[u8; 8], version: u32) -> Result<Self, DecodeError> {
        let mut reader = Reader { what, rest: bytes };
        if reader.take(magic.len())? != magic {
            return Err(reader.error(format!("it does not start with {}", String::from_utf8_lossy(magic))));
        }
        match reader.u32()? {
            found if found == version => Ok(reader),
            found => Err(reader.error(format!("expected version {version}, found {found}"))),
        }
    }

    /// A fault of the file.
    pub fn error(&self, why: impl std::fmt::Display) -> DecodeError {
        DecodeError::Format(format!("{}: {why}", self.what))
    }

    /// The next `bytes` bytes.
    pub fn take(&mut self, bytes: usize) -> Result<&'a [u8], DecodeError> {
        let short = || self.error(format!("{bytes} bytes expected, {} left", self.rest.len()));
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next number.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(self.u32s(1)?.first().copied().unwrap_or_default())
    }

    /// The next number, which is a count.
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let (numbers, _) = self.take(8)?.as_chunks::<8>();
        let count = numbers.first().map(|bytes| u64::from_le_bytes(*bytes)).unwrap_or_default();
        usize::try_from(count).map_err(|_| self.error(format!("a count of {count}")))
    }

    /// The next `count` numbers.
    pub fn u32s(&mut self, count: usize) -> Result<Vec<u32>, DecodeError> {
        let (numbers, _) = self.take(count.saturating_mul(4))?.as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    /// The next `count` numbers.
    pub fn f64s(&mut self, count: usize) -> Result<Vec<f64>, DecodeError> {
        let (numbers, _) = self.take(count.saturating_mul(8))?.as_chunks::<8>();
        Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Whether all was read.
    pub fn end(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error(format!("{} bytes too many", self.rest.len()))) }
    }
}

/// The numbers that little-endian bytes are; a rest of less than four bytes is left out.
pub(super) fn f32s(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
