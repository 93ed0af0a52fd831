//! Warm equals cold where models are asked: whatever failed or was killed on the way, the values are those of a run in an empty
//! store at a server in good health, and no reply that was kept is asked for again.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use ragstage_cache::Digest;

use super::changes_models::{Town, parts, script};
use super::model_server::{Act, Request};
use super::running::Running;
use super::values::Values;

/// How long a reply is kept back that nobody is to get.
const NEVER: Duration = Duration::from_secs(60);

fn values(town: &Town, store: &str) -> Values {
    Values::of(&town.space.path(store), &town.space.path(store).join("report"))
}

fn arguments(store: &str) -> String {
    format!("--store {store} --output {store}/report")
}

/// What requests ask for, all together.
fn all(requests: impl IntoIterator<Item = Request>) -> BTreeSet<String> {
    requests.into_iter().flat_map(|request| parts(&request)).collect()
}

/// Everything that the server was asked since its last script, in the order of its paths.
fn requests(town: &Town) -> Vec<Request> {
    ["embeddings", "rerank", "chat/completions"].into_iter().flat_map(|path| town.server.requests(path)).collect()
}

/// What an empty store comes to.
fn cold(town: &Town) -> Values {
    town.server.rescript(script);
    town.space.run(&arguments("cold")).expect(0);
    values(town, "cold")
}

/// Whether a request fails: those of one third, by what they ask for.
fn fails(request: &Request, third: u8) -> bool {
    Digest::of(request.body.to_string().as_bytes()).0[0] % 3 == third
}

#[test]
fn what_failed_is_asked_again_and_comes_to_the_same() {
    let town = Town::new();
    let limits = "limits:\n  embeddings: {retries: 0, breaker: 0}\n  rerank: {retries: 0, breaker: 0}\n  \
                  llm: {retries: 0, breaker: 0}\n";
    town.space.write("evaluation.yaml", &(town.space.read("evaluation.yaml") + limits));
    let expected = cold(&town);
    let mut kept = BTreeSet::new();
    for third in [0, 1] {
        town.server.rescript(move |request| match fails(request, third) {
            true => Act::Status(500, "", "not now".into()),
            false => script(request),
        });
        let ran = town.space.run(&arguments("warm"));
        assert!([10, 11].contains(&ran.code), "{}: {}", ran.code, ran.stderr);
        assert!(!ran.of("row_failed").is_empty());
        let (failed, answered): (Vec<Request>, Vec<Request>) =
            requests(&town).into_iter().partition(|request| fails(request, third));
        assert!(!failed.is_empty() && !answered.is_empty());
        let asked = all(failed.into_iter().chain(answered.clone()));
        assert!(asked.is_disjoint(&kept), "{:?}", asked.intersection(&kept).next());
        kept.extend(all(answered));
    }
    town.server.rescript(script);
    town.space.run(&arguments("warm")).expect(0);
    let asked = all(requests(&town));
    assert!(!asked.is_empty() && asked.is_disjoint(&kept), "{:?}", asked.intersection(&kept).next());
    assert_eq!(values(&town, "warm"), expected);
    town.space.run(&arguments("warm")).expect(0).expect_nothing();
}

/// Kills a run when the server was asked `path` once more than `replies` times, one request at a time, and compares what the next
/// run asks and comes to.
fn kill_after(path: &'static str, counts: &[usize]) {
    let town = Town::new();
    let one = "concurrency: 1";
    let limits = format!("limits: {{jobs: 1, embeddings: {{{one}}}, rerank: {{{one}}}, llm: {{{one}}}}}\n");
    town.space.write("evaluation.yaml", &(town.space.read("evaluation.yaml") + &limits));
    let expected = cold(&town);
    let undisturbed = all(requests(&town));
    for &replies in counts {
        let store = format!("killed-{replies}");
        town.server.rescript(move |request| match request.path == path && request.number > replies {
            true => Act::Stall(NEVER),
            false => script(request),
        });
        let mut running = Running::start(&town.space, "events", &arguments(&store));
        let start = Instant::now();
        while town.server.count(path) <= replies {
            assert!(!running.ended() && start.elapsed() < NEVER, "{path} was not asked {replies} times");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(running.kill().code, -1);
        // Of each kind of model one request may have been in flight: the last one.
        let last = |of: &str| town.server.requests(of).pop().map(|request| request.number);
        let (open, done): (Vec<Request>, Vec<Request>) =
            requests(&town).into_iter().partition(|request| last(&request.path) == Some(request.number));
        let unanswered = open.iter().find(|request| request.path == path).cloned().expect("one without a reply");
        let (kept, open) = (all(done), all(open));
        town.server.rescript(script);
        town.space.run(&arguments(&store)).expect(0);
        let asked = all(requests(&town));
        assert!(asked.is_disjoint(&kept), "{store}: {:?}", asked.intersection(&kept).next());
        assert!(parts(&unanswered).iter().all(|part| asked.contains(part)), "{store}");
        // All in all that is what an undisturbed run asks.
        let together: BTreeSet<String> = kept.union(&asked).chain(&open).cloned().collect();
        assert_eq!(together, undisturbed, "{store}");
        assert_eq!(values(&town, &store), expected, "{store}");
        whole(&town, &store);
    }
}

fn whole(town: &Town, store: &str) {
    let verified = town.space.ragstage(&format!("cache verify --store {store}")).expect(0);
    assert!(verified.stdout.contains("the store is whole"), "{}", verified.stdout);
    assert!(Path::new(&town.space.path(store)).is_dir());
}

#[test]
fn killed_while_texts_are_embedded() {
    kill_after("embeddings", &[0, 1, 2, 4]);
}

#[test]
fn killed_while_questions_are_answered() {
    kill_after("chat/completions", &[0, 7, 30]);
}

#[test]
fn killed_while_candidates_are_put_in_order() {
    kill_after("rerank", &[4]);
}
