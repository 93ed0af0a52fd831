//! What chunks say, merged into one graph.
//!
//! Two names are one entity when their canonical forms are equal and their types are compatible. Then an English plural joins
//! its singular, and an abbreviation the one name in full that chunks explain it by. Joining is a union-find over the names, each
//! pair looked at once, so merging ends (spec/heta bug 9), and what is joined does not depend on the order of the chunks.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::unionfind::UnionFind;
use ragstage_cache::Digest;

use super::canonical::{canonical_name, singulars};
use super::lexical::CO_OCCURS;
use crate::artifact::{
    Entities, Entity, Extracted, ExtractedChunk, FactKind, FoundEntity, FoundRelation, Json, Mention, Mentions,
    Relation, Relations,
};

/// Types that say nothing of what a thing is: those of the lexical extractor, and what models write when they know none. They
/// are compatible with every type.
const VAGUE: [&str; 10] = ["", "acronym", "entity", "heading", "misc", "name", "other", "quoted", "term", "unknown"];

/// Most characters of the description of an entity or relation that many chunks describe.
const DESCRIPTION_CHARS: usize = 600;

/// A graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// Its entities.
    pub entities: Entities,
    /// Its relations; both ends are among the entities.
    pub relations: Relations,
    /// Where each is mentioned.
    pub mentions: Mentions,
}

/// Merges what the chunks of a unit say. Failed chunks say nothing.
pub fn merge(extracted: &Extracted) -> Merged {
    let names = Names::of(extracted);
    let roots = names.joined(extracted);
    let mut entities: BTreeMap<usize, EntityParts> = BTreeMap::new();
    let mut relations: BTreeMap<RelationKey, RelationParts> = BTreeMap::new();
    for row in &extracted.rows {
        // Which entity the chunk means by each of its names.
        let mut meant: BTreeMap<String, usize> = BTreeMap::new();
        for found in &row.facts.entities {
            let canonical = canonical_name(&found.name);
            let Some(group) = names.group_of(&canonical, &found.kind) else { continue };
            let root = roots.root(group);
            entities.entry(root).or_default().add(&canonical, found, row);
            meant.entry(canonical).or_insert(root);
        }
        for found in &row.facts.relations {
            let end = |name: &str| meant.get(&canonical_name(name)).copied();
            let (Some(source), Some(target)) = (end(&found.source), end(&found.target)) else { continue };
            if source == target {
                continue;
            }
            let kind = canonical_name(&found.kind);
            let (source, target) = match kind == CO_OCCURS && source > target {
                true => (target, source),
                false => (source, target),
            };
            let key = RelationKey { source, target, kind, name: canonical_name(&found.name) };
            relations.entry(key).or_default().add(found, row);
        }
    }
    assemble(&names, &roots, &entities, &relations)
}

/// The canonical names of all chunks, each with the types that it has: a group is a name with one type.
struct Names {
    /// Name, then type, to group; in name order.
    groups: BTreeMap<String, BTreeMap<String, usize>>,
    /// The type that a vague mention of a name is taken for: the most frequent one, of equals the first in the alphabet.
    usual: BTreeMap<String, usize>,
    /// Name and type of each group.
    list: Vec<(String, String)>,
}

impl Names {
    fn of(extracted: &Extracted) -> Self {
        let mut counts: BTreeMap<String, Tally> = BTreeMap::new();
        for found in extracted.rows.iter().flat_map(|row| &row.facts.entities) {
            let canonical = canonical_name(&found.name);
            if canonical.is_empty() {
                continue;
            }
            let types = counts.entry(canonical).or_default();
            if let Some(kind) = clear_type(&found.kind) {
                types.add(&kind);
            }
        }
        let mut names = Names { groups: BTreeMap::new(), usual: BTreeMap::new(), list: Vec::new() };
        for (canonical, types) in counts {
            let usual = types.most().unwrap_or_default().to_string();
            let kinds: Vec<String> =
                if types.0.is_empty() { vec![usual.clone()] } else { types.0.into_keys().collect() };
            let mut groups = BTreeMap::new();
            for kind in kinds {
                if kind == usual {
                    names.usual.insert(canonical.clone(), names.list.len());
                }
                groups.insert(kind.clone(), names.list.len());
                names.list.push((canonical.clone(), kind));
            }
            names.groups.insert(canonical, groups);
        }
        names
    }

    /// The group of a name that a chunk gives the type `kind`.
    fn group_of(&self, canonical: &str, kind: &str) -> Option<usize> {
        let of_type = clear_type(kind).and_then(|kind| self.groups.get(canonical)?.get(&kind));
        of_type.or_else(|| self.usual.get(canonical)).copied()
    }

