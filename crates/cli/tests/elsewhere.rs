//! A program in another repository: every line that it prints is one that works there, and what it found is not lost.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What stands before a verb there.
const CALLED: &str = "cargo run --release -- ";

/// A folder as another repository has it.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn new(name: &str) -> Elsewhere {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("scenarios")).expect("it can be made");
        fs::create_dir_all(folder.join("seeds")).expect("it can be made");
        Elsewhere(folder)
    }

    /// Exit code and everything that is printed.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_guest"));
        program.args(words).current_dir(&self.0).env("CARGO_TARGET_DIR", self.0.join("target"));
        let output = program.output().expect("it can be started");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).expect("it prints text");
        (output.status.code().expect("nobody kills it"), text)
    }

    fn found(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.0.join("target/found")).expect("something was found");
        files.map(|file| file.expect("it is there").path()).collect()
    }
}

/// Commands in what was printed, without what stands before the verb.
fn commands(text: &str) -> Vec<String> {
    let behind = |line: &str| line.split_once(CALLED).map(|(_, words)| words.to_owned());
    let plain = |words: &String| !words.contains(['`', '\'', '[', '<']);
    text.lines().filter_map(behind).filter(plain).collect()
}

#[test]
fn what_a_program_elsewhere_prints_works_there() {
    let elsewhere = Elsewhere::new("ways-on");
    let (code, found) = elsewhere.run(&["fuzz", "--seeds", "0..40", "--set", "vice=panic"]);
    assert_eq!(code, 1, "{found}");
    let ways_on = commands(&found);
    assert!(ways_on.iter().any(|words| words.starts_with("replay F-")), "{found}");
    assert!(found.contains("cargo build --release || exit 125"), "{found}");
    let mut printed = found;
    for words in &ways_on {
        let (code, text) = elsewhere.run(&words.split(' ').collect::<Vec<_>>());
        let expected = i32::from(!words.starts_with("keep"));
        assert!(code == expected || code == 0, "{words}: {code} {text}");
        printed.push_str(&text);
    }
    for words in [
        &["--help"][..],
        &["fuzz", "--help"],
        &["scenario", "new", "a-race"],
        &["scenario", "run", "a-race"],
        &["replay", "F-00"],
        &["fuzz", "--mutant", "R14"],
        &["demo"],
        &["faults", "--runs", "2"],
        &["scenario", "index"],
    ] {
        printed.push_str(&elsewhere.run(words).1);
    }
    // The index was begun in a file that was not there.
    assert_eq!(elsewhere.run(&["scenario", "index", "--check"]).0, 0, "{printed}");
    let (_, help) = elsewhere.run(&["--help"]);
    for verb in ["demo", "mutants"] {
        assert!(!help.contains(&format!("\n  {verb} ")), "`{verb}` has nothing to do there: {help}");
    }
    let (_, help) = elsewhere.run(&["fuzz", "--help"]);
    assert!(help.contains("Usage: cargo run --release -- fuzz"), "{help}");
    assert!(!printed.contains("xtask"), "{printed}");
    assert_eq!(
        elsewhere.run(&["scenario", "run", "panic"]).0,
        0,
        "a panic is a failure to tell of like any other"
    );
    let scenario = fs::read_to_string(elsewhere.0.join("scenarios/a-race.json")).expect("it was begun");
    assert!(!scenario.contains("$schema"), "{scenario}");
}

#[test]
fn a_find_that_is_larger_than_one_of_its_kind_does_not_take_its_place() {
    let elsewhere = Elsewhere::new("smaller");
    let searched = elsewhere
        .run(&["fuzz", "--seeds", "0..40", "--keep-going", "--shrink", "off", "--set", "vice=panic"])
        .1;
    let failing = searched.lines().filter_map(|line| line.strip_prefix("FAIL  seed=")?.split(' ').next());
    let failing: Vec<&str> = failing.collect();
    let shrink = |seed: &str, time: &str| {
        let (code, text) = elsewhere.run(&["shrink", seed, "--set", "vice=panic", "--for", time]);
        assert_eq!(code, 1, "{text}");
        text
    };
    let kept = |file: &PathBuf| fs::read_to_string(file).expect("it is text");
    shrink(failing[0], "20s");
    let file = elsewhere.found().remove(0);
    let small = kept(&file);
    // Without time it stays as it was drawn.
    let larger = failing.iter().map(|seed| shrink(seed, "1ms")).find(|text| text.contains("found before"));
    let larger = larger.expect("another one of its kind is found, and is larger");
    assert!(larger.contains("and is kept"), "{larger}");
    assert_eq!(kept(&file), small);
    // A larger one has to make room.
    fs::remove_file(&file).expect("it is there");
    failing.iter().for_each(|seed| drop(shrink(seed, "1ms")));
    let large = kept(&file);
    assert!(large.len() > small.len(), "{large}");
    shrink(failing[0], "20s");
    assert_eq!(kept(&file), small);
}
