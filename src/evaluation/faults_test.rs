//! Whole files: the documented example, and broken ones with what is said about them.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ragstage_stages::query::AnswerOptions;
use ragstage_stages::score::EvaluatorSpec;

use super::file::{Evaluation, read, read_text};
use super::schema::{json_schema, tests::obeys};
use super::{EvaluationErrors, Limits, PoolLimits};

const EXAMPLE: &str = r#"
name: handbook
benchmark:
  adapter: jsonl
  documents: documents.jsonl
  cases: cases.jsonl
  units: units.jsonl
  root: .
  name: handbook
  version: "1"
  homepage:
  metadata: {}
  sample: 50
  seed: 0
  categories: [howto]
  category_label: type
recipes:
  - name: small
    parse: {encoding: utf-8}
    chunk: {splitter: sentence, tokenizer: words, size: 200, overlap: 20}
    full_text: {language: english, lower_case: true, stem: true, stop_words: default, k1: 0.9, b: 0.4}
  - name: mine
    system: {http: "http://localhost:8080/query", version: "2026-11", files: [rag.py], headers: {Authorization: "Bearer ${RAG_TOKEN}"}}
queries:
  - mode: full_text_search
    name: bm25
    top_k: 10
    options: {}
    recipes: [small]
  - mode: hybrid
    recipes: [mine]
answer: {provider: extractive, sentences: 2, results: 5}
evaluators: [nDCG@10, evidence_recall@5, {name: token_f1, cutoff: 5, options: {}}]
statistics: {coverage_floor: 0.95, confidence: 0.95, resamples: 1000, seed: 0}
gates:
  - {measure: nDCG@10, recipe: small, query: bm25, at_least: 0.6}
  - {measure: token_f1@5, at_most: 1}
limits: {jobs: 2, queries: {concurrency: 8, requests_per_minute: 600, timeout_s: 60, retries: 4, breaker: 10}, keep_going: true}
output: reports/handbook
"#;

const TOKEN: &str = "s3cr3t-t0ken";

const MINIMAL: &str = "name: a\nbenchmark: {adapter: beir, path: data}\nrecipe: {}\n";

fn environment(name: &str) -> Option<String> {
    (name == "RAG_TOKEN").then(|| TOKEN.to_string())
}

fn known_evaluator(spec: &EvaluatorSpec) -> Result<(), (String, Option<String>)> {
    match spec.name.as_str() {
        "nDCG" | "evidence_recall" | "token_f1" => Ok(()),
        name => Err((format!("there is no evaluator `{name}`"), Some("nDCG".to_string()))),
    }
}

fn read_example(text: &str) -> Result<Evaluation, EvaluationErrors> {
    read_text(Path::new("conf/e.yaml"), text, &environment, &known_evaluator)
}

/// The faults of `text` as (line, column, path, message, hint).
fn faults(text: &str) -> Vec<(u64, u64, String, String, String)> {
    let errors = read_example(text).err().map(|errors| errors.diagnostics).unwrap_or_default();
    let told = |fault: super::Diagnostic| {
        let (line, column) = (fault.place.line.unwrap(), fault.place.column.unwrap());
        (line, column, fault.path, fault.message, fault.hint.unwrap_or_default())
    };
    errors.into_iter().map(told).collect()
}

#[test]
fn the_documented_example_is_read() {
    let evaluation = read_example(EXAMPLE).map_err(|errors| errors.to_string()).unwrap();
    assert_eq!(evaluation.name, "handbook");
    assert_eq!(evaluation.output, PathBuf::from("conf/reports/handbook"));
    assert_eq!(evaluation.files, [PathBuf::from("conf/e.yaml")]);
    assert_eq!(evaluation.evaluators.as_ref().map(Vec::len), Some(3));
    assert_eq!(evaluation.gates[1].measure, "token_f1@5");
    assert!(evaluation.answer_given);
    let queries = PoolLimits { requests_per_minute: Some(600), ..Limits::default().queries };
    assert_eq!(evaluation.limits, Limits { jobs: Some(2), queries, ..Limits::default() });
    assert!(!format!("{evaluation:?}").contains(TOKEN));
}

