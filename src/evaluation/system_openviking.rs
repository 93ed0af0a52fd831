//! `recipe.system` with `provider: openviking`: an OpenViking server, spoken to over its own API.

use std::path::Path;
use std::time::Duration;

use ragstage_stages::query::Transport;
use ragstage_stages::query::system::{
    IngestMode, Mapping, OpenVikingOptions, OpenVikingPlace, OpenVikingSearch, OpenVikingSpec, ProcessingMode,
};

use super::diagnostic::Faults;
use super::recipe::{Recipe, RecipeKind};
use super::secrets::{self, Substituted};
use super::shape::{Choice, Field, Need, Range, Record, Refusal, Shape, TEXT, TextRule};
use super::system::{SystemConfig, URL, check_headers};
use super::view::View;

/// The only mode of an OpenViking server.
pub(super) const FIND: &str = "find";
/// What ragstage itself writes into the body of a query.
const OURS: [&str; 4] = ["query", "target_uri", "limit", "telemetry"];
/// The header of the API key.
const KEY_HEADER: &str = "X-API-Key";

const TARGET: Shape = Shape::Text(&TextRule {
    expected: "a URI that begins with `viking://`",
    pattern: Some("^viking://[^\\s?#]+$"),
    refuse: refuse_target,
});

const SECONDS: Shape = Shape::Float(Range { min: 0.0, above_min: true, max: 86_400.0, below_max: false });

