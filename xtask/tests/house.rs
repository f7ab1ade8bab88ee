//! House rules: which crate may see which, what a file looks like, what lies in the top folder.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use support::{root, sources};

/// Longest file, in lines; tests and tables are excepted.
const LINES_MAX: usize = 600;

/// For each crate the crates of ours it may depend on. Dependencies of tests are free.
const ARROWS: &[(&str, &[&str])] = &[
    ("whitewater-raft", &[]),
    ("whitewater-sim", &[]),
    ("whitewater-wal", &["sim"]),
    ("whitewater-history", &[]),
    ("whitewater-check", &["sim", "history"]),
    ("whitewater-plan", &["sim", "check"]),
    ("whitewater-hunt", &["sim", "check", "history", "plan"]),
    ("whitewater-cli", &["sim", "wal", "check", "history", "plan", "hunt", "mutants"]),
    ("whitewater-mutants", &[]),
    ("whitewater-relay", &["sim", "check"]),
    ("whitewater-store", &["sim", "check", "wal"]),
    ("whitewater-exec", &["sim", "check", "store"]),
    ("whitewater-kv", &["sim", "check", "history", "raft", "wal"]),
    ("whitewater", &["sim", "check", "plan", "hunt"]),
    ("whitewater-conformance", &["raft"]),
    ("xtask", &["cli", "relay", "kv", "exec", "conformance"]),
];

/// Crates whose behaviour must follow from a seed alone: no dependency that could bring a clock or chance of its own.
const FOREIGN: &[(&str, &[&str])] = &[
    ("whitewater-raft", &[]),
    ("whitewater-sim", &["rand_chacha"]),
    ("whitewater-wal", &[]),
    ("whitewater-history", &[]),
    ("whitewater-check", &[]),
    ("whitewater-relay", &[]),
    ("whitewater-kv", &[]),
];

/// Uses that close a circle and may: in this crate, this module names that one.
const CIRCLES: &[(&str, &str, &str)] = &[
    // A node is handed the effects it fills in, and effects are made of a node's own types: one contract.
    ("sim", "effects", "node"),
    // The parts of a node take its inputs, and the type of an input is that of the node.
    ("kv", "client", "node"),
    ("kv", "server", "node"),
    ("store", "client", "node"),
    ("store", "dead", "node"),
    ("store", "server", "node"),
    // How things are written as etcd writes them stands in one file, and each thing says that it is written so.
    ("raft", "entry", "describe"),
    ("raft", "quorum", "describe"),
    ("raft", "conf_change", "describe"),
    ("raft", "message", "describe"),
    ("raft", "ready", "describe"),
    ("raft", "state", "describe"),
    ("raft", "tracker", "describe"),
    ("raft", "changer", "describe"),
    // A tracker takes over what a changer has made out of it.
    ("raft", "tracker", "changer"),
];

/// What may lie in the top folder, apart from names that begin with a dot.
const TOP: &[&str] = &[
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "FAULTS.md",
    "FINDINGS.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "crates",
    "deny.toml",
    "profiles",
    "rustfmt.toml",
    "scenarios",
    "seeds",
    "xtask",
];

