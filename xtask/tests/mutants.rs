//! Planted bugs: not a trace of them in a default build, and commands that plant one build themselves anew.

mod support;

use std::fs;
use std::io::BufRead;
use support::{command, ended, folder};

/// Ids that must not stand in a default build. Short ones count only as words of their own.
fn ids() -> Vec<String> {
    let root =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the top folder");
    let mut ids = vec!["seed-e".to_owned(), "SeedE".to_owned()];
    let named = whitewater_mutants::named(root).expect("the list of bugs can be read");
    ids.extend(named.into_iter().map(|bug| bug.id).filter(|id| !id.starts_with("seed-e")));
    assert!(ids.len() > 20, "{ids:?}");
    ids
}

/// The ids that stand in what a file holds, with what stands behind them.
fn ids_in(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for id in &ids() {
        let mut rest = bytes;
        let mut next = 0;
        // Binaries are large: the standard library skips quickly, even in a build without optimisation.
        loop {
            let skipped = rest.skip_until(id.as_bytes()[0]).expect("bytes in memory can be read");
            if skipped == 0 {
                break;
            }
            next += skipped;
            if bytes[next - 1..].starts_with(id.as_bytes()) && stands(id, bytes, next - 1) {
                let around = &bytes[next - 1..bytes.len().min(next + 20)];
                found.push(String::from_utf8_lossy(around).into_owned());
            }
        }
    }
    found
}

/// Whether that is an id, and no machine code or name made by the compiler: those hold any three letters.
fn stands(id: &str, bytes: &[u8], at: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(0);
    let (before, after) = (byte(at.checked_sub(1)), byte(Some(at + id.len())));
    if id.len() > 3 {
        return after.is_ascii_digit();
    }
    let is_word = !before.is_ascii_alphanumeric() && before != b'_' && !after.is_ascii_alphanumeric();
    // By accident three letters stand beside a fourth in any large program; in a text there are more.
    let is_text = |byte: &&u8| (b' '..=b'~').contains(*byte);
    let text = bytes[..at].iter().rev().take_while(is_text).take(TEXT_MIN).count()
        + bytes[at..].iter().take_while(is_text).take(TEXT_MIN).count();
    is_word && text >= TEXT_MIN
}

/// Characters that make a text of what stands around three letters.
const TEXT_MIN: usize = 8;

#[test]
fn bugs_stand_in_a_build_with_the_feature_and_in_no_other() {
    let binary = fs::read(env!("CARGO_BIN_EXE_xtask")).expect("it was built");
    let found = ids_in(&binary);
    assert_eq!(found.is_empty(), cfg!(not(feature = "mutants")), "{found:?}");
}

#[test]
fn an_id_is_found_in_a_text_and_by_itself_only() {
    assert_eq!(ids_in(b"there are E04, R06").len(), 2);
    assert_eq!(ids_in(b"\0\0xxseed-e12E04\0").len(), 1);
    assert_eq!(ids_in(b"0xE04F seed-eleven SeedEntry \xff\0R14\0"), [""; 0]);
    assert_eq!(ids_in(b"\0E08,\0\xe8Z \x03\0/E09>\0"), [""; 0], "machine code");
}

#[cfg(not(feature = "mutants"))]
mod without_bugs {
    use super::*;

