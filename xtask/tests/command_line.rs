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
fn whoever_writes_a_scenario_can_look_up_the_words_of_its_system() {
    let ended = run("scenario words relay");
    assert_eq!(ended.code, 0, "{}", ended.err);
    for word in ["propose x=1", "LeaderAnnounce", "relay-ready", "confirmed", "witness", "queue-drains"] {
        assert!(ended.out.contains(word), "{word} is missing:\n{}", ended.out);
    }
    run("scenario words rely").refused(2, &["rely", "relay"]);
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
    let each = |words: fn(u32) -> String| (0..6).map(words);
    let mut lines: Vec<String> = each(|n| format!("{n} :invoke :write {n}")).collect();
    lines.extend(each(|n| format!("1{n} :invoke :read nil")));
    lines.extend(each(|n| format!("{n} :ok :write {n}")));
    lines.extend(each(|n| format!("1{n} :ok :read {n}")));
    // A second write of the same value keeps it from being decided without a search.
    lines.extend(
        ["0 :invoke :write 0", "0 :ok :write 0", "7 :invoke :read nil", "7 :ok :read nil"].map(str::to_owned),
    );
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let file = register("history_unknown", &lines);
    let checked = |more: &str| ended(command(&format!("check-history --model register {more}")).arg(&file));
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
    for name in ["fault_hits", "mark_hits", "never_reached", "repeated", "excused", "not_owed"] {
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
fn a_failure_replays_by_its_printed_command_alone() {
    let found = run(&format!("fuzz {BROKEN} --runs 200 --message-format json --seed 7"));
    assert_eq!(found.code, 1, "{}", found.err);
    let failure = &found.of_type("failure")[0];
    let words =
        failure["command"].as_str().expect("a command").strip_prefix("cargo xtask ").expect("one of ours");
    let again = run(&format!("{words} --message-format json"));
    assert_eq!(again.code, 1);
    assert_eq!(again.of_type("run")[0]["trace_hash"], failure["trace_hash"]);
    assert_eq!(again.of_type("failure")[0]["rule"], failure["rule"]);
    assert_eq!(again.of_type("failure")[0]["message"], failure["message"]);
}

#[test]
fn a_saved_failure_says_whether_it_is_still_the_same() {
    let folder = folder("saved");
    let found = ended(command(&format!("fuzz {BROKEN} --seed 7 --runs 200 --save")).arg(&folder));
    assert_eq!(found.code, 1, "{found:#?}");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (files, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.extension().is_some_and(|e| e == "json"));
    assert_eq!(files.len(), 1, "one failure, one file: {files:?}");
    assert_eq!(others, [folder.join("campaign.state")], "and nothing half-written");
    let replay = |file: &std::path::Path| ended(command("replay").arg(file));

    let same = replay(&files[0]);
    assert_eq!(same.code, 1);
    assert!(same.out.contains("the same failure"), "{}", same.out);

    let json = fs::read_to_string(&files[0]).unwrap();
    let changed = |name: &str, from: &str, to: &str| {
        assert!(json.contains(from), "`{from}` is missing in {json}");
        let file = folder.join(name);
        fs::write(&file, json.replace(from, to)).unwrap();
        file
    };
    let gone = replay(&changed("gone.json", "\"drop\"", "\"mailbox\""));
    assert_eq!(gone.code, 5, "{gone:#?}");
    assert!(gone.out.contains("gone"), "{}", gone.out);

    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let hash = value["trace-hash"].as_str().expect("a saved failure has its hash");
    let other = replay(&changed("other.json", hash, &format!("0x{}", "0".repeat(32))));
    assert_eq!(other.code, 1);
    assert!(other.out.contains("in another run"), "{}", other.out);

    let version = replay(&changed("version.json", "\"plan\": 1,", "\"plan\": 99,"));
    assert_eq!(version.code, 1, "{version:#?}");
    assert!(version.err.contains("version 99"), "a notice: {}", version.err);
    assert!(version.err.contains("is not compared"), "{}", version.err);

    let rule = value["rule"].as_str().expect("a saved failure has its rule");
    let another = replay(&changed("another.json", &format!("\"{rule}\""), "\"election-safety\""));
    assert_eq!(another.code, 1);
    assert!(another.out.contains("another failure"), "{}", another.out);
    let verified = |file: &str| ended(command("seeds verify").arg(folder.join(file))).code;
    assert_eq!(verified("another.json"), 5, "it owes the rule it was saved for");
    assert_eq!(ended(command("seeds verify").arg(&files[0])).code, 0);
    assert_eq!(verified("gone.json"), 5);
    let mended = fs::read_to_string(folder.join("gone.json")).unwrap();
    fs::write(folder.join("gone.json"), mended.replace("\"fails\"", "\"passes\"")).unwrap();
    assert_eq!(verified("gone.json"), 0, "it was mended, and stays so");
}

#[test]
fn a_search_that_stopped_goes_on_where_it_was() {
    let folder = folder("resumed");
    let search = |more: &str| {
        let words =
            format!("fuzz --system relay --seeds 0..30 --keep-going --message-format json {more} --save");
        ended(command(&words).arg(&folder))
    };
    let runs = |ended: &support::Ended| ended.of_type("summary")[0]["runs"].as_u64().unwrap();
    assert_eq!(runs(&search("--runs 12")), 12);
    assert_eq!(runs(&search("--resume")), 18, "the rest of the seeds");
    assert_eq!(search("--resume").code, 4, "there is nothing left");
    search("--resume --profile calm").refused(2, &["another search"]);
    fs::write(folder.join("campaign.state"), "{").unwrap();
    search("--resume").refused(2, &["campaign.state", "damaged"]);
    assert_eq!(runs(&search("")), 30, "without --resume a new search begins");
}

#[test]
fn what_cannot_be_kept_or_shrunk_is_refused_and_nothing_is_overwritten() {
    let folder = folder("kept");
    run("keep F-fedcba9876").refused(2, &["F-fedcba9876"]);
    run("keep F-").refused(2, &["F-"]);
    run("keep 42").refused(2, &["no fingerprint"]);
    run("shrink F-fedcba9876").refused(2, &["F-fedcba9876"]);
    let passes = (0..50).find(|seed| run(&format!("fuzz --profile calm --seed {seed}")).code == 0).unwrap();
    run(&format!("shrink --profile calm {passes}")).refused(2, &["passes", "nothing to shrink"]);
    let found = ended(command(&format!("fuzz {BROKEN} --seed 7 --runs 200 --save")).arg(&folder));
    assert_eq!(found.code, 1);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let file = files.iter().find(|file| file.extension().is_some_and(|e| e == "json")).unwrap();
    let text = fs::read_to_string(file).unwrap();
    let scenario = support::root().join("scenarios/leader-cut-off.json");
    let before = fs::read(&scenario).unwrap();
    let taken = ended(command("keep --as leader-cut-off").arg(file));
    taken.refused(2, &["there is one already"]);
    assert_eq!(fs::read(&scenario).unwrap(), before);
    let damaged = folder.join("damaged.json");
    fs::write(&damaged, &text[..text.len() / 2]).unwrap();
    for verb in ["keep", "shrink", "replay", "seeds verify", "trace why"] {
        ended(command(verb).arg(&damaged)).refused(2, &["damaged.json"]);
    }
    assert_eq!(ended(command("replay --bisect").arg(&damaged)).code, 125, "this commit cannot tell");
    assert_eq!(ended(command("replay --bisect").arg(file)).code, 1);
}

#[test]
fn the_beginning_of_several_fingerprints_is_refused_with_all_of_them() {
    let folder = folder("ambiguous");
    fs::create_dir_all(folder.join("found")).unwrap();
    for name in ["F-aaaa000001.json", "F-aaaa000002.json"] {
        fs::write(folder.join("found").join(name), "{}").unwrap();
    }
    for verb in ["replay", "keep", "shrink", "trace why"] {
        let said = |word: &str| ended(command(&format!("{verb} {word}")).env("CARGO_TARGET_DIR", &folder));
        said("F-aaaa").refused(2, &["beginning of several", "F-aaaa000001, F-aaaa000002"]);
        said("F-bbbb").refused(2, &["no failure F-bbbb", "F-aaaa000001"]);
    }
}

/// The files of failures in a folder, by name.
fn json_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

#[test]
fn a_saved_failure_that_passes_now_cannot_be_shrunk() {
    let folder = folder("passes_now");
    assert_eq!(ended(command(&format!("fuzz {BROKEN} --seed 7 --runs 200 --save")).arg(&folder)).code, 1);
    let file = json_files(&folder).remove(0);
    let mended = fs::read_to_string(&file).unwrap().replace("\"drop\"", "\"mailbox\"");
    fs::write(&file, &mended).unwrap();
    ended(command("shrink").arg(&file).arg("--save").arg(&folder))
        .refused(2, &["passes", "nothing to shrink"]);
    assert_eq!(json_files(&folder).len(), 1, "nothing is written");
    assert_eq!(fs::read_to_string(&file).unwrap(), mended, "and nothing overwritten");
}

#[test]
fn a_search_that_is_killed_again_and_again_finds_what_it_would_have_found() {
    let search = |folder: &std::path::Path| {
        let words = format!("fuzz {BROKEN} --seeds 0..150 --keep-going --jobs 2 --resume --save");
        let mut search = command(&words);
        search.arg(folder).stdout(Stdio::null()).stderr(Stdio::null());
        search
    };
    let (whole, killed) = (folder("whole"), folder("killed"));
    assert_eq!(search(&whole).status().unwrap().code(), Some(1));
    let names = |folder: &std::path::Path| {
        json_files(folder).iter().map(|file| file.file_name().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names(&whole).len() > 3, "{:?}", names(&whole));
    let mut kills = 0;
    for round in 1..40 {
        let mut child = search(&killed).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(25 * round));
        match child.try_wait().unwrap() {
            Some(_) => break,
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
            }
        }
        for file in json_files(&killed) {
            let text = fs::read_to_string(&file).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|e| panic!("{file:?}: {e}"));
        }
    }
    assert!(kills > 0, "it was killed");
    // However often that was: what is left is done.
    search(&killed).status().unwrap();
    assert_eq!(names(&killed), names(&whole));
    for (one, other) in json_files(&killed).iter().zip(json_files(&whole)) {
        let text = |file| fs::read_to_string(file).unwrap();
        // The commit may have changed meanwhile.
        let parsed = |text: String| {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value["commit"].take();
            value
        };
        assert_eq!(parsed(text(one)), parsed(text(&other)), "{one:?}");
    }
    assert_eq!(search(&killed).status().unwrap().code(), Some(4), "nothing is left to do");
}

