//! When a result matches a piece of gold evidence.
//!
//! A piece may carry up to three labels. Each is compared where both sides carry it:
//!
//! 1. **locator**: carried when it has a value and the result has a value for every one of its keys (`locator.rs` has the
//!    keys). A `document_id` means the benchmark's document id.
//! 2. **reference id**: carried when the result has any id. It matches the result's own id, one of its `chunk_ids`, its
//!    document's id or one of its source keys.
//! 3. **text**: carried when neither text is blank. A result that is only a part of the gold text is no match.
//!
//! `match` says which of them count:
//!
//! - `all`, the default: where the piece is from, which its locator says and where that cannot be compared its reference
//!   id, *and* its text, on one and the same result. What cannot be compared does not count against a result; where nothing
//!   can be, there is no match. A locator alone is often too wide: the key of a folder holds of every result where a unit
//!   has a single document. One with `spans` that holds says where the text itself is: then the text is not looked for, which
//!   a chunk's end may have cut in two.
//! - `first`: the first label that can be compared decides, and later ones are not looked at.
//! - `locator`, `reference`, `text`: that label alone. Pieces without it are not judged.
//!
//! `variant=heta` matches as Heta Evaluation does (spec/heta 5.1): locator and text must both hold, whether the result has
//! them or not, the reference id counts only where there is neither, and texts match in both directions.

use super::parameters::{MATCH, MINIMUM, TEXT, THRESHOLD};
use super::piece::Piece;
use super::reference::refers;
use super::token_cover::TokenCover;
use crate::artifact::Evidence;
use crate::error::{RowError, RowErrorKind};
use crate::score::identity::Identity;
use crate::score::locator::{decide, heta_holds, says_where};
use crate::score::source::{DOCUMENT_ID, DOCUMENT_IDS, KEY, KEYS, texts};
use crate::score::text_match::Passage;

/// Which labels count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Labels {
    #[default]
    All,
    First,
    Locator,
    Reference,
    Text,
    Heta,
}

/// When a text holds a gold text.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum TextRule {
    /// Both in normal form.
    #[default]
    Normal,
    /// To the letter.
    Exact,
    /// In normal form, or most of its words.
    Cover(TokenCover),
    /// To the letter, but for white space.
    Unspaced,
}

/// The rule of matching, as the options have it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Matcher {
    labels: Labels,
    text: TextRule,
}

impl Matcher {
    /// The rule that the options `match`, `text`, `threshold`, `minimum` and `variant` ask for.
    ///
    /// # Errors
    /// When an option is set that another one makes void.
    pub(super) fn of(identity: &Identity) -> Result<Self, String> {
        let name = identity.definition.name;
        let labels = [
            (Labels::First, "first"),
            (Labels::Locator, "locator"),
            (Labels::Reference, "reference"),
            (Labels::Text, "text"),
        ];
        let labels = match labels.into_iter().find(|(_, word)| identity.is(MATCH.name, word)) {
            _ if identity.is("variant", "heta") => Labels::Heta,
            Some((labels, _)) => labels,
            None => Labels::All,
        };
        let changed = identity.changed("variant");
        if labels == Labels::Heta && !changed.is_empty() {
            return Err(format!("variant=heta of {name} fixes {}", changed.join(", ")));
        }
        let cover = identity.is(TEXT.name, "cover");
        let void: Vec<&str> = changed.into_iter().filter(|option| *option != MATCH.name).collect();
        if matches!(labels, Labels::Locator | Labels::Reference) && !void.is_empty() {
            return Err(format!("{name} looks at no text with that match: leave out {}", void.join(", ")));
        }
        if let (false, Some(option)) =
            (cover, void.iter().find(|option| [MINIMUM.name, THRESHOLD.name].contains(*option)))
        {
            return Err(format!("{option} of {name} needs text=cover"));
        }
        let text = match cover {
            true => TextRule::Cover(TokenCover::of(identity)),
            false if identity.is(TEXT.name, "exact") => TextRule::Exact,
            false if identity.is(TEXT.name, "unspaced") => TextRule::Unspaced,
            false => TextRule::Normal,
        };
        Ok(Matcher { labels, text })
    }

