//! Rubrics: Markdown files that say what a judge is told and what it may reply.

use std::path::Path;

use ragstage_stages::error::Place;
use ragstage_stages::model::Prompt;
use ragstage_stages::score::judge::{Rubric, RubricScale};

use super::check::check;
use super::diagnostic::Faults;
use super::shape::{Field, Need, Record, Shape, TEXT, Together};
use super::tree::read_tree;
use super::view::View;

/// Greatest number of a scale.
const MOST: u64 = 1_000_000;

/// What the front matter of a rubric accepts.
static REPLY: Record = Record {
    name: "rubric_reply",
    doc: "What a rubric's judge may reply.",
    fields: &[
        Field {
            name: "min",
            doc: "The least number.",
            shape: Shape::Int { min: 0, max: MOST },
            need: Need::Default("0"),
        },
        Field {
            name: "max",
            doc: "The greatest number.",
            shape: Shape::Int { min: 1, max: MOST },
            need: Need::Optional,
        },
        Field {
            name: "labels",
            doc: "The words of which one is replied.",
            shape: Shape::List { of: &TEXT, least: 2 },
            need: Need::Optional,
        },
        Field {
            name: "passes",
            doc: "The number from which a case passes, or the label or labels.",
            shape: Shape::Either(&[Shape::Int { min: 0, max: MOST }, TEXT, Shape::List { of: &TEXT, least: 1 }]),
            need: Need::Optional,
        },
        Field {
            name: "higher_is_better",
            doc: "Whether a higher number is a better one; if not, a case passes up to `passes`.",
            shape: Shape::Bool,
            need: Need::Default("true"),
        },
    ],
    together: &[Together::ExactlyOne(&["max", "labels"]), Together::Excludes("labels", &["min", "higher_is_better"])],
};

const HINT: &str =
    "a rubric begins with what may be replied, as in `---`, `max: 4`, `passes: 3`, `---`; the instruction follows";

/// The rubric that is the `text` of `file`, which the element at `view` names; `None` with its faults.
pub(super) fn read(view: &View<'_>, file: &Path, text: &str, faults: &mut Faults) -> Option<Rubric> {
    let at = |line: u64| Place { file: file.to_path_buf(), line: Some(line), column: None };
    let Some((reply, instruction)) = parts(text) else {
        let message = "the rubric does not say what may be replied".to_string();
        faults.add_in_file(at(1), &view.path, message, HINT.to_string());
        return None;
    };
    let before = faults.len();
    let mut own = Faults::new(file);
    let (node, tree_faults) = read_tree(&reply);
    for fault in tree_faults {
        own.add_hint(fault.at, &fault.path, fault.message, fault.hint);
    }
    let scale = node.and_then(|mut node| {
        check(&mut node, &Shape::Record(&REPLY), "", &mut own);
        let reply = View::root(&node);
        Some((scale(&reply, &mut own)?, reply.get("higher_is_better").bool().unwrap_or(true)))
    });
    for fault in own.into_sorted() {
        let key = if fault.path.is_empty() { String::new() } else { format!("{}: ", fault.path) };
        let message = format!("{key}{}", fault.message);
        faults.add_in_file(fault.place, &view.path, message, fault.hint.unwrap_or_else(|| HINT.to_string()));
    }
    let instruction = Prompt::new(&instruction);
    if instruction.text().trim().is_empty() {
        faults.add_in_file(at(1), &view.path, "the rubric has no instruction".to_string(), HINT.to_string());
    } else if let Err(fault) = instruction.check(&Rubric::example()) {
        let place = Place { file: file.to_path_buf(), line: fault.line, column: None };
        let hint =
            "it is given `question`, `answer`, `gold`, `golds`, `contexts`, `passages` (each with `number`, `text`)";
        faults.add_in_file(place, &view.path, fault.message, fault.hint.unwrap_or_else(|| hint.to_string()));
    }
    let (scale, higher_is_better) = scale.filter(|_| faults.len() == before)?;
    Some(Rubric { instruction, scale, higher_is_better })
}

fn scale(reply: &View<'_>, faults: &mut Faults) -> Option<RubricScale> {
    let passes = reply.get("passes");
    if let Some(labels) = reply.get("labels").texts() {
        let wanted = passes.texts().or_else(|| passes.text().map(|word| vec![word.to_string()])).unwrap_or_default();
        if passes.is_given() && wanted.is_empty() {
            faults.add(passes.start(), &passes.path, "expected a label, found a number");
        }
        for word in wanted.iter().filter(|word| !labels.contains(word)) {
            let message = format!("`{word}` is none of the labels {}", labels.join(", "));
            faults.add(passes.start(), &passes.path, message);
        }
        let view = reply.get("labels");
        for (at, label) in labels.iter().enumerate() {
            if labels.iter().take(at).any(|other| other == label) {
                faults.add(view.start(), &view.path, format!("the label `{label}` is listed twice"));
            }
        }
        return Some(RubricScale::Labels { labels, passes: wanted });
    }
    let most = reply.get("max");
    let (min, max) = (reply.get("min").int::<i64>().unwrap_or(0), most.int::<i64>()?);
    if max <= min {
        let message = format!("expected more than `min`, which is {min}, found {max}");
        faults.add(most.start(), &most.path, message);
    }
    if passes.is_given() && passes.int::<i64>().is_none() {
        faults.add(passes.start(), &passes.path, "expected a whole number, found a text");
    }
    let passes_at = passes.int::<i64>();
    if let Some(least) = passes_at.filter(|least| *least < min || *least > max) {
        let message = format!("expected a whole number from {min} to {max}, found {least}");
        faults.add(passes.start(), &passes.path, message);
    }
    Some(RubricScale::Number { min, max, passes: passes_at })
}

/// What may be replied, and the instruction: the front matter, else the first fenced block of JSON or YAML, and all the rest.
/// Where either is cut out, its lines stay empty, so that both keep the numbers of their lines.
fn parts(text: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is = |line: &&str, words: &[&str]| words.contains(&line.trim());
    let (open, close) = if lines.first().is_some_and(|line| is(line, &["---"])) {
        let close = lines.iter().skip(1).position(|line| is(line, &["---"]))? + 1;
        (0, close)
    } else {
        let open = lines.iter().position(|line| is(line, &["```json", "```yaml"]))?;
        let close = lines.iter().skip(open + 1).position(|line| is(line, &["```"]))? + open + 1;
        (open, close)
    };
    let kept = |keep: &dyn Fn(usize) -> bool| {
        let line = |(at, line): (usize, &&str)| if keep(at) { (*line).to_string() } else { String::new() };
        lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    Some((kept(&|at| open < at && at < close), kept(&|at| at < open || at > close)))
}
