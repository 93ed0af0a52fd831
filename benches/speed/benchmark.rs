//! Synthetic benchmarks: the same text for the same seed on every machine.

use std::io::Write;

use serde_json::{Value, json};

/// Words that texts are made of.
const WORDS: usize = 20_000;

/// A benchmark in the `jsonl` layout.
pub struct Benchmark {
    /// One document per line.
    pub documents: String,
    /// One case per line.
    pub cases: String,
    /// One run unit per line; empty for one unit over everything.
    pub units: String,
}

/// Counts as splitmix64 does.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A word; few are frequent and most are rare, as in real text.
    fn word(&mut self) -> String {
        let uniform = self.next() as f64 / u64::MAX as f64;
        let rank = (WORDS as f64).powf(uniform) as usize;
        let syllables = ["ba", "ce", "di", "fo", "gu", "ha", "li", "mo", "nu", "re", "sa", "te", "vo", "wi"];
        let mut rest = rank + syllables.len();
        let mut word = String::new();
        while rest > 0 {
            word.push_str(syllables[rest % syllables.len()]);
            rest /= syllables.len();
        }
        word
    }

    fn sentence(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ") + "."
    }
}

fn document(random: &mut Random, id: &str, sentences: usize) -> (Value, Vec<String>) {
    let sentences: Vec<String> = (0..sentences).map(|_| random.sentence(12)).collect();
    let text = sentences.join(" ");
    (json!({"document_id": id, "name": format!("{id}.txt"), "media_type": "text/plain", "text": text}), sentences)
}

fn case(random: &mut Random, id: &str, documents: &[(String, Vec<String>)]) -> Value {
    let (document, sentences) = &documents[random.below(documents.len())];
    let sentence = &sentences[random.below(sentences.len())];
    let words: Vec<&str> = sentence.trim_end_matches('.').split(' ').collect();
    let start = random.below(words.len() - 6);
    json!({
        "case_id": id,
        "query": words[start..start + 6].join(" "),
        "expected": {
            "answers": [words[start + 2..start + 5].join(" ")],
            "evidence": [{"reference_id": document, "text": sentence}],
        },
        "labels": {"category": if random.below(2) == 0 { "odd" } else { "even" }},
    })
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

/// `cases` cases over one corpus of `documents` documents.
pub fn corpus(documents: usize, cases: usize) -> Benchmark {
    let mut random = Random(1);
    let mut rows = Vec::new();
    let mut known = Vec::new();
    for i in 0..documents {
        let id = format!("document-{i}");
        let (row, sentences) = document(&mut random, &id, 8);
        rows.push(row);
        known.push((id, sentences));
    }
    let cases = lines((0..cases).map(|i| case(&mut random, &format!("case-{i}"), &known)));
    Benchmark { documents: lines(rows), cases, units: String::new() }
}

/// Writes responses to the cases of [`corpus`], a line each, with `hits` hits whose documents are of that many.
pub fn responses(to: &mut impl Write, documents: usize, cases: usize, hits: usize) -> std::io::Result<()> {
    let mut random = Random(3);
    for case in 0..cases {
        let hit = |random: &mut Random, rank: usize| {
            let id = format!("document-{}", random.below(documents));
            json!({"id": format!("{id}#0"), "text": random.sentence(30), "score": 1.0 / (rank + 1) as f64,
                "source": {"document_id": id}})
        };
        let results: Vec<Value> = (0..hits).map(|rank| hit(&mut random, rank)).collect();
        let answer = random.sentence(12);
        writeln!(to, "{}", json!({"case_id": format!("case-{case}"), "answer": answer, "results": results}))?;
    }
    Ok(())
}

/// `units` run units of `documents` small documents and one case each.
pub fn units(units: usize, documents: usize) -> Benchmark {
    let mut random = Random(2);
    let (mut document_rows, mut cases, mut unit_rows) = (Vec::new(), Vec::new(), Vec::new());
    for unit in 0..units {
        let mut known = Vec::new();
        for i in 0..documents {
            let id = format!("unit-{unit}-document-{i}");
            let (row, sentences) = document(&mut random, &id, 4);
            document_rows.push(row);
            known.push((id, sentences));
        }
        let case_id = format!("case-{unit}");
        cases.push(case(&mut random, &case_id, &known));
        let ids: Vec<&str> = known.iter().map(|(id, _)| id.as_str()).collect();
        unit_rows.push(json!({"unit_id": format!("unit-{unit}"), "document_ids": ids, "case_ids": [case_id]}));
    }
    Benchmark { documents: lines(document_rows), cases: lines(cases), units: lines(unit_rows) }
}