    const SAVED: &str = r#"{
  "plan": 1,
  "seed": "0x0000000000000000",
  "rule": "panic",
  "message": "it panicked",
  "trace-hash": "0x00000000000000000000000000000000",
  "system": "kv",
  "profile": "swarm",
  "options": {},
  "bug": "R14",
  "script": ["servers 3"]
}
"#;

    #[test]
    fn a_second_build_that_has_no_bugs_either_does_not_ask_for_a_third() {
        ended(command("fuzz --mutant R14 --runs 1").env("WHITEWATER_REBUILT", "1"))
            .refused(2, &["no bugs can be planted", "mutants"]);
    }

    #[test]
    fn where_there_is_no_cargo_no_bug_can_be_planted_and_that_is_said() {
        let saved = folder("saved_by_a_build_with_bugs").join("saved.json");
        fs::write(&saved, SAVED).unwrap();
        let replay = format!("replay {}", saved.display());
        let patched = saved.with_file_name("patched.json");
        fs::write(&patched, SAVED.replace("R14", "E17")).unwrap();
        let of_a_patch = |verb: &str| format!("{verb} {}", patched.display());
        for words in [
            &*of_a_patch("replay"),
            &of_a_patch("shrink"),
            &of_a_patch("trace why"),
            &of_a_patch("seeds verify"),
            "fuzz --mutant R14 --runs 1",
            "mutants R14",
            "replay --mutant R14 7",
            &replay,
            "scenario run seed-e9-append-before-session-ready",
            "scenario show seed-e9-append-before-session-ready",
        ] {
            // Where no program lies that was built before.
            let target = saved.with_file_name("target");
            ended(command(words).env("CARGO", "/no/such/cargo").env("CARGO_TARGET_DIR", target))
                .refused(2, &["/no/such/cargo", "cannot be started", "build of their own"]);
        }
    }

    #[test]
    fn files_that_plant_bugs_of_different_builds_are_run_one_by_one() {
        let folder = folder("bugs_of_two_builds");
        fs::write(folder.join("named.json"), SAVED).unwrap();
        fs::write(folder.join("patched.json"), SAVED.replace("R14", "E17")).unwrap();
        let both = ended(command("replay").arg(&folder).env("CARGO", "/no/such/cargo"));
        both.refused(2, &["E17", "R14", "one by one"]);
        fs::write(folder.join("unknown.json"), SAVED.replace("R14", "E99")).unwrap();
        ended(command("replay").arg(folder.join("unknown.json"))).refused(2, &["no bug `E99`", "E17", "R14"]);
        ended(command("seeds verify").arg(&folder)).refused(2, &["unknown.json", "no bug `E99`"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_same_words_are_given_to_the_build_with_bugs_and_its_end_is_passed_on() {
        use std::os::unix::fs::PermissionsExt;
        let cargo = folder("cargo_that_tells").join("cargo");
        fs::write(&cargo, "#!/bin/sh\necho \"$@\"\necho \"$WHITEWATER_REBUILT\" >&2\nexit 6\n").unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        let mut fuzz = command("fuzz --mutant R14 --seed 7");
        let told = ended(fuzz.env("CARGO", &cargo).env("CARGO_TARGET_DIR", "/built"));
        assert_eq!(told.code, 6);
        assert_eq!(
            told.out.trim(),
            "run --quiet --profile fuzz --package xtask --features mutants --target-dir /built/mutants -- \
             fuzz --mutant R14 --seed 7"
        );
        assert!(told.err.ends_with("1\n"), "it knows that it is the second build: {}", told.err);
    }

    #[test]
    fn what_needs_no_bug_is_not_built_anew() {
        for words in ["fuzz --seed 7", "scenario list", "scenario fmt --check", "scenario run leader-cut-off"]
        {
            let plain = ended(command(words).env("CARGO", "/no/such/cargo"));
            assert_eq!(plain.code, 0, "{words}: {plain:#?}");
        }
    }
}

#[cfg(feature = "mutants")]
mod with_bugs {
    use super::*;
    use support::run;
    use whitewater_sim::System;

    #[test]
    fn an_unknown_bug_is_refused_with_a_list_of_those_there_are() {
        for words in ["fuzz --mutant R41 --runs 1", "replay --mutant R41 7", "mutants R41"] {
            run(words).refused(2, &["R41", "R14", "seed-e9"]);
        }
        run("fuzz --system relay --mutant R14 --runs 1").refused(2, &["relay", "R14"]);
    }

    #[test]
    fn a_planted_bug_is_found_and_its_command_finds_it_again() {
        let found = run("mutants R14 seed-e9 --hits 2 --message-format json");
        assert_eq!(found.code, 0, "{found:#?}");
        let lines = found.of_type("mutant");
        assert_eq!(lines.len(), 2);
        for line in lines {
            assert_eq!(line["hits"], 2, "{line}");
            let words = line["command"].as_str().unwrap().strip_prefix("cargo xtask ").unwrap().to_owned();
            let again = run(&format!("{words} --message-format json"));
            assert_eq!(again.code, 1, "{again:#?}");
            let rule = again.of_type("failure")[0]["rule"].as_str().unwrap().to_owned();
            assert!(line["rules"].get(rule.as_str()).is_some(), "{rule} in {line}");
        }
    }

    #[test]
    fn a_rule_that_ends_a_search_sees_the_bug_when_it_watches_alone() {
        let found = run("mutants R14 seed-e9 --hits 2 --watchers 2 --message-format json");
        assert_eq!(found.code, 0, "{found:#?}");
        for line in found.of_type("mutant") {
            let watched = line["watched"].as_array().unwrap();
            assert_eq!(watched.len(), 2, "{line}");
            for rule in line["rules"].as_object().unwrap().keys() {
                let sees = |fired: &serde_json::Value| fired["rule"] == rule.as_str();
                assert!(watched.iter().any(|run| run.as_array().unwrap().iter().any(sees)), "{line}");
            }
        }
    }

    #[test]
    fn every_bug_of_a_system_is_described_and_every_bug_that_is_described_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let described: Vec<_> =
            whitewater_mutants::named(root).unwrap().into_iter().map(|bug| bug.id).collect();
        let refused = run("mutants NOPE");
        refused.refused(2, &["NOPE"]);
        let listed = refused.err;
        let patched: Vec<_> =
            whitewater_mutants::all(root).unwrap().into_iter().map(|patch| patch.id).collect();
        for id in described.iter().chain(&patched) {
            assert!(listed.contains(id.as_str()), "{id} is not in: {listed}");
        }
        for id in &described {
            let planted = run(&format!("fuzz --mutant {id} --runs 1"));
            assert!(planted.code < 2, "{id}: {planted:#?}");
        }
        for id in whitewater_kv::KV.bugs().iter().chain(whitewater_relay::RELAY.bugs()) {
            assert!(described.iter().any(|other| other == id), "{id} is not described");
        }
    }

    #[test]
    fn a_bug_that_outlives_its_budget_is_a_finding() {
        let survived = run("mutants R14 --deliveries 0 --message-format json");
        assert_eq!(survived.code, 1, "{survived:#?}");
        assert_eq!(survived.of_type("mutant")[0]["hits"], 0);
        assert!(survived.of_type("mutant")[0]["core_seconds"].is_null());
    }

    #[test]
    fn without_a_bug_planted_the_build_with_bugs_makes_the_same_runs_and_finds_nothing() {
        let plain = run("fuzz --system kv --seed 7 --message-format json");
        let none = run("fuzz --system kv --mutant none --seed 7 --message-format json");
        assert_eq!((none.code, none.of_type("run")), (0, plain.of_type("run")));
    }

    #[test]
    fn a_saved_failure_keeps_its_bug() {
        let folder = folder("saved_with_a_bug");
        let found = ended(command("fuzz --mutant R14 --seed 0 --runs 2000 --save").arg(&folder));
        assert_eq!(found.code, 1, "{found:#?}");
        let file = fs::read_dir(&folder).unwrap().next().expect("one file").unwrap().path();
        let json = fs::read_to_string(&file).unwrap();
        assert!(json.contains("\"bug\": \"R14\""), "{json}");
        let again = ended(command("replay").arg(&file));
        assert_eq!(again.code, 1);
        assert!(again.out.contains("the same failure"), "{}", again.out);
    }
}

#[cfg(feature = "mutants")]
#[test]
fn what_each_command_prints_leads_from_a_failing_search_to_a_scenario_with_its_snapshots() {
    let project = folder("to_a_scenario");
    fs::create_dir_all(project.join("scenarios")).unwrap();
    let readme = fs::read_to_string(support::root().join("scenarios/README.md")).unwrap();
    fs::write(project.join("scenarios/README.md"), readme).unwrap();
    let typed = |words: &str| {
        let mut typed = command(words);
        typed.current_dir(&project).env("CARGO_TARGET_DIR", project.join("target"));
        ended(typed.env("WHITEWATER_SHRINK", "auto"))
    };
    let printed = |text: &str, label: &str| -> String {
        let line =
            text.lines().find_map(|line| line.trim_start().strip_prefix(label)?.split_once("cargo xtask "));
        line.unwrap_or_else(|| panic!("`{label}` is missing in\n{text}")).1.to_owned()
    };
    let found = typed("fuzz --mutant E04 --seed 0 --runs 200");
    assert_eq!(found.code, 1, "{found:#?}");
    let mut all = format!("{}{}", found.out, found.err);
    assert_eq!(typed(&printed(&all, "Replay")).code, 1);
    // On a machine that does much else there is more to shrink.
    for _ in 0..5 {
        if all.contains("Shrink on") {
            all = typed(&printed(&all, "Shrink on")).out;
        }
    }
    let kept = typed(&printed(&all, "As a scenario"));
    assert_eq!(kept.code, 0, "{kept:#?}");
    let run = typed(&printed(&kept.out, "next:"));
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.out.contains("@bug") && run.out.contains("(expected)"), "{}", run.out);
    assert!(run.out.contains("@fix  pass"), "what mends it stands beside it: {}", run.out);
    let snapshots: Vec<_> = fs::read_dir(project.join("scenarios/snapshots")).unwrap().collect();
    assert_eq!(snapshots.len(), 2, "{snapshots:?}");
    assert_eq!(typed("scenario index --check").code, 0, "the index has it");
}
