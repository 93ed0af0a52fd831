//! A benchmark of three short documents and two questions: short enough for a tiny model.

use super::space::Space;

const DOCUMENTS: [(&str, &str); 3] = [
    ("tower", "The Eiffel Tower is in Paris. It was finished in 1889 and was built by Gustave Eiffel."),
    ("river", "The Amazon is the largest river by discharge. It flows through Brazil and Peru."),
    ("moon", "Apollo 11 landed on the Moon on 20 July 1969. Neil Armstrong was the first to walk on it."),
];

const CASES: [(&str, &str, &str, &str); 2] = [
    ("finished", "When was the Eiffel Tower finished?", "1889", "tower"),
    ("walked", "Who walked on the Moon first?", "Neil Armstrong", "moon"),
];

/// One more question.
pub const MORE: (&str, &str, &str, &str) = ("largest", "Which river is the largest?", "The Amazon", "river");

/// Writes documents and cases into `space`, and an evaluation of `rest` on them.
pub fn write(space: &Space, rest: &str) {
    let documents: String = DOCUMENTS
        .iter()
        .map(|(id, text)| {
            let document = serde_json::json!({
                "document_id": id, "name": format!("{id}.txt"), "media_type": "text/plain", "text": text,
            });
            format!("{document}\n")
        })
        .collect();
    space.write("documents.jsonl", &documents);
    space.write("cases.jsonl", &CASES.iter().map(case).collect::<String>());
    let benchmark = "name: town\nbenchmark: {adapter: jsonl, documents: documents.jsonl, cases: cases.jsonl}\n";
    space.write("evaluation.yaml", &format!("{benchmark}statistics: {{resamples: 10}}\n{rest}"));
}

/// A line of the cases file.
pub fn case((id, query, answer, document): &(&str, &str, &str, &str)) -> String {
    let expected = serde_json::json!({"answers": [answer], "evidence": [{"reference_id": document}]});
    format!("{}\n", serde_json::json!({"case_id": id, "query": query, "expected": expected}))
}
