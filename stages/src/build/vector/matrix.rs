//! A matrix of f32 numbers, mapped from a file or in memory.

use std::ops::Range;
use std::path::Path;

use mmap_io::MemoryMappedFile;

use super::little_endian::f32s;
use crate::error::DecodeError;

/// The numbers of a matrix, row after row.
pub(super) enum Matrix {
    /// In a file: the system reads what is looked at, and may forget it again.
    Mapped {
        /// The file.
        file: MemoryMappedFile,
        /// Which of its bytes.
        bytes: Range<u64>,
    },
    /// In memory.
    Kept(Vec<f32>),
}

impl Matrix {
    /// The numbers at `range` of a file that was mapped; read where this machine cannot use them as they are.
    pub fn of(file: MemoryMappedFile, range: Range<usize>) -> Result<Self, DecodeError> {
        let bytes = range.start as u64..range.end as u64;
        let usable = match file.as_slice_bytes(bytes.start, bytes.end.saturating_sub(bytes.start)) {
            Ok(found) if cfg!(target_endian = "big") || bytemuck::try_cast_slice::<u8, f32>(found).is_err() => {
                Err(f32s(found))
            }
            Ok(_) => Ok(()),
            Err(error) => return Err(DecodeError::Format(format!("cannot be mapped: {error}"))),
        };
        Ok(match usable {
            Ok(()) => Matrix::Mapped { file, bytes },
            Err(numbers) => Matrix::Kept(numbers),
        })
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        match self {
            Matrix::Kept(numbers) => numbers,
            Matrix::Mapped { file, bytes } => {
                let found = file.as_slice_bytes(bytes.start, bytes.end - bytes.start).unwrap_or_default();
                bytemuck::try_cast_slice(found).unwrap_or_default()
            }
        }
    }
}

/// Maps a file. What is in the store is never written to again, only removed, and a file that is mapped stays there.
pub(super) fn map(path: &Path) -> Result<(MemoryMappedFile, usize), DecodeError> {
    let failed = |error: mmap_io::MmapIoError| DecodeError::Format(format!("cannot be mapped: {error}"));
    let file = MemoryMappedFile::open_ro(path).map_err(failed)?;
    let bytes = file.len();
    Ok((file, usize::try_from(bytes).unwrap_or(usize::MAX)))
}
