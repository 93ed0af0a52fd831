//! A small benchmark to tell stories about: a harbour town in 8 documents and 10 cases of two categories.

use super::space::Space;

/// The evaluation file of [`write`].
pub const EVALUATION: &str = r#"name: small
benchmark:
  adapter: jsonl
  name: harbour
  documents: documents.jsonl
  cases: cases.jsonl
recipes:
  - name: fine
    chunk: {size: 12}
queries:
  - {mode: full_text_search, name: bm25, top_k: 3}
answer: {provider: extractive, sentences: 1, results: 2}
evaluators: [evidence_recall@3, answer_contains]
statistics: {resamples: 100}
"#;

/// Id and text of the documents that stand in `documents.jsonl` itself; `pier` is a file of its own.
const DOCUMENTS: [(&str, &str); 7] = [
    (
        "lighthouse",
        "The lighthouse was built in 1871. Its lamp burns whale oil no longer. The keeper climbs 214 steps to the lamp. The town sees it.",
    ),
    (
        "market",
        "The fish market opens at five in the morning. Herring is sold by the barrel. Traders pay with silver tokens. All the town buys there.",
    ),
    (
        "ferry",
        "The ferry to the island leaves every two hours. A crossing takes forty minutes. Bicycles travel free of charge. It stops near the town hall.",
    ),
    (
        "museum",
        "The maritime museum shows a whale skeleton. Entry costs six crowns. It is closed on Mondays. Groups book by letter.",
    ),
    ("inn", "The Anchor Inn has nine rooms. Breakfast is served until ten. The landlady keeps a parrot named Admiral."),
    (
        "shipyard",
        "The shipyard repairs wooden hulls. Oak planks are steamed for an hour before bending. Tar comes from the north. Half the town works there.",
    ),
    (
        "storm",
        "The great storm of 1903 sank eleven boats. A new breakwater was finished two years later. It is made of granite. The town paid for it.",
    ),
];

/// The text of the document that is a file, `files/pier.txt`.
pub const PIER: &str =
    "The pier is 300 metres long. Anglers need a permit for the café end. Permits are sold at the harbour office.";

/// Case id, question, answer, document of the evidence, quoted evidence, category.
const CASES: [[&str; 6]; 10] = [
    ["built", "When was the lighthouse built?", "1871", "lighthouse", "The lighthouse was built in 1871.", "fact"],
    ["steps", "How many steps does the keeper climb?", "214", "lighthouse", "The keeper climbs 214 steps", "fact"],
    ["opens", "When does the fish market open?", "five", "market", "The fish market opens at five", "fact"],
    [
        "pay",
        "How do traders pay at the market?",
        "silver tokens",
        "market",
        "Traders pay with silver tokens. All the town buys there.",
        "howto",
    ],
    ["crossing", "How long does a crossing take?", "forty minutes", "ferry", "A crossing takes forty minutes.", "fact"],
    ["entry", "What does entry to the museum cost?", "six crowns", "museum", "Entry costs six crowns.", "fact"],
    ["groups", "How do groups book the museum?", "by letter", "museum", "Groups book by letter.", "howto"],
    ["parrot", "What is the parrot of the landlady in town named?", "Admiral", "inn", "a parrot named Admiral", "fact"],
    ["planks", "How are oak planks made ready for bending?", "steamed", "shipyard", "Oak planks are steamed", "howto"],
    [
        "permit",
        "Where in town are permits for anglers sold?",
        "harbour office",
        "pier",
        "sold at the harbour office",
        "howto",
    ],
];

/// The units of [`write_units`]: their documents and cases.
pub const UNITS: [(&str, [&str; 2], &[&str]); 4] = [
    ("east", ["lighthouse", "market"], &["built", "steps", "opens", "pay"]),
    ("west", ["ferry", "museum"], &["crossing", "entry", "groups"]),
    ("north", ["inn", "shipyard"], &["parrot", "planks"]),
    ("south", ["storm", "pier"], &["permit"]),
];

