//! Lints: what makes a number worthless without making any step fail is told, by name, and can be silenced by name.

use serde_json::{Value, json};

use super::small;
use super::space::Space;

/// The names of the lints in the report.
fn lints(space: &Space) -> Vec<String> {
    let report = space.json("reports/small/report.json");
    let lints = report["ragstage"]["lints"].as_array().expect("lints").clone();
    lints.iter().map(|lint| lint["name"].as_str().expect("a name").to_string()).collect()
}

/// The town with imported results: `hits` of each case are documents with scores.
fn imported(hits: &[(&str, f64)], evaluators: &str) -> Space {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "  - name: fine\n    chunk: {size: 12}\n",
        "  - {name: old, responses: {path: old.jsonl}}\n",
    );
    space.edit(
        "evaluation.yaml",
        "queries:\n  - {mode: full_text_search, name: bm25, top_k: 3}\nanswer: {provider: extractive, sentences: 1, results: 2}\n",
        "",
    );
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", evaluators);
    let results: Vec<Value> = hits
        .iter()
        .map(|(document, score)| json!({"id": format!("c-{document}"), "text": "x", "score": score, "source": {"document_id": document}}))
        .collect();
    let line = |id: &str| format!("{}\n", json!({"case_id": id, "answer": id, "results": results}));
    space.write("old.jsonl", &small::case_ids().into_iter().map(line).collect::<String>());
    space
}

const ALL: [(&str, f64); 8] = [
    ("lighthouse", 9.0),
    ("market", 8.0),
    ("ferry", 7.0),
    ("museum", 6.0),
    ("inn", 5.0),
    ("shipyard", 4.0),
    ("storm", 3.0),
    ("pier", 2.0),
];

#[test]
fn a_sound_evaluation_has_none() {
    let space = small::evaluated();
    assert!(lints(&space).iter().all(|name| name == "constant-scores"), "{:?}", lints(&space));
}

#[test]
fn retrieving_everything_is_a_bypass() {
    let space = imported(&ALL, "[R@10]");
    space.run("").expect(0);
    assert!(lints(&space).contains(&"retrieval-bypass".to_string()), "{:?}", lints(&space));
    let space = imported(&ALL[..7], "[R@10]");
    space.run("").expect(0);
    assert!(!lints(&space).contains(&"retrieval-bypass".to_string()));
}

#[test]
fn equal_scores_at_a_cutoff_are_ties() {
    let hits = [("lighthouse", 2.0), ("market", 1.0), ("ferry", 1.0)];
    let space = imported(&hits, "[P@2]");
    space.run("").expect(0);
    assert!(lints(&space).contains(&"ties".to_string()), "{:?}", lints(&space));
    // At another cut-off nothing is tied; and what is silenced is not told.
    let space = imported(&hits, "[P@1]");
    space.run("").expect(0);
    assert!(!lints(&space).contains(&"ties".to_string()));
    let space = imported(&hits, "[P@2]");
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + "silence: [ties]\n"));
    space.run("").expect(0);
    assert!(!lints(&space).contains(&"ties".to_string()));
    space.edit("evaluation.yaml", "silence: [ties]", "silence: [tie]");
    let ran = space.run("").expect(3);
    assert!(
        ran.stderr.contains("no lint is called `tie`") && ran.stderr.contains("did you mean `ties`?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn judgements_without_anything_relevant_and_mostly_unjudged_rankings() {
    let space = imported(&ALL[..6], "[nDCG@10]");
    let judged = |line: &str, judgements: Value| {
        let mut case: Value = serde_json::from_str(line).expect("a case");
        case["expected"]["metadata"] = json!({"judgements": judgements});
        format!("{case}\n")
    };
    let given = space.read("cases.jsonl");
    // One relevant document and one that is not are judged of each case: 2 of the 6 that are retrieved, at most.
    let cases: String = given.lines().map(|line| judged(line, json!({"storm": 0}))).collect();
    space.write("cases.jsonl", &cases);
    space.run("").expect(0);
    assert!(lints(&space).contains(&"unjudged-heavy".to_string()), "{:?}", lints(&space));
    assert!(!lints(&space).contains(&"no-qrels".to_string()));
    let cases: String = given
        .lines()
        .map(|line| judged(line, json!({"lighthouse": 0, "market": 0, "ferry": 0, "museum": 0, "inn": 0, "shipyard": 0, "storm": 0, "pier": 0})))
        .collect();
    space.write("cases.jsonl", &cases);
    space.run("").expect(0);
    assert!(lints(&space).contains(&"no-qrels".to_string()), "{:?}", lints(&space));
    assert!(!lints(&space).contains(&"unjudged-heavy".to_string()));
}

#[test]
fn a_document_with_the_id_of_its_case() {
    let space = imported(&[("built", 2.0), ("market", 1.0)], "[P@1]");
    space.run("").expect(0);
    assert!(lints(&space).contains(&"self-hit".to_string()), "{:?}", lints(&space));
    let space = imported(&[("ferry", 2.0), ("market", 1.0)], "[P@1]");
    space.run("").expect(0);
    assert!(!lints(&space).contains(&"self-hit".to_string()));
}

#[test]
fn aliases_and_judges_of_their_own_words_are_told_before_anything_is_spent() {
    let space = Space::new();
    small::write(&space);
    space.edit(
        "evaluation.yaml",
        "recipes:\n",
        "models:\n  - {name: alias, model: gpt-4o, base_url: \"http://127.0.0.1:9/v1\"}\n  - {name: fixed, model: gpt-4o-2024-08-06, base_url: \
         \"http://127.0.0.1:9/v1\"}\nrecipes:\n",
    );
    space.edit("evaluation.yaml", "{provider: extractive, sentences: 1, results: 2}", "{provider: openai, llm: alias}");
    space.edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", "[{judge: correctness, model: alias}]");
    let told = |space: &Space| space.ragstage("plan").expect(0).stderr;
    let stderr = told(&space);
    assert!(stderr.contains("floating-model: the chat model \"gpt-4o\""), "{stderr}");
    assert!(stderr.contains("self-judge: correctness is judged by \"gpt-4o\""), "{stderr}");
    assert!(!stderr.contains("2024-08-06"), "{stderr}");
    space.edit("evaluation.yaml", "{judge: correctness, model: alias}", "{judge: correctness, model: fixed}");
    assert!(!told(&space).contains("self-judge"));
    space.write("evaluation.yaml", &(space.read("evaluation.yaml") + "silence: [floating-model]\n"));
    assert!(!told(&space).contains("floating-model"));
}

#[test]
fn too_few_cases_for_the_difference_that_matters() {
    let space = Space::new();
    small::write(&space);
    small::add_coarse(&space);
    space.edit("evaluation.yaml", "answer_contains]", "token_f1]");
    space.write(
        "evaluation.yaml",
        &(space.read("evaluation.yaml")
            + "gates:\n  - {measure: token_f1, recipe: coarse, no_worse_than: fine, margin: 0.0001}\n"),
    );
    let ran = space.run("");
    let report = space.json("reports/small/report.json");
    let paired = &report["ragstage"]["gates"][0]["paired"];
    let (low, high) =
        (paired["interval"][0].as_f64().expect("an end"), paired["interval"][1].as_f64().expect("an end"));
    let undecided = low < -0.0001 && high >= 0.0;
    assert_eq!(lints(&space).contains(&"small-n".to_string()), undecided, "{paired}\n{}", ran.stderr);
}
