//! `recipe.system`: somebody's own RAG service, asked instead of a knowledge base that we build.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use ragstage_stages::query::system::{Mapping, OpenVikingSpec, Operation};
use ragstage_stages::query::{HttpUrls, Transport};

use super::check::join;
use super::diagnostic::Faults;
use super::secrets::{self, Substituted};
use super::shape::{Choice, Field, Need, Record, Refusal, Shape, TEXT, TextRule, Together};
use super::system_http::{self, HTTP};
use super::view::View;

/// A URL of HTTP.
pub(super) const URL: Shape = Shape::Text(&TextRule {
    expected: "an http or https URL",
    pattern: Some("^[hH][tT][tT][pP][sS]?://[^/?#@\\s]+[^@\\s]*"),
    refuse: refuse_url,
});

/// What `system` accepts.
pub(super) static SYSTEM: Record = Record {
    name: "system",
    doc: "A system under test that is asked over HTTP or through a command.",
    fields: &[
        Field {
            name: "http",
            doc: "URL that takes a `POST` of one JSON object per query; or the URLs of a system that takes documents in, or \
                  whose requests and replies have another shape.",
            shape: Shape::Either(&[URL, Shape::Record(&HTTP)]),
            need: Need::Optional,
        },
        Field {
            name: "headers",
            doc: "Sent with every request; `${NAME}` in a value is the environment variable NAME.",
            shape: Shape::Secrets,
            need: Need::Optional,
        },
        Field {
            name: "command",
            doc: "Program and arguments of a process that reads and writes one JSON object per line; \
                  it runs in the folder of the evaluation file.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Optional,
        },
        Field {
            name: "operations",
            doc: "What `command` understands beside queries.",
            shape: Shape::List {
                of: &Shape::Choice(&[
                    Choice { word: "ingest", doc: "takes documents in" },
                    Choice { word: "count", doc: "counts what it took in" },
                    Choice { word: "delete", doc: "forgets what it took in" },
                ]),
                least: 0,
            },
            need: Need::Default("[]"),
        },
        Field {
            name: "ingest_batch",
            doc: "How many documents are handed to the system at once; all of a run unit by default.",
            shape: Shape::Int { min: 1, max: 1_000_000 },
            need: Need::Optional,
        },
        Field {
            name: "environment",
            doc: "Added to the environment of `command`; `${NAME}` in a value is the environment variable NAME.",
            shape: Shape::Secrets,
            need: Need::Optional,
        },
        Field {
            name: "name",
            doc: "What the system is called; the recipe's name by default (of `recipe`: the evaluation's). Cached responses go by it, so two systems \
                  need two names, and a renamed recipe keeps its responses if this stays.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "version",
            doc: "What you call this state of the system. Change it when the system changes: \
                  its cached responses are kept per version.",
            shape: TEXT,
            need: Need::Required,
        },
        Field {
            name: "files",
            doc: "Files that the answers depend on (code, configuration), relative to the evaluation \
                  file; a changed file asks again.",
            shape: Shape::List { of: &TEXT, least: 0 },
            need: Need::Default("[]"),
        },
    ],
    together: &[
        Together::ExactlyOne(&["http", "command"]),
        Together::Excludes("http", &["environment", "operations"]),
        Together::Excludes("command", &["headers"]),
    ],
};

/// A system under test as the evaluation file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemConfig {
    /// What the system is called, where that is not the recipe's name; always there for a recipe without one.
    pub name: Option<String>,
    /// What its owner calls this state of it.
    pub version: String,
    /// Files that its answers depend on.
    pub files: Vec<PathBuf>,
    /// How its queries and replies look, where that is not the protocol's own way.
    pub mapping: Mapping,
    /// How many documents are handed to it at once; all of a unit where absent.
    pub ingest_batch: Option<u32>,
    /// How many hand-overs are under way at once, where the system says so.
    pub ingest_workers: Option<usize>,
    /// What makes it an OpenViking server, where it is one.
    pub openviking: Option<OpenVikingSpec>,
    /// How it is reached, with secrets in it.
    pub transport: Transport,
}

