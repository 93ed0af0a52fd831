//! Ids of turns, as evidence names them.

use std::collections::HashMap;

/// The turns of a conversation by their ids.
#[derive(Debug, Default)]
pub(super) struct TurnIds<T> {
    turns: HashMap<String, T>,
}

impl<T> TurnIds<T> {
    /// Adds a turn; an id that is taken keeps its turn.
    pub(super) fn add(&mut self, id: String, turn: T) {
        self.turns.entry(id).or_insert(turn);
    }

    /// The turn of an id.
    pub(super) fn get(&self, id: &str) -> Option<&T> {
        self.turns.get(id)
    }

    /// The ids that `written` names, and what in it names no turn.
    ///
    /// Mostly it is one id. Some of the dataset's hold several (`D8:6; D9:17`, `D9:1 D4:4 D4:6`) or have a zero too many
    /// (`D30:05`); those are read. `D`, `D:11:26` and ids of turns that there are not name nothing.
    pub(super) fn named<'a>(&'a self, written: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
        let (mut named, mut unknown) = (Vec::new(), Vec::new());
        let parts = written.split([';', ',', ' ', '\t', '\n']).map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<&str> = match self.known(written.trim()) {
            Some(id) => vec![id],
            None => parts.collect(),
        };
        for part in parts {
            match self.known(part).or_else(|| self.known(&plain(part)?)) {
                Some(id) => named.push(id),
                None => unknown.push(part),
            }
        }
        (named, unknown)
    }

    fn known(&self, id: &str) -> Option<&str> {
        self.turns.get_key_value(id).map(|(id, _)| id.as_str())
    }
}

/// `D<session>:<turn>` without leading zeros.
fn plain(id: &str) -> Option<String> {
    let (session, turn) = id.strip_prefix('D')?.split_once(':')?;
    Some(format!("D{}:{}", session.parse::<u32>().ok()?, turn.parse::<u32>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_ids_in_one_text_are_read_and_what_names_nothing_is_told() {
        let mut ids = TurnIds::default();
        for id in ["D8:6", "D9:17", "D30:5", "alt 7", "D1:1"] {
            ids.add(id.to_string(), ());
        }
        let named = |written| ids.named(written);
        assert_eq!(named("D1:1"), (vec!["D1:1"], vec![]));
        assert_eq!(named("D8:6; D9:17"), (vec!["D8:6", "D9:17"], vec![]));
        assert_eq!(named(" D9:17 D1:1,D8:6"), (vec!["D9:17", "D1:1", "D8:6"], vec![]));
        assert_eq!(named("D30:05"), (vec!["D30:5"], vec![]));
        assert_eq!(named("alt 7"), (vec!["alt 7"], vec![]));
        assert_eq!(named("D1:1 D4:36"), (vec!["D1:1"], vec!["D4:36"]));
        for unknown in ["D", "D:11:26", "D10:19", "D1:1:1", "D+1:1x"] {
            assert_eq!(named(unknown), (vec![], vec![unknown]));
        }
        assert_eq!(named(" "), (vec![], vec![]));
    }
}
