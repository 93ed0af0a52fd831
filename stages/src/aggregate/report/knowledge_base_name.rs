//! What knowledge bases are called (spec/heta 2): by a base name, and by the run unit where not one unit has it all.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::{Unit, Units};
use crate::prepare::sha1;
use crate::python::{is_alphanumeric, strip};

/// Names have at most so many characters.
const LONGEST: usize = 80;
/// So many characters of the base stay where the name would be too long: what a hyphen and ten digits leave, and one more
/// character of air.
const KEPT: usize = 68;
/// Bytes of the SHA-1 of an id that stand for it, two hexadecimal digits each.
const HASHED: usize = 5;

/// Why `name`, without white space around it, is no name of a knowledge base; `None` where it is one.
pub fn refuse_knowledge_base_name(name: &str) -> Option<String> {
    let name = strip(name);
    if name.is_empty() {
        return Some("expected the name of a knowledge base, found a blank one".to_string());
    }
    if let Some(wrong) = name.chars().find(|&c| !is_allowed(c)) {
        return Some(format!("expected the name of a knowledge base, found the character {wrong:?} in it"));
    }
    let count = name.chars().count();
    (count > LONGEST)
        .then(|| format!("expected the name of a knowledge base of at most {LONGEST} characters, found {count}"))
}

/// The base name that an evaluation called `evaluation` has where nobody says another: its own, with `_` for what the names of
/// knowledge bases may not have.
pub(super) fn base_name_of(evaluation: &str) -> String {
    let allowed = |c| if is_allowed(c) { c } else { '_' };
    let name: String = strip(evaluation).chars().map(allowed).take(LONGEST).collect();
    match strip(&name) {
        "" => "evaluation".to_string(),
        name => name.to_string(),
    }
}

fn is_allowed(c: char) -> bool {
    is_alphanumeric(c) || matches!(c, ' ' | '_' | '-')
}

/// The names of an evaluation's knowledge bases by recipe and unit.
pub(super) struct KnowledgeBaseNames {
    names: BTreeMap<(String, String), String>,
}

impl KnowledgeBaseNames {
    /// One name for each of `recipes` and each of `units`. Heta has one recipe; where there are several, a recipe's name is added
    /// as a unit's is.
    pub(super) fn of(base: &str, recipes: &[&str], units: &Units) -> Self {
        let is_corpus_level = |unit: &Unit| unit.document_rows.is_none() && unit.case_rows.is_none();
        let alone = matches!(units.units.as_slice(), [only] if is_corpus_level(only));
        let mut keys = Vec::with_capacity(recipes.len() * units.units.len());
        let mut ids = Vec::with_capacity(keys.capacity());
        for recipe in recipes {
            for unit in &units.units {
                let recipe_part = (recipes.len() > 1).then_some(*recipe);
                let unit_part = (!alone).then_some(unit.unit_id.as_str());
                ids.push(recipe_part.into_iter().chain(unit_part).collect::<Vec<_>>());
                keys.push((recipe.to_string(), unit.unit_id.clone()));
            }
        }
        KnowledgeBaseNames { names: keys.into_iter().zip(suffixed(base, &ids)).collect() }
    }

    /// The name of what `recipe` makes of the unit `unit_id`.
    pub(super) fn get(&self, recipe: &str, unit_id: &str) -> &str {
        self.names.get(&(recipe.to_string(), unit_id.to_string())).map(String::as_str).unwrap_or_default()
    }
}

/// `base` with the slugs of each entry of `ids` behind hyphens; with a hash in place of the slugs where that is too long, or
/// where several entries have the same slugs, which ends a run of Heta's (spec/heta 9, number 27).
fn suffixed(base: &str, ids: &[Vec<&str>]) -> Vec<String> {
    let slugs: Vec<String> = ids.iter().map(|ids| ids.iter().map(|id| format!("-{}", slug(id))).collect()).collect();
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    shared.extend(slugs.iter().filter(|slug| !seen.insert(*slug)));
    let name = |(ids, slug): (&Vec<&str>, &String)| {
        let name = format!("{base}{slug}");
        match shared.contains(slug) || name.chars().count() > LONGEST {
            true if !ids.is_empty() => hashed(base, &ids.join("\n")),
            _ => name,
        }
    };
    ids.iter().zip(&slugs).map(name).collect()
}

