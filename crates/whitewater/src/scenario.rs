//! A scenario file inside of a test: every variant does what the file expects, and its trace is the one in the snapshot.

use crate::tested::{Tested, system};
use std::path::Path;
use whitewater_hunt::{meets, scenario_text};
use whitewater_plan::{Scenario, Variant};
use whitewater_sim::{Outcome, System};

/// Runs every variant of a scenario file of a node, as `cargo xtask scenario new` begins one and a search keeps one. The trace
/// of each is held by a snapshot beside the file, `snapshots/NAME@VARIANT.snap`; `INSTA_UPDATE=always` or `cargo insta
/// review` accepts a change.
///
/// `path` counts from the folder of the package whose tests run.
///
/// # Panics
/// The file cannot be read; a variant does something else than the file expects; or, if all do what is expected, a trace is
/// another one than its snapshot.
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
    let told = |variant: &Variant| {
        scenario_text(system, &scenario, &variant.name).unwrap_or_else(|why| panic!("{path}: {why}"))
    };
    let told: Vec<(&Variant, String, Outcome)> = scenario
        .variants
        .iter()
        .map(|variant| (variant, told(variant)))
        .map(|(variant, (text, outcome))| (variant, text, outcome))
        .collect();
    // What is expected goes before what it looks like: with another verdict every trace is another one.
    let wrong: Vec<String> =
        told.iter().filter_map(|(variant, text, outcome)| unexpected(path, variant, text, outcome)).collect();
    assert!(wrong.is_empty(), "\n\n{}", wrong.join("\n"));
    for (variant, text, _) in told {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(file.parent().unwrap_or(&file).join("snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_suffix(&variant.name);
        settings.bind(|| insta::assert_snapshot!(scenario.name.as_str(), text));
    }
}

/// What to say of a variant that did something else than its file expects.
fn unexpected(path: &str, variant: &Variant, text: &str, outcome: &Outcome) -> Option<String> {
    let why = meets(&variant.expect, outcome).err()?;
    let name = &variant.name;
    Some(format!(
        "{path} @{name}: {why}\n\n{text}\n  Mend the protocol; if it is right, give @{name} another `expect` in {path}.\n"
    ))
}
