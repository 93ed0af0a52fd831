//! "Models are fetched by name, checked, and never during a run."

use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::file_server::{FileServer, Manner, ORDERLY};
use super::small;
use super::space::{Ran, Space};

/// Words are tokens: a static model that knows five words of the harbour.
const TOKENIZER: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "[UNK]",
              "vocab": {"[UNK]": 0, "lighthouse": 1, "lamp": 2, "herring": 3, "ferry": 4, "whale": 5}}}"#;

/// Token vectors of six tokens in model2vec's layout, each its own direction.
fn weights() -> Vec<u8> {
    let header = br#"{"embeddings":{"dtype":"F32","shape":[6,6],"data_offsets":[0,144]}} "#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    for row in 0..6 {
        for column in 0..6 {
            bytes.extend((if row == column { 1f32 } else { 0.0 }).to_le_bytes());
        }
    }
    bytes
}

/// The files of the small model, one of them large enough to be cut in the middle.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![("model.safetensors", weights()), ("tokenizer.json", TOKENIZER.as_bytes().to_vec())]
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn command(space: &Space, arguments: &[&str]) -> Command {
    let mut command = space.command();
    command.env("RAGSTAGE_MODELS", space.path("models")).args(arguments);
    command
}

fn models(space: &Space, arguments: &[&str]) -> Ran {
    Ran::of_command(command(space, &[&["models"], arguments].concat()))
}

/// What is in the folder of models, locks aside.
fn there(space: &Space) -> Vec<String> {
    space.files("models").into_keys().filter(|name| !name.ends_with(".lock")).collect()
}

const BOTH: [&str; 2] = ["small/model.safetensors", "small/tokenizer.json"];

#[test]
fn a_folder_is_copied_and_its_sums_are_told() {
    let space = Space::new();
    for (name, bytes) in files() {
        std::fs::create_dir_all(space.path("mine")).expect("a folder");
        std::fs::write(space.path("mine").join(name), bytes).expect("write");
    }
    space.write("mine/README.md", "not of the model");
    let ran = models(&space, &["get", "small", "--from", "mine"]).expect(0);
    let path = |name: &str| space.path("models").join("small").join(name).display().to_string();
    let sums: String = files().iter().map(|(name, bytes)| format!("{}  {}\n", sum(bytes), path(name))).collect();
    assert_eq!(ran.stdout, sums);
    assert!(ran.stderr.contains("nothing pins its files"), "{}", ran.stderr);
    assert_eq!(there(&space), BOTH);
    let found = models(&space, &["path", "small"]).expect(0);
    assert_eq!(found.stdout.trim_end(), space.path("models").join("small").display().to_string());
    let listed = models(&space, &["list", "--format", "json"]).expect(0).json();
    let names: Vec<&str> =
        listed["models"].as_array().expect("a list").iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, ["all-minilm-l6-v2", "wordllama-l2-256", "small"]);
    assert!(models(&space, &["list"]).expect(0).stdout.contains("Apache-2.0"));
}

#[test]
fn a_cut_download_continues_where_it_was_cut() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { cuts: 1, ..ORDERLY });
    let half = weights().len() / 2;
    let ran = models(&space, &["get", "small", "--from", &server.url()]).expect(0);
    assert!(
        ran.stderr.contains("trying again") && ran.stderr.contains(&format!("continued after {half}")),
        "{}",
        ran.stderr
    );
    assert_eq!(
        server.asked(),
        [
            "model.safetensors".to_string(),
            format!("model.safetensors bytes={half}-"),
            "tokenizer.json".to_string(),
            "config.json".to_string(),
            "1_Pooling/config.json".to_string(),
            "sentence_bert_config.json".to_string(),
        ]
    );
    assert_eq!(there(&space), BOTH);
    assert_eq!(space.files("models")["small/model.safetensors"], weights());
}

