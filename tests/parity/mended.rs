//! What Heta stumbles over and ours reads: recognised by the bytes of a file, whatever its folder is called.

use ragstage_stages::prepare::BenchmarkSpec;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether any of the files of `spec` is written in a mended way.
pub fn is_mended(spec: &BenchmarkSpec) -> bool {
    spec.listing().into_iter().any(|file| {
        let bytes = std::fs::read(&file.path).unwrap_or_default();
        plain(&file.role, bytes.clone()) != bytes
    })
}

/// Whether the judgements of `spec` are in TREC's four columns, which Heta misreads without a word where the documents' ids
/// are numbers (bug 25).
pub fn has_trec_qrels(spec: &BenchmarkSpec) -> bool {
    let qrels = spec.listing().into_iter().find(|file| file.role == "qrels");
    qrels.is_some_and(|file| std::fs::read(&file.path).is_ok_and(|bytes| three_columns(&bytes).is_some()))
}

/// Whether U+0085, U+2028 or U+2029 stands outside the texts of a JSON-lines file, where Heta ends a row and JSON allows none.
pub fn has_separated_rows(spec: &BenchmarkSpec) -> bool {
    let mut rows = spec.listing().into_iter().filter(|file| matches!(file.role.as_str(), "documents" | "cases"));
    rows.any(|file| {
        let bytes = std::fs::read(&file.path).unwrap_or_default();
        String::from_utf8_lossy(&plain(&file.role, bytes)).contains(['\u{85}', '\u{2028}', '\u{2029}'])
    })
}

/// The bytes of a file as they are when it is written in a way that nobody stumbles over: without a byte order mark, the
/// separators U+0085, U+2028 and U+2029 within JSON texts escaped, judgements in three columns.
pub fn plain(role: &str, bytes: Vec<u8>) -> Vec<u8> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).map(<[u8]>::to_vec).unwrap_or(bytes);
    if role == "qrels" { three_columns(&bytes).unwrap_or(bytes) } else { without_separators(bytes) }
}

fn without_separators(bytes: Vec<u8>) -> Vec<u8> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return error.into_bytes(),
    };
    let mut plain = String::with_capacity(text.len());
    let (mut within, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            '\n' | '\r' => within = false,
            '"' if !escaped => within = !within,
            '\u{85}' | '\u{2028}' | '\u{2029}' if within => {
                plain.push_str(&format!("\\u{:04x}", u32::from(c)));
                continue;
            }
            _ => {}
        }
        escaped = within && c == '\\' && !escaped;
        plain.push(c);
    }
    plain.into_bytes()
}

/// Judgements without TREC's second column; `None` where not every row has four cells and `0` or `Q0` as its second.
fn three_columns(qrels: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(qrels).ok()?;
    let mut rows = Vec::new();
    for line in text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        match cells[..] {
            [query, "0" | "Q0" | "q0", document, grade] => rows.push([query, document, grade].join("\t")),
            _ => return None,
        }
    }
    (!rows.is_empty()).then(|| rows.join("\n").into_bytes())
}
