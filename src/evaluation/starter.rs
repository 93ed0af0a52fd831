//! The evaluation that `ragstage init` writes: commented, small, and running as it is.

use std::path::PathBuf;

use super::name::refuse_name;

const EVALUATION: &str = include_str!("starter/evaluation.yaml");
const DOCUMENTS: &str = include_str!("starter/documents.jsonl");
const CASES: &str = include_str!("starter/cases.jsonl");

/// What stands in the evaluation for its name.
const NAME: &str = "\"handbook\"";

/// The files of a starter evaluation, relative to its folder. A `name` that cannot be one is made into one.
pub fn starter(name: &str) -> Vec<(PathBuf, String)> {
    let evaluation = EVALUATION.replacen(NAME, &format!("\"{}\"", sound_name(name)), 1);
    vec![
        (PathBuf::from("evaluation.yaml"), evaluation),
        (PathBuf::from("documents.jsonl"), DOCUMENTS.to_string()),
        (PathBuf::from("cases.jsonl"), CASES.to_string()),
    ]
}

fn sound_name(name: &str) -> String {
    let replaced: String =
        name.chars().map(|c| if c.is_alphanumeric() || "_.-".contains(c) { c } else { '-' }).collect();
    let trimmed = replaced.trim_matches(|c: char| !c.is_alphanumeric());
    let short: String = trimmed.chars().take(60).collect();
    if refuse_name(&short).is_none() { short } else { "handbook".to_string() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use ragstage_stages::query::AnswerOptions;
    use serde_json::Value;

    use super::super::file::read_text;
    use super::super::schema::{json_schema, tests::obeys};
    use super::super::tree::read_tree;
    use super::super::view::View;
    use super::*;

    fn json(text: &str) -> Value {
        let (node, _) = read_tree(text);
        View::root(&node.unwrap()).json().unwrap().into()
    }

    #[test]
    fn the_starter_is_sound_whatever_its_name() {
        for (name, expected) in [
            ("handbook", "handbook"),
            ("1.0", "1.0"),
            ("my docs/\"x\"", "my-docs--x"),
            ("..", "handbook"),
            ("", "handbook"),
        ] {
            let files = starter(name);
            let evaluation = read_text(Path::new("e/evaluation.yaml"), &files[0].1, &|_| None, &|_| Ok(())).unwrap();
            assert_eq!(evaluation.name, expected);
            assert_eq!(evaluation.recipes.len(), 2);
        }
    }

    #[test]
    fn the_starter_obeys_the_schema() {
        let schema = json_schema();
        let text = &starter("a")[0].1;
        assert!(obeys(&json(text), &schema, &schema));
    }

    /// Uncommenting the examples must give keys that exist.
    #[test]
    fn every_commented_example_is_sound() {
        let text = starter("a").remove(0).1;
        let uncommented: String = text
            .lines()
            // The example of another answer stands in for the one that is there.
            .filter(|line| !line.starts_with("answer: "))
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(!uncommented.lines().any(|line| line.starts_with("#:")), "{uncommented}");
        let environment = |name: &str| ["RAG_TOKEN", "OPENAI_API_KEY"].contains(&name).then(|| "t".to_string());
        let evaluation = read_text(Path::new("evaluation.yaml"), &uncommented, &environment, &|_| Ok(()));
        assert_eq!(
            evaluation.as_ref().map(|evaluation| evaluation.recipes.len()).map_err(|errors| errors.to_string()),
            Ok(4)
        );
        let evaluation = evaluation.expect("an evaluation");
        assert!(evaluation.answer.is_some_and(|answer| matches!(answer, AnswerOptions::Chat(_))));
        assert_eq!(evaluation.limits.budget_usd, Some(2.0));
    }

    #[test]
    fn evidence_is_quoted_from_the_documents() {
        let rows =
            |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
        let documents = rows(DOCUMENTS);
        let cases = rows(CASES);
        assert_eq!((documents.len(), cases.len()), (5, 6));
        let ids: BTreeSet<&str> = cases.iter().map(|case| case["case_id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), 6);
        for case in &cases {
            let evidence = case["expected"]["evidence"].as_array().unwrap();
            assert!(!evidence.is_empty() && !case["expected"]["answers"].as_array().unwrap().is_empty());
            for item in evidence {
                let document =
                    documents.iter().find(|document| document["document_id"] == item["reference_id"]).unwrap();
                assert!(document["text"].as_str().unwrap().contains(item["text"].as_str().unwrap()), "{item}");
            }
        }
    }
}