/// How many documents there are.
pub const DOCUMENT_COUNT: usize = DOCUMENTS.len() + 1;
/// How many cases there are.
pub const CASE_COUNT: usize = CASES.len();

/// A line of `documents.jsonl`.
pub fn document(id: &str, text: &str) -> String {
    let row =
        serde_json::json!({"document_id": id, "name": format!("{id}.txt"), "media_type": "text/plain", "text": text});
    format!("{row}\n")
}

/// A line of `cases.jsonl`.
pub fn case(id: &str, question: &str, answer: &str, evidence: (&str, &str), category: &str) -> String {
    let (document, text) = evidence;
    let row = serde_json::json!({
        "case_id": id,
        "query": question,
        "expected": {"answers": [answer], "evidence": [{"reference_id": document, "text": text}]},
        "labels": {"type": category},
    });
    format!("{row}\n")
}

/// Ids of all cases, sorted.
pub fn case_ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = CASES.iter().map(|case| case[0]).collect();
    ids.sort_unstable();
    ids
}

/// Writes the benchmark with one unit, and `evaluation.yaml`.
pub fn write(space: &Space) {
    let mut documents: String = DOCUMENTS.iter().map(|(id, text)| document(id, text)).collect();
    let pier = serde_json::json!({
        "document_id": "pier", "name": "pier.txt", "media_type": "text/plain", "path": "files/pier.txt",
    });
    documents += &format!("{pier}\n");
    let cases: String = CASES
        .iter()
        .map(|[id, question, answer, document, text, category]| case(id, question, answer, (document, text), category))
        .collect();
    space.write("documents.jsonl", &documents);
    space.write("files/pier.txt", PIER);
    space.write("cases.jsonl", &cases);
    space.write("evaluation.yaml", EVALUATION);
}

/// Adds a second recipe to the evaluation of [`write`]: `coarse`, whose chunks are whole documents.
pub fn add_coarse(space: &Space) {
    let (fine, coarse) = ("    chunk: {size: 12}\n", "  - name: coarse\n    chunk: {size: 400}\n");
    space.edit("evaluation.yaml", fine, &format!("{fine}{coarse}"));
}

/// Writes the benchmark with its four units, and `evaluation.yaml`.
pub fn write_units(space: &Space) {
    write(space);
    let units: String = UNITS
        .iter()
        .map(|(unit, documents, cases)| {
            let row = serde_json::json!({"unit_id": unit, "document_ids": documents, "case_ids": cases});
            format!("{row}\n")
        })
        .collect();
    space.write("units.jsonl", &units);
    space.edit("evaluation.yaml", "  cases: cases.jsonl\n", "  cases: cases.jsonl\n  units: units.jsonl\n");
}

/// A space with [`write`]'s benchmark, evaluated once.
pub fn evaluated() -> Space {
    let space = Space::new();
    write(&space);
    space.run("").expect(0);
    space
}

/// Writes an evaluation of a system under test, which answers every question with the same two passages and writes a line
/// to `asked.log` for each; answers are its own.
pub fn write_system(space: &Space) {
    write(space);
    space.write(
        "system.sh",
        r#"while read -r request; do
  echo "$request" >> asked.log
  echo '{"results": [{"id": "p1", "text": "The lighthouse was built in 1871.", "score": 2.0, "source": {"document_id": "lighthouse"}}, {"id": "p2", "text": "Entry costs six crowns.", "score": 1.0, "source": {"document_id": "museum"}}], "answer": "In 1871."}'
done
"#,
    );
    space.edit(
        "evaluation.yaml",
        "    chunk: {size: 12}\n",
        "    system: {command: [sh, system.sh], version: \"1\", files: [system.sh]}\n",
    );
    space.edit("evaluation.yaml", "mode: full_text_search", "mode: plain");
    space.edit("evaluation.yaml", "answer: {provider: extractive, sentences: 1, results: 2}\n", "");
}