fn hashed(base: &str, id: &str) -> String {
    let kept: String = base.chars().take(KEPT).collect();
    let hash: String = sha1(id.as_bytes()).iter().take(HASHED).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", kept.trim_end_matches([' ', '-', '_']))
}

/// `id` in lower-case letters and digits, with single `_` between them.
fn slug(id: &str) -> String {
    let replaced: String = strip(id)
        .chars()
        .flat_map(|c| if is_alphanumeric(c) { c.to_lowercase().collect::<Vec<_>>() } else { vec!['_'] })
        .collect();
    let parts: Vec<&str> = replaced.split('_').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "unit".to_string() } else { parts.join("_") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(base: &str, ids: &[&str]) -> Vec<String> {
        suffixed(base, &ids.iter().map(|id| vec![*id]).collect::<Vec<_>>())
    }

    #[test]
    fn recipes_with_long_bases_are_told_apart() {
        let names = suffixed(&"x".repeat(78), &[vec!["a", "u"], vec!["b", "u"], vec!["a", "v"]]);
        let different: BTreeSet<&String> = names.iter().collect();
        assert!(different.len() == 3 && names.iter().all(|name| name.len() == 79), "{names:?}");
        assert_eq!(suffixed("kb", &[vec!["Fine.2", "U 1"]]), ["kb-fine_2-u_1"]);
    }

    #[test]
    fn ids_become_slugs() {
        for (id, expected) in [
            ("ADI_2009", "adi_2009"),
            ("  a--b__c  ", "a_b_c"),
            ("_x_", "x"),
            ("!?", "unit"),
            ("", "unit"),
            ("海港/1", "海港_1"),
            ("ⓐ1", "1"),
            ("हिन्दी", "ह_न_द"),
        ] {
            assert_eq!(slug(id), expected, "{id}");
        }
    }

    #[test]
    fn long_names_end_in_a_hash() {
        // SHA-1 of "abc" begins with a9993e3647.
        assert_eq!(named(&"x".repeat(76), &["abc"]), [format!("{}-abc", "x".repeat(76))]);
        assert_eq!(named(&"x".repeat(77), &["abc"]), [format!("{}-a9993e3647", "x".repeat(68))]);
        let spaced = format!("{} -_{}", "x".repeat(65), "y".repeat(12));
        assert_eq!(named(&spaced, &["abc"]), [format!("{}-a9993e3647", "x".repeat(65))]);
        // Characters are counted, not bytes.
        assert_eq!(named(&"灯".repeat(76), &["abc"]), [format!("{}-abc", "灯".repeat(76))]);
    }

    #[test]
    fn ids_with_one_slug_have_different_names() {
        let names = named("kb", &["A.b", "a_b", "c"]);
        assert!(names[0].starts_with("kb-") && names[0].len() == 13, "{names:?}");
        assert!(names[1].starts_with("kb-") && names[1].len() == 13, "{names:?}");
        assert_ne!(names[0], names[1]);
        assert_eq!(names[2], "kb-c");
    }

    #[test]
    fn base_names_are_of_letters_digits_spaces_hyphens_and_underscores() {
        for good in ["Demo KB-v1", " 海港_1 ", &"x".repeat(80)] {
            assert_eq!(refuse_knowledge_base_name(good), None, "{good}");
        }
        for bad in ["", "  ", "a.b", "a/b", "ⓐ", &"x".repeat(81)] {
            assert!(refuse_knowledge_base_name(bad).is_some(), "{bad:?}");
        }
        assert_eq!(base_name_of("Handbook 2.1"), "Handbook 2_1");
        assert_eq!(refuse_knowledge_base_name(&base_name_of("größe.v2")), None);
    }
}
