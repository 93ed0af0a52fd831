//! `recipe.parse`: how documents become text.

use ragstage_stages::materialize::ParseOptions;

use super::shape::{Field, Need, Record, Refusal, Shape, TextRule};
use super::view::View;

/// What `parse` accepts.
pub(super) static PARSE: Record = Record {
    name: "parse",
    doc: "How documents become text.",
    fields: &[Field {
        name: "encoding",
        doc: "Encoding of text documents, a WHATWG label such as `utf-8` or `windows-1252`; detected by default.",
        shape: Shape::Text(&ENCODING),
        need: Need::Optional,
    }],
    together: &[],
};

static ENCODING: TextRule = TextRule {
    expected: "a WHATWG encoding label",
    pattern: None,
    refuse: |text| {
        let options = ParseOptions { encoding: Some(text.to_string()) };
        options.forced_encoding().err().map(|why| Refusal {
            message: why.to_string(),
            hint: Some("the Encoding Standard lists the labels, e.g. `utf-8`, `windows-1252`, `gb18030`".to_string()),
        })
    },
};

/// The options that a checked `parse` stands for.
pub(super) fn convert(view: &View<'_>) -> ParseOptions {
    ParseOptions { encoding: view.get("encoding").text().map(str::to_string) }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    #[test]
    fn an_encoding_is_kept() {
        let shape = Shape::Record(&PARSE);
        let options = checked("encoding: utf-8\n", &shape, |view, _| convert(view)).unwrap();
        assert_eq!(options, ParseOptions { encoding: Some("utf-8".to_string()) });
        assert_eq!(checked("{}", &shape, |view, _| convert(view)).unwrap(), ParseOptions::default());
    }
}
