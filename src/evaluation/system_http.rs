//! `recipe.system.http` in its long form: a system that takes documents in, or whose requests and replies have a shape of
//! their own.

use ragstage_stages::nearest::nearest;
use ragstage_stages::query::HttpUrls;
use ragstage_stages::query::system::{Mapping, Placeholder, RequestTemplate, ResponseMapping};
use serde_json::Value;

use super::check::did_you_mean;
use super::diagnostic::Faults;
use super::shape::{Field, Need, Record, Refusal, Shape, TextRule};
use super::system::{URL, needs_ingest};
use super::view::View;

/// A JSON pointer.
const POINTER: Shape = Shape::Text(&TextRule {
    expected: "a JSON pointer such as `/data/results`, or `#` for the whole",
    pattern: Some("^(#|#?(/([^~/]|~[01])*)+)$"),
    refuse: refuse_pointer,
});

macro_rules! pointer {
    ($name:literal, $doc:literal, $default:literal) => {
        Field { name: $name, doc: $doc, shape: POINTER, need: Need::Default($default) }
    };
}

/// What `http.response` accepts.
static RESPONSE: Record = Record {
    name: "system_response",
    doc: "Where things are in a reply, as JSON pointers (RFC 6901). What no pointer names is passed over.",
    fields: &[
        pointer!("results", "The list of results, best first.", "\"/results\""),
        pointer!("id", "In a result: its id, a text or a whole number.", "\"/id\""),
        pointer!("text", "In a result: its text.", "\"/text\""),
        pointer!("score", "In a result: its score, a number.", "\"/score\""),
        pointer!("document_id", "In a result: the id of its document in the benchmark.", "\"/source/document_id\""),
        pointer!("source", "In a result: where it is from, an object, or a text that is a name.", "\"/source\""),
        pointer!("answer", "The answer, a text.", "\"/answer\""),
    ],
    together: &[],
};

/// What `http` accepts in its long form.
pub(super) static HTTP: Record = Record {
    name: "system_http",
    doc: "The URLs of a system under test, and the shape of its requests and replies.",
    fields: &[
        Field { name: "query", doc: "Takes a `POST` per query.", shape: URL, need: Need::Required },
        Field {
            name: "ingest",
            doc: "Takes a `POST` of the documents of a run unit, before the first query.",
            shape: URL,
            need: Need::Optional,
        },
        Field {
            name: "count",
            doc: "Takes a `POST` of a handle and counts what is there; asked before a knowledge base of an earlier run is \
                  used again.",
            shape: URL,
            need: Need::Optional,
        },
        Field {
            name: "delete",
            doc: "Takes a `POST` of a handle and removes what is there; asked by `ragstage kb delete`.",
            shape: URL,
            need: Need::Optional,
        },
        Field {
            name: "request",
            doc: "The body of a query, in which `{{query}}`, `{{top_k}}`, `{{mode}}`, `{{options}}` and `{{handle}}` stand \
                  for whole values.",
            shape: Shape::Free,
            need: Need::Optional,
        },
        Field {
            name: "response",
            doc: "Where things are in a reply.",
            shape: Shape::Record(&RESPONSE),
            need: Need::Optional,
        },
    ],
    together: &[],
};

fn refuse_pointer(pointer: &str) -> Option<Refusal> {
    let steps = pointer.strip_prefix('#').unwrap_or(pointer);
    let escapes = |text: &str| text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let message = if !steps.is_empty() && !steps.starts_with('/') {
        format!("expected a JSON pointer, which begins with `/`, found {pointer:?}")
    } else if !escapes(steps) {
        format!("expected `~0` or `~1` for each `~` in the JSON pointer {pointer:?}")
    } else {
        return None;
    };
    Some(Refusal { message, hint: Some("for example `/data/results`".to_string()) })
}

/// The URLs that a checked `http` stands for.
pub(super) fn urls(view: &View<'_>, faults: &mut Faults) -> HttpUrls {
    let url = |key: &str| view.get(key).text().map(str::to_string);
    let urls = HttpUrls {
        query: url("query").unwrap_or_default(),
        ingest: url("ingest"),
        count: url("count"),
        delete: url("delete"),
    };
    if urls.ingest.is_none() && !view.is_faulty("ingest") {
        for key in ["count", "delete"] {
            let given = view.get(key);
            if given.is_given() {
                needs_ingest(&given, faults);
            }
        }
    }
    urls
}