/// Asserts that a text has these in their order.
fn in_order(text: &str, marks: &[&str]) {
    let place = |mark: &&str| text.find(mark).unwrap_or_else(|| panic!("`{mark}` is missing:\n{text}"));
    let places: Vec<usize> = marks.iter().map(place).collect();
    assert!(places.is_sorted(), "{marks:?} at {places:?} in\n{text}");
}

/// Asserts that the report of a saved failure tells the same things in the same order in each form.
fn reports_alike(small: &std::path::Path) {
    let report = |form: &str| ended(command(&format!("replay --report {form}")).arg(small)).out;
    let things = ["Still holds", "Found by", "Shrunk", "Deterministic"];
    let around = |first: &[&'static str], last: &[&'static str]| [first, &things, last].concat();
    let first = ["✗ ", "  \"", "Why, backwards", "State at the end"];
    in_order(&report("text"), &around(&first, &["Reproduce", "Step through", "Keep  "]));
    let first = ["### ✗", "\n> ", "Why, backwards", "State at the end"];
    in_order(&report("markdown"), &around(&first, &["# Reproduce", "# Step through", "# Keep"]));
    let json = report("json");
    assert_eq!(json.lines().count(), 1, "one object: {json}");
    let fields = ["rule", "claim", "message", "why", "state", "still_holds", "found_by", "shrunk"];
    let fields: Vec<String> =
        fields.iter().chain(&["deterministic", "commands"]).map(|field| format!("\"{field}\":")).collect();
    in_order(&json, &fields.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_pipeline_gets_an_annotation_and_the_report_which_is_alike_in_each_form() {
    let folder = folder("pipeline");
    let summary = folder.join("summary.md");
    let search = |shrink: &str| {
        let words =
            format!("fuzz {BROKEN} --seed 7 --runs 200 --message-format json --shrink {shrink} --save");
        let mut search = command(&words);
        search.arg(&folder).env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary);
        ended(&mut search)
    };
    let annotation = |ended: &support::Ended| {
        let lines: Vec<_> = ended.err.lines().filter(|line| line.starts_with("::error ")).collect();
        let [line] = lines[..] else { panic!("one annotation: {}", ended.err) };
        line.to_owned()
    };
    let coarse = search("off");
    let failure = &coarse.of_type("failure")[0];
    let fingerprint = failure["fingerprint"].as_str().expect("a failure has a fingerprint");
    let line = annotation(&coarse);
    assert!(line.contains(fingerprint) && line.contains("%0Acargo xtask fuzz"), "{line}");
    let fine = search("auto");
    let fingerprint = fine.of_type("shrunk")[0]["fingerprint"].as_str().expect("it is shrunk").to_owned();
    assert!(annotation(&fine).contains(&fingerprint));
    let text = fs::read_to_string(&summary).unwrap();
    assert_eq!(text.matches("### ✗").count(), 2, "both reports: {text}");
    let file = fine.of_type("shrunk")[0]["file"].as_str().expect("it is saved").to_owned();
    reports_alike(std::path::Path::new(&file));
}

#[test]
fn a_run_is_walked_through_and_its_messages_decided_from_standard_input() {
    let mut child = command("replay --step --system relay --profile calm 3")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let words = b"n 60\nf\ns n1\ndrop 1\nnonsense\nb 3\nv\nq\n";
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), words).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for said in ["sent at", "n1 term", "decided; the run now ends with", "? there is no command `nonsense`"] {
        assert!(text.contains(said), "`{said}` is missing in\n{text}");
    }
}

