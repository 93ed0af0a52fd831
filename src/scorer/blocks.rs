//! A file in blocks that end where they may be torn.

use std::io::{self, Read};

/// No line, and no query of a run, is longer: their places in a block are numbers of 32 bits.
const MOST: usize = u32::MAX as usize / 2;

/// Reads blocks of UTF-8, without a byte order mark.
pub struct Blocks {
    file: Box<dyn Read + Send>,
    /// What was read of the next block already.
    rest: Vec<u8>,
    started: bool,
    ended: bool,
    /// About how many bytes a block has.
    size: usize,
    /// Where the last part of a block begins that may be torn; `None` where it has no such place.
    cut: fn(&[u8]) -> Option<usize>,
}

impl Blocks {
    /// The blocks of `file`, of about `size` bytes, torn where `cut` says.
    pub fn new(file: Box<dyn Read + Send>, size: usize, cut: fn(&[u8]) -> Option<usize>) -> Self {
        Blocks { file, rest: Vec::new(), started: false, ended: false, size, cut }
    }

    /// The next block, in the memory of `block`; `None` after the last one.
    ///
    /// # Errors
    /// When the file cannot be read, is UTF-16, or has more than 2 GB that may not be torn.
    pub fn next(&mut self, mut block: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        block.clear();
        block.append(&mut self.rest);
        let mut wanted = self.size;
        while !self.ended {
            let more = wanted.saturating_sub(block.len()).max(1);
            block.reserve(more);
            let read = self.file.by_ref().take(more as u64).read_to_end(&mut block)?;
            self.ended = read < more;
            // Of a mark that is not read to its end nothing is known yet.
            if !self.started && (block.len() >= 3 || self.ended) {
                self.started = true;
                if block.starts_with(b"\xff\xfe") || block.starts_with(b"\xfe\xff") {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "expected UTF-8, found UTF-16"));
                }
                if block.starts_with(b"\xef\xbb\xbf") {
                    block.drain(..3);
                }
            }
            if self.ended {
                break;
            }
            if let Some(cut) = (self.cut)(&block).filter(|_| self.started) {
                self.rest.extend_from_slice(block.get(cut..).unwrap_or_default());
                block.truncate(cut);
                break;
            }
            if block.len() >= MOST {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "one line or query has more than 2 GB"));
            }
            wanted = block.len() * 2;
        }
        Ok((!block.is_empty()).then_some(block))
    }
}

/// Where the line begins that may not be whole yet.
pub fn last_line(block: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', block).map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_file_and_tear_no_line() {
        let text: String = (0..50usize).map(|line| format!("{}\n", "x".repeat(line * 7 % 23))).collect();
        for text in [text.as_str(), text.trim_end(), "", "\n", "one"] {
            for size in [1, 5, 22, 23, 100, 10_000] {
                let file = io::Cursor::new(text.to_string().into_bytes());
                let mut blocks = Blocks::new(Box::new(file), size, last_line);
                let mut whole = Vec::new();
                while let Some(block) = blocks.next(Vec::new()).expect("a block") {
                    assert!(whole.is_empty() || whole.ends_with(b"\n"), "{size}: a line was torn");
                    whole.extend(block);
                }
                assert_eq!(whole, text.as_bytes(), "{size}");
            }
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        for size in [1, 2, 3, 100] {
            let mut blocks = Blocks::new(Box::new(&b"\xef\xbb\xbfa\nb"[..]), size, last_line);
            let mut whole = Vec::new();
            while let Some(block) = blocks.next(Vec::new()).expect("a block") {
                whole.extend(block);
            }
            assert_eq!(whole, b"a\nb", "{size}");
        }
        assert!(Blocks::new(Box::new(&b"\xff\xfeq\0"[..]), 100, last_line).next(Vec::new()).is_err());
    }
}
