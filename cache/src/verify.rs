//! A check of everything in the store against what its name or its key promises.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::layout::list;
use crate::segment::{self, Loaded};
use crate::{Digest, Incident, Store, StoreError, StoreErrorKind, action, cas, rows};

/// What a check of the whole store found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blobs that were hashed.
    pub blobs: u64,
    /// Action records that were read.
    pub actions: u64,
    /// Row slots that were read.
    pub slots: u64,
    /// Segments that were hashed and read.
    pub segments: u64,
    /// Rows in segments and journals, each key of a slot counted once.
    pub rows: u64,
    /// Blobs whose bytes are not those of their name; they are in quarantine now.
    pub corrupt_blobs: Vec<Digest>,
    /// Outputs whose blob is gone or has another size: action key, output name, blob.
    pub missing_blobs: Vec<(Digest, String, Digest)>,
    /// Actions whose record cannot be read; it is in quarantine now, and the action runs again.
    pub malformed_actions: Vec<Digest>,
    /// Actions whose manifest is gone or is not the preimage of their key.
    pub wrong_manifests: Vec<Digest>,
    /// Segments that cannot be read; the damaged ones are in quarantine now.
    pub bad_segments: Vec<PathBuf>,
    /// Files in places where the store puts none.
    pub strays: Vec<PathBuf>,
    /// What was done about all this, as in [`Store::incidents`].
    pub incidents: Vec<Incident>,
}

impl VerifyReport {
    /// Whether everything is as it was written. Stray files do not matter.
    pub fn is_clean(&self) -> bool {
        self.incidents.is_empty()
            && self.corrupt_blobs.is_empty()
            && self.missing_blobs.is_empty()
            && self.malformed_actions.is_empty()
            && self.wrong_manifests.is_empty()
            && self.bad_segments.is_empty()
    }
}

impl Store {
    /// Hashes every blob and segment, and reads every action record, manifest and journal. What is damaged goes to
    /// quarantine and is computed again by the next run.
    ///
    /// # Errors
    /// When something cannot be read at all, or a newer version wrote it.
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        let mut report = VerifyReport::default();
        let before = self.incidents().len();
        self.verify_blobs(&mut report)?;
        self.verify_actions(&mut report)?;
        self.verify_slots(&mut report)?;
        report.incidents = self.incidents().split_off(before);
        Ok(report)
    }

    fn verify_blobs(&self, report: &mut VerifyReport) -> Result<(), StoreError> {
        let (blobs, strays) = self.layout.digests(cas::BUCKET, "")?;
        report.strays.extend(strays);
        for blob in blobs {
            match self.cas().get(&blob) {
                Ok(_) => report.blobs += 1,
                Err(StoreError { kind: StoreErrorKind::Corrupt { .. }, .. }) => report.corrupt_blobs.push(blob),
                // Removed by a collection since it was listed.
                Err(StoreError { kind: StoreErrorKind::Missing { .. }, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn verify_actions(&self, report: &mut VerifyReport) -> Result<(), StoreError> {
        let (keys, others) = self.layout.digests(action::BUCKET, action::RECORD_SUFFIX)?;
        let manifests = self.layout.digests(action::BUCKET, action::MANIFEST_SUFFIX)?.0;
        let manifests: BTreeSet<_> = manifests.iter().map(|key| self.actions().manifest_path(key)).collect();
        report.strays.extend(others.into_iter().filter(|path| !manifests.contains(path)));
        for key in keys {
            let Some(record) = self.actions().get(&key)? else {
                report.malformed_actions.push(key);
                continue;
            };
            report.actions += 1;
            for output in record.outputs {
                if !self.cas().has(&output.digest, output.bytes) {
                    report.missing_blobs.push((key, output.name, output.digest));
                }
            }
            if self.actions().manifest(&key)?.is_none_or(|manifest| manifest.key() != key) {
                report.wrong_manifests.push(key);
            }
        }
        Ok(())
    }

    fn verify_slots(&self, report: &mut VerifyReport) -> Result<(), StoreError> {
        let (slots, strays) = self.layout.digests(rows::BUCKET, "")?;
        report.strays.extend(strays);
        for slot in slots {
            for path in list(&self.layout.place(rows::BUCKET, &slot, ""))? {
                if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(segment::PREFIX)) {
                    continue;
                }
                match segment::load(&self.layout, &path)? {
                    Loaded::Rows(_) => report.segments += 1,
                    Loaded::Gone => {}
                    Loaded::Unreadable => report.bad_segments.push(path),
                }
            }
            report.slots += 1;
            report.rows += self.rows().count(&slot)? as u64;
            // Only a malformed description is of interest here: it is an incident.
            self.rows().manifest(&slot)?;
        }
        Ok(())
    }
}
