//! An entry of `evaluators` with `judge`: an evaluator that asks a chat model.

use std::path::PathBuf;
use std::sync::Arc;

use ragstage_stages::model::ChatModel;
use ragstage_stages::score::judge::{
    ContextLimits, HumanLabels, Judge, JudgeKind, JudgeOptions, OpenVikingParse, OpenVikingScale,
};
use ragstage_stages::score::names;

use super::diagnostic::Faults;
use super::evaluators::COLUMN;
use super::human_labels;
use super::models::Models;
use super::prompt::{PROMPT_FIELD, PromptFiles};
use super::rubric;
use super::shape::{Choice, Field, Need, Range, Record, Shape, TEXT, Tagged};
use super::view::View;

const MAX_CONTEXTS_FIELD: Field = Field {
    name: "max_contexts",
    doc: "Most results that the judge reads.",
    shape: Shape::Int { min: 1, max: 1000 },
    need: Need::Default("10"),
};

const CONTEXT_TOKENS_FIELD: Field = Field {
    name: "context_tokens",
    doc: "Most tokens (of cl100k_base) of all passages that the judge reads together; the last one is cut.",
    shape: Shape::Int { min: 1, max: 10_000_000 },
    need: Need::Default("4000"),
};

/// What an entry with `judge` accepts.
pub(super) static JUDGE: Tagged = Tagged {
    key: "judge",
    doc: "What a chat model judges.",
    variants: &[
        ("faithfulness", &FAITHFULNESS),
        ("claim_precision", &CLAIM_PRECISION),
        ("claim_recall", &CLAIM_RECALL),
        ("context_recall", &CONTEXT_RECALL),
        ("context_precision", &CONTEXT_PRECISION),
        ("answer_relevance", &ANSWER_RELEVANCE),
        ("correctness", &CORRECTNESS),
        ("openviking", &OPENVIKING),
        ("rubric", &RUBRIC),
    ],
    shared: &[
        Field { name: "model", doc: "The judging model: a name under `models`.", shape: TEXT, need: Need::Required },
        Field {
            name: "name",
            doc: "Name of the column, unique in the file; the judge's by default.",
            shape: COLUMN,
            need: Need::Optional,
        },
        Field {
            name: "samples",
            doc: "How many judgements each response is given; its score is their mean or majority, and how far they agree is \
                  kept beside it.",
            shape: Shape::Int { min: 1, max: 100 },
            need: Need::Default("1"),
        },
        Field {
            name: "temperature",
            doc: "Sampling temperature.",
            shape: Shape::Float(Range::closed(0.0, 2.0)),
            need: Need::Default("0"),
        },
        Field {
            name: "max_tokens",
            doc: "Most tokens of a reply.",
            shape: Shape::Int { min: 1, max: 1_000_000 },
            need: Need::Default("1024"),
        },
        Field {
            name: "attempts",
            doc: "How often a reply that is not as asked for is asked for; after that the score has failed.",
            shape: Shape::Int { min: 1, max: 20 },
            need: Need::Default("3"),
        },
        Field {
            name: "labels",
            doc: "A CSV file with the columns case_id and label, what people say of the same: the report tells how far the \
                  judge agrees with them (Cohen's kappa).",
            shape: TEXT,
            need: Need::Optional,
        },
    ],
};

static FAITHFULNESS: Record = Record {
    name: "judge_faithfulness",
    doc: "Share of the answer's claims that the retrieved passages support.",
    fields: &[PROMPT_FIELD, MAX_CONTEXTS_FIELD, CONTEXT_TOKENS_FIELD],
    together: &[],
};

static CLAIM_PRECISION: Record = Record {
    name: "judge_claim_precision",
    doc: "Share of the answer's claims that the accepted answers support.",
    fields: &[PROMPT_FIELD],
    together: &[],
};

static CLAIM_RECALL: Record = Record {
    name: "judge_claim_recall",
    doc: "Share of the claims of the first accepted answer that the answer supports.",
    fields: &[PROMPT_FIELD],
    together: &[],
};

static CONTEXT_RECALL: Record = Record {
    name: "judge_context_recall",
    doc: "Share of the claims of the first accepted answer that the retrieved passages support.",
    fields: &[PROMPT_FIELD, MAX_CONTEXTS_FIELD, CONTEXT_TOKENS_FIELD],
    together: &[],
};

static CONTEXT_PRECISION: Record = Record {
    name: "judge_context_precision",
    doc: "Average precision of the ranks of passages that are useful for the accepted answer.",
    fields: &[PROMPT_FIELD, MAX_CONTEXTS_FIELD, CONTEXT_TOKENS_FIELD],
    together: &[],
};

