//! How fast the engine is, in numbers: `cargo bench --bench speed` runs all of it, `-- warm units` some.
//!
//! Nothing is asserted here; docs/performance.md holds the figures, the machine they were taken on and what is missed.

mod benchmark;
mod embedders;
mod figure;
mod full_text;
mod lexical;
mod openviking;
#[path = "../../tests/e2e/openviking_server.rs"]
mod openviking_server;
mod process;
mod provider;
mod rescore;
mod rows;
mod space;
mod trec;
mod units;
mod vectors;
mod warm;
#[path = "../../tests/e2e/wire.rs"]
mod wire;

use figure::Figure;

/// A group of figures: its name, and what measures it.
type Group = (&'static str, fn() -> Vec<Figure>);

const GROUPS: [Group; 11] = [
    ("warm", warm::figures),
    ("rows", rows::figures),
    ("units", units::figures),
    ("provider", provider::figures),
    ("openviking", openviking::figures),
    ("rescore", rescore::figures),
    ("full_text", full_text::figures),
    ("vectors", vectors::figures),
    ("embedders", embedders::figures),
    ("trec", trec::figures),
    ("lexical", lexical::figures),
];

fn main() {
    // Cargo adds flags such as `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|word| GROUPS.iter().all(|(name, _)| name != word)) {
        let names: Vec<_> = GROUPS.iter().map(|(name, _)| *name).collect();
        eprintln!("no group is called {unknown}; there are {}", names.join(", "));
        std::process::exit(2);
    }
    println!("{}", figure::HEADER);
    for (name, figures) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            for figure in figures() {
                println!("{figure}");
            }
        }
    }
}
