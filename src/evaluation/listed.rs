//! What the lists at the top of the file have in common, `models` and `rerankers`: entries are named, and served somewhere.

use ragstage_stages::model::Endpoint;
use ragstage_stages::nearest::nearest;

use super::check::did_you_mean;
use super::diagnostic::Faults;
use super::view::View;

/// An entry of such a list.
pub(super) trait Listed {
    /// What one is called in messages.
    const KIND: &'static str;
    /// The name under which the file calls it.
    fn name(&self) -> &str;
    /// The model's own name.
    fn model(&self) -> &str;
    /// Where it is served.
    fn endpoint(&self) -> &Endpoint;
}

/// The entry that the text at `view` names; reports the name if there is none, unless a fault may hide it.
pub(super) fn find<'a, T: Listed>(
    list: &'a [T],
    incomplete: bool,
    view: &View<'_>,
    faults: &mut Faults,
) -> Option<&'a T> {
    let name = view.text()?;
    let found = list.iter().find(|entry| entry.name() == name);
    if found.is_none() && !incomplete {
        let kind = T::KIND;
        let names = || list.iter().map(Listed::name);
        let hint = match nearest(name, names()) {
            Some(near) => did_you_mean(near),
            None if list.is_empty() => format!("describe it under `{kind}s` at the top of the file"),
            None => format!("the {kind}s are {}", names().collect::<Vec<_>>().join(", ")),
        };
        faults.add_hint(view.start(), &view.path, format!("no {kind} is named `{name}`"), hint);
    }
    found
}

/// Whether `entry`, which `item` describes, may join `list`: not under a name that is taken. One that would share the replies
/// of another server's model is reported as well.
pub(super) fn may_join<T: Listed>(list: &[T], entry: &T, item: &View<'_>, faults: &mut Faults) -> bool {
    if list.iter().any(|other| other.name() == entry.name()) {
        let name = item.get("name");
        let message = format!("two {}s are named `{}`", T::KIND, entry.name());
        faults.add_hint(name.start(), &name.path, message, "give one of them another `name`".to_string());
        return false;
    }
    let (model, endpoint) = (entry.model(), entry.endpoint());
    let twin = list.iter().find(|other| {
        let known = other.endpoint();
        other.model() == model && known.label == endpoint.label && known.base_url != endpoint.base_url
    });
    if let Some(twin) = twin {
        let at = item.get("base_url");
        let message = format!("the same model and endpoint as those of `{}`, at another URL", twin.name());
        let hint = "give different servers different `endpoint`s: replies are kept by these, not by URL";
        faults.add_hint(at.start(), &at.path, message, hint.to_string());
    }
    true
}
