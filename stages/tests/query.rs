//! Index, retrieval and answers as actions: what they give, what their keys hold, and which rows run again.

mod harbour;
mod memory;
mod query_systems;

use std::sync::Arc;

use ragstage_cache::Digest;
use ragstage_cache::key::key_of;
use ragstage_stages::artifact::{Answers, Chunk, Chunks, Observations, Results};
use ragstage_stages::build::full_text::{AnalyzerOptions, Bm25Options, FullTextIndex, StopWords};
use ragstage_stages::contract::Action;
use ragstage_stages::error::StageErrorKind;
use ragstage_stages::query::search::{FullTextSearch, KbArtifact, KnowledgeBase, SearchMode};
use ragstage_stages::query::{AnswerOptions, AnswerQuestions, ExtractiveOptions, ModeSpec, Retrieve};

use harbour::{chunks, queries, run};
use memory::MemoryContext;

const CASES: [(&str, &str); 2] = [("q1", "When was the lighthouse built?"), ("q2", "Where do ships unload grain?")];

/// The full-text mode over `chunks`.
fn full_text(memory: &MemoryContext, chunks: &Chunks) -> ModeSpec {
    let chunks = memory.put(chunks);
    let (outputs, failed) =
        run(memory, &FullTextIndex { chunks, analyzer: AnalyzerOptions::default(), title_weight: 1, salt: 0 });
    assert_eq!(failed, 0);
    bm25_mode(outputs["full_text_index"], chunks, Bm25Options::default())
}

/// Full-text search in an index of chunks.
fn bm25_mode(index: Digest, chunks: Digest, bm25: Bm25Options) -> ModeSpec {
    let artifacts = [(KbArtifact::FullTextIndex, index), (KbArtifact::Chunks, chunks)].into_iter().collect();
    let kb = KnowledgeBase { artifacts, bm25, embedder: None };
    ModeSpec::Built { mode: Arc::new(SearchMode::FullText(FullTextSearch)), kb, trace: false }
}

/// The index and the chunks that a mode reads.
fn read_by(mode: &ModeSpec) -> (Digest, Digest) {
    let ModeSpec::Built { kb, .. } = mode else { panic!("built") };
    (kb.artifacts[&KbArtifact::FullTextIndex], kb.artifacts[&KbArtifact::Chunks])
}

fn retrieve(memory: &MemoryContext, mode: ModeSpec, cases: &[(&str, &str)]) -> Retrieve {
    let (queries, unit) = queries(cases);
    Retrieve { mode, queries: memory.put(&queries), unit, top_k: 2, salt: 0 }
}

fn answer(retrieve: &Retrieve, results: Digest, options: AnswerOptions) -> AnswerQuestions {
    AnswerQuestions { options, results, queries: retrieve.queries, unit: retrieve.unit.clone(), salt: 0 }
}

fn extractive(sentences: u32) -> AnswerOptions {
    AnswerOptions::Extractive(ExtractiveOptions { sentences, results: 5 })
}

#[test]
fn chunks_are_found_by_title_and_text() {
    let memory = MemoryContext::default();
    let retrieve = retrieve(&memory, full_text(&memory, &chunks()), &CASES);
    let (outputs, failed) = run(&memory, &retrieve);
    assert_eq!(failed, 0);
    let results: Results = memory.read(&outputs["results"]);
    // `lighthouse` is in the title of c1 alone.
    let hit = &results.rows[0].results[0];
    assert_eq!((results.rows[0].case_id.as_str(), hit.id.as_str(), hit.kind.as_str()), ("q1", "c1", "chunk"));
    assert_eq!(*hit.text, chunks().rows[0].text);
    assert_eq!(hit.source["document_id"], "light");
    assert_eq!(hit.source["source_key"], "raw/benchmarks/harbour/light.txt");
    assert_eq!(hit.source["name"], "light.txt");
    assert_eq!((&hit.source["page_index"], &hit.source["chunk_index"]), (&0.into(), &0.into()));
    assert_eq!((&hit.source["start"], &hit.source["end"]), (&0.into(), &45.into()));
    assert_eq!(hit.source["title"], "Lighthouse");
    assert!(!hit.source.contains_key("heading"));
    let ids: Vec<&str> = results.rows[1].results.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids, ["c2", "c3"]);
    let observations: Observations = memory.read(&outputs["observations"]);
    assert_eq!(observations.rows.iter().map(|row| row.case_id.as_str()).collect::<Vec<_>>(), ["q1", "q2"]);
    assert!(observations.rows.iter().all(|row| row.attempts == 1 && row.latency_ms.is_some()));
}