    /// Joins plurals to singulars and abbreviations to names in full.
    fn joined(&self, extracted: &Extracted) -> Roots {
        let mut union = UnionFind::new(self.list.len());
        let mut derived = vec![false; self.list.len()];
        let mut join = |union: &mut UnionFind<usize>, from: &str, to: &str| {
            for (kind, group) in self.groups.get(from).into_iter().flatten() {
                if let Some(other) = self.compatible(to, kind) {
                    union.union(*group, other);
                    if let Some(derived) = derived.get_mut(*group) {
                        *derived = true;
                    }
                }
            }
        };
        for plural in self.groups.keys() {
            if let Some(single) = singulars(plural).into_iter().find(|single| self.groups.contains_key(single)) {
                join(&mut union, plural, &single);
            }
        }
        let mut explained: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for alias in extracted.rows.iter().flat_map(|row| &row.facts.aliases) {
            let (long, short) = (canonical_name(&alias.long), canonical_name(&alias.short));
            if long != short && self.groups.contains_key(&long) && self.groups.contains_key(&short) {
                explained.entry(short).or_default().insert(long);
            }
        }
        for (short, longs) in explained {
            // One abbreviation of two different things joins neither.
            let things: BTreeSet<usize> =
                longs.iter().filter_map(|long| self.usual.get(long)).map(|group| union.find(*group)).collect();
            if let (1, Some(long)) = (things.len(), longs.first()) {
                join(&mut union, &short, long);
            }
        }
        Roots::of(self, union.into_labeling(), &derived)
    }

    /// The group of `canonical` that a group of type `kind` (empty where it is vague) is compatible with.
    fn compatible(&self, canonical: &str, kind: &str) -> Option<usize> {
        let groups = self.groups.get(canonical)?;
        match groups.get(kind).or_else(|| groups.get("")) {
            Some(group) => Some(*group),
            None if kind.is_empty() => self.usual.get(canonical).copied(),
            None => None,
        }
    }
}

/// Which group stands for each.
struct Roots(Vec<usize>);

impl Roots {
    /// The first group, by name and type, that is no plural or abbreviation of another stands for all that are joined.
    fn of(names: &Names, labels: Vec<usize>, derived: &[bool]) -> Self {
        let mut first: BTreeMap<usize, (bool, usize)> = BTreeMap::new();
        for (group, label) in labels.iter().enumerate().take(names.list.len()) {
            let candidate = (derived.get(group).copied().unwrap_or_default(), group);
            first.entry(*label).and_modify(|best| *best = candidate.min(*best)).or_insert(candidate);
        }
        Roots(labels.iter().map(|label| first.get(label).map_or(*label, |(_, group)| *group)).collect())
    }

    fn root(&self, group: usize) -> usize {
        self.0.get(group).copied().unwrap_or(group)
    }
}

/// Whether a type says nothing of what a thing is, or of how two are related: it is none that a query could mean.
pub fn is_vague_type(kind: &str) -> bool {
    clear_type(kind).is_none_or(|kind| kind == CO_OCCURS)
}

/// A type in canonical form; `None` for one that says nothing.
fn clear_type(kind: &str) -> Option<String> {
    let kind = canonical_name(kind);
    (!VAGUE.contains(&kind.as_str())).then_some(kind)
}

/// How often each of several texts was met.
#[derive(Default)]
struct Tally(BTreeMap<String, u64>);

impl Tally {
    fn add(&mut self, text: &str) {
        if !text.trim().is_empty() {
            *self.0.entry(text.trim().to_string()).or_insert(0) += 1;
        }
    }

    /// The most frequent text; of equals the first in byte order.
    fn most(&self) -> Option<&str> {
        let best = self.0.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        best.map(|(text, _)| text.as_str())
    }

    /// The distinct texts, the longest first, joined by blanks as far as they fit.
    fn joined(&self) -> String {
        let mut texts: Vec<(usize, &str)> = self.0.keys().map(|text| (text.chars().count(), text.as_str())).collect();
        texts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let mut whole = String::new();
        let mut length = 0;
        for (chars, text) in texts {
            let more = chars + usize::from(length > 0);
            if length > 0 && length + more > DESCRIPTION_CHARS {
                continue;
            }
            if length > 0 {
                whole.push(' ');
            }
            whole.extend(text.chars().take(DESCRIPTION_CHARS));
            length += more;
        }
        whole
    }
}

/// A chunk as it is cited, in the order of mentions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Cited {
    chunk_id: String,
    document_id: String,
    page_index: u32,
}

impl Cited {
    fn of(row: &ExtractedChunk) -> Self {
        Cited { chunk_id: row.chunk_id.clone(), document_id: row.document_id.clone(), page_index: row.page_index }
    }

    fn mention(&self, kind: FactKind, id: &str) -> Mention {
        let Cited { chunk_id, document_id, page_index } = self.clone();
        Mention { kind, id: id.to_string(), chunk_id, document_id, page_index }
    }
}

#[derive(Default)]
struct EntityParts {
    /// Forms of each canonical name.
    forms: BTreeMap<String, Tally>,
    clear_types: Tally,
    /// By canonical name.
    vague_types: BTreeMap<String, Tally>,
    subtypes: Tally,
    descriptions: Tally,
    /// By key; values as JSON text.
    attributes: BTreeMap<String, Tally>,
    chunks: BTreeSet<Cited>,
}

