//! What the disks of a script do to nodes: they keep them busy, fail, fill up, lie and rot, until faults are over.

use std::fmt;
use whitewater_sim::*;

/// A node that writes what it is told and answers when it is durable, or says what went wrong.
struct Scribe {
    file: FileId,
    writing: Vec<(Ticket, OpId)>,
}

#[derive(Clone, Debug)]
struct Word;

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("word")
    }
}

impl Digest for Word {
    fn digest(&self, _: &mut Digester) {}
}

impl Message for Word {
    fn kind(&self) -> Kind {
        Kind { code: 0, name: "Word" }
    }
    fn key(&self) -> u64 {
        0
    }
    fn size_bytes(&self) -> u32 {
        1
    }
    fn duplicate(&self) -> Option<Word> {
        Some(Word)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Never;

impl Timer for Never {
    fn code(&self) -> u32 {
        0
    }
    fn name(&self) -> &'static str {
        "never"
    }
}

impl Node for Scribe {
    type Message = Word;
    type Timer = Never;
    type Command = String;
    type Reply = String;
    type View = Scribe;
    type Options = ();

    fn boot(_: &Boot<'_, ()>, fx: &mut Effects<'_, Scribe>) -> Scribe {
        let file = fx.disk().open("words");
        let read = fx.disk().load(file).map(<[u8]>::to_vec);
        fx.note(format_args!("{read:?}"));
        Scribe { file, writing: Vec::new() }
    }

    fn handle(&mut self, _: LocalTime, input: Input<Scribe>, fx: &mut Effects<'_, Scribe>) {
        match input {
            Input::Command { op, command } => {
                let file = self.file;
                let written = fx.disk().append(file, command.as_bytes()).and_then(|()| fx.disk().sync(file));
                match written {
                    Ok(Sync::Done) => fx.reply(op, "done".into()),
                    Ok(Sync::Pending(ticket)) => self.writing.push((ticket, op)),
                    Err(error) => fx.reply(op, error.to_string()),
                }
            }
            Input::Synced(ticket) => self.answer(ticket, "done", fx),
            Input::SyncFailed(ticket) => self.answer(ticket, "lost", fx),
            Input::Deliver { .. } | Input::Timeout(_) => {}
        }
    }

    fn view(&self) -> &Scribe {
        self
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} under way", self.writing.len())
    }

    fn parse_command(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

impl Scribe {
    fn answer(&mut self, ticket: Ticket, text: &str, fx: &mut Effects<'_, Scribe>) {
        self.writing.iter().filter(|(t, _)| *t == ticket).for_each(|(_, op)| fx.reply(*op, text.into()));
        self.writing.retain(|(t, _)| *t != ticket);
    }
}

/// One write each millisecond at one of three servers.
fn run(disk: DiskTiming, writes: u64) -> Outcome {
    let server = |number: u64| NodeId::server((number % 3) as usize);
    let write = |number: u64| {
        let action =
            Action::Operate { target: Target::Node(server(number)), text: "abcdefgh".into(), every: None };
        Step::new(Trigger::At(Time::from_millis(number)), action)
    };
    let crash = |number: u64| Step {
        until: Some(Trigger::After(Span::from_millis(3))),
        ..Step::new(
            Trigger::At(Time::from_millis(100 * number)),
            Action::Crash { node: Target::Node(server(number)), losing: Losing::Some, at_call: 0 },
        )
    };
    let steps = (1..=writes).map(write).chain((1..=writes / 100).map(crash)).collect();
    let script =
        Script { seed: 9, disk, steps, horizon: Span::from_millis(writes + 500), ..Script::default() };
    World::<Scribe, _>::new(&script, (), Unchecked, true).expect("the script is valid").run()
}

fn reply_times(outcome: &Outcome) -> Vec<u64> {
    let events = &outcome.trace.as_ref().expect("it is recorded").events;
    events.iter().filter(|e| e.kind == EventKind::Reply).map(|e| e.time.nanos() / 1_000_000).collect()
}

#[test]
fn a_node_handles_nothing_while_its_disk_keeps_it_busy() {
    let span = Span::from_millis(20);
    let busy = DiskTiming { busy_low: span, busy_high: span, ..DiskTiming::default() };
    // Starting opens and reads: two calls. Each write is a third, and what comes meanwhile waits.
    let times = reply_times(&run(busy, 4));
    assert_eq!(times, [40, 40, 40, 60]);
    assert_eq!(reply_times(&run(DiskTiming::default(), 4)), [1, 2, 3, 4]);
}

#[test]
fn every_fault_of_disks_bites_and_the_run_is_the_same_again() {
    let all = DiskTiming {
        high: Span::from_millis(5),
        failures: 3_000,
        sector_bytes: 8,
        busy_high: Span::from_micros(50),
        stalls: 3_000,
        stall: Span::from_millis(40),
        write_failures: 3_000,
        read_failures: 20_000,
        full: 10_000,
        capacity_bytes: 4_000,
        faults: DiskFaults {
            lies: 9_000,
            lost_writes: 9_000,
            misdirected: 3_000,
            rot: 30_000,
            everywhere: true,
        },
        ..DiskTiming::default()
    };
    let outcome = run(all, 3_000);
    assert_eq!(outcome.verdict, Verdict::Pass);
    for fault in ["unsynced-lost", "sync-failed", "call-failed", "full", "stall", "lie", "astray", "rot"] {
        let count =
            outcome.counters.faults().into_iter().find(|(name, _)| *name == fault).map(|(_, count)| count);
        assert!(count > Some(0), "{fault}: {:?}", outcome.counters);
    }
    let again = run(all, 3_000);
    assert_eq!((outcome.hash, outcome.counters), (again.hash, again.counters));
    assert_eq!(outcome.hash.to_string(), "0xc853a1f622584f77488926edd614a308");
}

#[test]
fn only_a_minority_is_struck_by_what_no_answer_tells() {
    let faults = DiskFaults { lies: u16::MAX, ..DiskFaults::default() };
    let outcome = run(DiskTiming { faults, ..DiskTiming::default() }, 90);
    assert_eq!(outcome.counters.disks.lied, 30, "one server of three");
    let everywhere = DiskFaults { everywhere: true, ..faults };
    assert_eq!(run(DiskTiming { faults: everywhere, ..DiskTiming::default() }, 90).counters.disks.lied, 90);
}