/// The ids of the best chunks for one question each.
fn best(memory: &MemoryContext, rows: Vec<Chunk>, cases: &[(&str, &str)]) -> Vec<String> {
    let retrieve = retrieve(memory, full_text(memory, &Chunks { rows }), cases);
    let (outputs, _) = run(memory, &retrieve);
    let results: Results = memory.read(&outputs["results"]);
    results.rows.iter().map(|row| row.results.first().map(|hit| hit.id.clone()).unwrap_or_default()).collect()
}

#[test]
fn chinese_japanese_and_korean_questions_find_their_chunks() {
    let memory = MemoryContext::default();
    let rows = vec![
        harbour::chunk("zh-light", "a", Some("灯塔"), "灯塔建于1871年。守塔人每天要爬214级台阶才能点灯。"),
        harbour::chunk("zh-market", "b", Some("鱼市"), "鱼市早上五点开门。鲱鱼按桶出售，商人用银币付款。"),
        harbour::chunk("zh-ferry", "c", None, "开往小岛的渡轮每两小时一班，自行车免费。"),
        harbour::chunk("ja-light", "d", None, "灯台は1871年に建てられた。番人は毎日214段の階段をのぼる。"),
        harbour::chunk("ja-ferry", "e", None, "島へのﾌｪﾘｰは2時間ごとに出る。自転車は無料で運べる。"),
        harbour::chunk("ko-light", "f", None, "등대는 1871년에 세워졌다. 등대지기는 매일 계단 214개를 오른다."),
        harbour::chunk("ko-market", "g", None, "어시장은 아침 다섯 시에 열린다. 상인들은 은화로 값을 치른다."),
    ];
    let cases = [
        ("1", "守塔人每天爬多少级台阶？"),
        ("2", "鱼市几点开门？"),
        ("3", "渡轮多久一班"),
        ("4", "灯台はいつ建てられましたか。"),
        ("5", "フェリーは何時間ごとに出ますか"),
        ("6", "등대를 언제 세웠나요?"),
        ("7", "상인들이 은화를 쓰는 어시장"),
    ];
    let expected = ["zh-light", "zh-market", "zh-ferry", "ja-light", "ja-ferry", "ko-light", "ko-market"];
    assert_eq!(best(&memory, rows, &cases), expected);
}

#[test]
fn a_heavier_title_wins_over_the_text() {
    // Both chunks have five terms: `tides` is in the title of one and twice in the text of the other.
    let rows = || {
        vec![
            harbour::chunk("named", "a", Some("Tides"), "harbour lamps burn brightly"),
            harbour::chunk("told", "b", None, "tides tides lamp oil barrels"),
        ]
    };
    let memory = MemoryContext::default();
    assert_eq!(best(&memory, rows(), &[("q", "tides")]), ["told"]);
    let chunks = memory.put(&Chunks { rows: rows() });
    let weighted = |title_weight| {
        let index = FullTextIndex { chunks, analyzer: AnalyzerOptions::default(), title_weight, salt: 0 };
        let (outputs, _) = run(&memory, &index);
        let mode = bm25_mode(outputs["full_text_index"], chunks, Bm25Options { k1: 0.9, b: 0.0 });
        let (outputs, _) = run(&memory, &retrieve(&memory, mode, &[("q", "tides")]));
        let results: Results = memory.read(&outputs["results"]);
        let scores = results.rows[0].results.iter().map(|hit| (hit.id.clone(), hit.score.unwrap_or_default()));
        scores.collect::<Vec<_>>()
    };
    // Without lengths (b = 0) a score is idf * tf / (tf + 0.9). Both chunks have the term: idf = ln(1 + 0.5 / 2.5).
    let score = |tf: f64| (1.0f64 + 0.5 / 2.5).ln() * tf / (tf + 0.9);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    let three = weighted(3);
    assert_eq!((three[0].0.as_str(), three[1].0.as_str()), ("named", "told"));
    close(three[0].1, score(3.0));
    close(three[1].1, score(2.0));
    let none = weighted(0);
    assert_eq!(none.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["told"]);
}