/// The system that a checked `system` stands for; `base` is the folder of the evaluation file.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> SystemConfig {
    let transport = if let Some(command) = view.get("command").texts() {
        let pairs = view.get("environment");
        for entry in pairs.entries() {
            if entry.key.contains('=') || entry.key.contains('\0') {
                let path = join(&pairs.path, &entry.key);
                faults.add(entry.start, &path, "expected the name of an environment variable, without `=`");
            }
        }
        let directory = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base.to_path_buf() };
        let Substituted { pairs, variables } = secrets::substitute(&pairs, environment, faults);
        let operations = view.get("operations");
        let list: Vec<Operation> = operations
            .texts()
            .unwrap_or_default()
            .iter()
            .filter_map(|word| Operation::ALL.into_iter().find(|operation| operation.name() == word))
            .collect();
        if !list.is_empty() && !list.contains(&Operation::Ingest) {
            needs_ingest(&operations, faults);
        }
        Transport::Command { command, directory, environment: pairs, variables, operations: list }
    } else {
        let http = view.get("http");
        let urls = match http.text() {
            Some(url) => HttpUrls { query: url.to_string(), ..HttpUrls::default() },
            None => system_http::urls(&http, faults),
        };
        let headers = view.get("headers");
        let Substituted { pairs, variables } = secrets::substitute(&headers, environment, faults);
        check_headers(&headers, &pairs, faults);
        Transport::Http { urls, headers: pairs, variables }
    };
    let mapping = system_http::mapping(&view.get("http"), transport.can(Operation::Ingest), faults);
    let files = view.get("files").texts().unwrap_or_default();
    SystemConfig {
        name: view.get("name").text().map(str::to_string),
        version: view.get("version").text().unwrap_or_default().to_string(),
        files: files.iter().map(|file| base.join(file)).collect(),
        mapping,
        ingest_batch: view.get("ingest_batch").int(),
        ingest_workers: None,
        openviking: None,
        transport,
    }
}

/// Reports what has no meaning where no documents are handed over.
pub(super) fn needs_ingest(view: &View<'_>, faults: &mut Faults) {
    faults.add_hint(
        view.start(),
        &view.path,
        "has no meaning for a system that takes no documents in",
        "add `ingest`, or remove it".to_string(),
    );
}

/// Headers that belong to the connection and not to the query: set by hand they contradict what is sent.
const OF_THE_CONNECTION: [&str; 4] = ["Connection", "Content-Length", "Host", "Transfer-Encoding"];

/// Header names are tokens of RFC 9110 section 5.6.2; values are visible characters and blanks.
pub(super) fn check_headers(view: &View<'_>, pairs: &[(String, String)], faults: &mut Faults) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    for entry in view.entries() {
        let path = join(&view.path, &entry.key);
        if let Some(c) = entry.key.chars().find(|&c| !is_token(c)) {
            faults.add(entry.start, &path, format!("expected the name of a header, found the character {c:?} in it"));
        }
        if OF_THE_CONNECTION.iter().any(|name| entry.key.eq_ignore_ascii_case(name)) {
            let message = "this header is set for each request and cannot be given here";
            faults.add_hint(entry.start, &path, message, "remove it".to_string());
        }
        let value = pairs.iter().find(|(name, _)| *name == entry.key);
        if value.is_some_and(|(_, value)| value.chars().any(|c| c != '\t' && !(' '..='~').contains(&c))) {
            faults.add_hint(
                entry.value.start,
                &path,
                "the value of this header holds a line break or a character that is not ASCII",
                "a variable read from a file often ends in a line break".to_string(),
            );
        }
    }
}

fn refuse_url(url: &str) -> Option<Refusal> {
    let refusal =
        |message: &str, hint: &str| Some(Refusal { message: message.to_string(), hint: Some(hint.to_string()) });
    let rest = url
        .split_once("://")
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"));
    let Some((_, rest)) = rest else {
        return refusal(
            "expected a URL that begins with http:// or https://",
            "for example http://localhost:8080/query",
        );
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        // Not quoted: what stands before the `@` is a secret.
        return refusal(
            "a user name or password in the URL",
            "send it as a header: `headers: {Authorization: \"Bearer ${NAME}\"}`",
        );
    }
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return refusal("expected a URL without blanks", "for example http://localhost:8080/query");
    }
    match authority_fault(host) {
        None => None,
        Some(message) => refusal(&message, "for example http://localhost:8080/query or http://[::1]:8080/query"),
    }
}