#[test]
fn the_least_file_has_every_default() {
    let evaluation = read_example(MINIMAL).map_err(|errors| errors.to_string()).unwrap();
    assert_eq!((evaluation.recipes.len(), evaluation.recipes[0].name.as_str()), (1, "default"));
    assert_eq!((evaluation.queries.len(), evaluation.queries[0].name.as_str()), (1, "full_text_search"));
    assert_eq!(evaluation.answer, Some(AnswerOptions::default()));
    assert!(!evaluation.answer_given && evaluation.evaluators.is_none() && evaluation.gates.is_empty());
    assert_eq!(evaluation.limits, Limits::default());
    assert_eq!(evaluation.output, PathBuf::from("conf/reports/a"));
}

#[test]
fn json_is_read_as_well() {
    let text = r#"{"name": "a", "benchmark": {"adapter": "beir", "path": "data"},
        "recipes": [{"name": "x", "chunk": {"size": 10}}], "answer": "none", "gates": []}"#;
    let evaluation = read_example(text).map_err(|errors| errors.to_string()).unwrap();
    assert_eq!((evaluation.answer, evaluation.answer_given), (None, true));
    let with_mark = format!("\u{feff}{text}");
    assert!(read_example(&with_mark).is_ok());
    assert_eq!(
        faults(r#"{"name": "a", "benchmark": {"adapter": "beir", "path": "data"}, "recipe": {"chnk": 1}}"#)[0].1,
        76
    );
}

#[test]
fn the_example_obeys_the_schema() {
    let (node, _) = super::tree::read_tree(EXAMPLE);
    let json = super::view::View::root(&node.unwrap()).json().unwrap().into();
    let schema = json_schema();
    assert!(obeys(&json, &schema, &schema));
}

/// Edits of [`EXAMPLE`] (`find => write`, on one line) and what is said about each.
const EDITS: &str = r#"
name: handbook\nb => nmae: handbook\nb
    2:1 : unknown key `nmae`
    did you mean `name`?

name: handbook\nb => b
    2:1 : missing `name`, expected a name
    Name of the evaluation.

name: handbook\nb => name:\nb
    2:1 : missing `name`, expected a name
    Name of the evaluation.

name: handbook\nb => name: a/b\nb
    2:7 name: expected a name, found the character '/' in it
    names are of letters, digits, spaces, `_`, `.` and `-`

adapter: jsonl => adapter: josnl
    4:12 benchmark.adapter: expected one of ADAPTERS, found the text `josnl`
    did you mean `jsonl`?

documents: => document:
    5:3 benchmark: unknown key `document`
    did you mean `documents`?

version: "1" => version: 1.10
    10:12 benchmark.version: expected a text, found the number 1.10
    put it in quotes: "1.10"

sample: 50 => sample: "50"
    13:11 benchmark.sample: expected a whole number, at least 1, found the text `50`
    remove the quotes

[howto] => howto
    15:15 benchmark.categories: expected a list, found the text `howto`
    write a list, even of one: `[...]`

sentence, tok => sentense, tok
    20:23 recipes[0].chunk.splitter: expected one of `token`, `sentence`, `heading`, `recursive`, found the text `sentense`
    did you mean `sentence`?

size: 200 => size: 0
    20:57 recipes[0].chunk.size: expected a whole number from 1 to 1000000, found 0

overlap: 20 => overlap: 200
    20:71 recipes[0].chunk.overlap: expected less than the size 200, found 200
    a chunk must bring tokens that the one before it does not have; lower `overlap` or raise `size`

stem: true => stem: yes
    21:60 recipes[0].full_text.stem: expected `true` or `false`, found the text `yes`
    write `true`

tokenizer: words => tokenizer: word
    20:44 recipes[0].chunk.tokenizer: expected one of `words`, `unicode`, `cl100k_base`, found the text `word`
    did you mean `words`?

- name: mine => - name: small
    22:11 recipes[1].name: two recipes are named `small`
    give one of them another name

