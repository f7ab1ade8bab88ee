//! A scenario file inside of a test: every variant does what the file expects, and its trace is the one in the snapshot.

use crate::tested::{Tested, system};
use std::path::Path;
use whitewater_hunt::{meets, scenario_text};
use whitewater_plan::Scenario;
use whitewater_sim::System;

/// Runs every variant of a scenario file of a node, as `cargo xtask scenario new` begins one and a search keeps one. The trace
/// of each is held by a snapshot beside the file, `snapshots/NAME@VARIANT.snap`; `INSTA_UPDATE=always` or `cargo insta
/// review` accepts a change.
///
/// `path` counts from the folder of the package whose tests run.
///
/// # Panics
/// The file cannot be read, a variant does something else than the file expects, or its trace is another one.
#[track_caller]
pub fn scenario<N: Tested>(path: &str) {
    scenario_in(system::<N>(), path);
}

/// As [`scenario`], for a system.
///
/// # Panics
/// As [`scenario`].
#[track_caller]
pub fn scenario_in(system: &'static dyn System, path: &str) {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let file = Path::new(&folder).join(path);
    let json = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let scenario = Scenario::parse(path, &json, &[system]).unwrap_or_else(|error| panic!("{error}"));
    let mut wrong = Vec::new();
    for variant in &scenario.variants {
        let (text, outcome) =
            scenario_text(system, &scenario, &variant.name).unwrap_or_else(|why| panic!("{path}: {why}"));
        if let Err(why) = meets(&variant.expect, &outcome.verdict) {
            wrong.push(format!("{path} @{}: {why}", variant.name));
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(file.parent().unwrap_or(&file).join("snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_suffix(&variant.name);
        settings.bind(|| insta::assert_snapshot!(scenario.name.as_str(), text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
