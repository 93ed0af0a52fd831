//! A run file in blocks of whole lines that tear no query apart.

use std::io::{self, Read};
use std::ops::Range;

use super::words::{blanks_end, line_end, word_end};

/// Bytes that are read at once.
const BLOCK: usize = 8 << 20;
/// About how many bytes one thread is given.
const PIECE: usize = 1 << 20;

/// Reads blocks.
pub struct RunBlocks {
    file: Box<dyn Read + Send>,
    /// What was read of the next block already.
    rest: Vec<u8>,
    started: bool,
    ended: bool,
    /// The bytes of a block.
    size: usize,
}

impl RunBlocks {
    /// The blocks of `file`.
    pub fn new(file: Box<dyn Read + Send>) -> Self {
        RunBlocks { file, rest: Vec::new(), started: false, ended: false, size: BLOCK }
    }

    /// The next block, in the memory of `block`; `None` after the last one.
    ///
    /// # Errors
    /// When the file cannot be read, is UTF-16, or one query has more than 4 GB of lines.
    pub fn next(&mut self, mut block: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        block.clear();
        block.append(&mut self.rest);
        let mut wanted = self.size;
        while !self.ended {
            let more = wanted.saturating_sub(block.len()).max(1);
            block.reserve(more);
            let read = self.file.by_ref().take(more as u64).read_to_end(&mut block)?;
            self.ended = read < more;
            if !self.started {
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
            if let Some(cut) = last_change(&block) {
                self.rest.extend_from_slice(block.get(cut..).unwrap_or_default());
                block.truncate(cut);
                break;
            }
            if block.len() >= u32::MAX as usize / 2 {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "one query has more than 2 GB of lines"));
            }
            wanted = block.len() * 2;
        }
        Ok((!block.is_empty()).then_some(block))
    }
}

/// The first word of the line at `start`; empty if it is blank.
fn query(block: &[u8], start: usize) -> &[u8] {
    let start = blanks_end(block, start);
    block.get(start..word_end(block, start)).unwrap_or_default()
}

/// Where the last whole line begins whose query is another one than that of the line before.
fn last_change(block: &[u8]) -> Option<usize> {
    let line_before = |end: usize| memchr::memrchr(b'\n', block.get(..end)?).map(|feed| feed + 1);
    // The last line may be torn, so its query is not known.
    let mut start = line_before(block.len())?;
    loop {
        let before = line_before(start.checked_sub(1)?)?;
        if start < block.len() && query(block, before) != query(block, start) && is_whole(block, start) {
            return Some(start);
        }
        start = before;
    }
}

/// Whether the first word of the line at `start` ends within the block.
fn is_whole(block: &[u8], start: usize) -> bool {
    word_end(block, blanks_end(block, start)) < block.len()
}

/// Cuts a block into pieces between queries.
pub fn pieces(block: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let end = next_change(block, start + PIECE);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Where the first line after `from` begins whose query is another one than that of the line before.
fn next_change(block: &[u8], from: usize) -> usize {
    if from >= block.len() {
        return block.len();
    }
    let mut line = line_end(block, from) + 1;
    loop {
        let next = line_end(block, line) + 1;
        if next >= block.len() {
            return block.len();
        }
        if query(block, line) != query(block, next) {
            return next;
        }
        line = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(queries: usize, rows: usize) -> String {
        (0..queries).flat_map(|q| (0..rows).map(move |d| format!("query{q} Q0 d{d} 1 {d} t\n"))).collect()
    }

    #[test]
    fn blocks_are_the_file_and_hold_whole_queries() {
        let text = run(50, 7);
        for size in [1, 10, 100, 333, 1000, 100_000] {
            let file = io::Cursor::new(text.clone().into_bytes());
            let mut blocks = RunBlocks { size, ..RunBlocks::new(Box::new(file)) };
            let mut whole = Vec::new();
            while let Some(block) = blocks.next(Vec::new()).expect("a block") {
                let lines = block.iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(lines % 7, 0, "{size}");
                whole.extend(block);
            }
            assert_eq!(whole, text.as_bytes(), "{size}");
        }
    }

    #[test]
    fn pieces_are_the_block() {
        let text = run(300, 600);
        let pieces = pieces(text.as_bytes());
        assert!(pieces.len() > 2);
        let mut end = 0;
        for piece in pieces {
            assert_eq!(piece.start, end);
            end = piece.end;
            assert_eq!(text[piece].lines().count() % 600, 0);
        }
        assert_eq!(end, text.len());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_query() {
        let mut blocks = RunBlocks::new(Box::new(&b"\xef\xbb\xbfq Q0 d 1 1 t"[..]));
        assert_eq!(blocks.next(Vec::new()).expect("a block"), Some(b"q Q0 d 1 1 t".to_vec()));
        assert_eq!(blocks.next(Vec::new()).expect("the end"), None);
        assert!(RunBlocks::new(Box::new(&b"\xff\xfeq\0"[..])).next(Vec::new()).is_err());
    }
}