#[test]
fn a_title_that_opens_the_text_counts_once() {
    use ragstage_stages::build::full_text::indexed_text;
    let weighted = |weight, title, text| indexed_text(&harbour::chunk("c", "d", title, text), weight).into_owned();
    let text = |title, text| weighted(1, title, text);
    assert_eq!(text(Some("Tides"), "Twice a day."), "Tides\nTwice a day.");
    assert_eq!(text(Some(" Tides "), "\nTides rise."), "\nTides rise.");
    assert_eq!(text(Some("  "), "Twice."), "Twice.");
    assert_eq!(text(None, "Twice."), "Twice.");
    // And with a weight as often as that says.
    assert_eq!(weighted(3, Some("Tides"), "Twice a day."), "Tides\nTides\nTides\nTwice a day.");
    assert_eq!(weighted(3, Some("Tides"), "Tides rise."), "Tides\nTides\nTides rise.");
    assert_eq!(weighted(0, Some("Tides"), "Twice a day."), "Twice a day.");
    assert_eq!(weighted(0, Some("Tides"), "Tides rise."), "Tides rise.");
    assert_eq!(weighted(3, None, "Twice."), "Twice.");
}

#[test]
fn only_new_queries_are_asked_and_equal_ones_once() {
    let memory = MemoryContext::default();
    let mode = full_text(&memory, &chunks());
    run(&memory, &retrieve(&memory, mode.clone(), &CASES));
    assert_eq!(memory.computed(), ["q1", "q2"]);
    let more = [CASES[1], ("q3", "tides"), CASES[0], ("q4", "tides"), ("q5", CASES[0].1)];
    let (outputs, _) = run(&memory, &retrieve(&memory, mode.clone(), &more));
    assert_eq!(memory.computed(), ["q3"]);
    let warm: Results = memory.read(&outputs["results"]);
    assert_eq!(warm.rows.iter().map(|row| row.case_id.as_str()).collect::<Vec<_>>(), ["q2", "q3", "q1", "q4", "q5"]);
    assert_eq!(warm.rows[1].results, warm.rows[3].results);
    // The law: a cold run gives the same bytes.
    let cold = MemoryContext::default();
    let (cold_outputs, _) = run(&cold, &retrieve(&cold, full_text(&cold, &chunks()), &more));
    assert_eq!(outputs["results"], cold_outputs["results"]);
    // Other options are another slot.
    run(&memory, &Retrieve { top_k: 3, ..retrieve(&memory, mode, &CASES) });
    assert_eq!(memory.computed(), ["q1", "q2"]);
}

#[test]
fn retrieval_keys_hold_what_the_mode_reads_and_nothing_else() {
    let memory = MemoryContext::default();
    let base = retrieve(&memory, full_text(&memory, &chunks()), &CASES);
    let key = key_of(&base);
    let (index, chunks) = read_by(&base.mode);

    let mut same = base.clone();
    same.queries = Digest::of(b"the same queries with other categories");
    same.unit.gold_digest = Digest::of(b"corrected gold");
    same.unit.documents_digest = Digest::of(b"documents");
    same.unit.unit_id = "renamed".to_string();
    assert_eq!(key_of(&same), key);

    let other_bm25 = bm25_mode(index, chunks, Bm25Options { k1: 1.2, b: 0.75 });
    let other_index = bm25_mode(Digest::of(b"i"), chunks, Bm25Options::default());
    let others = [
        Retrieve { top_k: 3, ..base.clone() },
        Retrieve { salt: 1, ..base.clone() },
        Retrieve { mode: other_bm25, ..base.clone() },
        Retrieve { mode: other_index, ..base.clone() },
        retrieve(&memory, base.mode.clone(), &CASES[..1]),
    ];
    for other in &others {
        assert_ne!(key_of(other), key);
    }
}

#[test]
fn index_keys_hold_chunks_and_analyzer() {
    let analyzer = AnalyzerOptions::default();
    let base = FullTextIndex { chunks: Digest::of(b"chunks"), analyzer, title_weight: 1, salt: 0 };
    let key = key_of(&base);
    let analyzer = AnalyzerOptions { stop_words: StopWords::None, ..AnalyzerOptions::default() };
    assert_ne!(key_of(&FullTextIndex { analyzer, ..base.clone() }), key);
    assert_ne!(key_of(&FullTextIndex { chunks: Digest::of(b"others"), ..base.clone() }), key);
    assert_ne!(key_of(&FullTextIndex { title_weight: 2, ..base.clone() }), key);
    assert_ne!(key_of(&FullTextIndex { salt: 1, ..base }), key);
}

