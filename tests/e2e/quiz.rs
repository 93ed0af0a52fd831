//! A benchmark of numbered questions that a scripted system under test is asked.

use super::space::Space;

/// The question of case `number`, from 1.
pub fn question(number: usize) -> String {
    format!("What stands in place {number:03}?")
}

/// The id of case `number`.
pub fn case(number: usize) -> String {
    format!("case-{number:03}")
}

/// Whether scripted systems answer question `number` correctly; every fourth answer is wrong, so that scores differ.
pub fn is_right(number: usize) -> bool {
    !matches!(number % 10, 0 | 4 | 8)
}

/// What scripted systems reply to a question.
pub fn reply(question: &str) -> String {
    let number = question.trim_end_matches('?').rsplit(' ').next().unwrap_or_default();
    let answer = match number.parse::<usize>().is_ok_and(is_right) {
        true => format!("it is lamp {number}"),
        false => "nothing that I know of".to_string(),
    };
    serde_json::json!({
        "results": [{"id": format!("p{number}"), "text": format!("lamp {number}"), "score": 1,
            "source": {"document_id": "lamps"}}],
        "answer": answer,
    })
    .to_string()
}

/// Cases `first..=last` as a file of the benchmark.
pub fn cases(first: usize, last: usize) -> String {
    let line = |number: usize| {
        let (id, query) = (case(number), question(number));
        format!(
            "{{\"case_id\": \"{id}\", \"query\": \"{query}\", \"expected\": {{\"answers\": [\"lamp {number:03}\"], \
             \"evidence\": [{{\"reference_id\": \"lamps\"}}]}}}}\n"
        )
    };
    (first..=last).map(line).collect()
}

/// Writes `<name>.yaml`, an evaluation of `cases.jsonl` by a system under test.
pub fn write_evaluation(space: &Space, name: &str, cases: &str, system: &str, limits: &str) {
    let evaluation = format!(
        "name: {name}\n\
         benchmark: {{adapter: jsonl, name: lamps, documents: documents.jsonl, cases: {cases}}}\n\
         recipe: {{name: scripted, system: {{{system}, version: \"1\"}}}}\n\
         queries: [{{mode: any, top_k: 3}}]\n\
         answer: {{provider: system}}\n\
         evaluators: [answer_contains]\n\
         limits: {{jobs: 2, queries: {{{limits}}}}}\n"
    );
    space.write(&format!("{name}.yaml"), &evaluation);
}

/// A folder with the evaluation `quiz.yaml` of `count` cases.
pub fn quiz(count: usize, system: &str, limits: &str) -> Space {
    let space = Space::new();
    space.write(
        "documents.jsonl",
        "{\"document_id\": \"lamps\", \"name\": \"lamps.txt\", \"media_type\": \"text/plain\", \"text\": \"Lamps.\"}\n",
    );
    space.write("cases.jsonl", &cases(1, count));
    write_evaluation(&space, "quiz", "cases.jsonl", system, limits);
    space
}