/// How requests and replies look by a checked `http`; `ingests` says whether the system has more than one knowledge base.
pub(super) fn mapping(view: &View<'_>, ingests: bool, faults: &mut Faults) -> Mapping {
    let request = view.get("request");
    let response = view.get("response");
    let template = request.json().map(|template| RequestTemplate(Value::Object(template)));
    if let Some(template) = &template {
        check(template, ingests, &request, faults);
    }
    Mapping { request: template, response: response.is_given().then(|| pointers(&response)) }
}

fn pointers(view: &View<'_>) -> ResponseMapping {
    let default = ResponseMapping::default();
    let pointer = |key: &str, default: String| match view.get(key).text() {
        Some(pointer) => pointer.strip_prefix('#').unwrap_or(pointer).to_string(),
        None => default,
    };
    ResponseMapping {
        results: pointer("results", default.results),
        id: pointer("id", default.id),
        text: pointer("text", default.text),
        score: pointer("score", default.score),
        document_id: pointer("document_id", default.document_id),
        source: pointer("source", default.source),
        answer: pointer("answer", default.answer),
    }
}

/// Reports what a template would send and nobody would want: placeholders that are none, and requests that do not say what
/// is asked, or of which knowledge base.
fn check(template: &RequestTemplate, ingests: bool, view: &View<'_>, faults: &mut Faults) {
    if let Some(text) = template.misspelt() {
        let known = Placeholder::ALL.map(Placeholder::text);
        let hint = match nearest(text, known) {
            Some(near) => did_you_mean(near),
            None => "a placeholder stands for a whole value; it cannot be part of a text".to_string(),
        };
        let message = format!("expected one of {} where there are braces, found {text:?}", known.join(", "));
        faults.add_hint(view.start(), &view.path, message, hint);
    } else if !template.has(Placeholder::Query) {
        let hint = "put `\"{{query}}\"` where the question belongs".to_string();
        faults.add_hint(view.start(), &view.path, "a request without the question", hint);
    } else if ingests && !template.has(Placeholder::Handle) {
        let hint = "put `\"{{handle}}\"` where the name of the knowledge base belongs".to_string();
        faults.add_hint(view.start(), &view.path, "a request that does not say which knowledge base is asked", hint);
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<(HttpUrls, Mapping), Vec<String>> {
        checked(text, &Shape::Record(&HTTP), |view, faults| {
            let urls = urls(view, faults);
            let mapping = mapping(view, urls.ingest.is_some(), faults);
            (urls, mapping)
        })
    }

    #[test]
    fn the_long_form_of_a_url() {
        let (urls, mapping) = read("{query: 'http://a/q'}").unwrap();
        assert_eq!(urls, HttpUrls { query: "http://a/q".to_string(), ..HttpUrls::default() });
        assert!(mapping.is_empty());
        let text = "{query: 'http://a/q', ingest: 'http://a/i', request: {q: '{{query}}', kb: '{{handle}}'}, response: \
                    {results: '#', text: /page, answer: '#/out'}}";
        let (urls, mapping) = read(text).unwrap();
        assert_eq!(urls.ingest.as_deref(), Some("http://a/i"));
        let response = mapping.response.unwrap();
        assert_eq!(
            (response.results.as_str(), response.text.as_str(), response.answer.as_str()),
            ("", "/page", "/out")
        );
        assert_eq!(response.id, ResponseMapping::default().id);
    }

    #[test]
    fn defaults_are_those_of_the_protocol() {
        let text = format!("{{query: 'http://a/q', response: {}}}", spelled_out(RESPONSE.fields));
        assert_eq!(read(&text).unwrap().1.response, Some(ResponseMapping::default()));
    }

    #[test]
    fn faults_of_templates_and_pointers() {
        for (rest, expected) in [
            ("count: 'http://a/c'", "1:30 count: has no meaning for a system that takes no documents in"),
            (
                "request: {q: 'Q: {{query}}'}",
                "1:32 request: expected one of {{query}}, {{top_k}}, {{mode}}, {{options}}",
            ),
            ("request: {q: '{{qeury}}'}", "found \"{{qeury}}\" [did you mean `{{query}}`?]"),
            ("request: {q: 1}", "1:32 request: a request without the question"),
            ("ingest: 'http://a/i', request: {q: '{{query}}'}", "does not say which knowledge base is asked"),
            (
                "response: {text: page}",
                "1:40 response.text: expected a JSON pointer, which begins with `/`, found \"page\"",
            ),
            ("response: {text: /a~2}", "expected `~0` or `~1` for each `~`"),
            ("response: {titel: /a}", "unknown key `titel`"),
        ] {
            let found = read(&format!("{{query: 'http://a/q', {rest}}}")).unwrap_err();
            assert!(found.len() == 1 && found[0].contains(expected), "{rest}: {found:?}");
        }
    }
}
