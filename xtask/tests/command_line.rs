//! The command line as people and programs meet it: exit codes, JSON lines, and errors that say what would be right.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{command, ended, folder, run};

/// A search that finds the race: the relay before it was mended.
const BROKEN: &str = "--system relay --set relay-not-ready=drop";

#[test]
fn what_does_not_exist_is_refused_with_a_list_of_what_does() {
    run("fuzz --runs 1 --system realy").refused(2, &["realy", "relay"]);
    run("fuzz --runs 1 --profile clam").refused(2, &["clam", "calm", "swarm", "unlimited"]);
    run("fuzz --runs 1 --system relay --profile lying").refused(2, &["relay", "lying", "lossy"]);
    run("fuzz --runs 1 --system relay --set relay-redy=drop").refused(2, &["relay-redy", "relay-not-ready"]);
    run("fuzz --runs 1 --system relay --set relay-not-ready=lose")
        .refused(2, &["lose", "drop", "latch", "mailbox"]);
    run("bench --only speed").refused(2, &["speed", "relay-swarm", "W"]);
    run("scenario show no-such-race").refused(2, &["no-such-race", "leader-announce-before-relay-ready"]);
    run("scenario show leader-announce-before-relay-ready --variant lose")
        .refused(2, &["lose", "drop", "mailbox"]);
    run("fuz").refused(2, &["fuz", "fuzz"]);
}

#[test]
fn a_seed_that_is_no_number_is_refused_with_an_example() {
    run("fuzz --seed twelve").refused(2, &["twelve", "0x2a"]);
    run("fuzz --seeds 0..twelve").refused(2, &["twelve", "0x2a"]);
    run("fuzz --seeds 12").refused(2, &["12", "0..2000"]);
    run("replay twelve").refused(2, &["twelve", "0x2a", "file"]);
    run("replay seeds/no-such-file.json").refused(2, &["seeds/no-such-file.json", "no such file"]);
    run("fuzz --for 60").refused(2, &["60s"]);
    run("fuzz --set relay-not-ready").refused(2, &["KEY=VALUE"]);
}

/// Operations of a register, one line each: process, type, function and value.
fn register(name: &str, lines: &[&str]) -> std::path::PathBuf {
    let file = folder(name).join("history.log");
    let lines: Vec<String> = lines.iter().map(|line| format!("INFO  jepsen.util - {line}\n")).collect();
    fs::write(&file, lines.concat()).unwrap();
    file
}

#[test]
fn a_history_is_explained_or_reduced_or_refused_with_its_line() {
    let written = ["0 :invoke :write 1", "0 :ok :write 1", "1 :invoke :read nil"];
    let fine = register("history_fine", &[&written[..], &["1 :ok :read 1"]].concat());
    let stale = register("history_stale", &[&written[..], &["1 :ok :read nil"]].concat());
    let broken = register("history_broken", &[&written[..], &["2 :ok :read 1"]].concat());
    let checked = |files: &[&std::path::PathBuf]| {
        ended(command("check-history --model register").args(files.iter().map(|file| file.as_os_str())))
    };
    assert_eq!(checked(&[&fine]).code, 0);
    let found = checked(&[&stale, &fine]);
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("lines 3, 4") && found.out.contains("read -> nil"), "{}", found.out);
    assert_eq!(found.out.matches("linearizable").count(), 2, "{}", found.out);
    checked(&[&fine, &broken, &stale]).refused(2, &["history.log:4:", "process 2"]);
    checked(&[&std::path::PathBuf::from("no-such-history.log")]).refused(2, &["no-such-history.log"]);
    run("check-history --model regster x").refused(2, &["regster", "cas-register, kv, register, set"]);
}

