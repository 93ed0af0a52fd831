//! Which store a command uses.

use super::small;
use super::space::{Ran, Space};

/// Runs the command in `folder`, without a store being named.
fn in_folder(space: &Space, folder: &str, arguments: &str) -> Ran {
    let mut command = space.command();
    command.env_remove("RAGSTAGE_STORE").current_dir(space.path(folder)).args(arguments.split_whitespace());
    Ran::of_command(command)
}

#[test]
fn the_store_above_the_evaluation_file_comes_first() {
    let space = Space::new();
    small::write(&space);
    space.write("elsewhere/here.txt", "");
    let first = in_folder(&space, ".", "run evaluation.yaml").expect(0);
    assert!(first.stderr.contains("new store: .ragstage"), "{}", first.stderr);
    let again = in_folder(&space, "elsewhere", "run ../evaluation.yaml").expect(0);
    assert!(again.stdout.contains("Nothing to do"), "{}", again.stdout);
    assert!(!again.stderr.contains("new store"), "{}", again.stderr);
    assert!(!space.path("elsewhere/.ragstage").exists());
}

#[test]
fn a_folder_stands_for_the_evaluation_in_it() {
    let space = Space::new();
    small::write(&space);
    in_folder(&space, ".", "run .").expect(0);
    let status = in_folder(&space, ".", "status .").expect(0);
    assert!(status.stdout.contains("small: last run"), "{}", status.stdout);
}

#[test]
fn a_report_that_is_nowhere_is_said_to_be_nowhere() {
    let space = Space::new();
    small::write(&space);
    in_folder(&space, ".", "run --store other").expect(0);
    let ran = in_folder(&space, ".", "report").expect(3);
    assert!(ran.stderr.contains("there is no store") && ran.stderr.contains("--store"), "{}", ran.stderr);
    in_folder(&space, ".", "report --store other").expect(0);
}

#[test]
fn a_folder_with_other_files_is_made_no_store() {
    let space = Space::new();
    small::write(&space);
    space.write("mine/thesis.txt", "Mine.");
    let ran = in_folder(&space, ".", "run --store mine").expect(30);
    assert!(ran.stderr.contains("thesis.txt") && ran.stderr.contains("--store"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(space.path("mine")).expect("a folder").count(), 1);
    std::fs::create_dir(space.path("empty")).expect("a folder");
    in_folder(&space, ".", "run --store empty").expect(0);
}
