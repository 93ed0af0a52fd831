//! `answer` with `provider: openai`: answers by a chat model.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ragstage_stages::error::Place;
use ragstage_stages::query::{AnswerPrompt, ChatAnswerOptions, ContextOptions, Template};

use super::answer::Known;
use super::check::join;
use super::diagnostic::Faults;
use super::shape::{Choice, Field, Need, Range, Record, Shape, TEXT};
use super::text_file;
use super::view::View;

/// What the answerer accepts.
pub(super) static OPENAI: Record = Record {
    name: "chat_answer",
    doc: "A chat model behind an OpenAI-compatible endpoint, from the retrieved passages.",
    fields: &[
        Field { name: "llm", doc: "The model: a name under `models`.", shape: TEXT, need: Need::Required },
        Field {
            name: "prompt",
            doc: "File of the user message's template, or those of both messages; ours by default. Templates are Jinja's and \
                  may use question, context (a list with number, text, title and source), category, instructions, refusal \
                  and citations.",
            shape: Shape::Either(&[TEXT, Shape::Record(&PROMPT)]),
            need: Need::Optional,
        },
        Field {
            name: "instructions",
            doc: "By category, what the model is told in cases of it: a text, or the file of one. They take the place of the \
                  benchmark's own; an empty text is no instruction.",
            shape: Shape::Map(&Shape::Either(&[Shape::AnyText, Shape::Record(&INSTRUCTION)])),
            need: Need::Default("{}"),
        },
        Field { name: "context", doc: "What the model reads.", shape: Shape::Record(&CONTEXT), need: Need::Optional },
        Field {
            name: "temperature",
            doc: "Sampling temperature.",
            shape: Shape::Float(Range::closed(0.0, 2.0)),
            need: Need::Default("0"),
        },
        Field {
            name: "max_tokens",
            doc: "Most tokens of an answer.",
            shape: Shape::Int { min: 1, max: 1_000_000 },
            need: Need::Default("512"),
        },
        Field {
            name: "seed",
            doc: "Sampling seed, sent along; further samples have the next ones. None is sent by default.",
            shape: Shape::Int { min: 0, max: 4_294_967_295 },
            need: Need::Optional,
        },
        Field {
            name: "stop",
            doc: "Texts at which the model stops.",
            shape: Shape::List { of: &Shape::AnyText, least: 0 },
            need: Need::Default("[]"),
        },
        Field {
            name: "samples",
            doc: "How many answers each case is given; a case's score is the mean of theirs.",
            shape: Shape::Int { min: 1, max: 100 },
            need: Need::Default("1"),
        },
        Field {
            name: "refusal",
            doc: "What the model is told to reply where the passages do not hold the answer.",
            shape: TEXT,
            need: Need::Default("\"I don't know.\""),
        },
        Field {
            name: "citations",
            doc: "Whether the model is asked to cite passages, as in [1], and citations are read.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
    ],
    together: &[],
};

static PROMPT: Record = Record {
    name: "prompt",
    doc: "Files of the templates of the messages; one that comes out blank is not sent.",
    fields: &[
        Field { name: "system", doc: "What the model is told; ours by default.", shape: TEXT, need: Need::Optional },
        Field { name: "user", doc: "What the model is asked; ours by default.", shape: TEXT, need: Need::Optional },
    ],
    together: &[],
};

static INSTRUCTION: Record = Record {
    name: "instruction",
    doc: "A text in a file of its own.",
    fields: &[Field { name: "file", doc: "The file.", shape: TEXT, need: Need::Required }],
    together: &[],
};

static CONTEXT: Record = Record {
    name: "context",
    doc: "The passages of the best results: whole ones while they fit, then the start of the next one.",
    fields: &[
        Field {
            name: "tokens",
            doc: "Most tokens of all passages together.",
            shape: Shape::Int { min: 1, max: 10_000_000 },
            need: Need::Default("2000"),
        },
        Field {
            name: "tokenizer",
            doc: "What a token is.",
            shape: Shape::Choice(&[
                Choice { word: "cl100k_base", doc: "a token of OpenAI's cl100k_base" },
                Choice { word: "words", doc: "a word by Unicode UAX 29; each ideograph is one" },
                Choice { word: "unicode", doc: "a Unicode code point" },
            ]),
            need: Need::Default("\"cl100k_base\""),
        },
        Field {
            name: "results",
            doc: "Most results that are read.",
            shape: Shape::Int { min: 1, max: 10_000 },
            need: Need::Default("10"),
        },
        Field {
            name: "result_chars",
            doc: "Most Unicode code points of one result, of which the start is read; no limit by default. Measures of retrieval see \
                  the whole text.",
            shape: Shape::Int { min: 1, max: 100_000_000 },
            need: Need::Optional,
        },
    ],
    together: &[],
};

/// The options that a checked `answer` stands for; `None` where its model is not known.
pub(super) fn convert(
    view: &View<'_>,
    known: &Known<'_>,
    files: &mut Vec<PathBuf>,
    faults: &mut Faults,
) -> Option<ChatAnswerOptions> {
    let prompt = prompt(&view.get("prompt"), known, files, faults);
    let instructions = instructions(&view.get("instructions"), known, files, faults);
    let stop = view.get("stop");
    for item in stop.items().unwrap_or_default() {
        if item.text() == Some("") {
            faults.add(item.start(), &item.path, "expected a text, found an empty text");
        }
    }
    let model = known.models.find(&view.get("llm"), faults)?;
    let default = ChatAnswerOptions::new(model);
    let context = view.get("context");
    Some(ChatAnswerOptions {
        prompt,
        instructions,
        context: ContextOptions {
            tokens: context.get("tokens").int().unwrap_or(default.context.tokens),
            tokenizer: context.get("tokenizer").choice().unwrap_or(default.context.tokenizer),
            results: context.get("results").int().unwrap_or(default.context.results),
            result_chars: context.get("result_chars").int(),
        },
        temperature: view.get("temperature").float().unwrap_or(default.temperature),
        max_tokens: view.get("max_tokens").int().unwrap_or(default.max_tokens),
        seed: view.get("seed").int(),
        stop: stop.texts().unwrap_or_default(),
        samples: view.get("samples").int().unwrap_or(default.samples),
        refusal: view.get("refusal").text().map_or(default.refusal, str::to_string),
        citations: view.get("citations").bool().unwrap_or(default.citations),
        model: default.model,
    })
}

fn prompt(view: &View<'_>, known: &Known<'_>, files: &mut Vec<PathBuf>, faults: &mut Faults) -> AnswerPrompt {
    let (system, user) = match view.text() {
        Some(_) => (None, Some(view.clone())),
        None => (Some(view.get("system")), Some(view.get("user"))),
    };
    let before = faults.len();
    let mut read = |view: Option<View<'_>>, default: Template| {
        let Some(view) = view else { return default };
        let Some((file, text)) = text_file::read(&view, known.base, files, faults) else { return default };
        let template = Template { file: Some(file.clone()), text };
        for fault in template.faults() {
            let place = Place { file: file.clone(), line: fault.line, column: None };
            faults.add_in_file(place, &view.path, fault.message, fault.hint);
        }
        template
    };
    let default = AnswerPrompt::default();
    let prompt = AnswerPrompt { system: read(system, default.system), user: read(user, default.user) };
    // A template that misspells `question` has been told so.
    if faults.len() == before
        && let Some((Template { file: Some(file), .. }, fault)) = prompt.asks_nothing()
    {
        faults.add_in_file(Place::file(file), &view.path, fault.message, fault.hint);
    }
    prompt
}

