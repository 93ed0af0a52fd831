//! What `data list` and `data info` print.

use ragstage_stages::prepare::About;
use serde_json::{Value, json};

use super::data::Dataset;
use crate::data::{Form, Source};

/// A line for each dataset.
pub fn list_text(datasets: &[Dataset]) -> String {
    let mut text = format!("{:<16} {:<14} {:>8}  {:<30} licence\n", "dataset", "adapter", "size", "title");
    for Dataset { name, about, source } in datasets {
        let adapter = about.map_or("-", |about| about.adapter);
        let title = about.map_or("-", |about| about.title);
        let licence = about.map_or("-", |about| about.license);
        let size = match source.map(Source::bytes) {
            None => "none".to_string(),
            Some(None) => "unknown".to_string(),
            Some(Some(bytes)) => size(bytes),
        };
        text += &format!("{name:<16} {adapter:<14} {size:>8}  {title:<30} {licence}\n");
    }
    text
}

/// All that is known of a dataset.
pub fn info_text(dataset: &Dataset, samplers: &[&str]) -> String {
    let mut text = format!("{}\n", dataset.about.map_or(dataset.name, |about| about.title));
    if let Some(about) = dataset.about {
        text += &about_text(about);
    }
    text += "\ndownload\n";
    match dataset.source {
        None => text += "  it is not known where this can be downloaded from\n",
        Some(source) => {
            text += &format!("  `ragstage data download {}` puts it into data/{}\n", source.name, source.folder);
            if let Some(note) = source.note {
                text += &format!("  {note}\n");
            }
            for file in source.files {
                text += &format!("  {}\n", file.url);
                text += &match file.pin {
                    Some(pin) => format!("    {}, SHA-256 {}\n", size(pin.bytes), pin.sha256),
                    None => "    recorded in the lock file when it is downloaded first\n".to_string(),
                };
            }
        }
    }
    text += &match samplers {
        [] => "\n`ragstage data sample` does not know its layout; `sample` in an evaluation file draws cases\n"
            .to_string(),
        samplers => format!("\n`ragstage data sample {}` takes parts of it: {}\n", dataset.name, samplers.join(", ")),
    };
    text
}

fn about_text(about: &About) -> String {
    let mut text = format!("  {}\n\n", about.task);
    for (what, value) in [
        ("adapter", about.adapter),
        ("version", about.version),
        ("homepage", about.homepage),
        ("licence", about.license),
        ("units", about.units),
    ] {
        text += &format!("{what:<9} {value}\n");
    }
    text += &format!("citation  {}\n", about.citation.trim().replace('\n', "\n          "));
    let section = |title: &str, lines: Vec<String>| {
        if lines.is_empty() { String::new() } else { format!("\n{title}\n{}", lines.concat()) }
    };
    text +=
        &section("counts", about.counts.iter().map(|count| format!("  {:>7} {}\n", count.count, count.what)).collect());
    text += &section(
        "categories",
        about.categories.iter().map(|of| format!("  {:>7} {}: {}\n", of.cases, of.name, of.meaning)).collect(),
    );
    text += &section(
        "left out",
        about.left_out.iter().map(|left| format!("  {:>7} {}: {}\n", left.count, left.what, left.why)).collect(),
    );
    let judge =
        about.judge.iter().map(|kind| format!("  {} by a chat model, where the evaluation has one\n", kind.name()));
    let evaluators = about.evaluators.iter().map(|evaluator| format!("  {evaluator}\n"));
    text += &section("evaluators", evaluators.chain(judge).collect());
    text += &section("notes", about.notes.iter().map(|note| format!("  {note}\n")).collect());
    text
}

/// What an adapter says of a dataset.
pub fn about_json(about: &About) -> Value {
    json!({
        "adapter": about.adapter,
        "title": about.title,
        "task": about.task,
        "homepage": about.homepage,
        "license": about.license,
        "citation": about.citation,
        "version": about.version,
        "units": about.units,
        "counts": about.counts.iter().map(|count| json!({"what": count.what, "count": count.count})).collect::<Vec<_>>(),
        "categories": about.categories.iter()
            .map(|of| json!({"name": of.name, "meaning": of.meaning, "cases": of.cases})).collect::<Vec<_>>(),
        "left_out": about.left_out.iter()
            .map(|left| json!({"what": left.what, "why": left.why, "count": left.count})).collect::<Vec<_>>(),
        "evaluators": about.evaluators,
        "judge": about.judge.as_ref().map(|kind| kind.name()),
        "notes": about.notes,
    })
}

/// Where a dataset is downloaded from.
pub fn source_json(source: &'static Source) -> Value {
    json!({
        "folder": source.folder,
        "note": source.note,
        "files": source.files.iter().map(|file| json!({
            "url": file.url,
            "name": file.name,
            "bytes": file.pin.map(|pin| pin.bytes),
            "sha256": file.pin.map(|pin| pin.sha256),
            "unpacked": matches!(file.form, Form::Archive { .. }),
        })).collect::<Vec<_>>(),
    })
}

/// A size for people, in millions of bytes.
fn size(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use ragstage_stages::prepare::{Category, Count, LeftOut};
    use ragstage_stages::score::judge::JudgeKind;

    use super::*;

    static HARBOUR: About = About {
        name: "harbour",
        adapter: "jsonl",
        title: "The Harbour",
        task: "Questions about a harbour.",
        homepage: "https://example.org",
        license: "CC0",
        citation: "@misc{harbour,\n  year = 1871\n}\n",
        version: "2",
        units: "one over everything",
        counts: &[Count { what: "documents", count: 8 }],
        categories: &[Category { name: "fact", meaning: "one sentence tells", cases: 6 }],
        left_out: &[LeftOut { what: "rumours", why: "nobody knows", count: 3 }],
        evaluators: &["nDCG@10"],
        judge: Some(JudgeKind::Correctness),
        notes: &[],
    };

    #[test]
    fn what_is_known_is_told() {
        let dataset = Dataset { name: "harbour", about: Some(&HARBOUR), source: None };
        let expected = "\
The Harbour
  Questions about a harbour.

adapter   jsonl
version   2
homepage  https://example.org
licence   CC0
units     one over everything
citation  @misc{harbour,
            year = 1871
          }

counts
        8 documents

categories
        6 fact: one sentence tells

left out
        3 rumours: nobody knows

evaluators
  nDCG@10
  correctness by a chat model, where the evaluation has one

download
  it is not known where this can be downloaded from

`ragstage data sample` does not know its layout; `sample` in an evaluation file draws cases
";
        assert_eq!(info_text(&dataset, &[]), expected);
        assert_eq!(about_json(&HARBOUR)["categories"][0]["cases"], 6);
        assert!(list_text(&[dataset]).contains("harbour          jsonl              none  The Harbour"));
    }

    #[test]
    fn a_download_tells_its_files() {
        let source = Source::find("locomo");
        let text = info_text(&Dataset { name: "locomo", about: None, source }, &["stable", "openviking"]);
        assert!(text.contains("`ragstage data download locomo` puts it into data/locomo\n"), "{text}");
        assert!(text.contains("/data/locomo10.json\n    3 MB, SHA-256 79fa87e9"), "{text}");
        assert!(text.ends_with("`ragstage data sample locomo` takes parts of it: stable, openviking\n"), "{text}");
    }
}
