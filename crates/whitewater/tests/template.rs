//! What `cargo xtask new-system` hands out holds: it survives a search, its bug is found, and its scenario is told.

#[allow(missing_docs, unreachable_pub, unused_imports)]
#[path = "../template/src/lib.rs"]
mod primary_backup;

use primary_backup::Server;

#[test]
fn the_template_survives_a_search() {
    whitewater::hunt::<Server>().deliveries(100_000).jobs(1).assert_clean();
}

#[test]
fn the_bug_of_the_template_is_found_and_told_with_the_line_that_runs_it_again() {
    let hunt = || whitewater::hunt::<Server>().set("lease-from", "arrival").jobs(1);
    let report = hunt().deliveries(2_000_000).run().unwrap_err();
    assert!(report.contains("one-primary"), "{report}");
    let release = if cfg!(debug_assertions) { "" } else { " --release" };
    let again =
        "--package whitewater the_bug_of_the_template_is_found_and_told_with_the_line_that_runs_it_again";
    let line =
        report.lines().find(|line| line.contains("WHITEWATER_SEED=0x")).expect("a line that runs it again");
    assert!(line.ends_with(&format!(" cargo test{release} {again} -- --exact")), "{line}");
    let seed = line.split(['=', ' ']).find_map(|word| word.strip_prefix("0x")).expect("a seed in the line");
    let seed = u64::from_str_radix(seed, 16).expect("a seed is a number");
    assert_eq!(hunt().from_seed(seed).deliveries(1).run().unwrap_err(), report);
}

#[test]
fn the_scenario_of_the_template_is_told() {
    whitewater::scenario::<Server>("template/scenarios/late-lease.json");
}

/// What a test of this scenario says when it fails.
fn said_of(path: &str) -> String {
    let fails = std::panic::catch_unwind(|| whitewater::scenario::<Server>(path)).expect_err("it fails");
    fails.downcast_ref::<String>().expect("it says why").clone()
}

#[test]
fn a_scenario_that_does_something_else_says_what_was_expected_and_what_to_do_before_it_compares_traces() {
    let json = std::fs::read_to_string("template/scenarios/late-lease.json").unwrap();
    // The variant that is to pass has the bug: its trace is not that of the snapshot either.
    let json = json.replacen(
        r#""expect": "pass""#,
        r#""options": { "lease-from": "arrival" }, "expect": "pass""#,
        1,
    );
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("turned");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("late-lease.json");
    std::fs::write(&file, json).unwrap();
    let said = said_of(file.to_str().unwrap());
    for part in [
        "@from-asking: expected to pass, but one-primary",
        "VIOLATION one-primary",
        "give @from-asking another `expect`",
    ] {
        assert!(said.contains(part), "`{part}` is missing in:{said}");
    }
    assert!(!folder.join("snapshots").exists(), "no trace was compared");
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    let wrong = whitewater::hunt::<Server>().set("lease-form", "arrival").run().unwrap_err();
    assert!(wrong.contains("lease-from"), "{wrong}");
}