#[test]
fn traces_tell_why_where_they_part_and_all_of_it() {
    let why = run("trace why 3 e40");
    assert_eq!((why.code, why.out.lines().next().unwrap().trim().starts_with("e40")), (0, true), "{why:#?}");
    assert_eq!(run("trace diff 3 3").code, 0);
    let parted = run("trace diff 3 4");
    assert_eq!(parted.code, 1);
    assert!(parted.out.lines().any(|line| line.starts_with("- ")), "{}", parted.out);
    let export = run("trace export 3 jsonl");
    assert_eq!(export.of_type("trace").len(), 1);
    assert!(export.of_type("event").len() > 100);
    run("trace why 3 e99999999").refused(2, &["there is no event"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let file = folder("unwritable").join("a-file");
    fs::write(&file, "").unwrap();
    let found = ended(command(&format!("fuzz {BROKEN} --seed 7 --runs 200 --save")).arg(file.join("inside")));
    found.refused(2, &["cannot be written", "a-file"]);
}

#[test]
fn a_wrong_file_is_told_with_its_place_and_a_mend() {
    let folder = folder("wrong_files");
    let scenario = |name: &str, body: &str| {
        let file = folder.join(name);
        fs::write(&file, body).unwrap();
        file
    };
    let with = |script: &str, field: &str| {
        format!(
            "{{\n  \"name\": \"wrong\",\n  \"system\": \"relay\",{field}\n  \"script\": [\n    {script}\n  ],\n  \
             \"variants\": {{ \"default\": {{ \"expect\": \"pass\" }} }}\n}}\n"
        )
    };
    let check = |file: &std::path::Path| ended(command("scenario check").arg(file));

    let field = scenario("wrong.json", &with("\"servers 3\"", "\n  \"sistem\": 1,"));
    check(&field).refused(2, &["wrong.json:4:", "sistem", "mend:"]);
    let step = scenario("wrong.json", &with("\"servers 3\",\n    \"crsah n1 at 1s\"", ""));
    check(&step).refused(2, &["wrong.json:6:6:", "crsah", "mend:", "crash"]);
    let broken = scenario("wrong.json", "{ \"name\": ");
    check(&broken).refused(2, &["wrong.json:1:", "mend:"]);
    let system = scenario("wrong.json", &with("\"servers 3\"", "").replace("\"relay\"", "\"rely\""));
    check(&system).refused(2, &["wrong.json:3:", "rely", "relay"]);
    check(&folder.join("none.json")).refused(2, &["none.json"]);
    let saved = scenario("saved.json", "{ \"version\": 1 }");
    ended(command("replay").arg(saved)).refused(2, &["saved.json:1:", "mend:"]);
}

#[test]
fn the_disks_of_a_run_are_written_and_their_logs_are_shown() {
    let folder = folder("disks");
    let run = ended(command("replay --system kv --profile calm 7 --disks").arg(&folder));
    assert_eq!(run.code, 0, "{run:?}");
    let segment = folder.join("n1/segment-0000000000000001");
    let shown = ended(command("wal show").arg(&segment));
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("segment 1 begins") && shown.out.contains("entries from 1"), "{shown:?}");

    let mut bytes = fs::read(&segment).unwrap();
    bytes[50] ^= 6;
    fs::write(&segment, bytes).unwrap();
    let damaged = ended(command("wal show").arg(&segment));
    assert!(damaged.code == 0 && damaged.out.contains("the checksum of the frame is wrong"), "{damaged:?}");
    ended(command("wal show").arg(folder.join("none"))).refused(2, &["none", "cannot be read"]);
    let other = folder.join("notes");
    fs::write(&other, "nothing of ours").unwrap();
    ended(command("wal show").arg(&other)).refused(2, &["notes", "neither a segment nor a snapshot"]);
}

#[test]
fn a_step_that_never_happens_is_an_error_that_names_it_and_the_end_of_the_run() {
    let file = folder("never").join("never.json");
    let text = r#"{
  "name": "never",
  "system": "relay",
  "script": ["horizon 300ms", "crash n1 when n1 follows after 9999s until end"],
  "variants": { "default": { "expect": "pass" } }
}
"#;
    fs::write(&file, text).unwrap();
    ended(command("scenario run").arg(&file)).refused(
        2,
        &["never.json:4:32: @default: step 1", "crash n1 when", "never happened", "ended at", "mend: "],
    );
}

