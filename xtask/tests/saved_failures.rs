//! Saved failures on the command line: kept, replayed, reported, walked through, and searches that go on where they stopped.

mod support;

use std::fs;
use std::process::Stdio;
use std::time::Duration;
use support::{command, ended, folder, run};

/// A search that finds the race: the relay before it was mended.
const BROKEN: &str = "--system relay --set relay-not-ready=drop";

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

    let old = replay(&changed("old.json", "\"options\": {", "\"options\": {\n    \"pre-vote\": \"on\","));
    assert_eq!(old.code, 1, "{old:#?}");
    assert!(old.out.contains("the same failure"), "{}", old.out);
    assert!(old.err.contains("left out, as nothing has it any more: option `pre-vote`"), "{}", old.err);

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
    let gone = folder.join("gone.json");
    fs::write(&gone, text.replace("\"drop\"", "\"mailbox\"")).unwrap();
    ended(command("keep").arg(&gone)).refused(2, &["gone.json", "owes `fails` and does not", "mend:"]);
    assert!(!support::root().join("seeds/gone.json").exists());
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
