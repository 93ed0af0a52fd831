//! `recipe.full_text`: how text is indexed and ranked.

use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options, FullTextOptions, StopWords, TITLE_WEIGHT};

use super::shape::{Choice, Field, Need, Range, Record, Shape, TEXT};
use super::view::View;

/// What `full_text` accepts.
pub(super) static FULL_TEXT: Record = Record {
    name: "full_text",
    doc: "How text is indexed and ranked by BM25.",
    fields: &[
        Field {
            name: "language",
            doc: "Snowball language of the stemmer and the default stop words.",
            shape: Shape::Choice(&[
                Choice { word: "english", doc: "English (Porter 2)" },
                Choice { word: "porter", doc: "English (Porter's first stemmer)" },
                Choice { word: "french", doc: "French" },
                Choice { word: "german", doc: "German" },
                Choice { word: "spanish", doc: "Spanish" },
                Choice { word: "italian", doc: "Italian" },
                Choice { word: "portuguese", doc: "Portuguese" },
                Choice { word: "dutch", doc: "Dutch" },
                Choice { word: "swedish", doc: "Swedish" },
                Choice { word: "norwegian", doc: "Norwegian" },
                Choice { word: "danish", doc: "Danish" },
                Choice { word: "finnish", doc: "Finnish" },
                Choice { word: "russian", doc: "Russian" },
                Choice { word: "none", doc: "no language: terms are not stemmed" },
            ]),
            need: Need::Default("\"english\""),
        },
        Field {
            name: "lower_case",
            doc: "Whether terms are lower-cased.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
        Field { name: "stem", doc: "Whether terms are stemmed.", shape: Shape::Bool, need: Need::Default("true") },
        Field {
            name: "stop_words",
            doc: "Which words are not indexed: `default`, `none`, or a list of words.",
            shape: Shape::Either(&[
                Shape::Choice(&[
                    Choice { word: "default", doc: "the list of the language" },
                    Choice { word: "none", doc: "every word is indexed" },
                ]),
                Shape::List { of: &TEXT, least: 0 },
            ]),
            need: Need::Default("\"default\""),
        },
        Field {
            name: "title_weight",
            doc: "How often the terms of a document's title count in each of its chunks; 0 leaves titles out.",
            shape: Shape::Int { min: 0, max: 10 },
            need: Need::Default("1"),
        },
        Field {
            name: "k1",
            doc: "BM25: saturation of term frequency.",
            shape: Shape::Float(Range::closed(0.0, f64::MAX)),
            need: Need::Default("0.9"),
        },
        Field {
            name: "b",
            doc: "BM25: normalisation by length.",
            shape: Shape::Float(Range::closed(0.0, 1.0)),
            need: Need::Default("0.4"),
        },
    ],
    together: &[],
};

/// The options that a checked `full_text` stands for.
pub(super) fn convert(view: &View<'_>) -> FullTextOptions {
    let analyzer = AnalyzerOptions::default();
    let bm25 = Bm25Options::default();
    let words = view.get("stop_words");
    let stop_words = match (words.text(), words.texts()) {
        (Some("none"), _) => StopWords::None,
        (Some(_), _) => StopWords::Default,
        (None, Some(list)) => StopWords::List(list),
        (None, None) => analyzer.stop_words,
    };
    FullTextOptions {
        title_weight: view.get("title_weight").int().unwrap_or(TITLE_WEIGHT),
        analyzer: AnalyzerOptions {
            language: view.get("language").text().map_or(analyzer.language, str::to_string),
            lower_case: view.get("lower_case").bool().unwrap_or(analyzer.lower_case),
            stem: view.get("stem").bool().unwrap_or(analyzer.stem),
            stop_words,
        },
        bm25: Bm25Options { k1: view.get("k1").float().unwrap_or(bm25.k1), b: view.get("b").float().unwrap_or(bm25.b) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<FullTextOptions, Vec<String>> {
        checked(text, &Shape::Record(&FULL_TEXT), |view, _| convert(view))
    }

    #[test]
    fn defaults_are_those_of_the_index() {
        assert_eq!(read("{}").unwrap(), FullTextOptions::default());
        assert_eq!(read(&spelled_out(FULL_TEXT.fields)).unwrap(), FullTextOptions::default());
    }

    #[test]
    fn stop_words_have_three_forms() {
        for (text, expected) in [
            ("default", StopWords::Default),
            ("none", StopWords::None),
            ("[a, the]", StopWords::List(vec!["a".to_string(), "the".to_string()])),
            ("[]", StopWords::List(Vec::new())),
        ] {
            assert_eq!(read(&format!("stop_words: {text}")).unwrap().analyzer.stop_words, expected, "{text}");
        }
        assert_eq!(
            read("stop_words: defualt").unwrap_err(),
            ["1:13 stop_words: expected one of `default`, `none` or a list, found the text `defualt` [did \
                 you mean `default`?]"]
        );
    }

    #[test]
    fn titles_have_a_weight() {
        assert_eq!(read("title_weight: 0").unwrap().title_weight, 0);
        assert_eq!(read("title_weight: 10").unwrap().title_weight, 10);
        assert_eq!(
            read("title_weight: 11").unwrap_err(),
            ["1:15 title_weight: expected a whole number from 0 to 10, found 11"]
        );
        // Reports, whose bytes are in keys, show it only where it is said.
        let shown = |options: &FullTextOptions| serde_json::to_value(options).unwrap().get("title_weight").cloned();
        assert_eq!(shown(&FullTextOptions::default()), None);
        assert_eq!(shown(&read("title_weight: 3").unwrap()), Some(3.into()));
    }

    #[test]
    fn bm25_parameters_have_bounds() {
        assert_eq!(read("{k1: 0, b: 1}").unwrap().bm25, Bm25Options { k1: 0.0, b: 1.0 });
        assert_eq!(
            read("{k1: -0.1, b: 1.5, language: englsh, stem: yes}").unwrap_err(),
            [
                "1:6 k1: expected a number at least 0, found -0.1",
                "1:15 b: expected a number from 0 to 1, found 1.5",
                "1:30 language: expected one of `english`, `porter`, `french`, `german`, `spanish`, `italian`, \
                 `portuguese`, `dutch`, `swedish`, `norwegian`, `danish`, `finnish`, `russian`, `none`, found the text \
                 `englsh` [did you mean `english`?]",
                "1:44 stem: expected `true` or `false`, found the text `yes` [write `true`]",
            ]
        );
    }
}
