//! The adapters against what Heta's own made of the same files: every vector in any folder below `heta_adapters`.
//!
//! A vector is a folder with an `expected.json`, whose `adapter` says which of ours it is for; what is for an adapter that
//! we do not have is said and passed over. Ours must give the same manifest, documents, cases and units, and must
//! refuse each folder below `errors` with an input error in the same file (and line, where Heta names one).
//!
//! Where we differ on purpose:
//! - A note that begins with "bug" or "weakness" and names `documents[i]` or `cases[i]` marks a row that Heta misreads. Ours
//!   refuses such a row, or reads it in its own way; no other row may be refused, and all others are compared.
//! - A document whose `path` names no file is yielded by Heta (without a digest) and fails later. Ours refuses its row.
//! - What Heta stumbles over and ours reads (`mended.rs`): a byte order mark, U+0085, U+2028 and U+2029 in a text, judgements
//!   in TREC's four columns. An error folder may be read by ours only if its files are written in one of these ways, and then
//!   as their plain form is; Heta's reading of TREC's judgements is not compared.
//! - U+0085, U+2028 and U+2029 between two rows end no row. JSON allows them in texts only, so ours refuses such a file.
//! - The column of a syntax error is ours; its file and line are compared.
//! - `default_evaluators` of BEIR are ours (five measures that are usually reported; Heta's are 25 at odd depths).
//! - `expected.metadata.judgements` of a BEIR case is ours: it keeps the grades of zero and below that Heta drops.
//! - `metadata.qrels_without_query` of a BEIR manifest is ours: Heta passes such judgements over in silence.
//! - `metadata.description` of the manifest is a text of Heta's about four datasets; ours is null.
//! - MultiHop-RAG: its licence is ours to tell, `default_evaluators` are those of its paper, `metadata.evidence_without_document`
//!   is ours, and a question without `evidence_list` has no evidence (bug 26).
//! - UDA: `default_evaluators` are its authors' own. Gold that Heta gets wrong is in `mended_gold.rs` (bug 3). A file in the
//!   subset's own folder comes first, a name is no pattern, and names that differ in punctuation alone have ids of their own
//!   (bug 23). Where no document is there at all the file of questions is refused; where some are missing, their cases are skipped.
//! - `resources` declare downloads that nobody verifies (spec/heta 1); ours has none.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ragstage_cache::Digest;
use ragstage_stages::artifact::Document;
use ragstage_stages::error::InputError;
use ragstage_stages::prepare::{
    AdapterSpec, BeirSpec, BenchmarkSpec, JsonlSpec, MultihopRagSpec, Selection, UdaDocuments, UdaSpec, UdaSubset,
};
use ragstage_stages::python::strip;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::golden::{entries, golden, say};
use crate::mended::{has_separated_rows, has_trec_qrels, is_mended, plain};
use crate::mended_gold::{mended_gold, put};
use crate::prepared::{Prepared, prepare};

type MakeSpec = dyn Fn(&Value, &Path) -> BenchmarkSpec;