#[test]
fn a_history_that_takes_too_long_is_unknown_and_not_fine() {
    // From each of four values to each other once, all at the same time: any such way ends where it began, and only the
    // orders of all of them show that.
    let ways = (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let ways = |what: &str| -> Vec<String> {
        let line = |(number, (from, to))| format!("{number} :{what} :cas [{from} {to}]");
        ways.clone().enumerate().map(line).collect()
    };
    let outer = |lines: [&str; 2]| lines.map(str::to_owned).to_vec();
    let begins = outer(["90 :invoke :write 0", "90 :ok :write 0"]);
    let ends = outer(["91 :invoke :read nil", "91 :ok :read 1"]);
    let lines = [begins, ways("invoke"), ways("ok"), ends].concat();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let file = register("history_unknown", &lines);
    let checked =
        |more: &str| ended(command(&format!("check-history --model cas-register {more}")).arg(&file));
    assert_eq!(checked("--configurations 20").code, 6);
    assert_eq!(checked("").code, 1);
}

#[test]
fn two_budgets_are_refused_and_a_typed_one_goes_before_a_variable() {
    run("fuzz --runs 1 --for 1s").refused(2, &["--runs", "--for"]);
    run("fuzz --seed 1 --seeds 1..2").refused(2, &["--seed", "--seeds"]);
    let typed = ended(command("fuzz --runs 3 --message-format json").env("WHITEWATER_RUNS", "9"));
    assert_eq!(typed.of_type("summary")[0]["runs"], 3);
    let other = ended(command("fuzz --runs 3 --message-format json").env("WHITEWATER_FOR", "1h"));
    assert_eq!(other.of_type("summary")[0]["runs"], 3);
    let variable = ended(command("fuzz --message-format json").env("WHITEWATER_RUNS", "4"));
    assert_eq!(variable.of_type("summary")[0]["runs"], 4);
}

#[test]
fn words_that_contradict_each_other_or_mean_nothing_are_refused() {
    run("fuzz --runs 1 --system relay --set relay-not-ready=drop --set relay-not-ready=latch")
        .refused(2, &["relay-not-ready", "twice", "drop", "latch"]);
    run("fuzz --runs 1 --jobs 0").refused(2, &["from 1 to 1024"]);
    run("fuzz --runs 1.5").refused(2, &["1.5", "whole number"]);
    let file = folder("no_folder_to_save_in").join("file.json");
    fs::write(&file, "{}").unwrap();
    ended(command("fuzz --runs 1 --save").arg(&file)).refused(2, &["--save", "file.json", "no folder"]);
    ended(command("replay --profile calm").arg(&file)).refused(2, &["--profile", "file.json", "whole plan"]);
}

#[test]
fn an_option_without_a_system_searches_in_the_systems_that_have_it() {
    let search = run("fuzz --set relay-not-ready=drop --seeds 0..40 --keep-going --message-format json");
    assert_eq!(search.code, 1, "{}", search.err);
    for failure in search.of_type("failure") {
        assert_eq!(failure["system"], "relay", "{failure}");
        assert_ne!(failure["rule"], "own-bug", "{failure}");
    }
    run("fuzz --runs 1 --set relay-redy=drop").refused(2, &["relay-redy", "relay has", "kv has"]);
}

#[test]
fn where_nothing_ran_nothing_is_clean() {
    for words in [
        "fuzz --seeds 5..5",
        "fuzz --seeds 9..5",
        "fuzz --runs 0",
        "fuzz --deliveries 0",
        "fuzz --for 0s",
        "fuzz --seed 3 --runs 0",
    ] {
        let none = run(words);
        assert_eq!(none.code, 4, "{words}: {none:#?}");
        assert!(none.out.contains("nothing ran"), "{words}: {none:#?}");
    }
    let empty = folder("where_nothing_ran");
    assert_eq!(ended(command("replay").arg(&empty)).code, 4);
}

#[test]
fn help_is_no_error_and_names_every_verb() {
    let help = run("--help");
    assert_eq!(help.code, 0);
    for verb in ["demo", "fuzz", "replay", "scenario", "mutants", "bench", "conformance", "ci"] {
        assert!(help.out.contains(verb), "{verb} is missing in:\n{}", help.out);
    }
    let words: Vec<_> = help.out.split_whitespace().collect();
    assert!(words.join(" ").contains("130 interrupted"), "exit codes are explained");
}

#[test]
fn one_seed_alone_is_one_run_done_twice() {
    let once = run("fuzz --seed 0x2a --message-format json");
    let runs = once.of_type("run");
    assert_eq!((once.lines().len(), runs.len()), (1, 1), "{once:#?}");
    assert_eq!(runs[0]["seed"], "0x000000000000002a");
    assert_eq!(runs[0]["repeated"], true);
    assert_eq!(runs[0]["rule"], "pass");
    assert_eq!(once.code, 0);
    let again = run("fuzz --seed 42 --message-format json");
    assert_eq!(again.of_type("run"), runs, "decimal or hexadecimal, now or then");
}

#[test]
fn a_seed_without_restrictions_draws_its_system_and_each_is_drawn() {
    let system = |seed: u64| {
        let once = run(&format!("fuzz --seed {seed} --message-format json"));
        once.of_type("run")[0]["system"].as_str().expect("a name").to_owned()
    };
    let drawn: BTreeSet<_> = (0..6).map(system).collect();
    assert_eq!(drawn.into_iter().collect::<Vec<_>>(), ["kv", "relay"]);
}

#[test]
fn a_commit_id_is_a_seed() {
    let commit = run("fuzz --seed 90a575839cd4fbf11234567890abcdef00000a2a --message-format json");
    assert_eq!(commit.of_type("run")[0]["seed"], "0x90abcdef00000a2a");
}

#[test]
fn with_json_standard_output_holds_nothing_else() {
    let search = run(&format!("fuzz {BROKEN} --seeds 0..60 --keep-going --message-format json"));
    assert_eq!(search.code, 1, "{}", search.err);
    let failures = search.of_type("failure");
    assert!(!failures.is_empty(), "{}", search.err);
    for failure in &failures {
        for name in ["seed", "system", "profile", "rule", "message", "trace_hash", "command"] {
            assert!(failure[name].is_string(), "{name} of {failure}");
        }
        assert!(failure.get("suspect").is_some(), "{failure}");
    }
    let summaries = search.of_type("summary");
    assert_eq!(summaries.len(), 1);
    assert_eq!(search.lines().last(), summaries.last(), "the summary comes last");
    assert_eq!(summaries[0]["runs"], 60);
    assert_eq!(summaries[0]["failures"].as_u64(), Some(failures.len() as u64));
    for name in ["leader_changes", "crashes", "acknowledged_writes"] {
        assert!(
            summaries[0][name]["median"].is_u64() && summaries[0][name]["upper_quartile"].is_u64(),
            "{name}"
        );
    }
    for name in ["fault_hits", "mark_hits", "never_reached", "repeated", "excused", "not_owed", "undecided"] {
        assert!(!summaries[0][name].is_null(), "{name}");
    }
}

#[test]
fn what_is_found_does_not_depend_on_jobs_or_on_the_range_around_it() {
    let words = |rest: &str| format!("fuzz {BROKEN} --keep-going --message-format json {rest}");
    let hashes = |words: &str| -> BTreeMap<String, (String, String)> {
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let failure = |f: serde_json::Value| (text(&f["seed"]), (text(&f["rule"]), text(&f["trace_hash"])));
        run(words).of_type("failure").into_iter().map(failure).collect()
    };
    let one = hashes(&words("--seeds 0..60 --jobs 1"));
    assert_eq!(hashes(&words("--seeds 0..60 --jobs 2")), one);
    let inside = hashes(&words("--seeds 20..40"));
    assert!(inside.iter().all(|(seed, found)| one.get(seed) == Some(found)));
    let (seed, (rule, hash)) = one.first_key_value().expect("the race is found in 60 seeds");
    let alone = run(&format!("fuzz {BROKEN} --seed {seed} --message-format json"));
    let alone = &alone.of_type("run")[0];
    assert_eq!((alone["rule"].as_str(), alone["trace_hash"].as_str()), (Some(&**rule), Some(&**hash)));
}

#[test]
fn without_a_terminal_a_line_of_figures_is_written_every_ten_seconds() {
    let search = run("fuzz --system relay --for 11s --keep-going --message-format json");
    assert_eq!(search.of_type("progress").len(), 1, "programs get one as well");
    let figures: Vec<_> = search.err.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(figures.len(), 1, "{}", search.err);
    for word in ["fail", "marks", "runs/s", "t=1"] {
        assert!(figures[0].contains(word), "{}", figures[0]);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_gives_a_partial_summary_and_130() {
    let mut child = command("fuzz --system relay --for 120s --message-format json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begins = String::new();
    let mut remarks = BufReader::new(child.stderr.take().unwrap());
    remarks.read_line(&mut begins).unwrap();
    assert!(begins.contains("base seed"), "{begins}");
    std::thread::sleep(Duration::from_secs(2));
    let begun = Instant::now();
    let signalled = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signalled.expect("kill can be started").success());
    let rest = std::thread::spawn(move || remarks.lines().count());
    let output = child.wait_with_output().unwrap();
    assert!(rest.join().unwrap() > 0, "people get a summary as well");
    assert!(begun.elapsed() < Duration::from_secs(60), "it ends soon");
    assert_eq!(output.status.code(), Some(130));
    let out = String::from_utf8(output.stdout).unwrap();
    let summary: serde_json::Value = serde_json::from_str(out.lines().last().expect("a summary")).unwrap();
    assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &true.into()));
    assert!(summary["runs"].as_u64() > Some(0), "{summary}");
}

#[test]
fn a_reader_that_goes_away_ends_the_search_without_a_panic() {
    let mut child = command(&format!("fuzz {BROKEN} --for 120s --keep-going --message-format json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(60), "it ends soon");
}
