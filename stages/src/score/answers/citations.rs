//! What an answer cites, as evidence is matched against it.

use std::sync::Arc;

use crate::artifact::{Citation, Hit};
use crate::score::evaluator::ResponseView;

/// The hits that the answer cites, each once: the hit with the citation's `result_id`; a citation of none of the hits as a
/// hit made of its own id, source and text.
pub(super) fn cited(response: &ResponseView) -> Vec<Hit> {
    let mut cited: Vec<Hit> = Vec::new();
    for citation in response.citations {
        let hit = cited_hit(citation, response.results);
        if !cited.contains(&hit) {
            cited.push(hit);
        }
    }
    cited
}

/// The one of `hits` that `citation` names; where it names none, one made of its own id, source and text.
pub(crate) fn cited_hit(citation: &Citation, hits: &[Hit]) -> Hit {
    let hit = citation.result_id.as_ref().and_then(|id| hits.iter().find(|hit| hit.id == *id));
    hit.cloned().unwrap_or_else(|| own_hit(citation))
}

fn own_hit(citation: &Citation) -> Hit {
    Hit {
        id: citation.result_id.clone().unwrap_or_default(),
        text: citation.text.as_deref().unwrap_or_default().into(),
        score: None,
        kind: "citation".to_string(),
        source: Arc::new(citation.source.clone()),
        metadata: Default::default(),
    }
}