#[test]
fn adapters_agree() {
    let Some(root) = golden("heta_adapters") else { return };
    let mut vectors = Vec::new();
    find_vectors(&root, &mut vectors);
    let (mut checked, mut unknown) = (BTreeMap::new(), BTreeSet::new());
    let mut differing = Vec::new();
    for vector in vectors {
        let text = std::fs::read_to_string(vector.join("expected.json")).expect("a readable expected.json");
        let expected: Value = serde_json::from_str(&text).expect("expected.json is JSON");
        let adapter = text_of(&expected["adapter"]);
        let spec: &MakeSpec = match adapter.as_str() {
            "jsonl" => &jsonl_spec,
            "beir" => &beir_spec,
            "multihop_rag" => &multihop_rag_spec,
            uda if uda.starts_with("uda_") => &uda_spec,
            _ => {
                unknown.insert(adapter);
                continue;
            }
        };
        // What differs is told by the panic; the other vectors are compared all the same.
        let agrees = |check: &dyn Fn()| catch_unwind(AssertUnwindSafe(check)).is_ok();
        if !agrees(&|| check_vector(&vector, &expected, spec)) {
            differing.push(vector.display().to_string());
        }
        let errors = items(&expected["errors"]);
        for error in errors {
            if !agrees(&|| check_error(&vector, &expected, error, spec)) {
                differing.push(vector.join(text_of(&error["dir"])).display().to_string());
            }
        }
        let (folders, refused) = checked.entry(adapter).or_insert((0, 0));
        *folders += 1;
        *refused += errors.len();
    }
    assert!(!checked.is_empty(), "no expected.json of jsonl or beir below {}", root.display());
    for (adapter, (folders, errors)) in checked {
        say(&format!("heta_adapters: {folders} vectors of {adapter} with {errors} error folders"));
    }
    if !unknown.is_empty() {
        let unknown: Vec<String> = unknown.into_iter().collect();
        say(&format!("heta_adapters: NOT IMPLEMENTED, not compared: {}", unknown.join(", ")));
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

fn find_vectors(folder: &Path, vectors: &mut Vec<PathBuf>) {
    if folder.join("expected.json").exists() {
        vectors.push(folder.to_path_buf());
    }
    for path in entries(folder).into_iter().filter(|path| path.is_dir()) {
        find_vectors(&path, vectors);
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn jsonl_spec(constructor: &Value, folder: &Path) -> BenchmarkSpec {
    let manifest = &constructor["manifest"];
    let optional = |key: &str| manifest[key].as_str().map(String::from);
    let spec = JsonlSpec {
        documents: folder.join(text_of(&constructor["documents_jsonl"])),
        cases: folder.join(text_of(&constructor["cases_jsonl"])),
        units: None,
        root: constructor["root_dir"].as_str().map(|root| folder.join(root)),
        name: text_of(&manifest["name"]),
        version: text_of(&manifest["version"]),
        split: text_of(&manifest["split"]),
        task_type: text_of(&manifest["task_type"]),
        build_scope: optional("build_scope"),
        homepage: optional("homepage"),
        license: optional("license"),
        citation: optional("citation"),
        metadata: manifest["metadata"].as_object().cloned().unwrap_or_default(),
    };
    BenchmarkSpec { adapter: AdapterSpec::Jsonl(spec), selection: Selection::default() }
}

fn beir_spec(constructor: &Value, folder: &Path) -> BenchmarkSpec {
    let spec = BeirSpec {
        path: folder.join(constructor["data_root"].as_str().unwrap_or(".")),
        dataset: text_of(&constructor["dataset"]),
        split: constructor["split"].as_str().unwrap_or("test").to_string(),
        dataset_url: constructor["dataset_url"].as_str().map(String::from),
    };
    BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() }
}

fn multihop_rag_spec(constructor: &Value, folder: &Path) -> BenchmarkSpec {
    assert_eq!(constructor["corpus_path"], "corpus.json", "the file's own name");
    let spec = MultihopRagSpec { path: folder.to_path_buf() };
    BenchmarkSpec { adapter: AdapterSpec::MultihopRag(spec), selection: Selection::default() }
}

fn uda_spec(constructor: &Value, folder: &Path) -> BenchmarkSpec {
    let word = text_of(&constructor["subset"]);
    let subset = UdaSubset::of_word(&word).unwrap_or_else(|| panic!("there is no subset {word:?}"));
    assert_eq!(constructor["qa_path"], format!("{word}_qa.csv"), "the file's own name");
    let spec = UdaSpec { path: folder.to_path_buf(), subset, documents: UdaDocuments::All };
    BenchmarkSpec { adapter: AdapterSpec::Uda(spec), selection: Selection::default() }
}

/// Positions of the documents or cases (`kind`) that a note marks as misread.
fn misread(expected: &Value, kind: &str) -> BTreeSet<usize> {
    let mut positions = BTreeSet::new();
    for note in items(&expected["notes"]).iter().filter_map(Value::as_str).filter(|note| is_bug(note)) {
        let mut rest = note;
        while let Some((_, after)) = rest.split_once(&format!("{kind}[")) {
            let (position, after) = after.split_once(']').unwrap_or((after, ""));
            positions.extend(position.parse::<usize>());
            rest = after;
        }
    }
    positions
}

/// Positions of the documents whose file is missing.
fn missing_files(expected: &Value) -> BTreeSet<usize> {
    let documents = items(&expected["documents"]).iter().enumerate();
    let missing = documents.filter(|(_, document)| !document["path"].is_null() && document["sha256"].is_null());
    missing.map(|(position, _)| position).collect()
}

fn is_bug(note: &str) -> bool {
    note.starts_with("bug") || note.starts_with("weakness")
}

fn check_vector(folder: &Path, expected: &Value, spec: &MakeSpec) {
    let spec = spec(&expected["constructor"], folder);
    if has_separated_rows(&spec) {
        assert!(prepare(&spec, &|_, bytes| bytes).is_err(), "{}: rows that are no JSON were read", folder.display());
        return;
    }
    let [mut documents, mut cases] = ["documents", "cases"].map(|kind| misread(expected, kind));
    let missing = missing_files(expected);
    documents.extend(&missing);
    let mut left_out: [BTreeSet<usize>; 2] = Default::default();
    let prepared = match prepare(&spec, &|_, bytes| bytes) {
        Ok(prepared) => prepared,
        Err(errors) => {
            // Only rows that Heta misreads may be refused; without them the rest must agree.
            left_out = [("documents", &documents), ("cases", &cases)]
                .map(|(kind, misread)| refused(&spec, kind, misread, &errors));
            let [no_documents, no_cases] = &left_out;
            let without = prepare(&spec, &|role, bytes| match role {
                "documents" => without_rows(&bytes, no_documents),
                "cases" => without_rows(&bytes, no_cases),
                _ => bytes,
            });
            without.unwrap_or_else(|errors| panic!("{}: {errors:?}", folder.display()))
        }
    };
    assert!(missing.is_subset(&left_out[0]), "{}: a missing file was not refused: {missing:?}", folder.display());
    if has_trec_qrels(&spec) {
        check_mended(folder, &spec, &prepared);
        cases.extend(0..prepared.queries.rows.len());
    }
    compare_info(folder, expected, &prepared);
    let kept = |kind: &str, left_out: &BTreeSet<usize>| -> Vec<(usize, Value)> {
        let all = items(&expected[kind]).iter().cloned().enumerate();
        all.filter(|(i, _)| !left_out.contains(i)).collect()
    };

    let theirs = kept("documents", &left_out[0]);
    assert_eq!(prepared.documents.rows.len(), theirs.len(), "{}: documents", folder.display());
    for ((i, theirs), ours) in theirs.iter().zip(&prepared.documents.rows).filter(|((i, _), _)| !documents.contains(i))
    {
        compare_document(&format!("{}: documents[{i}]", folder.display()), &[folder, &spec.root()], theirs, ours);
    }
    let theirs = kept("cases", &left_out[1]);
    assert_eq!(prepared.queries.rows.len(), theirs.len(), "{}: cases", folder.display());
    for (row, (i, theirs)) in theirs.iter().enumerate().filter(|(_, (i, _))| !cases.contains(i)) {
        let mut theirs = theirs.clone();
        let ours = mended_gold(&text_of(&expected["adapter"]), &text_of(&theirs["case_id"]));
        put(&mut theirs, &ours);
        assert_eq!(case(&prepared, row), theirs, "{}: cases[{i}]", folder.display());
    }
    assert_eq!(units(&prepared), expected["run_units"], "{}: run_units", folder.display());
}

/// The rows of `kind` that `errors` refuse, each of which must be one that Heta misreads.
fn refused(spec: &BenchmarkSpec, kind: &str, misread: &BTreeSet<usize>, errors: &[InputError]) -> BTreeSet<usize> {
    let Some(file) = spec.listing().into_iter().find(|file| file.role == kind) else {
        panic!("{errors:?}");
    };
    let bytes = std::fs::read(&file.path).expect("a readable file");
    let lines = row_lines(&bytes);
    let mut rows = BTreeSet::new();
    for error in errors.iter().filter(|error| error.place.file == file.path) {
        let line = error.place.line.unwrap_or_else(|| panic!("{error}"));
        let row = lines.iter().position(|&row| row == line).unwrap_or_else(|| panic!("{error}: no row is there"));
        assert!(misread.contains(&row), "{error}: Heta reads this row rightly");
        rows.insert(row);
    }
    rows
}

/// The lines of a file of JSON rows, which end where Heta's do but for U+0085, U+2028 and U+2029.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    text.split(|c| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}')).map(String::from).collect()
}

/// The line numbers of the rows of a file.
fn row_lines(bytes: &[u8]) -> Vec<u64> {
    let lines = (1u64..).zip(lines(bytes));
    lines.filter(|(_, line)| !strip(line).is_empty()).map(|(number, _)| number).collect()
}

fn without_rows(bytes: &[u8], rows: &BTreeSet<usize>) -> Vec<u8> {
    let numbers = row_lines(bytes);
    let dropped: BTreeSet<u64> = rows.iter().map(|&row| numbers[row]).collect();
    let lines = (1u64..).zip(lines(bytes));
    let kept: Vec<String> =
        lines.map(|(number, line)| if dropped.contains(&number) { String::new() } else { line }).collect();
    kept.join("\n").into_bytes()
}

fn compare_info(folder: &Path, expected: &Value, prepared: &Prepared) {
    let mut ours = serde_json::to_value(&prepared.units.benchmark).expect("info is JSON");
    let mut theirs = expected["manifest"].clone();
    for manifest in [&mut ours, &mut theirs] {
        // Which version of the files this is, Heta does not know.
        if let Some(fields) = manifest.as_object_mut() {
            fields.remove("digest");
        }
        if let Some(metadata) = manifest["metadata"].as_object_mut() {
            metadata.remove("description");
            metadata.remove("qrels_without_query");
            metadata.remove("evidence_without_document");
        }
    }
    if expected["adapter"] == "multihop_rag" {
        assert_eq!(theirs["license"].take(), Value::Null, "{}: manifest", folder.display());
        assert_eq!(ours["license"].take(), "ODC-BY-1.0", "{}: manifest", folder.display());
    }
    assert_eq!(ours, theirs, "{}: manifest", folder.display());
    let key = ["name", "version", "split"].map(|field| text_of(&ours[field])).join(":");
    assert_eq!(json!(key), expected["manifest_key"], "{}: manifest_key", folder.display());
    let evaluators = json!(prepared.units.default_evaluators);
    let wanted = match expected["adapter"].as_str() {
        Some("beir") => json!(["nDCG@10", "AP@100", "R@100", "P@10", "RR@10"]),
        Some("multihop_rag") => json!([
            "evidence_recall@5",
            "evidence_recall@10",
            "evidence_map(match=text,text=unspaced)@10",
            "evidence_hits(match=text,text=unspaced)@4",
            "evidence_hits(match=text,text=unspaced)@10",
            "evidence_mrr(match=text,text=unspaced)@10",
            "answer_accuracy",
        ]),
        Some("uda_fin") => json!(["numeric_match(variant=uda_fin)", "fin_em"]),
        Some("uda_tat") => json!(["tat_em", "tat_f1"]),
        Some(uda) if uda.starts_with("uda_") => json!(["uda_f1"]),
        _ => expected["default_evaluators"].clone(),
    };
    assert_eq!(evaluators, wanted, "{}: default_evaluators", folder.display());
}

/// `roots` are what a recorded path may be relative to: the vector's folder, or what the adapter joins paths to.
fn compare_document(place: &str, roots: &[&Path], theirs: &Value, ours: &Document) {
    assert_eq!(ours.document_id, text_of(&theirs["document_id"]), "{place}");
    assert_eq!(ours.name, text_of(&theirs["name"]), "{place}");
    assert_eq!(ours.media_type, text_of(&theirs["media_type"]), "{place}");
    assert_eq!(ours.source_uri, theirs["source_uri"].as_str().map(String::from), "{place}");
    assert_eq!(ours.source_key, text_of(&theirs["raw_key"]), "{place}");
    assert_eq!(ours.size, theirs["size"].as_u64(), "{place}");
    assert_eq!(Value::Object(ours.metadata.clone()), theirs["metadata"], "{place}");
    assert_eq!(Some(ours.data.is_some()), theirs["has_data"].as_bool(), "{place}");
    let bytes = if let Some(path) = theirs["path"].as_str() {
        let bytes = roots.iter().find_map(|root| std::fs::read(root.join(path)).ok());
        assert!(bytes.is_some(), "{place}: {path} is below none of {roots:?}");
        bytes
    } else if let Some(text) = theirs["data_utf8"].as_str() {
        Some(text.as_bytes().to_vec())
    } else {
        theirs["data_base64"].as_str().map(base64)
    };
    assert_eq!(ours.digest, bytes.as_deref().map(Digest::of), "{place}");
    assert_eq!(json!(bytes.as_deref().map(sha256)), theirs["sha256"], "{place}");
    if let Some(data) = &ours.data {
        assert_eq!(Some(data), bytes.as_ref(), "{place}");
    }
}

/// In hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes well-formed base64.
fn base64(text: &str) -> Vec<u8> {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for c in text.chars().filter(|&c| c != '=') {
        let value = alphabet.iter().position(|&letter| letter == c).expect("a letter of the alphabet");
        bits = (bits << 6 | value as u32) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// The case in `row` in Heta's form.
fn case(prepared: &Prepared, row: usize) -> Value {
    let (query, gold) = (&prepared.queries.rows[row], &prepared.golds.rows[row]);
    assert_eq!(query.case_id, gold.case_id);
    let mut metadata = gold.metadata.clone();
    if metadata.contains_key("beir_query_id") {
        metadata.remove("judgements");
    }
    json!({
        "case_id": query.case_id,
        "query": query.text,
        "expected": {
            "answers": gold.answers,
            "evidence": gold.evidence,
            "value": gold.value,
            "metadata": metadata,
        },
        "labels": gold.labels,
        "metadata": gold.case_metadata,
    })
}

/// The units in Heta's form.
fn units(prepared: &Prepared) -> Value {
    let unit = |unit: &ragstage_stages::artifact::Unit| {
        let ids = |rows: &Option<Vec<u32>>, id: &dyn Fn(usize) -> String| -> Vec<String> {
            rows.iter().flatten().map(|&row| id(row as usize)).collect()
        };
        json!({
            "unit_id": unit.unit_id,
            "document_ids": ids(&unit.document_rows, &|i| prepared.documents.rows[i].document_id.clone()),
            "case_ids": ids(&unit.case_rows, &|i| prepared.queries.rows[i].case_id.clone()),
            "metadata": unit.metadata,
        })
    };
    prepared.units.units.iter().map(unit).collect()
}

fn check_error(vector: &Path, expected: &Value, error: &Value, spec: &MakeSpec) {
    let (adapter, constructor) = (text_of(&expected["adapter"]), &expected["constructor"]);
    let name = text_of(&error["dir"]);
    let folder = vector.join(&name);
    let place = folder.display();
    assert!(!name.is_empty() && folder.is_dir(), "{place}: there is no such error folder");
    // An error of the constructor has a constructor of its own; where it is not recorded, its folder's name says what it is.
    let mut constructor = error.get("constructor").unwrap_or(constructor).clone();
    if error.get("constructor").is_none() && error["expected_error"]["stage"] == "construct" {
        if name.ends_with("bad_subset") {
            // Ours are a closed set: the evaluation file is refused.
            assert_eq!(UdaSubset::of_word("bad"), None, "{place}");
            return;
        }
        break_id(&mut constructor, &name);
    }
    let spec = spec(&constructor, &folder);
    match prepare(&spec, &|_, bytes| bytes) {
        Ok(prepared) if is_mended(&spec) => check_mended(&folder, &spec, &prepared),
        Ok(prepared) if is_read(&adapter, &name, &prepared) => {}
        Ok(_) => panic!("{place}: expected an error like {}", error["expected_error"]),
        Err(errors) => check_stage(&folder, &spec, &error["expected_error"], &errors),
    }
}

/// Whether the folder `name` is one that Heta refuses for a fault of its own; then what ours makes of it is asserted.
fn is_read(adapter: &str, name: &str, prepared: &Prepared) -> bool {
    let documents: Vec<&str> = prepared.documents.rows.iter().map(|document| document.document_id.as_str()).collect();
    let cases = prepared.queries.rows.len();
    match (adapter, name) {
        // Bug 26.
        ("multihop_rag", "errors/missing_evidence_list") => {
            assert!(prepared.golds.rows[0].evidence.is_empty());
            assert_eq!((documents.len(), cases), (1, 1));
        }
        // Bug 23.
        ("uda_fin", "errors/ids_collide") => {
            assert_eq!(documents, ["K_1", "K_1_cee26578f7dc"]);
            assert_eq!((cases, prepared.units.units.len()), (2, 2));
        }
        // Bug 23.
        ("uda_feta", "errors/name_with_brackets") => {
            assert_eq!((documents, cases), (vec!["Reef_TV"], 1));
            assert_eq!(prepared.golds.rows[0].answers, ["a"]);
        }
        _ => return false,
    }
    true
}

/// `dataset_is_path`, `blank_split` and the like.
fn break_id(constructor: &mut Value, name: &str) {
    let Some(map) = constructor.as_object_mut() else { return };
    for key in ["dataset", "split"].into_iter().filter(|key| name.contains(key)) {
        let id = if name.contains("blank") || name.contains("empty") {
            " "
        } else if name.contains("backslash") {
            "a\\b"
        } else {
            "a/b"
        };
        map.insert(key.to_string(), json!(id));
    }
}

/// That one of `errors` is in the file that Heta read when it failed, on the line that it names.
fn check_stage(folder: &Path, spec: &BenchmarkSpec, theirs: &Value, errors: &[InputError]) {
    let place = folder.display();
    assert!(!errors.is_empty(), "{place}: an error without errors");
    let message = theirs["message"].as_str().unwrap_or_default();
    let roles: &[&str] = match theirs["stage"].as_str() {
        Some("documents") => &["documents", "corpus", "questions"],
        Some("cases") => &["cases", "queries", "qrels", "questions", "extended"],
        // Ours looks for documents wherever they may be.
        Some("prepare") if message.starts_with("UDA source_root does not exist") => &["questions"],
        Some("prepare") => {
            assert!(errors.iter().any(|error| error.message.ends_with("is missing")), "{place}: {errors:?}");
            assert!(errors.iter().all(|error| error.hint.is_some()), "{place}: {errors:?}");
            return;
        }
        _ => return,
    };
    let files: Vec<PathBuf> =
        spec.listing().into_iter().filter(|file| roles.contains(&file.role.as_str())).map(|file| file.path).collect();
    let here: Vec<&InputError> = errors.iter().filter(|error| files.contains(&error.place.file)).collect();
    assert!(!here.is_empty(), "{place}: Heta fails with {message:?}, ours with {errors:?}");
    // "documents.jsonl:1: ..." and "qrels/test.tsv:1 ..."; other messages name no line.
    let word = message.split(' ').next().unwrap_or_default().trim_end_matches(':');
    if let Some((_, line)) = word.rsplit_once(':')
        && let Ok(line) = line.parse::<u64>()
    {
        assert!(here.iter().any(|error| error.place.line == Some(line)), "{place}: {message:?}, ours {here:?}");
    }
    // A syntax error names a line and column within the row; where it is in the file is on ours.
    if theirs["type"] == "JSONDecodeError" {
        assert!(here.iter().all(|error| error.place.line.is_some()), "{place}: {here:?}");
    }
}

/// That a mended folder holds what it holds when it is written in a way that nobody stumbles over.
fn check_mended(folder: &Path, spec: &BenchmarkSpec, prepared: &Prepared) {
    let plain = prepare(spec, &plain).unwrap_or_else(|errors| panic!("{}: {errors:?}", folder.display()));
    assert!(prepared == &plain, "{}: read in another way than its plain form", folder.display());
}