#[test]
fn an_index_of_other_chunks_is_refused() {
    let memory = MemoryContext::default();
    let (index, _) = read_by(&full_text(&memory, &chunks()));
    let chunks = memory.put(&Chunks { rows: chunks().rows[..2].to_vec() });
    let error =
        retrieve(&memory, bm25_mode(index, chunks, Bm25Options::default()), &CASES).run(&memory).expect_err("refused");
    assert!(
        matches!(&error.kind, StageErrorKind::Artifact { why, .. } if why == "indexes 3 chunks, expected 2"),
        "{error}"
    );
}

#[test]
fn answers_cite_where_sentences_are_from() {
    let memory = MemoryContext::default();
    let retrieve = retrieve(&memory, full_text(&memory, &chunks()), &CASES);
    let results = run(&memory, &retrieve).0["results"];
    memory.computed();
    let (outputs, failed) = run(&memory, &answer(&retrieve, results, extractive(1)));
    assert_eq!((failed, memory.computed()), (0, vec!["q1".to_string(), "q2".to_string()]));
    let answers: Answers = memory.read(&outputs["answers"]);
    assert_eq!(answers.rows[0].text.as_deref(), Some("It was built in 1871."));
    assert_eq!(answers.rows[1].text.as_deref(), Some("Ships unload grain at the quay."));
    let citation = &answers.rows[1].citations[0];
    assert_eq!((citation.id.as_str(), citation.result_id.as_deref()), ("citation_1", Some("c2")));
    assert_eq!(citation.source["document_id"], "quay");
    let observations: Observations = memory.read(&outputs["observations"]);
    assert_eq!(observations.rows.len(), 2);
}

#[test]
fn only_answers_whose_context_changed_are_made_again() {
    let memory = MemoryContext::default();
    let first = retrieve(&memory, full_text(&memory, &chunks()), &CASES);
    let results = run(&memory, &first).0["results"];
    run(&memory, &answer(&first, results, extractive(1)));
    memory.computed();

    // Another document comes in: it is found for q2 only. All is asked again; q1's context is as it was.
    let mut more = chunks();
    more.rows.push(harbour::chunk("c4", "mill", None, "The mill grinds grain that ships unload."));
    more.rows[0].name = "light.md".to_string();
    let second = retrieve(&memory, full_text(&memory, &more), &CASES);
    let results = run(&memory, &second).0["results"];
    assert_eq!(memory.computed(), ["q1", "q2"]);
    let outputs = run(&memory, &answer(&second, results, extractive(1))).0;
    assert_eq!(memory.computed(), ["q2"]);
    // What is not part of the context is current nevertheless, as in a cold run.
    let answers: Answers = memory.read(&outputs["answers"]);
    assert_eq!(answers.rows[0].citations[0].source["name"], "light.md");

    // Another option is another slot.
    run(&memory, &answer(&second, results, extractive(2)));
    assert_eq!(memory.computed(), ["q1", "q2"]);
}

#[test]
fn answer_keys_hold_results_questions_and_options() {
    let memory = MemoryContext::default();
    let retrieve = retrieve(&memory, full_text(&memory, &chunks()), &CASES);
    let base = answer(&retrieve, Digest::of(b"results"), extractive(1));
    let key = key_of(&base);
    let mut same = base.clone();
    same.queries = Digest::of(b"moved");
    same.unit.gold_digest = Digest::of(b"corrected gold");
    assert_eq!(key_of(&same), key);
    assert_ne!(key_of(&answer(&retrieve, Digest::of(b"others"), extractive(1))), key);
    assert_ne!(key_of(&answer(&retrieve, Digest::of(b"results"), extractive(2))), key);
    assert_ne!(key_of(&answer(&retrieve, Digest::of(b"results"), AnswerOptions::System)), key);
}

#[test]
fn results_of_other_cases_are_refused() {
    let memory = MemoryContext::default();
    let mode = full_text(&memory, &chunks());
    let results = run(&memory, &retrieve(&memory, mode.clone(), &CASES)).0["results"];
    let mut swapped = CASES;
    swapped.reverse();
    for cases in [&CASES[..1], &swapped] {
        let retrieve = retrieve(&memory, mode.clone(), cases);
        let error = answer(&retrieve, results, extractive(1)).run(&memory).expect_err("refused");
        assert!(matches!(error.kind, StageErrorKind::Artifact { .. }), "{error}");
    }
}
