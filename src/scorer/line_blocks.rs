//! A file in blocks of whole lines.

use std::io::{self, Read};

/// Bytes that are read at once.
const BLOCK: usize = 4 << 20;

/// Reads blocks: all but the last end with the end of a line.
pub struct LineBlocks {
    file: Box<dyn Read + Send>,
    /// The torn line after the block before.
    rest: Vec<u8>,
    ended: bool,
    /// About how many bytes a block has; one line is never torn, however long it is.
    size: usize,
}

impl LineBlocks {
    /// The blocks of `file`.
    pub fn new(file: Box<dyn Read + Send>) -> Self {
        LineBlocks { file, rest: Vec::new(), ended: false, size: BLOCK }
    }

    /// The next block, in the memory of `block`; `None` after the last one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&mut self, mut block: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        block.clear();
        block.append(&mut self.rest);
        let mut wanted = self.size;
        while !self.ended {
            let more = wanted.saturating_sub(block.len()).max(1);
            block.reserve(more);
            let read = self.file.by_ref().take(more as u64).read_to_end(&mut block)?;
            self.ended = read < more;
            if self.ended {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &block) {
                self.rest.extend_from_slice(block.get(end + 1..).unwrap_or_default());
                block.truncate(end + 1);
                break;
            }
            wanted = block.len() * 2;
        }
        Ok((!block.is_empty()).then_some(block))
    }
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
                let mut blocks = LineBlocks { size, ..LineBlocks::new(Box::new(file)) };
                let mut whole = Vec::new();
                while let Some(block) = blocks.next(Vec::new()).expect("a block") {
                    assert!(whole.is_empty() || whole.ends_with(b"\n"), "{size}: a line was torn");
                    whole.extend(block);
                }
                assert_eq!(whole, text.as_bytes(), "{size}");
            }
        }
    }
}
