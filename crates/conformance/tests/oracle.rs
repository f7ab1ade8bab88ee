//! The core gives the answers of etcd's own tests, where those are at hand, and the comparison can fail.

use std::path::{Path, PathBuf};
use whitewater_conformance::{FileOutcome, main_with, run_paths, run_text};

/// The folder of etcd's test files beside the project, if there is one.
fn oracle() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle/etcd-raft");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: etcd's test files are not at {}", folder.display());
    None
}

fn equal_files(folder: &str) -> Option<usize> {
    let reports = run_paths(&[oracle()?.join(folder)]);
    for report in &reports {
        assert!(matches!(report.outcome, FileOutcome::Equal { .. }), "{report}");
    }
    Some(reports.len())
}

#[test]
fn all_28_interactions_are_equal() {
    assert!(equal_files("interaction").is_none_or(|count| count == 28));
}

#[test]
fn all_4_quorum_files_are_equal() {
    assert!(equal_files("quorum").is_none_or(|count| count == 4));
}

#[test]
fn all_9_configuration_change_files_are_equal() {
    assert!(equal_files("confchange").is_none_or(|count| count == 9));
}

#[test]
fn all_generated_files_are_equal() {
    assert!(equal_files("generated").is_none_or(|count| count >= 43));
}

/// Changing any one digit in a line that counts turns the run red at exactly that line.
#[test]
fn a_changed_digit_is_found_at_its_line() {
    let Some(folder) = oracle() else { return };
    for name in
        ["interaction/probe_and_replicate.txt", "quorum/joint_commit.txt", "confchange/joint_safety.txt"]
    {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut tried = 0;
        for at in expected_lines_with_digits(&lines).step_by(3) {
            let mut changed: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
            changed[at] = change_digit(&changed[at]);
            let FileOutcome::Differs(difference) = run_text(&(changed.join("\n") + "\n")) else {
                panic!("{name}:{}: the change went unnoticed", at + 1);
            };
            assert_eq!(difference.line, at + 1, "{name}");
            tried += 1;
        }
        assert!(tried > 3, "{name}: only {tried} lines tried");
    }
}

/// The lines of output, without chatter, that have a digit.
fn expected_lines_with_digits<'a>(lines: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let mut inside = false;
    (0..lines.len()).filter(move |&at| {
        match lines[at] {
            "----" => inside = true,
            "" => inside = false,
            line => return inside && !line.contains("INFO ") && !line.contains("DEBUG ") && has_digit(line),
        }
        false
    })
}

fn has_digit(line: &str) -> bool {
    line.contains(|c: char| c.is_ascii_digit())
}

fn change_digit(line: &str) -> String {
    let at = line.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let digit = line.as_bytes()[at] - b'0';
    format!("{}{}{}", &line[..at], (digit + 1) % 10, &line[at + 1..])
}

#[test]
fn exit_codes_tell_equal_from_different_from_unreadable() {
    let folder = std::env::temp_dir().join(format!("whitewater-conformance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = |name: &str, text: Option<&str>| {
        let path = folder.join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let mut out = Vec::new();
        let code = main_with(&[path], &mut out).unwrap();
        (code, String::from_utf8(out).unwrap())
    };
    assert_eq!(run("equal.txt", Some("vote cfg=(1) votes=(y)\n----\nVoteWon\n")).0, 0);
    let (code, text) = run("different.txt", Some("vote cfg=(1) votes=(y)\n----\nVoteLost\n"));
    assert_eq!(code, 1);
    assert!(text.contains("different.txt:3:"), "{text}");
    assert!(text.contains("expected: VoteLost"), "{text}");
    assert!(text.contains("actual:   VoteWon"), "{text}");
    assert_eq!(run("missing.txt", None).0, 2);
    assert_eq!(run("malformed.txt", Some("vote cfg=(1)\n")).0, 2);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A change that would leave no voter is refused when it is applied, and the node lives on.
#[test]
fn the_last_voter_cannot_become_a_learner() {
    let text = "add-nodes 1 voters=(1) index=2\n----\n\ncampaign 1\n----\n\nstabilize log-level=none\n----\n\n\
                propose-conf-change 1\nl1\n----\n\nstabilize log-level=none\n----\nremoved all voters\n\n\
                propose 1 alive\n----\n\nstabilize log-level=none\n----\n\n\
                raft-state\n----\n1: StateLeader (Voter) Term:1 Lead:1\n\n\
                status 1\n----\n1: StateReplicate match=5 next=6\n";
    assert_eq!(run_text(text), FileOutcome::Equal { commands: 9 });
}
