//! A run file in blocks of whole lines that tear no query apart.

use std::io::Read;
use std::ops::Range;

use super::blocks::Blocks;
use super::words::{blanks_end, line_end, word_end};

/// Bytes that are read at once.
const BLOCK: usize = 8 << 20;
/// About how many bytes one thread is given: so few that none waits long for another at the end of a block.
const PIECE: usize = 1 << 18;

/// The blocks of `file`.
pub fn run_blocks(file: Box<dyn Read + Send>) -> Blocks {
    Blocks::new(file, BLOCK, last_change)
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
            let file = std::io::Cursor::new(text.clone().into_bytes());
            let mut blocks = Blocks::new(Box::new(file), size, last_change);
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
}