static ANSWER_RELEVANCE: Record = Record {
    name: "judge_answer_relevance",
    doc: "How well the answer addresses the question, from 0 to 1; 0 where it is noncommittal.",
    fields: &[PROMPT_FIELD],
    together: &[],
};

static CORRECTNESS: Record = Record {
    name: "judge_correctness",
    doc: "The answer against the accepted answers, by grades of 0 to 4 that count as 0 to 1.",
    fields: &[PROMPT_FIELD],
    together: &[],
};

static OPENVIKING: Record = Record {
    name: "judge_openviking",
    doc: "The judge of OpenViking's benchmark.",
    fields: &[
        Field {
            name: "scale",
            doc: "Which of its two judges.",
            shape: Shape::Choice(&[
                Choice { word: "graded", doc: "0 to 4 points" },
                Choice { word: "binary", doc: "4 points or none, judged generously, as for Locomo" },
            ]),
            need: Need::Default("\"graded\""),
        },
        Field {
            name: "parse",
            doc: "How a reply is read.",
            shape: Shape::Choice(&[
                Choice { word: "strict", doc: "what is not as asked for is no score" },
                Choice {
                    word: "openviking",
                    doc: "as OpenViking does, with any digit that is found, to compare with it",
                },
            ]),
            need: Need::Default("\"strict\""),
        },
        Field {
            name: "refusal",
            doc: "What becomes of an answer that refuses as a gold answer does.",
            shape: Shape::Choice(&[
                Choice { word: "judged", doc: "it is judged as any other" },
                Choice { word: "override", doc: "4 points, and nobody is asked, as OpenViking's benchmark counts it" },
            ]),
            need: Need::Default("\"judged\""),
        },
        PROMPT_FIELD,
    ],
    together: &[],
};

static RUBRIC: Record = Record {
    name: "judge_rubric",
    doc: "A rubric of your own.",
    fields: &[
        Field {
            name: "rubric",
            doc: "A Markdown file, relative to this file. Its front matter, or its first fenced block of JSON or YAML, says what \
                  may be replied: `max` and `min` of a number or a list of `labels`, and which `passes`. The rest is the \
                  instruction, a template in the language of Jinja2 that may use question, answer, gold, golds, contexts and \
                  passages.",
            shape: TEXT,
            need: Need::Required,
        },
        MAX_CONTEXTS_FIELD,
        CONTEXT_TOKENS_FIELD,
    ],
    together: &[],
};

/// A judge, and what people say of the same cases.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeConfig {
    /// The judge.
    pub judge: Judge,
    /// Labels that people gave, where a file of them is named.
    pub labels: Option<HumanLabels>,
}

impl JudgeConfig {
    /// The judge of that kind, with the defaults of everything else.
    pub(super) fn new(kind: JudgeKind, model: Arc<ChatModel>) -> Self {
        let options = JudgeOptions::new(&kind, model);
        JudgeConfig { judge: Judge { name: kind.name().to_string(), options, kind }, labels: None }
    }
}

/// What a judge may name.
pub(super) struct Known<'a> {
    /// The chat models.
    pub models: &'a Models,
    /// Prompts, rubrics and labels, and which of their files were read.
    pub files: &'a PromptFiles<'a>,
}

