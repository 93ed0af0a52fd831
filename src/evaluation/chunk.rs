//! `recipe.chunk`: how pages are cut.

use ragstage_stages::build::chunk::ChunkOptions;

use super::diagnostic::Faults;
use super::shape::{Choice, Field, Need, Record, Shape};
use super::view::View;

/// What `chunk` accepts.
pub(super) static CHUNK: Record = Record {
    name: "chunk",
    doc: "How pages are cut into chunks.",
    fields: &[
        Field {
            name: "splitter",
            doc: "Where a page may be cut.",
            shape: Shape::Choice(&[
                Choice { word: "token", doc: "after any token" },
                Choice { word: "sentence", doc: "at sentence ends; a sentence longer than `size` is cut by tokens" },
                Choice { word: "heading", doc: "never across a heading; within a section as `sentence`" },
                Choice { word: "recursive", doc: "at the ends of paragraphs, else lines, else sentences, else tokens" },
            ]),
            need: Need::Default("\"sentence\""),
        },
        Field {
            name: "tokenizer",
            doc: "What a token is.",
            shape: Shape::Choice(&[
                Choice { word: "words", doc: "a word by Unicode UAX 29; each ideograph is one" },
                Choice { word: "unicode", doc: "a Unicode code point" },
                Choice { word: "cl100k_base", doc: "a token of OpenAI's cl100k_base" },
            ]),
            need: Need::Default("\"words\""),
        },
        Field {
            name: "size",
            doc: "Most tokens in a chunk.",
            shape: Shape::Int { min: 1, max: 1_000_000 },
            need: Need::Default("200"),
        },
        Field {
            name: "overlap",
            doc: "Tokens that a chunk repeats from the one before it; less than `size`.",
            shape: Shape::Int { min: 0, max: 999_999 },
            need: Need::Default("0"),
        },
        Field {
            name: "minimum",
            doc: "A last chunk of a page or section with fewer tokens is joined to the one before it, which may then have \
                  up to `minimum - 1` tokens more than `size`; at most `size`.",
            shape: Shape::Int { min: 0, max: 1_000_000 },
            need: Need::Default("0"),
        },
    ],
    together: &[],
};

/// The options that a checked `chunk` stands for.
pub(super) fn convert(view: &View<'_>, faults: &mut Faults) -> ChunkOptions {
    let default = ChunkOptions::default();
    let options = ChunkOptions {
        splitter: view.get("splitter").choice().unwrap_or(default.splitter),
        tokenizer: view.get("tokenizer").choice().unwrap_or(default.tokenizer),
        size: view.get("size").int().unwrap_or(default.size),
        overlap: view.get("overlap").int().unwrap_or(default.overlap),
        minimum: view.get("minimum").int().unwrap_or(default.minimum),
    };
    if options.minimum > options.size && !view.is_faulty("size") && !view.is_faulty("minimum") {
        let minimum = view.get("minimum");
        faults.add_hint(
            minimum.start(),
            &minimum.path,
            format!("expected at most the size {}, found {}", options.size, options.minimum),
            "lower `minimum` or raise `size`".to_string(),
        );
    }
    if options.overlap >= options.size && !view.is_faulty("size") && !view.is_faulty("overlap") {
        let overlap = view.get("overlap");
        faults.add_hint(
            overlap.start(),
            &overlap.path,
            format!("expected less than the size {}, found {}", options.size, options.overlap),
            "a chunk must bring tokens that the one before it does not have; lower `overlap` or raise `size`"
                .to_string(),
        );
    }
    options
}

#[cfg(test)]
mod tests {
    use ragstage_stages::build::chunk::{Splitter, Tokenizer};

    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<ChunkOptions, Vec<String>> {
        checked(text, &Shape::Record(&CHUNK), convert)
    }

    #[test]
    fn every_word_has_a_variant() {
        for (word, splitter) in [
            ("token", Splitter::Token),
            ("sentence", Splitter::Sentence),
            ("heading", Splitter::Heading),
            ("recursive", Splitter::Recursive),
        ] {
            assert_eq!(read(&format!("splitter: {word}")).unwrap().splitter, splitter);
        }
        for (word, tokenizer) in
            [("words", Tokenizer::Words), ("unicode", Tokenizer::Unicode), ("cl100k_base", Tokenizer::Cl100kBase)]
        {
            assert_eq!(read(&format!("tokenizer: {word}")).unwrap().tokenizer, tokenizer);
        }
    }

    #[test]
    fn defaults_are_those_of_the_chunker() {
        assert_eq!(read("{}").unwrap(), ChunkOptions::default());
        assert_eq!(read(&spelled_out(CHUNK.fields)).unwrap(), ChunkOptions::default());
    }

    #[test]
    fn the_minimum_is_at_most_the_size() {
        assert_eq!(read("{size: 10, minimum: 10}").unwrap().minimum, 10);
        assert_eq!(
            read("{size: 10, minimum: 11}").unwrap_err(),
            ["1:21 minimum: expected at most the size 10, found 11 [lower `minimum` or raise `size`]"]
        );
        // Reports, whose bytes are in keys, show it only where it is said.
        let shown = |options: &ChunkOptions| serde_json::to_value(options).unwrap().get("minimum").cloned();
        assert_eq!(shown(&ChunkOptions::default()), None);
        assert_eq!(shown(&read("minimum: 5").unwrap()), Some(5.into()));
    }

    #[test]
    fn the_overlap_is_less_than_the_size() {
        assert_eq!(read("{size: 10, overlap: 9}").unwrap().overlap, 9);
        let faults = read("{size: 10, overlap: 10}").unwrap_err();
        assert!(faults[0].starts_with("1:21 overlap: expected less than the size 10, found 10"), "{faults:?}");
        assert!(read("overlap: 200").unwrap_err()[0].starts_with("1:10 overlap: expected less than the size 200"));
        // A faulty size says nothing about the overlap.
        assert_eq!(
            read("{size: 0, overlap: 5}").unwrap_err(),
            ["1:8 size: expected a whole number from 1 to 1000000, found 0"]
        );
    }
}
