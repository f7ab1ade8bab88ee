//! Whatever a guest has started ends with it, however the guest or its host ends.
#![cfg(unix)]

mod common;

use common::{HELLO, guest, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};
use whitewater_sim::Verdict;

/// What tells a process of this test which system it is to be the host of.
const HOSTED: &str = "WHITEWATER_TEST_HOSTED";

/// The sign of life of a child: a file that grows as long as it lives.
struct Sign(PathBuf);

impl Sign {
    fn new(name: &str) -> Sign {
        let file = std::env::temp_dir().join(format!("whitewater-child-{}-{name}", std::process::id()));
        let _ = fs::remove_file(&file);
        Sign(file)
    }

    /// What a guest does to have a child, and a child of that.
    fn deed(&self) -> String {
        let file = self.0.display();
        format!("sh -c '(while true; do echo x >> {file}; sleep 0.02; done) & wait' > /dev/null &")
    }

    fn length(&self) -> u64 {
        fs::metadata(&self.0).map_or(0, |file| file.len())
    }

    /// Waits until it is there.
    fn comes(&self) {
        let begun = Instant::now();
        while self.length() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no child has begun");
            sleep(Duration::from_millis(10));
        }
    }

    /// Whether it grows no more.
    fn ends(&self) -> bool {
        (0..40).any(|_| {
            let before = self.length();
            sleep(Duration::from_millis(300));
            self.length() == before
        })
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A guest that has a child at its first operation and then does this.
fn parent(sign: &Sign, hello: &str, then: &str) -> String {
    let file: &Path = &sign.0;
    let deed = format!("{} until [ -s {} ]; do sleep 0.01; done; {then}", sign.deed(), file.display());
    guest(hello, &deed)
}

#[test]
fn no_child_outlives_the_verdict_on_its_guest() {
    for (name, then, rule) in [
        ("pass", r#"echo '{"effects":[]}'"#, "pass"),
        ("dies", "exit 3", "guest-lives"),
        ("hangs", "exec sleep 300", "guest-answers"),
        ("babbles", "while true; do echo well; done", "guest-speaks-protocol"),
        (
            "floods",
            r#"while true; do echo '{"ask":"read","file":"f"}'; read -r line; done"#,
            "guest-keeps-measure",
        ),
    ] {
        let sign = Sign::new(name);
        let verdict = run(&parent(&sign, HELLO, then)).verdict;
        assert_eq!(verdict.rule(), rule, "{name}: {verdict}");
        assert!(sign.length() > 0 && sign.ends(), "a child lives on after `{name}`");
    }
}

#[test]
fn no_child_outlives_a_guest_that_will_not_say_what_it_is_like() {
    let sign = Sign::new("silent");
    let program = std::env::temp_dir().join(format!("whitewater-silent-{}", std::process::id()));
    fs::write(&program, format!("read -r line\n{}\necho '[]'\nexec sleep 300\n", sign.deed())).unwrap();
    let refused = whitewater_exec::Exec::make(&format!("exec:sh {}", program.display())).err();
    assert!(refused.expect("it is refused").contains("is no object"));
    assert!(sign.ends(), "a child lives on");
}

/// Is the host of a guest when another test asks for it; says nothing otherwise.
#[test]
fn host_of_a_guest_that_hangs() {
    let Ok(system) = std::env::var(HOSTED) else { return };
    let verdict: Verdict = run(&system).verdict;
    panic!("it came to a verdict: {verdict}");
}

fn host(system: &str) -> Child {
    let program = std::env::current_exe().expect("it knows itself");
    let mut command = Command::new(program);
    command.args(["--exact", "host_of_a_guest_that_hangs"]).env(HOSTED, system);
    command.spawn().expect("it can be started")
}

/// Whether a process ends soon; one that does not is killed, so that no test waits for it.
fn has_ended(process: &mut Child) -> bool {
    let begun = Instant::now();
    while process.try_wait().expect("it is ours").is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            process.kill().and_then(|()| process.wait()).expect("it is ours");
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn no_child_outlives_a_host_that_is_killed() {
    use rustix::process::{Pid, Signal, kill_process};
    let patient = HELLO.replace("\"patience_ms\":2000", "\"patience_ms\":600000");
    // Not interrupted: what runs in the background of a shell ignores that, and so does whatever it starts.
    for (name, signal) in [("kill", Signal::KILL), ("terminate", Signal::TERM)] {
        let sign = Sign::new(name);
        let mut host = host(&parent(&sign, &patient, "exec sleep 300"));
        sign.comes();
        kill_process(Pid::from_child(&host), signal).expect("it runs");
        assert!(has_ended(&mut host), "the host goes on after `{name}`");
        assert!(sign.ends(), "a child lives on after `{name}`");
    }
}
