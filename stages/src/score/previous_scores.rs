//! The scores of the last run of an action, where their rows may be taken from.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ragstage_cache::table_file::TableFile;

use crate::artifact::{ScoreKey, ScoreKeys, ScoreRow, Scores};
use crate::contract::{Context, TableArtifact};

/// The outputs of the last run. What of them cannot be read is as if it were not there: then scores are computed.
pub(super) struct PreviousScores {
    scores: TableFile,
    keys: TableFile,
    groups: Vec<OnceLock<Option<Arc<Group>>>>,
    starts: Vec<usize>,
    /// Where each key is, for cases that stood elsewhere the last time.
    places: OnceLock<HashMap<ScoreKey, (usize, usize)>>,
}

struct Group {
    keys: Vec<Option<ScoreKey>>,
    rows: Vec<ScoreRow>,
}

/// A score that is known.
pub(super) struct KnownScore {
    group: Arc<Group>,
    row: usize,
}

impl KnownScore {
    /// As its table has it.
    pub(super) fn row(&self) -> Option<&ScoreRow> {
        self.group.rows.get(self.row)
    }
}

/// A case that is to be scored, and the key of what is read of it; none where there is nothing to read.
pub(super) struct Wanted<'a> {
    pub(super) case_id: &'a str,
    pub(super) key: Option<ScoreKey>,
}

impl PreviousScores {
    /// Those that there are.
    pub(super) fn open(context: &dyn Context) -> Option<Self> {
        let scores = Scores::open(context.previous("scores")?).ok()?;
        let keys = ScoreKeys::open(context.previous("score_keys")?).ok()?;
        if !scores.groups().eq(keys.groups()) {
            return None;
        }
        let starts: Vec<usize> = scores.groups().map(|rows| rows.start).collect();
        let groups = starts.iter().map(|_| OnceLock::new()).collect();
        Some(PreviousScores { scores, keys, groups, starts, places: OnceLock::new() })
    }

    /// The rows of `wanted` that are known, of which the first stands at `start`.
    pub(super) fn rows(&self, start: usize, wanted: &[Wanted<'_>]) -> Vec<Option<KnownScore>> {
        let here = self.starts.binary_search(&start).ok();
        // Most cases stand where they stood. A group that nobody else looks into is not kept.
        let group = here.and_then(|group| self.groups.get(group)?.get().cloned().unwrap_or_else(|| self.read(group)));
        let row = |(position, wanted): (usize, &Wanted<'_>)| -> Option<KnownScore> {
            let key = wanted.key?;
            let here =
                group.as_ref().and_then(|group| Some((group, group.keys.get(position)?, group.rows.get(position)?)));
            match here {
                Some((group, Some(known), _)) if *known == key => {
                    Some(KnownScore { group: group.clone(), row: position })
                }
                // The case is where it was and something of it has changed.
                Some((_, _, row)) if row.score.case_id == wanted.case_id => None,
                _ => self.elsewhere(&key),
            }
        };
        wanted.iter().enumerate().map(row).collect()
    }

    fn elsewhere(&self, key: &ScoreKey) -> Option<KnownScore> {
        let (group, row) = *self.places.get_or_init(|| self.all_places()).get(key)?;
        let kept = self.groups.get(group)?.get_or_init(|| self.read(group));
        Some(KnownScore { group: kept.clone()?, row }).filter(|known| known.row().is_some())
    }

    fn all_places(&self) -> HashMap<ScoreKey, (usize, usize)> {
        let mut places = HashMap::new();
        for group in 0..self.groups.len() {
            let Ok(keys) = ScoreKeys::read(&self.keys, group) else { continue };
            for (row, key) in keys.into_iter().enumerate() {
                // Of equal keys the first, so that what is taken does not depend on threads.
                key.into_iter().for_each(|key| _ = places.entry(key).or_insert((group, row)));
            }
        }
        places
    }

    fn read(&self, group: usize) -> Option<Arc<Group>> {
        let keys = ScoreKeys::read(&self.keys, group).ok()?;
        let rows = Scores::read(&self.scores, group).ok()?;
        (keys.len() == rows.len()).then(|| Arc::new(Group { keys, rows }))
    }
}