#[test]
fn a_scenario_that_cannot_be_read_or_has_no_such_variant_says_what_would_be_right() {
    let folder = folder("unreadable");
    let no_text = folder.join("no-text.json");
    fs::write(&no_text, [0xff, 0xfe]).unwrap();
    ended(command("scenario run").arg(&no_text)).refused(2, &["no-text.json: is no text in UTF-8"]);
    let list = folder.join("list.json");
    fs::write(&list, "[]").unwrap();
    ended(command("scenario run").arg(&list)).refused(2, &["list.json:1:1: ", "write an object in braces"]);
    run("scenario run split-vote --variant notised")
        .refused(2, &["split-vote has no variant `notised`", "noticed", "not-noticed"]);
}

#[test]
fn a_variant_is_replayed_by_its_file_or_its_name() {
    for word in ["scenarios/split-vote.json@noticed", "split-vote@noticed"] {
        for more in ["", "-v", "--around 2"] {
            let ended = run(&format!("replay {word} {more}"));
            assert_eq!(ended.code, 0, "{word} {more}: {ended:#?}");
        }
    }
    run("replay scenarios/split-vote.json").refused(2, &["several variants", "@VARIANT"]);
    run("replay split-vote@unseen").refused(2, &["unseen", "not-noticed"]);
    run("replay --profile calm split-vote@noticed").refused(2, &["--profile", "split-vote.json"]);
}