#[test]
fn the_same_command_continues_what_another_gave_up() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { cuts: usize::MAX, ranges: false, ..ORDERLY });
    let ran = models(&space, &["get", "small", "--from", &server.url()]).expect(20);
    assert!(ran.stderr.contains("the same command continues"), "{}", ran.stderr);
    assert!(there(&space).iter().all(|name| name.starts_with(".small.part/")), "{:?}", there(&space));
    models(&space, &["path", "small"]).expect(3);
    server.asked();
    server.behave(ORDERLY);
    models(&space, &["get", "small", "--from", &server.url()]).expect(0);
    assert_eq!(server.asked().first(), Some(&format!("model.safetensors bytes={}-", weights().len() / 2)));
    assert_eq!(there(&space), BOTH);
    assert_eq!(space.files("models")["small/model.safetensors"], weights());
}

#[test]
fn a_server_without_ranges_sends_all_again() {
    let space = Space::new();
    let server = FileServer::new(&files(), Manner { cuts: 1, ranges: false, ..ORDERLY });
    models(&space, &["get", "small", "--from", &server.url()]).expect(0);
    assert_eq!(space.files("models")["small/model.safetensors"], weights());
}

#[test]
fn a_pinned_file_must_be_the_pinned_one() {
    let space = Space::new();
    let server = FileServer::new(&files(), ORDERLY);
    let ran = models(&space, &["get", "wordllama-l2-256", "--from", &server.url()]).expect(3);
    assert!(ran.stderr.contains("expected the file with SHA-256 64b47a2d"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&sum(&weights())) && ran.stderr.contains("was not kept"), "{}", ran.stderr);
    assert_eq!(there(&space), Vec::<String>::new());
}

#[test]
fn what_is_not_there_says_where_it_may_be() {
    let space = Space::new();
    let server = FileServer::new(&files()[..1], ORDERLY);
    let ran = models(&space, &["get", "small", "--from", &server.url()]).expect(3);
    assert!(ran.stderr.contains("/base/tokenizer.json: it does not exist"), "{}", ran.stderr);
    server.behave(Manner { status: Some(403), ..ORDERLY });
    let ran = models(&space, &["get", "other", "--from", &server.url()]).expect(20);
    assert!(ran.stderr.contains("status 403") && ran.stderr.contains("credentials"), "{}", ran.stderr);
    let ran = models(&space, &["get", "other"]).expect(3);
    assert!(ran.stderr.contains("no model of that name") && ran.stderr.contains("models list"), "{}", ran.stderr);
    for asked in [["get", "wordlama"], ["path", "wordlama"]] {
        let ran = models(&space, &asked).expect(3);
        assert!(ran.stderr.contains("did you mean `wordllama-l2-256`?"), "{}", ran.stderr);
    }
    let ran = models(&space, &["get", "other", "--from", "nowhere"]).expect(3);
    assert!(ran.stderr.contains("nowhere/model.safetensors: it does not exist"), "{}", ran.stderr);
    models(&space, &["get", "../other", "--from", "nowhere"]).expect(2);
    let ran = models(&space, &["path", "wordllama-l2-256"]).expect(3);
    assert!(ran.stderr.contains("`ragstage models get wordllama-l2-256` fetches it (19 MB)"), "{}", ran.stderr);
    assert!(there(&space).iter().all(|name| name.starts_with(".small.part/")), "{:?}", there(&space));
}

/// The small evaluation with an embedder.
fn evaluation(space: &Space, embed: &str) {
    small::write(space);
    space.edit("evaluation.yaml", "    chunk: {size: 12}\n", &format!("    chunk: {{size: 12}}\n    embed: {embed}\n"));
}

fn plan(space: &Space) -> Ran {
    Ran::of_command(command(space, &["plan", "evaluation.yaml"]))
}