    /// Whether it looks at the texts of results.
    pub(super) fn reads_texts(&self) -> bool {
        !matches!(self.labels, Labels::Locator | Labels::Reference)
    }

    /// Whether nothing but the texts of results can tell whether `evidence` was found.
    pub(super) fn needs_texts(&self, evidence: &[Evidence]) -> bool {
        let says_more =
            |piece: &Evidence| piece.reference().is_some() || piece.locator.values().any(|value| !value.is_null());
        match self.labels {
            Labels::Text => true,
            Labels::All | Labels::First => !evidence.iter().any(says_more),
            Labels::Locator | Labels::Reference | Labels::Heta => false,
        }
    }

    /// Whether `piece` has a label that counts. Where any of them may, a piece without one is not found.
    pub(super) fn judges(&self, piece: &Piece<'_>) -> bool {
        match self.labels {
            Labels::Locator => piece.evidence.locator.values().any(|value| !value.is_null()),
            Labels::Reference => piece.evidence.reference().is_some(),
            Labels::Text => piece.text().is_some(),
            Labels::All | Labels::First | Labels::Heta => true,
        }
    }

    /// The label that alone counts, in words.
    pub(super) fn label(&self) -> Option<&'static str> {
        match self.labels {
            Labels::Locator => Some("locator"),
            Labels::Reference => Some("reference id"),
            Labels::Text => Some("text"),
            Labels::All | Labels::First | Labels::Heta => None,
        }
    }

    /// Whether `passage` matches `piece`.
    ///
    /// # Errors
    /// With `variant=heta`, where Heta Evaluation raises.
    pub(super) fn matches(&self, piece: &Piece<'_>, passage: Passage<'_>) -> Result<bool, RowError> {
        let locator = || decide(&piece.evidence.locator, passage.hit);
        let reference = || refers(piece.evidence, passage.hit);
        let text = || self.says(piece, passage);
        let holds = match self.labels {
            Labels::All => {
                let located = locator();
                match located.or_else(reference) {
                    Some(false) => Some(false),
                    Some(true) if located.is_some() && says_where(&piece.evidence.locator) => Some(true),
                    Some(true) => text().or(Some(true)),
                    None => text(),
                }
            }
            Labels::First => locator().or_else(reference).or_else(text),
            Labels::Locator => locator(),
            Labels::Reference => reference(),
            Labels::Text => text(),
            Labels::Heta => Some(heta_matches(piece, passage)?),
        };
        Ok(holds.unwrap_or(false))
    }

    /// Whether the passage holds the text of the piece; `None` where one of the two has none.
    fn says(&self, piece: &Piece<'_>, passage: Passage<'_>) -> Option<bool> {
        let text = piece.text()?;
        if passage.hit.text.trim().is_empty() {
            return None;
        }
        Some(match self.text {
            TextRule::Normal => passage.holds(piece.finder()),
            TextRule::Exact => passage.hit.text.contains(text),
            TextRule::Unspaced => passage.unspaced().contains(piece.unspaced()),
            TextRule::Cover(cover) => passage.holds(piece.finder()) || cover.covers(passage.words(), piece.words()),
        })
    }
}