#[test]
fn to_check_a_scenario_builds_nothing_and_refuses_a_bug_there_is_not() {
    let file = folder("planted_in_a_file").join("planted.json");
    let text = |bug: &str| {
        format!(
            r#"{{ "name": "planted", "system": "kv", "script": ["servers 3"],
            "variants": {{ "one": {{ "bug": "{bug}", "expect": "pass" }} }} }}"#
        )
    };
    let check = |bug: &str| {
        fs::write(&file, text(bug)).unwrap();
        // No cargo, no build.
        ended(command("scenario check").arg(&file).env("CARGO", "no-such-cargo"))
    };
    assert_eq!(check("E04").code, 0);
    check("nosuch").refused(2, &["nosuch"]);
}

#[test]
fn a_scenario_that_does_not_do_what_is_expected_is_a_finding() {
    let folder = folder("unexpected");
    let original =
        fs::read_to_string(support::root().join("scenarios/leader-announce-before-relay-ready.json"));
    let original = original.unwrap();
    let run = |name: &str, text: &str| {
        let file = folder.join("leader-announce-before-relay-ready.json");
        fs::write(&file, text).unwrap();
        let ended = ended(command("scenario run").arg(&file));
        assert!(ended.out.contains("FAIL"), "{name}: {ended:#?}");
        ended.code
    };
    let mended = original.replace("\"relay-not-ready\": \"drop\"", "\"relay-not-ready\": \"mailbox\"");
    assert_ne!(mended, original);
    assert_eq!(run("an unexpected pass", &mended), 1);
    let value: serde_json::Value = serde_json::from_str(&original).unwrap();
    let rule = value.pointer("/variants/drop/expect/violates/rule").and_then(|rule| rule.as_str());
    let other =
        original.replace(&format!("\"{}\"", rule.expect("drop breaks a rule")), "\"election-safety\"");
    assert_eq!(run("another rule", &other), 1);
}

