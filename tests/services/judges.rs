//! A real chat model as a judge. It is a tiny one: what it says of an answer is not judged, only that it says it as asked for,
//! that claims are shared, and that a second run asks nothing.

use super::counting_proxy::CountingProxy;
use super::servers;
use super::space::{Ran, Space};
use super::town;

/// An evaluation of the town with `evaluators`, before the real model; `None` where there is none.
fn judged(evaluators: &str) -> Option<(Space, CountingProxy)> {
    let server = servers::llm()?;
    let proxy = CountingProxy::before(&server.base_url);
    let space = Space::new();
    space.write("tone.md", "---\nlabels: [short, long]\n---\nIs this answer short or long? Answer: {{ answer }}\n");
    town::write(
        &space,
        &format!(
            "models: [{{name: tiny, model: {}, base_url: \"{}\"}}]\nrecipe: {{}}\n\
             queries: [{{mode: full_text_search, top_k: 1}}]\nanswer: {{provider: extractive, sentences: 1, results: 1}}\n\
             evaluators: {evaluators}\nlimits: {{judge: {{concurrency: 1, timeout_s: 300}}}}\n",
            server.model,
            proxy.base_url()
        ),
    );
    Some((space, proxy))
}

/// Each score is a number, a label or a failure that says why: a tiny model may not manage, but nothing is made of that.
fn expect_told(ran: &Ran, space: &Space) {
    assert!([0, 10, 11].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    for event in ran.of("row_failed") {
        assert_eq!(event["error"]["kind"], "bad_reply", "{event}");
    }
    let report = space.json("reports/town/report.json");
    for case in report["case_results"].as_array().expect("cases") {
        for score in case["scores"].as_array().expect("scores") {
            let value = &score["value"];
            let sound = match score["name"].as_str() {
                Some("tone") => value == "short" || value == "long",
                _ => value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)),
            };
            assert!(sound, "{score}");
            assert!(score["metadata"]["reply"]["text"].as_str().is_some_and(|text| text.starts_with('{')), "{score}");
        }
    }
}

#[test]
fn grades_and_labels_are_as_asked_for_and_asked_for_once() {
    let judges = "[{judge: correctness, model: tiny, max_tokens: 160}, \
                  {judge: rubric, name: tone, rubric: tone.md, model: tiny, max_tokens: 160}]";
    let Some((space, proxy)) = judged(judges) else { return };
    let ran = space.run("");
    expect_told(&ran, &space);
    let first = proxy.count();
    assert!((4..=12).contains(&first), "{first}: two per case, and up to two more where a reply does not fit");
    if ran.code == 0 {
        space.run("").expect(0).expect_nothing();
        assert_eq!(proxy.count(), first, "a warm run asks nothing");
    }
}

#[test]
fn claims_are_asked_for_once() {
    let Some((space, proxy)) = judged("[{judge: faithfulness, model: tiny, max_tokens: 256}]") else { return };
    let ran = space.run("");
    assert!([0, 10, 11].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    let first = proxy.count();
    if ran.code != 0 {
        return;
    }
    space.run("").expect(0).expect_nothing();
    space.edit(
        "evaluation.yaml",
        "evaluators: [",
        "evaluators: [{judge: claim_precision, model: tiny, max_tokens: 256}, ",
    );
    space.run("");
    // A verdict on the claims of each answer, which are known: nobody asks for claims again.
    assert!(proxy.count() - first <= 6, "{} after {first}", proxy.count());
}