RAG_TOKEN => RAG_TOKN
    23:113 recipes[1].system.headers.Authorization: the environment variable `RAG_TOKN` is not set
    set RAG_TOKN in the environment that ragstage is started in

query", v => ${RAG_TOKEN}", v
    23:20 recipes[1].system.http: `${` is not replaced here
    environment variables are read in the values of `headers` and `environment` only

top_k: 10 => top_k: 10001
    27:12 queries[0].top_k: expected a whole number from 1 to 10000, found 10001

recipes: [small] => recipes: [smal]
    29:15 queries[0].recipes[0]: no recipe is named `smal`
    did you mean `small`?

hybrid\n    recipes: [mine] => hybrid
    30:11 queries[1].mode: the recipe `small` has no mode `hybrid`
    did you mean `hybrid_search`?

hybrid\n    recipes: [mine] => full_text_search\n    recipes: [small]
    22:5 recipes[1]: no query asks the recipe `mine`
    add it to the `recipes` of a query, or remove it

provider: extractive => provider: extractve
    32:20 answer.provider: expected one of `extractive`, `openai`, `system`, found the text `extractve`
    did you mean `extractive`?

provider: extractive, sentences: 2, results: 5 => provider: system
    32:20 answer.provider: the recipe `small` is built here and gives no answer of its own
    leave `answer` out: systems then answer themselves and the other recipes extract