/// The judge that a checked entry stands for; `None` where a fault hides it.
pub(super) fn convert(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<JudgeConfig> {
    let before = faults.len();
    let kind = kind(view, known, faults);
    let model = known.models.find(&view.get("model"), faults);
    let labels = labels(&view.get("labels"), known, faults);
    let (kind, model) = (kind?, model?);
    let default = JudgeOptions::new(&kind, model);
    let prompt = known.files.prompt(&view.get("prompt"), default.prompt.clone(), &kind.example(), faults)?;
    let name = view.get("name");
    let text = name.text().unwrap_or_else(|| kind.name());
    if names().contains(&text) {
        let message = format!("`{text}` is the name of an evaluator that asks nobody");
        faults.add_hint(name.start(), &name.path, message, "give the judge another `name`".to_string());
    }
    if faults.len() > before {
        return None;
    }
    let limits = ContextLimits::default();
    let judge = Judge {
        name: text.to_string(),
        options: JudgeOptions {
            prompt,
            samples: view.get("samples").int().unwrap_or(default.samples),
            temperature: view.get("temperature").float().unwrap_or(default.temperature),
            max_tokens: view.get("max_tokens").int().unwrap_or(default.max_tokens),
            attempts: view.get("attempts").int().unwrap_or(default.attempts),
            contexts: ContextLimits {
                results: view.get("max_contexts").int().unwrap_or(limits.results),
                tokens: view.get("context_tokens").int().unwrap_or(limits.tokens),
            },
            model: default.model,
        },
        kind,
    };
    Some(JudgeConfig { judge, labels })
}

fn kind(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<JudgeKind> {
    Some(match view.get("judge").text()? {
        "faithfulness" => JudgeKind::Faithfulness,
        "claim_precision" => JudgeKind::ClaimPrecision,
        "claim_recall" => JudgeKind::ClaimRecall,
        "context_recall" => JudgeKind::ContextRecall,
        "context_precision" => JudgeKind::ContextPrecision,
        "answer_relevance" => JudgeKind::AnswerRelevance,
        "correctness" => JudgeKind::Correctness,
        "openviking" => JudgeKind::OpenViking {
            scale: match view.get("scale").text() {
                Some("binary") => OpenVikingScale::Binary,
                _ => OpenVikingScale::Graded,
            },
            parse: match view.get("parse").text() {
                Some("openviking") => OpenVikingParse::OpenViking,
                _ => OpenVikingParse::Strict,
            },
            refusals: view.get("refusal").text() == Some("override"),
        },
        _ => {
            let field = view.get("rubric");
            let (file, text) = known.files.text(&field, faults)?;
            JudgeKind::Rubric(Box::new(rubric::read(&field, &file, &text, faults)?))
        }
    })
}

fn labels(view: &View<'_>, known: &Known<'_>, faults: &mut Faults) -> Option<HumanLabels> {
    let (file, text): (PathBuf, String) = known.files.text(view, faults)?;
    human_labels::read(view, &file, &text, faults)
}

#[cfg(test)]
mod tests {
    use ragstage_stages::model::{Endpoint, Price};
    use ragstage_stages::score::judge::RubricScale;

    use super::super::view::tests::{checked, spelled_out};
    use super::*;

    fn model() -> Arc<ChatModel> {
        let (label, base_url) = ("default".to_string(), "http://host/v1".to_string());
        Arc::new(ChatModel {
            name: "judge".to_string(),
            model: "m".to_string(),
            endpoint: Endpoint { label, base_url, headers: Vec::new(), variables: Vec::new() },
            structured: true,
            price: Price::default(),
        })
    }

    /// The judge, in a folder with `files`.
    fn read(text: &str, files: &[(&str, &str)]) -> Result<JudgeConfig, Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let models = Models { list: vec![model()], incomplete: false };
        let prompts = PromptFiles::new(folder.path());
        let known = Known { models: &models, files: &prompts };
        let shape = Shape::Tagged(&JUDGE);
        let place = folder.path().display().to_string();
        match checked(text, &shape, |view, faults| convert(view, &known, faults)) {
            Ok(config) => {
                assert_eq!(prompts.into_read().len(), files.len());
                Ok(config.expect("a judge"))
            }
            Err(told) => Err(told.into_iter().map(|line| line.replace(&place, "FOLDER")).collect()),
        }
    }

    #[test]
    fn defaults_are_those_of_the_stage() {
        for (word, _) in JUDGE.variants.iter().filter(|(word, _)| *word != "rubric") {
            let config = read(&format!("{{judge: {word}, model: judge}}"), &[]).expect("a judge");
            let expected = JudgeOptions::new(&config.judge.kind, model());
            assert_eq!((config.judge.name.as_str(), &config.judge.options), (*word, &expected));
            assert_eq!(config.judge.kind.name(), *word);
            let spelled = format!("{{judge: {word}, model: judge, {}", &spelled_out(JUDGE.shared)[1..]);
            assert_eq!(read(&spelled, &[]).expect("a judge"), config);
        }
    }

    #[test]
    fn everything_can_be_said() {
        let text = "{judge: faithfulness, model: judge, name: grounded, samples: 3, temperature: 0.5, max_tokens: 99, attempts: 1, \
                    max_contexts: 2, context_tokens: 50, prompt: p.md, labels: human.csv}";
        let files = [
            ("p.md", "{{ sources[0].text }} {{ claims[0].text }}"),
            ("human.csv", "case_id,label\nq1,1\n\"q,2\",0.5\n"),
        ];
        let config = read(text, &files).expect("a judge");
        let options = &config.judge.options;
        assert_eq!((config.judge.name.as_str(), options.samples, options.temperature), ("grounded", 3, 0.5));
        assert_eq!((options.max_tokens, options.attempts), (99, 1));
        assert_eq!(options.contexts, ContextLimits { results: 2, tokens: 50 });
        assert_eq!(options.prompt.text(), files[0].1);
        let labels = config.labels.expect("labels");
        assert_eq!(
            labels.rows.iter().map(|row| (row.case_id.as_str(), row.label.as_str(), row.line)).collect::<Vec<_>>(),
            [("q1", "1", 2), ("q,2", "0.5", 3)]
        );
        let config =
            read("{judge: openviking, model: judge, scale: binary, parse: openviking, refusal: override}", &[])
                .expect("a judge");
        let kind = JudgeKind::OpenViking {
            scale: OpenVikingScale::Binary,
            parse: OpenVikingParse::OpenViking,
            refusals: true,
        };
        assert_eq!(config.judge.kind, kind);
    }

    #[test]
    fn a_rubric_says_what_may_be_replied() {
        let scale = |text: &str| {
            let config =
                read("{judge: rubric, model: judge, name: tone, rubric: r.md}", &[("r.md", text)]).expect("a judge");
            let JudgeKind::Rubric(rubric) = config.judge.kind else { panic!("a rubric") };
            (rubric.scale.clone(), rubric.instruction.text().trim().to_string())
        };
        let number = |min, max, passes| RubricScale::Number { min, max, passes };
        assert_eq!(
            scale("---\nmax: 4\npasses: 3\n---\nIs it kind?\n"),
            (number(0, 4, Some(3)), "Is it kind?".to_string())
        );
        let (found, text) = scale("# Tone\n```json\n{\"min\": 1, \"max\": 5}\n```\nIs {{ answer }} kind?");
        assert_eq!(found, number(1, 5, None));
        assert!(
            text.starts_with("# Tone") && text.ends_with("Is {{ answer }} kind?") && !text.contains("max"),
            "{text}"
        );
        let labels = |passes: &[&str]| RubricScale::Labels {
            labels: vec!["rude".to_string(), "kind".to_string()],
            passes: passes.iter().map(|word| word.to_string()).collect(),
        };
        assert_eq!(scale("---\nlabels: [rude, kind]\npasses: kind\n---\nx").0, labels(&["kind"]));
        assert_eq!(scale("---\nlabels: [rude, kind]\n---\nx").0, labels(&[]));
    }

    #[test]
    fn faults_name_file_and_line() {
        let rubric =
            |text: &str| read("{judge: rubric, model: judge, rubric: r.md}", &[("r.md", text)]).unwrap_err().remove(0);
        for (text, told) in [
            ("Is it kind?", "1:- FOLDER/r.md rubric: the rubric does not say what may be replied ["),
            (
                "---\nmax: 4\npasses: 9\n---\nx",
                "3:9 FOLDER/r.md rubric: passes: expected a whole number from 0 to 4, found 9 [",
            ),
            (
                "---\nlabels: [a, b]\npasses: c\n---\nx",
                "3:9 FOLDER/r.md rubric: passes: `c` is none of the labels a, b [",
            ),
            (
                "---\nmax: 4\n---\n\nIs {{ anwser }} kind?",
                "5:- FOLDER/r.md rubric: the template uses `anwser`, which it is not given [",
            ),
            (
                "---\nmax: 4\nmin: 4\n---\nx",
                "2:6 FOLDER/r.md rubric: max: expected more than `min`, which is 4, found 4 [",
            ),
            ("---\nmxa: 4\n---\nx", "2:1 FOLDER/r.md rubric: unknown key `mxa`"),
            ("---\nmax: 4\n---\n", "1:- FOLDER/r.md rubric: the rubric has no instruction ["),
        ] {
            let found = rubric(text);
            assert!(found.starts_with(told), "{text:?}: {found}");
        }
        let labels =
            |text: &str| read("{judge: correctness, model: judge, labels: h.csv}", &[("h.csv", text)]).unwrap_err();
        assert_eq!(
            labels("case_id,label\nq1,4\nq1,3\nq2\n,1\nq3,\n"),
            [
                "3:- FOLDER/h.csv labels: the case `q1` has a label in line 2 already [remove one of the two]",
                "4:- FOLDER/h.csv labels: expected 2 fields as in the first line, found 1 [put texts with commas into double quotes]",
                "5:- FOLDER/h.csv labels: the case's id is empty [each line needs a case_id and a label]",
                "6:- FOLDER/h.csv labels: the label is empty [each line needs a case_id and a label]",
            ]
        );
        assert_eq!(
            labels("case_id,label\nq1,4\nq2,\"kind\nq3,1\n"),
            [
                "3:- FOLDER/h.csv labels: a double quote is opened here and never closed [close it, or double one that is part of a text]"
            ]
        );
        assert!(labels("id,label\n")[0].contains("expected the columns `case_id` and `label`, found id, label"));
        let told = read("{judge: correctness, model: jugde, name: token_f1}", &[]).unwrap_err();
        assert_eq!(told, ["1:29 model: no model is named `jugde` [did you mean `judge`?]"]);
        let told = read("{judge: correctness, model: judge, name: token_f1}", &[]).unwrap_err();
        assert!(told[0].contains("`token_f1` is the name of an evaluator"), "{told:?}");
        let told = read("{judge: correctness, model: judge, max_contexts: 3}", &[]).unwrap_err();
        assert!(told[0].contains("unknown key `max_contexts`"), "{told:?}");
    }
}
