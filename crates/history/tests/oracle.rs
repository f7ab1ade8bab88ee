//! Histories with known verdicts, where those are at hand.

use std::path::{Path, PathBuf};
use whitewater_history::{Model, Options, Verdict, check, read};

/// The folder of histories beside the project, if there is one.
fn oracle() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracle/histories");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: histories with known verdicts are not at {}", folder.display());
    None
}

/// Files and whether each is linearizable.
fn verdicts(folder: &Path) -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(folder.join("verdicts.json")).unwrap();
    let entry = |line: &str| {
        let (name, verdict) = line.trim().trim_end_matches(',').split_once(": ")?;
        Some((name.trim_matches('"').to_owned(), verdict == "true"))
    };
    text.lines().filter_map(entry).collect()
}

#[test]
fn all_known_verdicts_are_given_and_every_violation_is_reduced_to_one() {
    let Some(folder) = oracle() else { return };
    let verdicts = verdicts(&folder);
    assert!(verdicts.len() >= 156, "{}", verdicts.len());
    for (name, is_linearizable) in verdicts {
        let model = if name.contains("kv") { Model::Kv } else { Model::CasRegister };
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let history = read(&text, model).unwrap_or_else(|why| panic!("{name}:{why}"));
        match check(&history, Options::new(model)) {
            Verdict::Linearizable => assert!(is_linearizable, "{name} has no explanation"),
            Verdict::Unknown => panic!("{name} is undecided"),
            Verdict::Violation(counter_example) => {
                assert!(!is_linearizable, "{name} has an explanation, and not\n{counter_example}");
                let reduced = &counter_example.history;
                let again = check(reduced, Options::new(model));
                assert!(
                    matches!(again, Verdict::Violation(_)),
                    "{name} is reduced to what has an explanation"
                );
                eprintln!("{name}: {counter_example}");
            }
        }
    }
}
