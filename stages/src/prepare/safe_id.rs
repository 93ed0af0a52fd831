//! Ids that can be part of a key or a file name, made of a dataset's own ids (spec/heta 4.2).

use super::sha1::sha1;
use crate::python::is_alphanumeric;

/// Ids up to this many characters are kept as they are.
const LONGEST: usize = 96;
/// Characters of a longer or changed id that are kept before the hash.
const KEPT: usize = 83;

/// The safe form of `id`: itself where it is made of letters, digits, `.`, `-` and single inner `_` and is short enough,
/// else its safe characters and 12 hexadecimal digits of its SHA-1.
pub(super) fn safe_id(id: &str) -> String {
    let replaced: String =
        id.chars().map(|c| if is_alphanumeric(c) || matches!(c, '.' | '_' | '-') { c } else { '_' }).collect();
    let parts: Vec<&str> = replaced.split('_').filter(|part| !part.is_empty()).collect();
    let safe = if parts.is_empty() { "document".to_string() } else { parts.join("_") };
    if safe == id && safe.chars().count() <= LONGEST {
        return safe;
    }
    let kept: String = safe.chars().take(KEPT).collect();
    let hash: String = sha1(id.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{hash}", kept.trim_matches(['.', '_', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_ids_stay() {
        for id in ["r1", "...", "12", "a_b", "珊瑚-07.v2", "①½Ⅷ"] {
            assert_eq!(safe_id(id), id);
        }
        let longest = "x".repeat(96);
        assert_eq!(safe_id(&longest), longest);
    }

    #[test]
    fn other_ids_get_a_hash() {
        // SHA-1 of "r__3", "_r4_", "!!!" and the Devanagari word, as recorded from the reference system.
        assert_eq!(safe_id("r__3"), "r_3_70acbbfafe92");
        assert_eq!(safe_id("_r4_"), "r4_49fe9771cd2a");
        assert_eq!(safe_id("!!!"), "document_9a7b006d203b");
        assert_eq!(safe_id("r 2/α"), "r_2_α_f897c40ba6ff");
        assert_eq!(safe_id("हिन्दी"), "ह_न_द_e554e1a23a08");
    }

    #[test]
    fn circled_letters_are_no_letters_and_long_ids_are_cut() {
        assert!(safe_id("aⒶb").starts_with("a_b_"));
        let cut = safe_id(&"x".repeat(97));
        assert_eq!(cut.chars().count(), 83 + 1 + 12);
        assert_eq!(safe_id(&".".repeat(97)).chars().count(), 1 + 12);
    }
}
