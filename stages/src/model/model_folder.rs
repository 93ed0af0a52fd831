//! A folder with the files of a model.

use std::path::{Path, PathBuf};

use ragstage_cache::Digest;

/// A file of a model that vectors depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFile {
    /// Its path in the model's folder.
    pub name: &'static str,
    /// Whether there is no model without it.
    pub required: bool,
}

/// The weights, in the safetensors format.
pub(super) const WEIGHTS: &str = "model.safetensors";
/// The tokenizer, in the format of the `tokenizers` library.
pub(super) const TOKENIZER: &str = "tokenizer.json";
/// What else the model says of itself.
pub(super) const CONFIG: &str = "config.json";

/// The identity of a model: the digest over the names and digests of those of its files that are there.
pub fn model_digest(files: &[(&str, Digest)]) -> Digest {
    let parts = files.iter().flat_map(|(name, digest)| [name.as_bytes(), &digest.0]);
    Digest::of_parts("ragstage.model", parts)
}

/// The files of a model, read.
#[derive(Debug)]
pub(super) struct ModelFolder {
    folder: PathBuf,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl ModelFolder {
    /// Reads `files` in `folder`, which must be those that `digest` was made of.
    ///
    /// # Errors
    /// When one is missing, unreadable, or another than it was, in words.
    pub(super) fn read(folder: &Path, files: &[ModelFile], digest: &Digest) -> Result<Self, String> {
        let mut read = Vec::new();
        for file in files {
            let path = folder.join(file.name);
            match std::fs::read(&path) {
                Ok(bytes) => read.push((file.name, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !file.required => {}
                Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
            }
        }
        let digests: Vec<(&str, Digest)> = read.iter().map(|(name, bytes)| (*name, Digest::of(bytes))).collect();
        if model_digest(&digests) != *digest {
            return Err(format!("the model's files in {} changed while the run was going on", folder.display()));
        }
        Ok(ModelFolder { folder: folder.to_path_buf(), files: read })
    }

    /// The bytes of file `name`; `None` where it is not there.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.as_slice())
    }

    /// What is wrong with file `name`.
    pub(super) fn fault(&self, name: &str, why: impl std::fmt::Display) -> String {
        format!("{} {why}", self.folder.join(name).display())
    }

    /// The tokenizer. It neither cuts nor pads: what its file says of that is what its maker last trained with.
    ///
    /// # Errors
    /// When the file is no tokenizer, in words.
    pub(super) fn tokenizer(&self) -> Result<tokenizers::Tokenizer, String> {
        let fault = |why: &dyn std::fmt::Display| self.fault(TOKENIZER, format!("is no tokenizer: {why}"));
        let bytes = self.file(TOKENIZER).unwrap_or_default();
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| fault(&error))?;
        tokenizer.with_truncation(None).map_err(|error| fault(&error))?;
        tokenizer.with_padding(None);
        Ok(tokenizer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [ModelFile { name: "a", required: true }, ModelFile { name: "b", required: false }];
        let digest = model_digest(&[("a", Digest::of(b"1"))]);
        let error = ModelFolder::read(folder.path(), &files, &digest).expect_err("missing");
        assert!(error.contains("/a cannot be read: "), "{error}");
        std::fs::write(folder.path().join("a"), "1").expect("write");
        let read = ModelFolder::read(folder.path(), &files, &digest).expect("there");
        assert_eq!((read.file("a"), read.file("b")), (Some(&b"1"[..]), None));
        std::fs::write(folder.path().join("b"), "2").expect("write");
        let error = ModelFolder::read(folder.path(), &files, &digest).expect_err("another file");
        assert!(error.ends_with("changed while the run was going on"), "{error}");
    }
}
