//! Warm equals cold: whatever happened before, a run gives the artifacts that an empty store would have given.

use std::collections::BTreeMap;

use super::small;
use super::space::Space;

/// Runs with `arguments` in the warm store and in an empty one; the values and the published scores must be the same.
fn assert_warm_is_cold(space: &Space, step: usize, arguments: &str) {
    space.run(&format!("--output warm {arguments}")).expect(0);
    let cold = format!("cold-{step}");
    space.run(&format!("--store {cold} --output {cold}-reports {arguments}")).expect(0);
    let (warm, fresh) = (space.values(".ragstage", "small"), space.values(&cold, "small"));
    assert_eq!(warm.keys().collect::<Vec<_>>(), fresh.keys().collect::<Vec<_>>(), "after edit {step}");
    let different: BTreeMap<_, _> = warm.iter().filter(|(label, values)| fresh.get(*label) != Some(values)).collect();
    assert!(different.is_empty(), "after edit {step}: {different:#?}");
    let scores = |folder: &str| std::fs::read(space.path(folder).join("scores.parquet")).expect("scores");
    assert_eq!(scores("warm"), scores(&format!("{cold}-reports")), "after edit {step}");
}

/// A change of the files in a space.
type Edit = Box<dyn Fn(&Space)>;

/// Changes of every kind, one upon the other, some of them back to what was before.
fn edits() -> Vec<Edit> {
    let edit = |file: &'static str, old: &'static str, new: &'static str| -> Edit {
        Box::new(move |space: &Space| space.edit(file, old, new))
    };
    vec![
        edit("evaluation.yaml", "top_k: 3", "top_k: 5"),
        edit("documents.jsonl", "It is closed on Mondays.", "It is closed on Sundays. Whales are extinct in town."),
        edit("evaluation.yaml", "size: 12", "size: 30, overlap: 5"),
        edit("cases.jsonl", "\"silver tokens\"", "\"gold coins\""),
        Box::new(|space| {
            let added = small::case("boats", "How many boats sank?", "eleven", ("storm", "sank eleven boats"), "fact");
            space.write("cases.jsonl", &(added + &space.read("cases.jsonl")));
        }),
        edit("evaluation.yaml", "results: 2", "results: 5"),
        Box::new(|space| {
            let reversed: String =
                space.read("documents.jsonl").lines().rev().map(|line| format!("{line}\n")).collect();
            space.write("documents.jsonl", &reversed);
        }),
        edit("evaluation.yaml", "[evidence_recall@3, answer_contains]", "[token_f1, nDCG@5, evidence_recall@3]"),
        edit("evaluation.yaml", "size: 30, overlap: 5", "size: 12"),
        edit("documents.jsonl", "It is closed on Sundays. Whales are extinct in town.", "It is closed on Mondays."),
        edit("evaluation.yaml", "queries:\n", "  - name: other\n    full_text: {stem: false}\nqueries:\n"),
    ]
}

#[test]
fn a_warm_store_gives_what_a_cold_one_gives() {
    let space = Space::new();
    small::write(&space);
    assert_warm_is_cold(&space, 0, "");
    for (step, edit) in edits().iter().enumerate() {
        edit(&space);
        // One thread and four, alternating: the values depend on neither.
        let jobs = if step % 2 == 0 { "--jobs 1" } else { "--jobs 4" };
        assert_warm_is_cold(&space, step + 1, jobs);
    }
}

#[test]
fn many_units_give_the_same_with_one_thread_and_with_four() {
    let space = Space::new();
    small::write_units(&space);
    space.run("--store one --output one-reports --jobs 1").expect(0);
    space.run("--store four --output four-reports --jobs 4").expect(0);
    assert_eq!(space.values("one", "small"), space.values("four", "small"));
    let scores = |folder: &str| std::fs::read(space.path(folder).join("scores.parquet")).expect("scores");
    assert_eq!(scores("one-reports"), scores("four-reports"));
}

#[test]
fn a_run_without_some_of_the_store_gives_what_a_cold_one_gives() {
    let space = Space::new();
    small::write(&space);
    space.run("").expect(0);
    let before = space.values(".ragstage", "small");
    // Rows stay, actions and artifacts go; with those go the scores of single cases, which are nowhere else.
    for lost in ["actions-v1", "cas-v1"] {
        std::fs::remove_dir_all(space.path(".ragstage").join(lost)).expect("remove");
    }
    let again = space.run("").expect(0);
    let asked: Vec<String> = again.rows().into_iter().filter(|row| !row.starts_with("score ")).collect();
    assert_eq!(asked, Vec::<String>::new(), "every other row was kept");
    assert_eq!(again.executed().get("retrieve"), Some(&1));
    assert_eq!(space.values(".ragstage", "small"), before);
}