#[test]
fn a_new_scenario_runs_as_it_is_and_is_never_written_over() {
    let top = folder("new_scenario");
    fs::create_dir(top.join("scenarios")).unwrap();
    let here = |words: &str| ended(command(words).current_dir(&top));
    let written = here("scenario new two-leaders");
    assert_eq!(written.code, 0, "{written:#?}");
    assert_eq!(here("scenario run two-leaders").code, 0);
    assert_eq!(here("scenario fmt --check").code, 0, "it is written in the layout");
    here("scenario new two-leaders").refused(2, &["two-leaders.json", "already"]);
    here("scenario new Two_Leaders").refused(2, &["Two_Leaders", "hyphens"]);
    assert_eq!(here("scenario list").out.lines().count(), 2);

    let file = top.join("scenarios/two-leaders.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\n", "\n\n")).unwrap();
    assert_eq!(here("scenario fmt --check").code, 1);
    assert_eq!(here("scenario fmt").code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn where_there_is_no_scenario_nothing_is_clean() {
    let top = folder("no_scenarios");
    fs::create_dir(top.join("scenarios")).unwrap();
    for words in ["scenario list", "scenario run", "scenario check", "scenario fmt"] {
        assert_eq!(ended(command(words).current_dir(&top)).code, 4, "{words}");
    }
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
