//! `benchmark: {adapter: command}`.

use std::path::Path;

use ragstage_stages::prepare::{AdapterSpec, BenchmarkProgram, CommandSpec};
use ragstage_stages::process::Launch;

use super::super::diagnostic::Faults;
use super::super::name::NAME;
use super::super::program::{key_word, launch, named};
use super::super::shape::{Field, Need, Range, Record, Shape, TEXT};
use super::super::view::View;
use super::{path, text};

/// The name of a benchmark without one.
const DEFAULT_NAME: &str = "benchmark";
/// How many seconds the program may run where nobody says otherwise.
const DEFAULT_TIMEOUT_S: f64 = 3600.0;

/// What the adapter accepts.
pub(super) static COMMAND: Record = Record {
    name: "command",
    doc: "A program that prints the benchmark as JSON lines. It runs only when one of its declared files, its version or its words \
          changed.",
    fields: &[
        Field {
            name: "command",
            doc: "Program and arguments; it runs in the folder of the evaluation file. Its words are in the key, without the folders \
                  of absolute paths.",
            shape: Shape::List { of: &TEXT, least: 1 },
            need: Need::Required,
        },
        Field {
            name: "files",
            doc: "Files that its output depends on, relative to the evaluation file; a changed file runs it again. The first word of \
                  `command` that is the path of a file is one of them anyway.",
            shape: Shape::List { of: &TEXT, least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "version",
            doc: "What you call this state of it; another one runs it again. For what no file shows: a database that it reads, say.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "environment",
            doc: "Added to its environment; `${NAME}` in a value is the environment variable NAME. It is not in the key.",
            shape: Shape::Secrets,
            need: Need::Optional,
        },
        Field {
            name: "timeout_s",
            doc: "Seconds that it may take.",
            shape: Shape::Float(Range { min: 0.0, above_min: true, max: 604_800.0, below_max: false }),
            need: Need::Default("3600.0"),
        },
        Field {
            name: "root",
            doc: "Folder that `path` payloads are relative to; that of the evaluation file by default.",
            shape: TEXT,
            need: Need::Optional,
        },
        Field {
            name: "name",
            doc: "Name of the benchmark in labels, and where its manifest does not say one.",
            shape: NAME,
            need: Need::Default("\"benchmark\""),
        },
    ],
    together: &[],
};

/// The adapter that a checked `benchmark` stands for.
pub(super) fn convert(
    view: &View<'_>,
    base: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    faults: &mut Faults,
) -> AdapterSpec {
    let command = view.get("command").texts().unwrap_or_default();
    let files = view.get("files").texts().unwrap_or_default();
    AdapterSpec::Command(CommandSpec {
        program: BenchmarkProgram {
            words: command.iter().map(|word| key_word(word)).collect(),
            version: text(view, "version").unwrap_or_default(),
            timeout_s: view.get("timeout_s").float().unwrap_or(DEFAULT_TIMEOUT_S),
            launch: Launch { command, ..launch(view, base, environment, faults) },
        },
        files: files.iter().map(|file| named(file, base)).collect(),
        root: path(view, base, "root").unwrap_or_else(|| base.to_path_buf()),
        name: text(view, "name").unwrap_or_else(|| DEFAULT_NAME.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::view::tests::spelled_out;
    use super::super::tests::read;
    use super::*;

    #[test]
    fn command_with_defaults_and_without() {
        let command = ["/usr/bin/python3", "make.py"].map(str::to_string).to_vec();
        let launch = Launch { command, directory: "conf".into(), ..Launch::default() };
        let plain = CommandSpec {
            program: BenchmarkProgram {
                words: ["python3", "make.py"].map(str::to_string).to_vec(),
                version: String::new(),
                timeout_s: 3600.0,
                launch,
            },
            files: Vec::new(),
            root: "conf".into(),
            name: "benchmark".to_string(),
        };
        let text = "{adapter: command, command: [/usr/bin/python3, make.py]}";
        assert_eq!(read(text).map(|spec| spec.adapter), Ok(AdapterSpec::Command(plain.clone())));
        let defaults = spelled_out(COMMAND.fields);
        let text = format!("{{adapter: command, command: [/usr/bin/python3, make.py], {}", &defaults[1..]);
        assert_eq!(read(&text).map(|spec| spec.adapter), Ok(AdapterSpec::Command(plain.clone())));
        let text = "{adapter: command, command: [/usr/bin/python3, make.py], files: [/data/a.csv, b.csv], version: '2', \
                    environment: {KEY: '${TOKEN}'}, timeout_s: 1.5, root: docs, name: reef}";
        let pair = |name: &str| (name.to_string(), "sk-12345678".to_string());
        let mut spec = CommandSpec {
            files: vec![("a.csv".to_string(), "/data/a.csv".into()), ("b.csv".to_string(), "conf/b.csv".into())],
            root: "conf/docs".into(),
            name: "reef".to_string(),
            ..plain
        };
        spec.program.version = "2".to_string();
        spec.program.timeout_s = 1.5;
        spec.program.launch.environment = vec![pair("KEY")];
        spec.program.launch.variables = vec![pair("TOKEN")];
        assert_eq!(read(text).map(|spec| spec.adapter), Ok(AdapterSpec::Command(spec)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, expected) in [
            ("{adapter: command}", "missing `command`"),
            ("{adapter: command, command: []}", "command"),
            ("{adapter: command, command: [x], timeout_s: 0}", "timeout_s: expected a number above 0"),
            (
                "{adapter: command, command: [x], environment: {A: '${MISSING}'}}",
                "the environment variable `MISSING` is not set",
            ),
            ("{adapter: command, command: [x], environment: {'A=B': 'c'}}", "the name of an environment variable"),
        ] {
            let faults = read(text).expect_err(text);
            assert!(faults.len() == 1 && faults[0].contains(expected), "{text}: {faults:?}");
        }
    }
}