/// What is wrong with `host:port`. Whoever sends the request must not have to guess where it goes: what is no port there
/// is the default port, and the secrets in the headers arrive at somebody else's door.
fn authority_fault(authority: &str) -> Option<String> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else {
            return Some("expected `]` after `[` in the host of the URL".to_string());
        };
        if address.parse::<Ipv6Addr>().is_err() {
            return Some(format!("expected an IPv6 address between `[` and `]`, found {address:?}"));
        }
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return Some(format!("expected `:` and a port after `]`, found {port:?}")),
            Some(port) => Some(port),
        };
        (address, port)
    } else {
        match authority.split_once(':') {
            None => (authority, None),
            Some((host, port)) => (host, Some(port)),
        }
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._~:".contains(c);
    if host.is_empty() {
        return Some("expected a URL with a host".to_string());
    }
    if let Some(c) = host.chars().find(|&c| !is_name(c)) {
        let advice = if c.is_ascii() { "" } else { "; write an international name in its ASCII form (xn--...)" };
        return Some(format!(
            "expected a host of letters, digits, `-`, `.` and `_`, found the character {c:?}{advice}"
        ));
    }
    let port = port?;
    let is_port = port.chars().all(|c| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    (!is_port).then(|| format!("expected a port from 1 to 65535, found {port:?}"))
}

#[cfg(test)]
mod tests {
    use super::super::view::tests::checked;
    use super::*;

    const TOKEN: &str = "s3cr3t-t0ken";

    fn read(text: &str) -> Result<SystemConfig, Vec<String>> {
        let environment = |name: &str| match name {
            "RAG_TOKEN" => Some(TOKEN.to_string()),
            "BROKEN" => Some(format!("{TOKEN}\n")),
            _ => None,
        };
        checked(text, &Shape::Record(&SYSTEM), |view, faults| convert(view, Path::new("folder"), &environment, faults))
    }

    #[test]
    fn a_url_with_headers() {
        let system = read(
            "{http: 'http://localhost:8080/query', version: '2', files: [rag.py], headers: {Authorization: \
             'Bearer ${RAG_TOKEN}'}}",
        )
        .unwrap();
        assert_eq!(system.files, [PathBuf::from("folder/rag.py")]);
        let headers = vec![("Authorization".to_string(), format!("Bearer {TOKEN}"))];
        let variables = vec![("RAG_TOKEN".to_string(), TOKEN.to_string())];
        assert_eq!(
            system.transport,
            Transport::Http {
                urls: HttpUrls { query: "http://localhost:8080/query".to_string(), ..HttpUrls::default() },
                headers,
                variables,
            }
        );
        let debug = format!("{system:?}");
        assert!(!debug.contains(TOKEN) && debug.contains("Authorization"), "{debug}");
    }

    #[test]
    fn a_command_with_its_environment() {
        let system =
            read("{command: [python3, rag.py], version: '1', environment: {KEY: '${RAG_TOKEN}', MODE: fast}}").unwrap();
        assert!(!format!("{system:?}").contains(TOKEN));
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(
            system.transport,
            Transport::Command {
                command: vec!["python3".to_string(), "rag.py".to_string()],
                directory: PathBuf::from("folder"),
                environment: vec![pair("KEY", TOKEN), pair("MODE", "fast")],
                variables: vec![pair("RAG_TOKEN", TOKEN)],
                operations: Vec::new(),
            }
        );
    }

    #[test]
    fn a_url_says_where_requests_go() {
        let faults = |url: &str| read(&format!("{{http: '{url}', version: '1'}}")).err().unwrap_or_default().join("; ");
        for url in
            ["http://a", "https://a.b-c_d:1/q?k=v", "HTTP://127.0.0.1:65535", "http://[::1]/", "http://[::1]:80#f"]
        {
            assert_eq!(faults(url), "", "{url}");
        }
        for (url, expected) in [
            ("http://127.0.0.1:99999/q", "expected a port from 1 to 65535, found \"99999\""),
            ("http://a:0/", "expected a port from 1 to 65535, found \"0\""),
            ("http://a:/", "expected a port from 1 to 65535, found \"\""),
            ("http://a:+80/", "expected a port from 1 to 65535, found \"+80\""),
            ("http://a:80:81/", "expected a port from 1 to 65535, found \"80:81\""),
            ("http://[::1]:65536/", "expected a port from 1 to 65535, found \"65536\""),
            ("http://[::1", "expected `]` after `[`"),
            ("http://[::1]80/", "expected `:` and a port after `]`, found \"80\""),
            ("http://[1.2]/", "expected an IPv6 address between `[` and `]`, found \"1.2\""),
            ("http://%31%32/", "found the character '%'"),
            ("http://häfen.example/", "found the character 'ä'; write an international name in its ASCII form"),
            ("http://:80/", "expected a URL with a host"),
            ("http://a\\b/", "found the character '\\\\'"),
        ] {
            let found = faults(url);
            assert!(found.starts_with("1:8 http: ") && found.contains(expected), "{url}: {found}");
        }
    }

    #[test]
    fn headers_of_the_connection_are_refused() {
        for name in ["Host", "content-length", "Transfer-Encoding", "CONNECTION"] {
            let faults = read(&format!("{{http: 'http://a', version: '1', headers: {{{name}: x}}}}")).unwrap_err();
            let expected = format!(
                "1:44 headers.{name}: this header is set for each request and cannot be given here [remove it]"
            );
            assert_eq!(faults, [expected]);
        }
    }

    #[test]
    fn faults_never_show_a_secret() {
        for (text, expected) in [
            (
                "{http: 'http://a', version: '1', headers: {A: '${NOT_SET}'}}",
                "1:47 headers.A: the environment variable `NOT_SET` is not set [set NOT_SET in the environment \
                 that ragstage is started in]",
            ),
            (
                "{http: 'http://a', version: '1', headers: {A: '${BROKEN}'}}",
                "1:47 headers.A: the value of this header holds a line break or a character that is not ASCII \
                 [a variable read from a file often ends in a line break]",
            ),
            (
                "{http: 'http://a', version: '1', headers: {'A b': x}}",
                "1:44 headers.A b: expected the name of a header, found the character ' ' in it",
            ),
            ("{http: 'http://a', version: '1', headers: {A: 1234}}", "1:47 headers.A: expected a text in quotes"),
            (
                "{http: 'http://a', version: '1', headers: s3cr3t-t0ken}",
                "1:43 headers: expected a mapping, found a text",
            ),
            (
                "{http: 'http://me:s3cr3t-t0ken@a', version: '1'}",
                "1:8 http: a user name or password in the URL [send it as a header: `headers: {Authorization: \
                 \"Bearer ${NAME}\"}`]",
            ),
            (
                "{http: 'http://a/${RAG_TOKEN}', version: '1'}",
                "1:8 http: `${` is not replaced here [environment variables are read in the values of \
                 `headers` and `environment` only]",
            ),
            (
                "{http: 'http://a', version: '1', environment: {A: b}}",
                "1:34 : `environment` has no meaning beside `http` [remove `environment` or `http`]",
            ),
            ("{version: '1'}", "1:1 : missing `http` or `command`"),
            (
                "{http: 'http://a', command: [x], version: '1'}",
                "1:20 : `http` and `command` exclude each other [keep one of the two]",
            ),
            ("{command: [], version: '1'}", "1:11 command: expected a list of at least 1, found 0"),
            (
                "{http: 'http://a', version: 1}",
                "1:29 version: expected a text, found the number 1 [put it in quotes: \"1\"]",
            ),
            (
                "{http: 'localhost:80', version: '1'}",
                "1:8 http: expected a URL that begins with http:// or https:// [for example \
                 http://localhost:8080/query]",
            ),
        ] {
            let faults = read(text).unwrap_err();
            assert_eq!(faults, [expected], "{text}");
            assert!(!faults[0].contains(TOKEN));
        }
    }
}