/// What `system` accepts with `provider: openviking`.
pub(super) static OPENVIKING: Record = Record {
    name: "system_openviking",
    doc: "An OpenViking server, spoken to over its own API.",
    fields: &[
        Field {
            name: "provider",
            doc: "`openviking`.",
            shape: Shape::Choice(&[Choice { word: "openviking", doc: "an OpenViking server" }]),
            need: Need::Required,
        },
        Field {
            name: "url",
            doc: "The server's URL, without a path of its API; in no key.",
            shape: URL,
            need: Need::Required,
        },
        Field {
            name: "version",
            doc: "The version that the server's `/health` states, perhaps with `+` and a word of your own for what else it is \
                  made of: `0.5.2` or `0.5.2+bge-m3`. Cached responses are kept per version; a server of another one is refused.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "api_key_env",
            doc: "Name of the environment variable with the API key, sent as `X-API-Key`; none is sent by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "account",
            doc: "Sent as `X-OpenViking-Account`, to servers that trust it.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "user",
            doc: "Sent as `X-OpenViking-User`, to servers that trust it.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "headers",
            doc: "Sent with every request; `${NAME}` in a value is the environment variable NAME.",
            shape: Shape::Secrets,
            need: Need::Optional,
        },
        Field {
            name: "target",
            doc: "Below what documents are put, each unit's at a place of its own; what is asked where they are there already. \
                  In no key.",
            shape: TARGET,
            need: Need::Default("\"viking://resources\""),
        },
        Field {
            name: "ingest_mode",
            doc: "How documents are handed over.",
            shape: Shape::Choice(&[
                Choice { word: "directory", doc: "all of a run unit as one folder" },
                Choice { word: "per_file", doc: "one by one, several at once" },
                Choice { word: "none", doc: "not at all: they are below `target` already" },
            ]),
            need: Need::Default("\"directory\""),
        },
        Field {
            name: "ingest_workers",
            doc: "How many hand-overs are under way at once; `limits.ingest.concurrency` by default, the lesser of the two where \
                  both are given.",
            shape: Shape::Int { min: 1, max: 1024 },
            need: Need::Optional,
        },
        Field {
            name: "wait",
            doc: "Whether a hand-over is one request that stays open until the server is done. Otherwise its task is asked for, \
                  which no proxy cuts.",
            shape: Shape::Bool,
            need: Need::Default("false"),
        },
        Field {
            name: "processing_mode",
            doc: "What the server makes of documents; its own default where absent.",
            shape: Shape::Choice(&[
                Choice { word: "semantic_and_vectors", doc: "summaries by its chat model, and vectors" },
                Choice { word: "vectors_only", doc: "vectors alone" },
            ]),
            need: Need::Optional,
        },
        Field {
            name: "word",
            doc: "As what Word files are handed over.",
            shape: Shape::Choice(&[
                Choice { word: "file", doc: "as they are" },
                Choice { word: "markdown", doc: "as the Markdown that OpenViking's benchmark makes of them" },
            ]),
            need: Need::Default("\"file\""),
        },
        Field {
            name: "retrieval_instruction",
            doc: "Put before every question, with a blank between them.",
            shape: Shape::AnyText,
            need: Need::Default("\"\""),
        },
        Field {
            name: "overview",
            doc: "Whether the text of a result that is a folder's summary is its abstract and its overview, rather than the \
                  abstract alone.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
        Field {
            name: "connect_timeout_s",
            doc: "Seconds until there is a connection.",
            shape: SECONDS,
            need: Need::Default("10"),
        },
        Field {
            name: "read_timeout_s",
            doc: "Seconds until the reply to one request begins, and then until it ends. All that a hand-over or a question takes \
                  has the limits `ingest.timeout_s` and `queries.timeout_s`.",
            shape: SECONDS,
            need: Need::Default("60"),
        },
        Field {
            name: "name",
            doc: "What the system is called; the recipe's name by default (of `recipe`: the evaluation's). Cached responses go by it.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "files",
            doc: "Files that the answers depend on (the server's configuration), relative to the evaluation file; a changed file \
                  hands over and asks again.",
            shape: Shape::List { of: &TEXT, least: 0 },
            need: Need::Default("[]"),
        },
    ],
    together: &[],
};

fn refuse_target(target: &str) -> Option<Refusal> {
    let rest = target.strip_prefix("viking://").map(|rest| rest.trim_end_matches('/'));
    let refusal = |message: &str| {
        Some(Refusal { message: message.to_string(), hint: Some("for example viking://resources".to_string()) })
    };
    match rest {
        None => refusal("expected a URI that begins with `viking://`"),
        Some("") => refusal("expected a URI with a path"),
        Some(rest) if rest.contains(|c: char| c.is_whitespace() || c.is_control() || c == '?' || c == '#') => {
            refusal("expected a URI without blanks, `?` and `#`")
        }
        Some(_) => None,
    }
}

/// The system that a checked `system` stands for; `base` is the folder of the evaluation file.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> SystemConfig {
    let headers = view.get("headers");
    let Substituted { mut pairs, mut variables } = secrets::substitute(&headers, environment, faults);
    check_headers(&headers, &pairs, faults);
    let key = view.get("api_key_env");
    if let Some(name) = key.text() {
        match environment(name).filter(|value| !value.trim().is_empty()) {
            Some(value) => {
                pairs.push((KEY_HEADER.to_string(), value.trim().to_string()));
                variables.push((name.to_string(), value));
            }
            None => faults.add_hint(
                key.start(),
                &key.path,
                format!("the environment variable `{name}` is not set"),
                format!("set {name} in the environment that ragstage is started in"),
            ),
        }
    }
    for (field, header) in [("account", "X-OpenViking-Account"), ("user", "X-OpenViking-User")] {
        let value = view.get(field);
        let Some(text) = value.text() else { continue };
        if text.chars().any(|c| !(' '..='~').contains(&c)) {
            let message = "is sent as a header, and holds a character that is not ASCII";
            faults.add(value.start(), &value.path, message);
        } else {
            pairs.push((header.to_string(), text.to_string()));
        }
    }
    let url = view.get("url");
    if url.text().is_some_and(|url| url.contains(['?', '#'])) {
        let hint = "end it with the host, as in http://localhost:1933".to_string();
        faults.add_hint(url.start(), &url.path, "expected a URL without `?` and `#`: paths are put after it", hint);
    }
    let ingest_mode: IngestMode = view.get("ingest_mode").choice().unwrap_or_default();
    let processing_mode: Option<ProcessingMode> = view.get("processing_mode").choice();
    let word_as_markdown = view.get("word").text() == Some("markdown");
    let seconds = |field: &str, default: f64| Duration::from_secs_f64(view.get(field).float().unwrap_or(default));
    let place = OpenVikingPlace {
        url: url.text().unwrap_or_default().trim_end_matches('/').to_string(),
        headers: pairs,
        variables,
        target: view.get("target").text().unwrap_or("viking://resources").trim_end_matches('/').to_string(),
        ingest_mode,
        wait: view.get("wait").bool().unwrap_or(false),
        connect_timeout: seconds("connect_timeout_s", 10.0),
        read_timeout: seconds("read_timeout_s", 60.0),
    };
    let search = OpenVikingSearch {
        retrieval_instruction: view.get("retrieval_instruction").text().unwrap_or_default().to_string(),
        overview: view.get("overview").bool().unwrap_or(true),
    };
    let files = view.get("files").texts().unwrap_or_default();
    SystemConfig {
        name: view.get("name").text().map(str::to_string),
        version: view.get("version").text().unwrap_or_default().to_string(),
        files: files.iter().map(|file| base.join(file)).collect(),
        mapping: Mapping::default(),
        ingest_batch: None,
        ingest_workers: view.get("ingest_workers").int(),
        openviking: Some(OpenVikingSpec {
            options: OpenVikingOptions { ingest_mode, processing_mode, word_as_markdown },
            search,
        }),
        transport: Transport::OpenViking(Box::new(place)),
    }
}

/// Whether a recipe is an OpenViking server.
pub(super) fn is_openviking(recipe: &Recipe) -> bool {
    matches!(&recipe.kind, RecipeKind::System(SystemConfig { openviking: Some(_), .. }))
}