/// A variable that a plan does without is not set to something else where it says where models are.
#[test]
fn a_plan_looks_for_models_where_a_run_does() {
    let space = Space::new();
    evaluation(&space, "{provider: static, model: wordllama-l2-256}");
    for what in ["plan", "run"] {
        let mut command = command(&space, &[what, "evaluation.yaml"]);
        command.env_remove("RAGSTAGE_MODELS").env_remove("XDG_DATA_HOME").env("HOME", space.path("home"));
        let ran = Ran::of_command(command).expect(3);
        assert!(ran.stderr.contains("/home/.local/share/ragstage/models\n"), "{what}: {}", ran.stderr);
    }
}

#[test]
fn a_run_names_the_command_that_fetches_its_model() {
    let space = Space::new();
    evaluation(&space, "{provider: static, model: wordllama-l2-256}");
    let run = || Ran::of_command(command(&space, &["run", "evaluation.yaml", "--quiet"]));
    let ran = run().expect(3);
    assert!(ran.stderr.contains("evaluation.yaml:10:38: there is no model `wordllama-l2-256` in "), "{}", ran.stderr);
    assert!(ran.stderr.contains("`ragstage models get wordllama-l2-256` (19 MB, MIT"), "{}", ran.stderr);
    assert!(!Path::new(&space.path("models")).exists());
    space.edit("evaluation.yaml", "wordllama-l2-256", "wordlama-l2-256");
    let ran = run().expect(3);
    assert!(ran.stderr.contains("there is no model `wordlama-l2-256` in "), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: did you mean `wordllama-l2-256`?\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("models get"), "{}", ran.stderr);
    space.edit("evaluation.yaml", "wordlama-l2-256", "./mine");
    let ran = run().expect(3);
    assert!(ran.stderr.contains("folder relative to the evaluation file"), "{}", ran.stderr);
    space.write("mine/tokenizer.json", TOKENIZER);
    let ran = run().expect(3);
    assert!(ran.stderr.contains("mine/model.safetensors: file of model `./mine` does not exist"), "{}", ran.stderr);
    space.edit("evaluation.yaml", "./mine", "potion");
    let ran = run().expect(3);
    assert!(ran.stderr.contains("`ragstage models get potion --from DIR|URL`"), "{}", ran.stderr);
}

#[test]
#[cfg(not(feature = "bert"))]
fn a_build_without_sentence_transformers_says_how_to_make_one_with() {
    let space = Space::new();
    evaluation(&space, "{provider: bert, model: all-minilm-l6-v2}");
    let ran = plan(&space).expect(3);
    assert!(ran.stderr.contains("evaluation.yaml:10:23") && ran.stderr.contains("--features bert"), "{}", ran.stderr);
}

#[test]
#[cfg(feature = "bert")]
fn a_model_of_another_family_is_refused() {
    let space = Space::new();
    evaluation(&space, "{provider: bert, model: ./mine}");
    for name in ["model.safetensors", "tokenizer.json"] {
        space.write(&format!("mine/{name}"), "{}");
    }
    space.write("mine/config.json", r#"{"model_type": "xlm-roberta", "max_position_embeddings": 514}"#);
    let ran = Ran::of_command(command(&space, &["run", "evaluation.yaml", "--quiet"])).expect(3);
    assert!(ran.stderr.contains("expected `bert`, found `xlm-roberta`"), "{}", ran.stderr);
}

#[test]
fn a_models_files_are_files_that_were_read() {
    let space = Space::new();
    evaluation(&space, "{provider: static, model: ./mine}");
    for (name, bytes) in files() {
        std::fs::create_dir_all(space.path("mine")).expect("a folder");
        std::fs::write(space.path("mine").join(name), bytes).expect("write");
    }
    let arguments = ["run", "evaluation.yaml", "--quiet", "--stamp", "stamp", "--depfile", "deps.mk"];
    Ran::of_command(command(&space, &arguments)).expect(0);
    let rule = space.read("deps.mk");
    assert!(rule.contains("mine/model.safetensors") && rule.contains("mine/tokenizer.json"), "{rule}");
    let ran = plan(&space).expect(0);
    assert!(ran.stdout.contains("fresh"), "{}", ran.stdout);
}
