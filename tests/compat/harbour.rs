//! The benchmarks below `fixtures/compat/stages`, run action by action in memory.

use ragstage_cache::Digest;
use ragstage_stages::artifact::{Json, Unit, Units};
use ragstage_stages::contract::{Action, Artifact};
use ragstage_stages::prepare::{
    AdapterSpec, BeirSpec, BenchmarkProgram, BenchmarkSpec, CommandSpec, DocumentFile, HotpotqaSpec, JsonlSpec,
    MusiqueSpec, PrepareBenchmark, QuestionScope, Relevance, Selection, SourceFile, SourceList, Sources, TopicField,
    TrecSpec,
};
use ragstage_stages::process::Launch;

use crate::golden::folder;
use crate::memory::{MemoryContext, Ran};

/// The `jsonl` benchmark in the folder `name`.
pub fn jsonl(name: &str) -> BenchmarkSpec {
    let folder = folder().join(name);
    let units = folder.join("units.jsonl");
    let spec = JsonlSpec {
        documents: folder.join("documents.jsonl"),
        cases: folder.join("cases.jsonl"),
        units: units.exists().then_some(units),
        root: None,
        name: name.to_string(),
        version: "1".to_string(),
        split: "test".to_string(),
        task_type: "rag_qa".to_string(),
        build_scope: None,
        homepage: None,
        license: None,
        citation: None,
        metadata: Json::new(),
    };
    BenchmarkSpec { adapter: AdapterSpec::Jsonl(spec), selection: Selection::default() }
}

/// The `beir` benchmark in the folder `name`.
pub fn beir(name: &str) -> BenchmarkSpec {
    let spec =
        BeirSpec { path: folder().join(name), dataset: name.to_string(), split: "test".to_string(), dataset_url: None };
    BenchmarkSpec { adapter: AdapterSpec::Beir(spec), selection: Selection::default() }
}

/// The benchmark that `adapter` reads.
fn of(adapter: AdapterSpec) -> BenchmarkSpec {
    BenchmarkSpec { adapter, selection: Selection::default() }
}

/// The benchmarks of questions with paragraphs of their own: all in the folder `questions`.
pub fn questions() -> [BenchmarkSpec; 2] {
    let (path, split) = (folder().join("questions"), "dev".to_string());
    let hotpotqa = HotpotqaSpec { path: path.clone(), split: split.clone(), scope: QuestionScope::Question };
    let musique = MusiqueSpec { path, split, scope: QuestionScope::Corpus };
    [of(AdapterSpec::Hotpotqa(hotpotqa)), of(AdapterSpec::Musique(musique))]
}

/// A test collection in the folder `collection`, whose documents are in each of the formats.
pub fn trec() -> BenchmarkSpec {
    let folder = folder().join("collection");
    of(AdapterSpec::Trec(TrecSpec {
        documents: vec![folder.join("documents")],
        topics: folder.join("topics"),
        qrels: folder.join("qrels"),
        name: "collection".to_string(),
        version: None,
        split: "test".to_string(),
        relevance: Relevance::Cranfield,
        query_ids: None,
        topic_fields: vec![TopicField::Title, TopicField::Description],
        homepage: None,
        license: None,
        citation: None,
    }))
}

/// What a program prints that prints the file `printed/records.jsonl`.
pub fn command() -> BenchmarkSpec {
    let directory = folder().join("printed");
    let command = ["cat", "records.jsonl"].map(str::to_string).to_vec();
    let launch = Launch { command: command.clone(), directory: directory.clone(), ..Launch::default() };
    of(AdapterSpec::Command(CommandSpec {
        program: BenchmarkProgram { words: command, version: "1".to_string(), timeout_s: 60.0, launch },
        files: Vec::new(),
        root: directory,
        name: "printed".to_string(),
    }))
}

/// An action with what it made.
pub struct Done<A> {
    pub action: A,
    pub ran: Ran,
}

impl<A: Action> Done<A> {
    /// Runs `action`.
    pub fn run(memory: &MemoryContext, action: A) -> Self {
        let ran = memory.run(&action);
        Done { action, ran }
    }
}

/// A benchmark whose artifacts are in memory.
pub struct Prepared {
    pub sources: Done<Sources>,
    pub prepare: Done<PrepareBenchmark>,
    pub units: Vec<Unit>,
}

impl Prepared {
    /// Reads the benchmark's files and prepares it.
    pub fn read(memory: &MemoryContext, spec: BenchmarkSpec) -> Self {
        let read = |path: &std::path::Path| {
            let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (memory.put_source(&bytes), bytes.len() as u64)
        };
        let listing = spec.listing().into_iter().map(|listed| {
            let (digest, size) = read(&listed.path);
            SourceFile { role: listed.role, path: listed.path, digest, size }
        });
        let files: Vec<SourceFile> = listing.collect();
        let below = spec.below_root().expect("a folder that can be listed");
        let sources = Done::run(memory, Sources { spec: spec.clone(), files: files.clone(), below, salt: 0 });
        let named: SourceList = sources.ran.read("sources");
        let documents = named.paths.into_iter().map(|relative| {
            let (digest, size) = read(&spec.root().join(&relative));
            DocumentFile { relative, digest: Some(digest), size, fault: None }
        });
        let documents = documents.collect();
        let printed = sources.ran.0.outputs.iter().find(|output| output.name == "records");
        let records = printed.and_then(|output| spec.records(Digest::of(&output.bytes), output.bytes.len() as u64));
        let prepare = Done::run(memory, PrepareBenchmark { spec, files, documents, records, salt: 0 });
        let units = prepare.ran.read::<Units>("units").units;
        Prepared { sources, prepare, units }
    }

    /// The digest of an artifact of the benchmark.
    pub fn digest(&self, name: &str) -> Digest {
        self.prepare.ran.digest(name)
    }

    /// An artifact of the benchmark.
    pub fn artifact<T: Artifact>(&self, name: &str) -> T {
        self.prepare.ran.read(name)
    }
}
