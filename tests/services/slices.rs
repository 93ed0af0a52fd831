//! Slices of real datasets that a tiny model can read on two cores, cut into a temporary folder. The datasets are not ours to keep:
//! they are found below `$RAGSTAGE_DATA`, by default `../shared/data`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::servers;
use super::space::Space;

/// How many documents and cases a slice has.
pub struct Slice {
    pub documents: usize,
    pub cases: usize,
}

/// Questions about the first session of two conversations.
const SESSIONS: [(&str, &[&str]); 2] = [
    ("conv-26", &["When did Caroline go to the LGBTQ support group?", "What is Caroline's identity?"]),
    ("conv-41", &["What type of workout class did Maria start doing in December 2023?"]),
];

/// How many turns of a session are kept: what those questions ask for is said in them.
const TURNS: usize = 6;

/// Ids of questions about the beginning of two syllabi.
const QUESTIONS: [(&str, &[&str]); 2] =
    [("num_analysis_redacted", &["VBcDkLzF6suz1HNe"]), ("syllabus_606", &["uS5mQ6qocAZzFYYm", "YIThFgv1r1S3kCz2"])];

/// How much of a syllabus is kept, in characters: what those questions ask for is in it.
const BEGINNING: usize = 1000;

/// The beginning of up to two conversations of LoCoMo as `locomo10.json`; `None`, said loudly, where the dataset is absent.
pub fn locomo(space: &Space, conversations: usize) -> Option<Slice> {
    let bytes = std::fs::read(servers::data("locomo/locomo10.json")?).expect("the dataset is read");
    let samples: Value = serde_json::from_slice(&bytes).expect("the dataset is JSON");
    let sessions = &SESSIONS[..conversations];
    let cut: Vec<Value> = sessions
        .iter()
        .map(|(id, questions)| {
            let samples = samples.as_array().expect("samples");
            let sample = samples.iter().find(|sample| sample["sample_id"] == *id).expect("the sample");
            let whole = &sample["conversation"];
            let turns = &whole["session_1"].as_array().expect("turns")[..TURNS];
            let conversation = json!({
                "speaker_a": whole["speaker_a"], "speaker_b": whole["speaker_b"],
                "session_1_date_time": whole["session_1_date_time"], "session_1": turns,
            });
            let qa = sample["qa"].as_array().expect("questions").iter();
            let qa: Vec<&Value> =
                qa.filter(|qa| qa["question"].as_str().is_some_and(|q| questions.contains(&q))).collect();
            assert_eq!(qa.len(), questions.len(), "questions of {id}");
            json!({"sample_id": id, "conversation": conversation, "qa": qa})
        })
        .collect();
    space.write("locomo10.json", &json!(cut).to_string());
    Some(Slice { documents: sessions.len(), cases: sessions.iter().map(|(_, questions)| questions.len()).sum() })
}

/// The beginnings of two syllabi of SyllabusQA, with their questions, in the folder `course`; `None`, said loudly, where the dataset is absent.
pub fn syllabusqa(space: &Space) -> Option<Slice> {
    let root = servers::data("syllabusqa")?;
    let mut rows: BTreeMap<&str, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    let mut table = csv::Reader::from_path(root.join("dataset_split/test.csv")).expect("the questions are read");
    for row in table.deserialize::<BTreeMap<String, String>>() {
        let row = row.expect("a row");
        let name = QUESTIONS.iter().find(|(_, ids)| ids.contains(&row["id"].as_str())).map(|(name, _)| *name);
        if let Some(name) = name {
            rows.entry(name).or_default().push(row);
        }
    }
    for (name, ids) in QUESTIONS {
        assert_eq!(rows[name].len(), ids.len(), "questions of {name}");
        let file = format!("syllabi/syllabi_redacted/text/{name}.txt");
        let bytes = std::fs::read(root.join(&file)).expect("the syllabus is read");
        space.write(
            &format!("course/{file}"),
            &String::from_utf8_lossy(&bytes).chars().take(BEGINNING).collect::<String>(),
        );
    }
    space.write("course/questions.json", &json!(rows).to_string());
    Some(Slice { documents: QUESTIONS.len(), cases: rows.values().map(Vec::len).sum() })
}
