//! Nodes that misbehave, on a command line of their own: each gets its verdict and the search goes on, and whatever makes
//! two runs of one seed differ is found.

use std::process::{Command, Output};

/// Runs the command line over the guests.
fn guest(words: &[&str]) -> Ended {
    let ran = Command::new(env!("CARGO_BIN_EXE_guest")).args(words).output();
    let Output { status, stdout, stderr } = ran.expect("it can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command line writes text");
    Ended { code: status.code().expect("nobody kills it"), out: text(stdout), err: text(stderr) }
}

#[derive(Debug)]
#[expect(dead_code, reason = "shown when a test fails")]
struct Ended {
    code: i32,
    out: String,
    err: String,
}

/// Searches with a vice, and says how many runs there were and how many failed under which rule.
fn search(vice: &str, isolated: bool) -> Ended {
    let vice = format!("vice={vice}");
    let mut words = vec!["fuzz", "--seeds", "0..40", "--keep-going", "--jobs", "2", "--set", &vice];
    words.extend(isolated.then_some("--isolate=3s"));
    guest(&words)
}

impl Ended {
    /// The line of the summary that counts the runs that failed under a rule.
    fn failed(&self, rule: &str) -> u64 {
        let line = self.out.lines().find_map(|line| line.trim().strip_prefix("failed    "));
        let count = line.and_then(|line| line.strip_prefix(rule)?.strip_prefix(": "));
        count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no {rule}: {self:#?}"))
    }

    fn is_whole(&self) {
        assert!(self.out.contains("40 runs, "), "{self:#?}");
    }
}

#[test]
fn a_well_behaved_guest_passes_with_and_without_isolation_alike() {
    let (here, apart) = (search("none", false), search("none", true));
    assert_eq!((here.code, apart.code), (0, 0), "{apart:#?}");
    let without_time = |ended: &Ended| -> Vec<String> {
        ended.out.lines().map(|line| line.split(" in ").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(without_time(&here), without_time(&apart));
}

#[test]
fn a_guest_that_panics_or_never_stops_acting_gets_a_verdict_and_the_search_goes_on() {
    for (vice, rule) in [
        ("panic", "panic"),
        ("effects", "limit"),
        ("sends", "limit"),
        ("allocate", "panic"),
        ("flood", "limit"),
    ] {
        let ended = search(vice, false);
        assert_eq!(ended.code, 1, "{vice}: {ended:#?}");
        ended.is_whole();
        let failed = ended.failed(rule);
        assert!((1..40).contains(&failed), "{vice}: {failed} of 40 runs");
    }
}

#[test]
fn a_guest_that_takes_its_process_with_it_is_named_by_its_seed_and_the_search_goes_on() {
    for (vice, rule) in [("abort", "abort"), ("overflow", "stack-overflow")] {
        let ended = search(vice, true);
        assert_eq!(ended.code, 1, "{vice}: {ended:#?}");
        ended.is_whole();
        let failed = ended.failed(rule);
        assert!((1..40).contains(&failed), "{vice}: {failed} of 40 runs");
        let lines = ended.out.lines().filter(|line| line.starts_with("FAIL  seed=0x") && line.contains(rule));
        assert_eq!(lines.count() as u64, failed, "{ended:#?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_guest_that_takes_all_memory_is_stopped_at_a_limit() {
    let ended = search("hoard", true);
    assert_eq!(ended.code, 1, "{ended:#?}");
    ended.is_whole();
    assert!((1..40).contains(&ended.failed("memory")), "{ended:#?}");
}

#[test]
fn a_guest_that_never_comes_back_is_killed_and_named() {
    let ended = guest(&[
        "fuzz",
        "--seed",
        "0",
        "--runs",
        "40",
        "--jobs",
        "1",
        "--set",
        "vice=spin",
        "--isolate=500ms",
    ]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert_eq!(ended.failed("hang"), 1, "{ended:#?}");
    assert!(ended.out.contains("did not come back within 0.5 s"), "{ended:#?}");
    let seed = ended.out.split("seed=").nth(1).and_then(|rest| rest.split(' ').next()).expect("it is named");
    let alone = guest(&["fuzz", "--seed", seed, "--set", "vice=spin", "--isolate=500ms"]);
    assert_eq!((alone.code, alone.failed("hang")), (1, 1), "{alone:#?}");
}

#[test]
fn a_verdict_found_apart_is_reported_as_one_found_here() {
    let (here, apart) = (search("panic", false), search("panic", true));
    assert_eq!(here.failed("panic"), apart.failed("panic"));
    assert!(apart.out.contains("this guest panics"), "{apart:#?}");
}

/// Compares runs in one place.
fn compare(vice: &str, place: &str) -> Ended {
    let vice = format!("vice={vice}");
    guest(&["determinism", "--seed", "0", "--runs", "60", "--in", place, "--set", &vice])
}

#[test]
fn runs_that_follow_from_their_seed_alone_are_the_same_everywhere() {
    for vice in ["none", "panic", "effects"] {
        let ended = compare(vice, "again,thread,reversed,process");
        assert_eq!(ended.code, 0, "{vice}: {ended:#?}");
        assert!(ended.out.contains("60 in a fresh process: no difference"), "{vice}: {ended:#?}");
    }
}

#[test]
fn whatever_else_a_run_depends_on_is_found_and_shown_from_both_sides() {
    for (vice, place, there) in [
        ("hash-order", "again", "once more"),
        ("clock", "again", "once more"),
        ("address", "thread", "in another thread"),
        ("left-over", "reversed", "in reverse order"),
        ("hash-order", "process", "in a fresh process"),
    ] {
        let ended = compare(vice, place);
        assert_eq!(ended.code, 3, "{vice} {place}: {ended:#?}");
        for piece in ["DIFFERS  seed 0x", "hash: 0x", "equal events", "  here:  e", &format!("  {there}:  e")]
        {
            assert!(ended.out.contains(piece), "{vice} {place}: no `{piece}` in {ended:#?}");
        }
        // What differs is the number that the guest tells.
        let line = ended.out.lines().find(|line| line.trim_start().starts_with("here:")).unwrap_or_default();
        assert!(line.contains("Hello "), "{vice} {place}: {ended:#?}");
    }
}

#[test]
fn nothing_compared_is_not_a_proof() {
    let ended = guest(&["determinism", "--seed", "0", "--runs", "0", "--in", "again"]);
    assert_eq!(ended.code, 4, "{ended:#?}");
}
