//! Models that `ragstage models get` knows.

use ragstage_stages::nearest::nearest;

/// A model whose files are pinned.
#[derive(Debug, PartialEq, Eq)]
pub struct CatalogModel {
    /// What evaluation files and commands call it.
    pub name: &'static str,
    /// Which provider of `recipe.embed` it is for.
    pub provider: &'static str,
    /// Length of its vectors.
    pub dimensions: u32,
    /// Its licence, as its publisher states it.
    pub licence: &'static str,
    /// Where its publisher keeps it: what stands before the upstream names of its files.
    pub upstream: &'static str,
    /// Its files.
    pub files: &'static [CatalogFile],
}

/// A pinned file.
#[derive(Debug, PartialEq, Eq)]
pub struct CatalogFile {
    /// Its path in the model's folder.
    pub name: &'static str,
    /// What its publisher calls it.
    pub upstream: &'static str,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
}

impl CatalogModel {
    /// The model of that name.
    pub fn find(name: &str) -> Option<&'static CatalogModel> {
        CATALOG.iter().find(|model| model.name == name)
    }

    /// The model whose name `name` is near to.
    pub fn nearest(name: &str) -> Option<&'static str> {
        nearest_name(name, CATALOG.iter().map(|model| model.name))
    }

    /// The size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Its size for people, in millions of bytes.
    pub fn size(&self) -> String {
        format!("{} MB", self.bytes().div_ceil(1_000_000))
    }
}

/// The name among `names` that `name` is near to as a whole, or else to a long word of it: `wordlama` is `wordllama-l2-256`.
pub(crate) fn nearest_name<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    const LONG: usize = 6;
    let words = |name: &'a str| name.split(['-', '_']).filter(|word| word.len() >= LONG).collect::<Vec<_>>();
    nearest(name, names.clone()).or_else(|| {
        let word = nearest(name, names.clone().flat_map(words))?;
        names.clone().find(|name| words(name).contains(&word))
    })
}

const fn file(name: &'static str, bytes: u64, sha256: &'static str) -> CatalogFile {
    CatalogFile { name, upstream: name, bytes, sha256 }
}

/// The models.
pub static CATALOG: [CatalogModel; 2] = [
    CatalogModel {
        name: "all-minilm-l6-v2",
        provider: "bert",
        dimensions: 384,
        licence: "Apache-2.0",
        upstream: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main",
        files: &[
            file("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            file("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            file("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            file("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
            file("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        ],
    },
    CatalogModel {
        name: "wordllama-l2-256",
        provider: "static",
        dimensions: 256,
        licence: "MIT (its vectors derive from Llama 2)",
        upstream: "https://huggingface.co/dleemiller/word-llama-l2-supercat/resolve/main",
        files: &[
            CatalogFile {
                name: "model.safetensors",
                upstream: "l2_supercat_256.safetensors",
                bytes: 16_384_096,
                sha256: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
            },
            CatalogFile {
                name: "tokenizer.json",
                upstream: "l2_supercat_tokenizer_config.json",
                bytes: 1_842_796,
                sha256: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
            },
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::super::check_name;
    use super::*;

    #[test]
    fn every_entry_can_be_fetched() {
        for model in &CATALOG {
            assert_eq!(check_name(model.name), Ok(()), "{}", model.name);
            assert!(model.upstream.starts_with("https://") && !model.upstream.ends_with('/'), "{}", model.name);
            assert!(["bert", "static"].contains(&model.provider), "{}", model.name);
            for file in model.files {
                let digits = file.sha256.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
                assert!(digits && file.sha256.len() == 64 && file.bytes > 0, "{}/{}", model.name, file.name);
            }
        }
        assert_eq!(CatalogModel::find("all-minilm-l6-v2").map(CatalogModel::size).as_deref(), Some("92 MB"));
        assert_eq!(CatalogModel::find("nope"), None);
    }

    #[test]
    fn a_misspelt_name_is_recognised() {
        for (name, expected) in [
            ("wordlama-l2-256", Some("wordllama-l2-256")),
            ("wordlama", Some("wordllama-l2-256")),
            ("MiniLM", Some("all-minilm-l6-v2")),
            ("potion-base-8m", None),
            ("other", None),
        ] {
            assert_eq!(CatalogModel::nearest(name), expected, "{name}");
        }
    }
}