impl EntityParts {
    fn add(&mut self, canonical: &str, found: &FoundEntity, row: &ExtractedChunk) {
        self.forms.entry(canonical.to_string()).or_default().add(&found.name);
        match clear_type(&found.kind) {
            Some(_) => self.clear_types.add(&found.kind),
            None => self.vague_types.entry(canonical.to_string()).or_default().add(&found.kind),
        }
        self.subtypes.add(found.subtype.as_deref().unwrap_or_default());
        self.descriptions.add(&found.description);
        for (key, value) in &found.attributes {
            self.attributes.entry(key.clone()).or_default().add(&value.to_string());
        }
        self.chunks.insert(Cited::of(row));
    }

    fn entity(&self, canonical: &str, kind: &str) -> Entity {
        let form = |tally: &Tally| tally.most().unwrap_or_default().to_string();
        let vague = self.vague_types.get(canonical);
        let name = self.forms.get(canonical).map(form).unwrap_or_else(|| canonical.to_string());
        let mut attributes: Json = self
            .attributes
            .iter()
            .filter_map(|(key, values)| Some((key.clone(), serde_json::from_str(values.most()?).ok()?)))
            .collect();
        let aliases: Vec<String> =
            self.forms.iter().filter(|(other, _)| *other != canonical).map(|(_, tally)| form(tally)).collect();
        if !aliases.is_empty() {
            attributes.insert("aliases".to_string(), aliases.into());
        }
        Entity {
            entity_id: fact_id("entity", &[canonical, kind]),
            name,
            kind: self.clear_types.most().or_else(|| vague?.most()).unwrap_or_default().to_string(),
            subtype: self.subtypes.most().map(str::to_string),
            description: self.descriptions.joined(),
            attributes,
            mentions: self.chunks.len() as u64,
        }
    }
}

/// What makes two relations one. Ends are the groups that stand for the entities, which are in the order of names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RelationKey {
    source: usize,
    target: usize,
    kind: String,
    name: String,
}

#[derive(Default)]
struct RelationParts {
    kinds: Tally,
    names: Tally,
    descriptions: Tally,
    weight: u64,
    chunks: BTreeSet<Cited>,
}

impl RelationParts {
    fn add(&mut self, found: &FoundRelation, row: &ExtractedChunk) {
        self.kinds.add(&found.kind);
        self.names.add(&found.name);
        self.descriptions.add(&found.description);
        self.weight = self.weight.saturating_add(found.weight);
        self.chunks.insert(Cited::of(row));
    }
}

fn fact_id(what: &str, parts: &[&str]) -> String {
    format!(
        "{what}_{:.16}",
        Digest::of_parts(&format!("ragstage.{what}"), parts.iter().map(|part| part.as_bytes())).hex()
    )
}

fn assemble(
    names: &Names,
    roots: &Roots,
    entities: &BTreeMap<usize, EntityParts>,
    relations: &BTreeMap<RelationKey, RelationParts>,
) -> Merged {
    // The one type that says something among all that were joined, if there is one, is the entity's.
    let mut kinds: BTreeMap<usize, &str> = BTreeMap::new();
    for (group, (_, kind)) in names.list.iter().enumerate().filter(|(_, (_, kind))| !kind.is_empty()) {
        kinds.entry(roots.root(group)).or_insert(kind);
    }
    let mut merged = Merged::default();
    let mut known: BTreeMap<usize, Entity> = BTreeMap::new();
    for (root, parts) in entities {
        let Some((canonical, _)) = names.list.get(*root) else { continue };
        let entity = parts.entity(canonical, kinds.get(root).copied().unwrap_or_default());
        let mentions = parts.chunks.iter().map(|chunk| chunk.mention(FactKind::Entity, &entity.entity_id));
        merged.mentions.rows.extend(mentions);
        merged.entities.rows.push(entity.clone());
        known.insert(*root, entity);
    }
    for (key, parts) in relations {
        let (Some(source), Some(target)) = (known.get(&key.source), known.get(&key.target)) else { continue };
        let relation = Relation {
            relation_id: fact_id("relation", &[&source.entity_id, &target.entity_id, &key.kind, &key.name]),
            source_id: source.entity_id.clone(),
            target_id: target.entity_id.clone(),
            source: source.name.clone(),
            target: target.name.clone(),
            kind: parts.kinds.most().unwrap_or_default().to_string(),
            name: parts.names.most().unwrap_or_default().to_string(),
            description: parts.descriptions.joined(),
            attributes: Json::new(),
            weight: parts.weight,
        };
        let mentions = parts.chunks.iter().map(|chunk| chunk.mention(FactKind::Relation, &relation.relation_id));
        merged.mentions.rows.extend(mentions);
        merged.relations.rows.push(relation);
    }
    merged
}
