//! `base_mode`: the one mode that another mode asks.

use ragstage_stages::query::search::SearchMode;

use super::super::diagnostic::Faults;
use super::super::shape::{Field, Need, Record, Shape, TEXT};
use super::super::view::View;
use super::base_mode;
use super::modes::Modes;

/// What `base_mode` accepts.
const ASKED_MODE: Shape = Shape::Either(&[TEXT, Shape::Record(&RECORD)]);

pub(super) const ASKED_MODE_FIELD: Field = Field {
    name: "base_mode",
    doc: "The mode that is asked, a name or `{mode, options}`; by default `hybrid_search`, and for the modes that begin \
          with `heta_` those of Heta.",
    shape: ASKED_MODE,
    need: Need::Optional,
};

static RECORD: Record = Record {
    name: "asked_mode",
    doc: "The mode that another mode asks.",
    fields: &[
        Field { name: "mode", doc: "Its name.", shape: TEXT, need: Need::Required },
        Field { name: "options", doc: "Its options.", shape: Shape::Free, need: Need::Default("{}") },
    ],
    together: &[],
};

/// The mode at `base_mode` of `options`, else the mode `default` with its defaults; reports one that there is not.
pub(super) fn convert(
    options: &View<'_>,
    default: &str,
    modes: &Modes<'_>,
    faults: &mut Faults,
) -> Option<Box<SearchMode>> {
    let given = options.get("base_mode");
    let mode = if given.is_given() {
        base_mode::convert(&given, modes, faults)
    } else if options.is_faulty("base_mode") {
        None
    } else {
        modes.convert(default, &given.get("options"), faults)
    };
    mode.map(Box::new)
}
