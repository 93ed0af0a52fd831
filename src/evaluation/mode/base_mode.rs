//! A mode within a mode: a name, or a mapping of `mode` and `options`.

use ragstage_stages::nearest::nearest;
use ragstage_stages::query::search::SearchMode;

use super::super::check::did_you_mean;
use super::super::diagnostic::Faults;
use super::super::shape::{Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::modes::{Modes, mode_names};

/// What a mode within a mode accepts.
pub(super) const BASE_MODE: Shape = Shape::Either(&[TEXT, Shape::Record(&BASE_MODE_RECORD)]);

static BASE_MODE_RECORD: Record = Record {
    name: "base_mode",
    doc: "A mode that another mode asks.",
    fields: &[
        Field { name: "mode", doc: "Its name.", shape: TEXT, need: Need::Required },
        Field { name: "options", doc: "Its options.", shape: Shape::Free, need: Need::Default("{}") },
        Field {
            name: "weight",
            doc: "How much its ranks count where modes are fused.",
            shape: Shape::Float(super::super::shape::Range::closed(0.0, 1e6)),
            need: Need::Default("1"),
        },
    ],
    together: &[],
};

/// The mode at `view`; reports one that there is not.
pub(super) fn convert(view: &View<'_>, modes: &Modes<'_>, faults: &mut Faults) -> Option<SearchMode> {
    let name = if view.is_map() { view.get("mode") } else { view.clone() };
    let text = name.text()?;
    if !mode_names().any(|known| known == text) {
        let hint = match nearest(text, mode_names()) {
            Some(near) => did_you_mean(near),
            None => format!("the modes are {}", mode_names().collect::<Vec<_>>().join(", ")),
        };
        faults.add_hint(name.start(), &name.path, format!("there is no mode `{text}`"), hint);
        return None;
    }
    // Of a bare name there are no options; `get` on it gives an absent view.
    modes.convert(text, &view.get("options"), faults)
}
