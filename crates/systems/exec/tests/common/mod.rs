//! Guests in a shell, and a run in which each of two of them is asked for something.

#![allow(dead_code, missing_docs, unreachable_pub)]

use whitewater_exec::Exec;
use whitewater_sim::{Action, NodeId, Options, Outcome, Script, Step, Target, Time, Trigger};

/// What most guests say of themselves.
pub const HELLO: &str =
    r#"{"operations":["get"],"messages":["M"],"timers":["t"],"marks":["m"],"patience_ms":2000}"#;

/// A guest that says this of itself and answers everything with no effects, but an operation with what is given.
pub fn guest(hello: &str, at_operation: &str) -> String {
    let honest = r#"echo '{"effects":[]}'"#;
    let cases = format!("*hello*) echo '{hello}';; *operation*) {at_operation};; *) {honest};;");
    let program = format!("while read -r line; do case \"$line\" in {cases} esac; done");
    // One word of the command, whatever is in it.
    let named = whitewater_sim::draw::name_hash(&program);
    let file = std::env::temp_dir().join(format!("whitewater-guest-{}-{named:016x}", std::process::id()));
    std::fs::write(&file, program).expect("a file can be written");
    format!("exec:sh {}", file.display())
}

/// A run in which n1 is asked for a read at 10 ms, and n2 at 20 ms.
pub fn run(system: &str) -> Outcome {
    run_asking(system, &[(10, 0, "get r1"), (20, 1, "get r1")])
}

/// A run of two servers that are asked for these: when in milliseconds, which server, and what.
pub fn run_asking(system: &str, asked: &[(u64, usize, &str)]) -> Outcome {
    let system = Exec::make(system).expect("it says what it is like");
    let ask = |&(millis, server, text): &(u64, usize, &str)| {
        let target = Target::Node(NodeId::server(server));
        let action = Action::Operate { target, text: text.to_owned(), every: None };
        Step::new(Trigger::At(Time::from_millis(millis)), action)
    };
    let script = Script { servers: 2, steps: asked.iter().map(ask).collect(), ..Script::default() };
    system.run(&script, &Options::new(), false).expect("the script is right")
}