/// Reports what cannot be asked of an OpenViking server: another mode than its only one, and options that ragstage sets.
pub(super) fn check_query(recipe: &str, query: &View<'_>, faults: &mut Faults) {
    let mode = query.get("mode");
    if mode.text().is_some_and(|mode| mode != FIND) {
        let message = format!("the recipe `{recipe}` is an OpenViking server, whose only mode is `{FIND}`");
        let hint = format!("write `mode: {FIND}`, or name the recipes that have this mode with `recipes`");
        faults.add_hint(mode.start(), &mode.path, message, hint);
    }
    let options = query.get("options");
    for entry in options.entries().iter().filter(|entry| OURS.contains(&entry.key.as_str())) {
        let message = format!("`{}` is written by ragstage into each query of `{recipe}`", entry.key);
        faults.add_hint(entry.start, &options.path, message, "remove it".to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn read(text: &str) -> Result<SystemConfig, Vec<String>> {
        let environment = |name: &str| (name == "OV_KEY").then(|| "s3cr3t-t0ken".to_string());
        checked(text, &Shape::Record(&OPENVIKING), |view, faults| {
            convert(view, Path::new("folder"), &environment, faults)
        })
    }

    fn place(config: &SystemConfig) -> &OpenVikingPlace {
        match &config.transport {
            Transport::OpenViking(place) => place,
            other => panic!("another transport: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_those_of_the_server() {
        let config = read("{provider: openviking, url: 'http://localhost:1933/', version: '0.5.2'}").unwrap();
        let found = place(&config);
        assert_eq!((found.url.as_str(), found.target.as_str()), ("http://localhost:1933", "viking://resources"));
        assert_eq!((found.headers.len(), found.wait, found.ingest_mode), (0, false, IngestMode::Directory));
        assert_eq!((found.connect_timeout.as_secs(), found.read_timeout.as_secs()), (10, 60));
        assert_eq!(config.openviking, Some(OpenVikingSpec::default()));
        let spelled = spelled_out(OPENVIKING.fields);
        let inner = spelled.trim_start_matches('{').trim_end_matches('}');
        let again = read(&format!("{{provider: openviking, url: 'http://localhost:1933', version: '0.5.2', {inner}}}"))
            .unwrap();
        assert_eq!(again, config);
    }

    #[test]
    fn everything_that_is_said_is_read_and_no_secret_is_shown() {
        let config = read(
            "{provider: openviking, url: 'https://ov', version: '0.5.2+m3', api_key_env: OV_KEY, account: a, user: u, headers: \
             {X-Gateway-Token: '${OV_KEY}'}, target: 'viking://resources/bench/', ingest_mode: per_file, ingest_workers: 3, wait: \
             true, processing_mode: vectors_only, retrieval_instruction: 'Find:', overview: false, connect_timeout_s: 1, \
             read_timeout_s: 2.5, name: ov, files: [ov.conf]}",
        )
        .unwrap();
        let found = place(&config);
        let header =
            |name: &str| found.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(header("X-API-Key"), Some("s3cr3t-t0ken"));
        assert_eq!((header("X-OpenViking-Account"), header("X-OpenViking-User")), (Some("a"), Some("u")));
        assert_eq!(found.target, "viking://resources/bench");
        assert_eq!((found.wait, config.ingest_workers), (true, Some(3)));
        assert_eq!(found.read_timeout, Duration::from_millis(2500));
        let spec = config.openviking.clone().unwrap();
        assert_eq!(spec.options.processing_mode, Some(ProcessingMode::VectorsOnly));
        assert_eq!((spec.search.retrieval_instruction.as_str(), spec.search.overview), ("Find:", false));
        let debug = format!("{config:?}");
        assert!(!debug.contains("s3cr3t") && debug.contains("X-API-Key"), "{debug}");
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (rest, expected) in [
            ("url: 'http://a?b', version: '1'", "url: expected a URL without `?` and `#`"),
            ("url: 'http://a'", "missing `version`"),
            ("url: 'http://a', version: '1', api_key_env: NO_KEY", "the environment variable `NO_KEY` is not set"),
            ("url: 'http://a', version: '1', target: resources", "expected a URI that begins with `viking://`"),
            ("url: 'http://a', version: '1', target: 'viking://'", "expected a URI with a path"),
            ("url: 'http://a', version: '1', user: ü", "holds a character that is not ASCII"),
            ("url: 'http://a', version: '1', http: 'http://b'", "unknown key `http`"),
            ("url: 'http://a', version: '1', ingest_mode: folder", "expected one of `directory`, `per_file`, `none`"),
        ] {
            let found = read(&format!("{{provider: openviking, {rest}}}")).unwrap_err();
            assert!(found.len() == 1 && found[0].contains(expected), "{rest}: {found:?}");
        }
    }
}