evidence_recall@5, { => ndcg@5, {
    33:23 evaluators[1]: there is no evaluator `ndcg`
    did you mean `nDCG`?

evidence_recall@5, { => nDCG@10, {
    33:23 evaluators[1]: `nDCG@10` is listed twice

measure: nDCG@10 => measure: nDCG@20
    36:15 gates[0].measure: `nDCG@20` is not among the evaluators
    did you mean `nDCG@10`?

query: bm25 => query: bm24
    36:46 gates[0].query: no query is named `bm24`
    did you mean `bm25`?

at_most: 1 => recipe: small
    37:5 gates[1]: missing `at_least` or `at_most` or `no_worse_than`

breaker: 10 => braker: 10
    38:98 limits.queries: unknown key `braker`
    did you mean `breaker`?

output: rep => output: rep\noutput: rep
    40:1 output: duplicate key `output`, first at line 39, column 1
    keep one of the two

mode: full_text_search\n    name => mode: full_text_search\n\tname
    26:1 queries[0].mode: not valid YAML: while scanning a plain scalar, found a tab
    this line is indented with a tab; indent with spaces
"#;

#[test]
fn one_fault_is_told_as_one() {
    let adapters = super::benchmark::BENCHMARK.variants.iter().map(|(name, _)| format!("`{name}`"));
    let adapters = adapters.collect::<Vec<_>>().join(", ");
    let mut edits = 0;
    for edit in EDITS.split("\n\n").map(str::trim) {
        let (change, expected) = edit.split_once('\n').unwrap();
        let change = change.replace("\\n", "\n").replace("\\t", "\t");
        let (find, write) = change.split_once(" => ").unwrap();
        assert!(EXAMPLE.contains(find), "{find}");
        let told: Vec<String> = faults(&EXAMPLE.replacen(find, write, 1))
            .into_iter()
            .map(|(line, column, path, message, hint)| {
                let hint = if hint.is_empty() { hint } else { format!("\n{hint}") };
                format!("{line}:{column} {path}: {message}{hint}")
            })
            .collect();
        let expected: Vec<&str> = expected.lines().map(str::trim).collect();
        assert_eq!(told, [expected.join("\n").replace("ADAPTERS", &adapters)], "{change}");
        assert!(!told[0].contains(TOKEN));
        edits += 1;
    }
    assert_eq!(edits, 31);
}

/// A part of a recipe with a fault, or under a misspelt key, is not missing as well where a query reads it.
#[test]
fn a_faulty_part_of_a_recipe_is_not_missing() {
    let told = |recipe: &str, mode: &str| -> Vec<String> {
        let text = format!(
            "name: a\nbenchmark: {{adapter: beir, path: data}}\nrecipe: {{{recipe}}}\nqueries: [{{mode: {mode}}}]\n"
        );
        faults(&text).into_iter().map(|(_, _, path, message, hint)| format!("{path}: {message} [{hint}]")).collect()
    };
    for (recipe, mode, expected) in [
        (
            "embed: {provider: statik, model: m}",
            "vector_search",
            "recipe.embed.provider: expected one of `hashing`, `static`, `openai`, `bert`, found the text `statik` [did you \
             mean `static`?]",
        ),
        (
            "embed: {providr: static, model: m}",
            "vector_search",
            "recipe.embed: missing `provider`, expected one of `hashing`, `static`, `openai`, `bert` [`providr` is no key \
             here; did you mean `provider`?]",
        ),
        ("embd: {provider: hashing}", "vector_search", "recipe: unknown key `embd` [did you mean `embed`?]"),
        (
            "embed: {provider: hashing}, graph: {extractor: lexica}",
            "graph_search",
            "recipe.graph.extractor: expected one of `lexical`, `llm`, found the text `lexica` [did you mean `lexical`?]",
        ),
        (
            "embed: {provider: hashing}, graph: {extractor: llm}",
            "graph_search",
            "recipe.graph: missing `llm`, the model that extracts [name an entry of `models` with `llm`]",
        ),
        (
            "vector: {}",
            "vector_search",
            "queries[0].mode: the recipe `default` has no `embed`, which `vector_search` reads [add `embed` to the recipe, \
             or name the recipes that have it with `recipes`]",
        ),
    ] {
        assert_eq!(told(recipe, mode), [expected], "{recipe}");
    }
}

/// Only where there is a system may a mode be one of its own.
#[test]
fn an_unknown_mode_is_told_with_those_that_there_are() {
    let hint = |mode: &str| {
        let text = format!("{MINIMAL}queries: [{{mode: {mode}}}]\n");
        faults(&text).into_iter().map(|fault| fault.4).collect::<Vec<_>>()
    };
    assert_eq!(hint("rerank"), ["did you mean `rerank_search`?"]);
    assert_eq!(hint("fulltext"), ["did you mean `full_text_search`?"]);
    assert_eq!(hint("heta_multihop"), ["did you mean `heta_multihop_search`?"]);
    let [listed] = &hint("fastest")[..] else { panic!("one fault") };
    assert!(listed.starts_with("the modes are full_text_search, vector_search, hybrid_search, "), "{listed}");
}

#[test]
fn five_faults_are_all_told_in_order() {
    let text = "\
name: a
benchmark: {adapter: beir, path: data, sampel: 3}
recipe:
  chunk: {size: ten, overlap: 3}
  full_text: {b: 2}
queries:
  - {mode: fulltext}
gates:
  - {measure: nDCG@10, recipe: other, at_least: 0.5}
";
    let found: Vec<(u64, u64, String)> =
        faults(text).into_iter().map(|(line, column, path, ..)| (line, column, path)).collect();
    let expected = [
        (2, 40, "benchmark"),
        (4, 17, "recipe.chunk.size"),
        (5, 18, "recipe.full_text.b"),
        (7, 12, "queries[0].mode"),
        (9, 32, "gates[0].recipe"),
    ];
    assert_eq!(found, expected.map(|(line, column, path)| (line, column, path.to_string())));
}

#[test]
fn files_that_are_no_mapping_are_told_as_such() {
    for (text, line, message) in [
        ("", 1, "the file is empty"),
        ("# nothing\n", 1, "the file is empty"),
        ("- a\n", 1, "expected a mapping, found a list"),
        ("hello\n", 1, "expected a mapping, found the text `hello`"),
        ("name: a\n---\nname: b\n", 2, "a second document begins here, expected one document"),
    ] {
        let found = faults(text);
        assert_eq!((found.len(), found[0].0, found[0].3.as_str()), (1, line, message), "{text}");
    }
}

#[test]
fn an_empty_recipe_needs_braces() {
    let found = faults("name: a\nbenchmark: {adapter: beir, path: data}\nrecipe:\n");
    assert_eq!((found.len(), found[0].0, found[0].3.as_str()), (1, 3, "missing `recipe` or `recipes`"));
    assert_eq!(found[0].4, "`recipe` is empty; write `recipe: {}` for the defaults");
}

#[test]
fn a_shared_anchor_is_told_once() {
    let text = "\
name: a
benchmark: {adapter: beir, path: data}
recipes:
  - {name: x, chunk: &c {size: 0}}
  - {name: y, chunk: *c}
";
    assert_eq!(faults(text).len(), 1);
    assert!(read_example(&text.replace("size: 0", "size: 5")).is_ok());
}

#[test]
fn unreadable_files_have_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.yaml");
    let fault = |path: &Path| read(path, &environment, &known_evaluator).unwrap_err().diagnostics.remove(0);
    assert!(fault(&path).message.starts_with("cannot be read: "));
    assert!(fault(&path).hint.unwrap().contains("ragstage init"));
    assert_eq!(fault(Path::new("/dev/zero")).message, "not a regular file");
    std::fs::write(&path, b"name: a\nb: \xc3\xa9\xff").unwrap();
    let told = fault(&path);
    assert_eq!((told.place.line, told.place.column, told.message.as_str()), (Some(2), Some(5), "not UTF-8"));
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert_eq!(fault(&path).message, "larger than 1048576 bytes");
    std::fs::write(&path, MINIMAL).unwrap();
    let evaluation = read(&path, &environment, &known_evaluator).map_err(|errors| errors.to_string()).unwrap();
    assert_eq!(evaluation.files, [path]);
}

#[test]
fn a_rendering_shows_line_and_caret() {
    let errors = read_example(&MINIMAL.replace("recipe: {}", "recipe: {chnk: {}}")).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "conf/e.yaml:3:10: recipe: unknown key `chnk`\n  3 | recipe: {chnk: {}}\n    |          ^\n  hint: did \
         you mean `chunk`?"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn no_text_is_a_panic(text in "\\PC*") {
        let _ = read_example(&text).map_err(|errors| errors.to_string());
    }

    #[test]
    fn no_text_of_yaml_characters_is_a_panic(text in "[-:,?&*!|>'\"%@`{}\\[\\]#<$ \\n\\t\\ra-c0-9.~é]{0,80}") {
        let _ = read_example(&text).map_err(|errors| errors.to_string());
    }

    /// The example with a piece cut out and something else put in.
    #[test]
    fn no_edit_of_the_example_is_a_panic(
        from in 0usize..EXAMPLE.len(),
        length in 0usize..40,
        put in "[-:,?&*!|>'\"{}\\[\\]#$ \\n\\ta-c0-9.~]{0,6}",
    ) {
        let to = (from + length).min(EXAMPLE.len());
        let text = format!("{}{put}{}", &EXAMPLE[..from], &EXAMPLE[to..]);
        if let Err(errors) = read_example(&text) {
            prop_assert!(!errors.diagnostics.is_empty());
            prop_assert!(!errors.to_string().contains(TOKEN));
        }
    }
}

#[test]
fn two_systems_may_not_share_their_responses_by_name() {
    let read = |second: &str| {
        let text = format!(
            "name: a\nbenchmark: {{adapter: beir, path: data}}\nrecipes:\n\
             - {{name: one, system: {{http: 'http://one/', version: '1', name: rag}}}}\n\
             - {{name: two, system: {{{second}, version: '1', name: rag}}}}\n\
             queries: [{{mode: any}}]\n"
        );
        read_text(Path::new("e.yaml"), &text, &environment, &|_| Ok(())).map_err(|errors| {
            errors.diagnostics.iter().map(|fault| format!("{}: {}", fault.place, fault.message)).collect::<Vec<_>>()
        })
    };
    assert!(read("http: 'http://one/'").is_ok());
    assert_eq!(
        read("http: 'http://two/'").expect_err("two places, one name"),
        ["e.yaml:5:23: the same system as that of `one`, reached in another way"]
    );
}