#[test]
fn dependencies_between_our_crates_follow_the_arrows() {
    let arrows: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (package, dependencies) in normal_dependencies() {
        let Some(allowed) = arrows.get(package.as_str()) else {
            wrong.push(format!("{package} has no line in the table of arrows"));
            continue;
        };
        let allowed: BTreeSet<_> = allowed.iter().map(|name| format!("whitewater-{name}")).collect();
        for dependency in dependencies.iter().filter(|d| d.starts_with("whitewater")) {
            if !allowed.contains(dependency) {
                wrong.push(format!("{package} must not depend on {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_lower_crates_depend_on_next_to_nothing_from_outside() {
    let dependencies = normal_dependencies();
    let mut wrong = Vec::new();
    for (package, allowed) in FOREIGN {
        for dependency in dependencies.get(*package).into_iter().flatten() {
            if !dependency.starts_with("whitewater-") && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{package} must not depend on {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_lower_crates_ban_clocks_and_unordered_maps() {
    let mut wrong = Vec::new();
    for name in ["sim", "wal", "history", "check", "plan", "raft", "systems/relay", "systems/kv"] {
        let folder = root().join("crates").join(name);
        if !folder.join("Cargo.toml").exists() {
            continue;
        }
        let bans = fs::read_to_string(folder.join("clippy.toml")).unwrap_or_default();
        for banned in ["HashMap", "HashSet", "Instant", "SystemTime"] {
            if !bans.contains(banned) {
                wrong.push(format!("crates/{name}/clippy.toml does not ban {banned}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_begins_with_a_sentence_that_could_stand_in_a_list() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if let Err(why) = first_sentence(&text) {
            wrong.push(format!("{}: {why}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first_sentence(text: &str) -> Result<String, &'static str> {
    let doc: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let paragraph = doc.split(|line| line.is_empty()).next().unwrap_or_default().join(" ");
    if paragraph.is_empty() {
        return Err("no module doc at its head");
    }
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    let sentence = &paragraph[..end];
    match sentence {
        s if !s.ends_with('.') => Err("the first sentence of the module doc has no full stop"),
        s if s.len() > 160 => Err("the first sentence of the module doc is too long for a list of files"),
        s if s.split_whitespace().count() < 3 => Err("the module doc says too little"),
        s => Ok(s.to_owned()),
    }
}

#[test]
fn a_module_doc_without_a_sentence_is_refused() {
    assert!(first_sentence("fn main() {}").is_err());
    assert!(first_sentence("//! Time\nfn main() {}").is_err());
    assert_eq!(first_sentence("//! Time and\n//! tide wait. For nobody.\n").unwrap(), "Time and tide wait.");
}

#[test]
fn no_file_is_longer_than_600_lines() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let excepted = is_test(&path) || name.ends_with("table") || name.ends_with("tables");
        if lines > LINES_MAX && !excepted {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name == "tests" || name.ends_with("_tests") || path.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn nothing_is_left_for_later_and_no_path_of_a_machine_is_written_down() {
    // Put together here, so that this file does not break its own rule.
    let left_over = ["TODO", "FIXME", "XXX"].map(|word| format!("{word}:"));
    let macros = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];
    let homes = [concat!("/", "home/"), concat!("/", "root/"), concat!("/", "Users/"), concat!("C:", "\\\\")];
    let mut wrong = Vec::new();
    for (path, text) in sources().into_iter().chain(documents()) {
        for (at, line) in text.lines().enumerate() {
            let left = left_over.iter().any(|word| line.contains(word.as_str()));
            let call = macros.iter().any(|word| line.contains(word));
            let home = homes.iter().any(|word| line.contains(word));
            if left || call || home {
                wrong.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn assertions_stay_on_in_every_build() {
    let switched = |line: &&str| line.trim_start().starts_with(concat!("debug_", "assert"));
    for (path, text) in sources() {
        let found = text.lines().find(switched);
        assert_eq!(found, None, "{}: campaigns are built without debug assertions", path.display());
    }
}

#[test]
fn no_two_modules_of_a_crate_depend_on_each_other() {
    let mut wrong = Vec::new();
    for (folder, mut uses) in module_uses() {
        for (name, from, to) in CIRCLES {
            if let (true, Some(used)) = (folder.ends_with(name), uses.get_mut(*from)) {
                used.remove(*to);
            }
        }
        wrong.extend(
            circles(&uses).iter().map(|circle| format!("{}: {}", folder.display(), circle.join(" <-> "))),
        );
    }
    assert!(wrong.is_empty(), "modules that depend on each other:\n{}", wrong.join("\n"));
}

/// For each crate the top-level modules and those each of them names as `crate::...` outside of comments and tests.
fn module_uses() -> BTreeMap<PathBuf, BTreeMap<String, BTreeSet<String>>> {
    let mut crates: BTreeMap<PathBuf, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (path, text) in sources() {
        let Some(at) = path.iter().position(|part| part == "src") else { continue };
        let folder: PathBuf = path.iter().take(at).collect();
        let module = path.iter().nth(at + 1).expect("a file in src has a name").to_string_lossy();
        let module = module.trim_end_matches(".rs").to_owned();
        if ["lib", "main"].contains(&module.as_str()) || is_test(&path) {
            continue;
        }
        let production = text.split("#[cfg(test)]").next().unwrap_or_default();
        let used = crates.entry(folder).or_default().entry(module.clone()).or_default();
        for line in production.lines().filter(|line| !line.trim_start().starts_with("//")) {
            used.extend(named(line).filter(|name| *name != module));
        }
    }
    for uses in crates.values_mut() {
        let modules: BTreeSet<_> = uses.keys().cloned().collect();
        uses.values_mut().for_each(|used| used.retain(|name| modules.contains(name)));
    }
    crates
}

/// The modules of the crate that a line names.
fn named(line: &str) -> impl Iterator<Item = String> {
    line.match_indices("crate::").filter(|(at, _)| !line[..*at].ends_with('$')).map(|(at, found)| {
        let rest = line[at + found.len()..].chars();
        rest.take_while(|c| c.is_ascii_lowercase() || *c == '_' || c.is_ascii_digit()).collect()
    })
}

/// Groups of modules that reach each other.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            for next in uses.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<_, _> = uses.keys().map(|module| (module, reach(module))).collect();
    let circle_of = |module: &String| -> Vec<String> {
        reached[module].iter().filter(|other| reached[other].contains(module)).cloned().collect()
    };
    uses.keys().map(circle_of).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn a_circle_of_modules_is_found_even_over_a_third() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            uses.entry((*to).to_owned()).or_default();
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        uses
    };
    assert!(circles(&uses(&[("a", "b"), ("b", "c")])).is_empty());
    assert_eq!(circles(&uses(&[("a", "b"), ("b", "c"), ("c", "a")])).len(), 1);
}

#[test]
fn the_top_folder_holds_only_what_belongs_there() {
    let mut wrong = Vec::new();
    for name in support::tracked().iter().filter_map(|path| path.iter().next()) {
        let name = name.to_string_lossy();
        if !name.starts_with('.') && !TOP.contains(&&*name) {
            wrong.push(name.into_owned());
        }
    }
    assert!(wrong.is_empty(), "not in the list of what the top folder holds: {}", wrong.join(", "));
}

/// Every document and data file for people.
fn documents() -> Vec<(PathBuf, String)> {
    let is_text = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        ["md", "toml", "json", "snap", "yml"].contains(&extension.as_str())
    };
    support::read(support::tracked().into_iter().filter(is_text))
}

/// Direct dependencies of each of our packages that are compiled into it, by package name.
fn normal_dependencies() -> BTreeMap<String, Vec<String>> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let name = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    let normal = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
        dependencies.iter().filter(|d| d["kind"].is_null()).map(name).collect()
    };
    packages.iter().map(|package| (name(package), normal(package))).collect()
}