fn heta_matches(piece: &Piece<'_>, passage: Passage<'_>) -> Result<bool, RowError> {
    let (evidence, hit) = (piece.evidence, passage.hit);
    let located = || heta_holds(&evidence.locator, hit).map_err(|why| RowError::new(RowErrorKind::Evaluator, why));
    match (evidence.locator.is_empty(), &evidence.text, &evidence.reference_id) {
        (false, Some(_), _) => Ok(located()? && passage.overlaps(piece.normal())),
        (false, None, _) => located(),
        (true, Some(_), _) => Ok(passage.overlaps(piece.normal())),
        (true, None, Some(reference)) => Ok(*reference == hit.id
            || texts(hit, &DOCUMENT_ID, &DOCUMENT_IDS).iter().any(|id| id == reference)
            || texts(hit, &KEY, &KEYS).iter().any(|key| key == reference)),
        (true, None, None) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::evidence_evaluator::tests::value;

    fn found(options: &str, piece: Value, hit: Value) -> Option<f64> {
        value(&format!("evidence_recall{options}"), json!([piece]), json!([hit]))
    }

    #[test]
    fn place_and_text_must_both_hold_as_far_as_both_sides_carry_them() {
        let hit = json!({"id": "c7", "text": "At the pier: HIGH tide\nat noon.", "source": {"document_id": "d"}});
        // Piece, then whether it is found with `match=all` and with `match=first`.
        let cases = [
            (json!({"locator": {"document_id": "d"}, "reference_id": "x", "text": "high tide"}), 1.0, 1.0),
            (json!({"locator": {"document_id": "d"}, "reference_id": "x", "text": "y"}), 0.0, 1.0),
            (json!({"locator": {"document_id": "e"}, "reference_id": "c7", "text": "high tide"}), 0.0, 0.0),
            // The hit knows no page: the reference id says where it is from.
            (json!({"locator": {"page_index": 3}, "reference_id": "c7", "text": "y"}), 0.0, 1.0),
            (json!({"locator": {"page_index": 3}, "reference_id": "d", "text": "at noon"}), 1.0, 1.0),
            (json!({"locator": {"page_index": 3}, "reference_id": "d"}), 1.0, 1.0),
            (json!({"locator": {"page_index": 3}, "reference_id": "x", "text": "high tide"}), 0.0, 0.0),
            // Without a reference id the text alone does.
            (json!({"locator": {"page_index": 3}, "text": "high tide at noon"}), 1.0, 1.0),
            (json!({"text": "low tide at dusk. At the pier: high tide at noon."}), 0.0, 0.0),
            (json!({"text": "  "}), 0.0, 0.0),
            (json!({"reference_id": " ", "text": "high tide"}), 1.0, 1.0),
            (json!({"reference_id": "d", "text": " "}), 1.0, 1.0),
        ];
        for (piece, all, first) in cases {
            assert_eq!(found("", piece.clone(), hit.clone()), Some(all), "{piece}");
            assert_eq!(found("(match=first)", piece.clone(), hit.clone()), Some(first), "{piece}");
        }
    }

    #[test]
    fn a_text_that_a_chunks_end_cuts_is_found_by_its_span() {
        let piece = json!({
            "reference_id": "d", "locator": {"document_id": "d", "spans": [[20, 60]]}, "text": "high tide at noon [D1:3]",
        });
        let hit = |text: &str, source: Value| json!({"id": "c", "text": text, "source": source});
        let of = |source: Value| hit("high tide", source);
        assert_eq!(found("", piece.clone(), of(json!({"document_id": "d", "start": 0, "end": 44}))), Some(1.0));
        assert_eq!(found("", piece.clone(), of(json!({"document_id": "d", "start": 44, "end": 90}))), Some(0.0));
        assert_eq!(found("", piece.clone(), of(json!({"document_id": "e", "start": 0, "end": 44}))), Some(0.0));
        // A result without a span is held against the document and the text.
        assert_eq!(found("", piece.clone(), of(json!({"document_id": "d"}))), Some(0.0));
        let whole = hit("Then: high tide at noon [D1:3]", json!({"document_id": "d"}));
        assert_eq!(found("", piece.clone(), whole), Some(1.0));
        let elsewhere = hit("Then: high tide at noon [D1:3]", json!({"document_id": "e"}));
        assert_eq!(found("", piece, elsewhere), Some(0.0));
    }

    #[test]
    fn results_of_the_only_document_do_not_all_hold_the_evidence() {
        let key = "raw/benchmarks/uda_fin/all/report/";
        let piece = json!({"reference_id": "table 3", "text": "net sales 41", "locator": {"source_key_prefix": key}});
        let hit = |text: &str| json!({"id": "c", "text": text, "source": {"source_key": format!("{key}report.txt")}});
        assert_eq!(found("", piece.clone(), hit("A letter to shareholders")), Some(0.0));
        assert_eq!(found("", piece.clone(), hit("| Net sales 41 |")), Some(1.0));
        // Results without texts, as of a run that was imported, are judged by where they are from.
        assert_eq!(found("", piece.clone(), hit(" ")), Some(1.0));
        assert_eq!(found("(match=first)", piece, hit("A letter to shareholders")), Some(1.0));
    }

    #[test]
    fn one_label_may_count_alone() {
        let hit = json!({"id": "c7", "text": "high tide", "source": {"document_id": "d"}});
        let piece = json!({"locator": {"document_id": "e"}, "reference_id": "d", "text": "tide"});
        assert_eq!(found("(match=locator)", piece.clone(), hit.clone()), Some(0.0));
        assert_eq!(found("(match=reference)", piece.clone(), hit.clone()), Some(1.0));
        assert_eq!(found("(match=text)", piece, hit.clone()), Some(1.0));
        // A label that the piece does not have is not judged; one that the result lacks is not found.
        for options in ["(match=locator)", "(match=text)"] {
            assert_eq!(found(options, json!({"reference_id": "d", "locator": {"a": null}}), hit.clone()), None);
        }
        assert_eq!(found("(match=reference)", json!({"text": "tide"}), hit.clone()), None);
        assert_eq!(found("(match=locator)", json!({"locator": {"page_index": 0}}), hit), Some(0.0));
    }

    #[test]
    fn texts_are_compared_as_asked() {
        let hit = json!({"id": "c", "text": "The High tide is at noon, as ever."});
        let cases = [
            ("High tide is", [1.0, 1.0, 1.0, 1.0]),
            ("high  TIDE", [1.0, 0.0, 1.0, 0.0]),
            ("High ti\nde is", [0.0, 0.0, 0.0, 1.0]),
            ("noon is the high tide, ever", [0.0, 0.0, 1.0, 0.0]),
            // 4 of the 5 words; 3 of the 4; of 3 words there must be all, in a row.
            ("high tide at noon daily", [0.0, 0.0, 1.0, 0.0]),
            ("tide at noon daily", [0.0, 0.0, 0.0, 0.0]),
            ("noon high tide", [0.0, 0.0, 0.0, 0.0]),
        ];
        for (text, expected) in cases {
            let of = |options: &str| found(options, json!({"text": text}), hit.clone()).expect("a value");
            let found = [of(""), of("(text=exact)"), of("(text=cover)"), of("(text=unspaced)")];
            assert_eq!(found, expected, "{text}");
        }
        let of = |options: &str| found(options, json!({"text": "tide at noon daily"}), hit.clone());
        assert_eq!(of("(text=cover,threshold=0.75)"), Some(1.0));
        assert_eq!(of("(minimum=5,text=cover,threshold=0.75)"), Some(0.0));
    }

    #[test]
    fn the_variant_differs_where_heta_does() {
        let part = json!({"id": "c", "text": "a", "source": {"document_id": "d"}});
        let both =
            |piece: Value| (found("", piece.clone(), part.clone()), found("(variant=heta)", piece, part.clone()));
        assert_eq!(both(json!({"text": "a lighthouse"})), (Some(0.0), Some(1.0)));
        assert_eq!(both(json!({"locator": {"section": 2}, "text": "a"})), (Some(1.0), Some(0.0)));
        assert_eq!(both(json!({"reference_id": "z", "text": "a"})), (Some(0.0), Some(1.0)));
    }
}
