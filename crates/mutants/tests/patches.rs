//! Every patch of the project is complete, and applies to the sources as they are.

use std::collections::BTreeSet;
use std::path::Path;
use whitewater_mutants::{Patch, all};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two folders below the top")
}

fn patches() -> Vec<Patch> {
    let patches = all(root()).expect("every patch can be read");
    assert!(patches.len() >= 35, "only {} patches are left", patches.len());
    patches
}

#[test]
fn every_patch_applies_to_the_sources_as_they_are() {
    let wrong: Vec<_> = patches().iter().filter_map(|patch| patch.apply(root()).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

#[test]
fn no_patch_changes_a_test_or_what_is_checked() {
    for patch in patches() {
        for file in patch.files() {
            let allowed = file.starts_with("crates/raft/src")
                || file.starts_with("crates/wal/src")
                || file.starts_with("crates/systems")
                    && !file.components().any(|part| part.as_os_str() == "monitor");
            assert!(allowed, "{} changes {}", patch.id, file.display());
        }
    }
}

#[test]
fn ids_come_once_and_no_two_bugs_are_the_same_change() {
    let (mut ids, mut changes) = (BTreeSet::new(), BTreeSet::new());
    for patch in patches() {
        assert!(ids.insert(patch.id.clone()), "{} comes twice", patch.id);
        let change: Vec<_> = patch.apply(root()).expect("it applies");
        assert!(changes.insert(change), "{} changes what another patch changes", patch.id);
    }
}