/// The benchmark's instructions, and those of the file over them.
fn instructions(
    view: &View<'_>,
    known: &Known<'_>,
    files: &mut Vec<PathBuf>,
    faults: &mut Faults,
) -> BTreeMap<String, String> {
    let own = known.instructions.iter().map(|(category, text)| (category.to_string(), text.trim().to_string()));
    let mut instructions: BTreeMap<String, String> = own.collect();
    for entry in view.entries() {
        let value = View::of(&entry.value, &join(&view.path, &entry.key));
        let text = match value.text() {
            Some(text) => Some(text.to_string()),
            None => text_file::read(&value.get("file"), known.base, files, faults).map(|(_, text)| text),
        };
        if let Some(text) = text {
            instructions.insert(entry.key.clone(), text.trim().to_string());
        }
    }
    // What says nothing is as if it were not there, in the key too.
    instructions.retain(|_, text| !text.is_empty());
    instructions
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use ragstage_stages::build::chunk::Tokenizer;
    use ragstage_stages::model::{ChatModel, Endpoint, Price};

    use super::super::models::Models;
    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn model() -> Arc<ChatModel> {
        let endpoint = Endpoint {
            label: "default".to_string(),
            base_url: "http://host/v1".to_string(),
            headers: Vec::new(),
            variables: Vec::new(),
        };
        Arc::new(ChatModel {
            name: "small".to_string(),
            model: "m".to_string(),
            endpoint,
            structured: true,
            price: Price::default(),
        })
    }

    /// The options and the files that were read, in a folder with `prompt.md` and more of `files`.
    fn read(text: &str, files: &[(&str, &str)]) -> Result<(ChatAnswerOptions, Vec<String>), Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let models = Models { list: vec![model()], incomplete: false };
        let mut read = Vec::new();
        let instructions = [("year", "Say when.\n"), ("place", "Say where.\n")];
        let instructions = if text.contains("benchmark's own") { instructions.as_slice() } else { &[] };
        let known = Known { base: folder.path(), models: &models, recipes: &[], instructions };
        let options = checked(text, &Shape::Record(&OPENAI), |view, faults| convert(view, &known, &mut read, faults));
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let place = folder.path().display().to_string();
        match options {
            Ok(options) => Ok((options.unwrap(), read.iter().map(name).collect())),
            Err(told) => Err(told.into_iter().map(|line| line.replace(&place, "FOLDER")).collect()),
        }
    }

    #[test]
    fn defaults_are_those_of_the_stage() {
        let (options, files) = read("{llm: small}", &[]).unwrap();
        assert_eq!((&options, files), (&ChatAnswerOptions::new(model()), Vec::new()));
        let spelled =
            format!("{{llm: small, context: {}, {}", spelled_out(CONTEXT.fields), &spelled_out(OPENAI.fields)[1..]);
        assert_eq!(read(&spelled, &[]).unwrap().0, options);
    }

    #[test]
    fn everything_can_be_said() {
        let text = r#"{llm: small, prompt: {system: s.md, user: u.md}, instructions: {yes_no: "Yes or no.", year: {file: y.txt}},
            context: {tokens: 100, tokenizer: words, results: 3}, temperature: 0.5, max_tokens: 48, seed: 7,
            stop: ["\n", "END"], samples: 3, refusal: "No idea", citations: false}"#;
        let files = [("s.md", "Be brief."), ("u.md", "{{ question }}"), ("y.txt", "Give a year.\n")];
        let (options, read) = read(text, &files).unwrap();
        assert_eq!(read, ["s.md", "u.md", "y.txt"]);
        assert_eq!(
            (options.prompt.system.text.as_str(), options.prompt.user.text.as_str()),
            ("Be brief.", "{{ question }}")
        );
        let instructions: Vec<(&str, &str)> =
            options.instructions.iter().map(|(category, text)| (category.as_str(), text.as_str())).collect();
        assert_eq!(instructions, [("year", "Give a year."), ("yes_no", "Yes or no.")]);
        assert_eq!(
            options.context,
            ContextOptions { tokens: 100, tokenizer: Tokenizer::Words, results: 3, result_chars: None }
        );
        assert_eq!((options.temperature, options.max_tokens, options.seed), (0.5, 48, Some(7)));
        assert_eq!((options.stop.as_slice(), options.samples), (["\n".to_string(), "END".to_string()].as_slice(), 3));
        assert_eq!((options.refusal.as_str(), options.citations), ("No idea", false));
    }

    #[test]
    fn the_benchmarks_instructions_hold_where_the_file_gives_none() {
        let of = |text: &str| -> Vec<(String, String)> {
            let (options, _) = read(&format!("{{llm: small, {text}}} # with the benchmark's own"), &[]).expect(text);
            options.instructions.into_iter().collect()
        };
        let owned = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(category, text)| (category.to_string(), text.to_string())).collect()
        };
        assert_eq!(of("seed: 1"), owned(&[("place", "Say where."), ("year", "Say when.")]));
        let said = of("instructions: {year: Four digits., other: Be brief.}");
        assert_eq!(said, owned(&[("other", "Be brief."), ("place", "Say where."), ("year", "Four digits.")]));
        assert_eq!(of("instructions: {year: '', place: ' '}"), []);
    }

    #[test]
    fn one_file_is_the_user_message() {
        let (options, _) = read("{llm: small, prompt: u.md}", &[("u.md", "Q: {{ question }}")]).unwrap();
        assert_eq!(options.prompt.system, AnswerPrompt::default().system);
        assert_eq!(options.prompt.user.text, "Q: {{ question }}");
        assert_eq!(options.prompt.user.file.as_deref().and_then(Path::file_name), Some("u.md".as_ref()));
    }

    #[test]
    fn faults_name_file_and_line() {
        let files = [("u.md", "Q:\n{{ qestion }}"), ("s.md", "{% if %}"), ("latin.txt", "a\n")];
        let told = read("{llm: smal, prompt: {user: u.md}, stop: ['']}", &files).unwrap_err();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[0], "1:7 llm: no model is named `smal` [did you mean `small`?]");
        assert_eq!(told[1], "1:42 stop[0]: expected a text, found an empty text");
        assert!(told[2].starts_with("2:- FOLDER/u.md prompt.user: the template uses `qestion`"), "{told:?}");
        let told = read("{llm: small, prompt: {user: s.md, system: s.md}}", &[("s.md", "Be brief.")]).unwrap_err();
        let expected = "FOLDER/s.md prompt: no template uses `question`, so the model would not know what is asked [put `{{ \
                        question }}` where the question belongs]";
        assert!(told.len() == 1 && told[0].ends_with(expected), "{told:?}");
        let told =
            read("{llm: small, prompt: gone.md, instructions: {a: {file: gone.txt}, b: {}}}", &files).unwrap_err();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("1:22 prompt: `gone.md` cannot be read:"), "{told:?}");
        assert!(told[1].starts_with("1:56 instructions.a.file: `gone.txt` cannot be read:"), "{told:?}");
        assert!(told[2].starts_with("1:70 instructions.b: missing `file`"), "{told:?}");
    }
}
