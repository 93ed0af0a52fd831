//! `cargo run --example own-evaluator -- evaluation.yaml`: an evaluation with an evaluator in Rust as a further column.

mod brevity;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("expected the path of an evaluation file")?;
    let outcome = brevity::run(Path::new(&file), Path::new(".ragstage"))?;
    for error in &outcome.errors {
        eprintln!("{error}");
    }
    for line in
        outcome.evaluations.iter().filter_map(|evaluation| evaluation.summary.as_ref()).flat_map(|s| s.headlines())
    {
        println!("{} {} {}: {:?}", line.recipe, line.query, line.evaluator, line.mean);
    }
    Ok(())
}
