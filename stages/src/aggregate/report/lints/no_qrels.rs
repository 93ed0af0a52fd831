//! `no-qrels`: cases whose judgements know nothing relevant. They are 0 in every retrieval measure, whatever is retrieved.

use super::lint::{Cases, Lint, counted};
use crate::artifact::Golds;
use crate::score::Qrels;

/// The cases of a benchmark that have judgements and nothing relevant among them.
pub(super) fn lint(golds: &Golds) -> Option<Lint> {
    let mut found = Cases::default();
    let mut judged = 0u64;
    for gold in &golds.rows {
        let Ok(qrels) = Qrels::of(gold) else { continue };
        if qrels.is_empty() {
            continue;
        }
        judged += 1;
        if qrels.judgements().relevant(1) == 0 {
            found.add(&gold.case_id);
        }
    }
    let of = counted(found.count(), "case");
    let message =
        format!("{of} of {judged} with judgements know no relevant document, and are 0 in every retrieval measure");
    (found.count() > 0).then(|| found.lint("no-qrels", message))
}
