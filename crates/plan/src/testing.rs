//! A system for the tests of this crate: names, options and operations, and nothing that runs; and which errors were met.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::Location;
use whitewater_sim::{
    DiskTrouble, Draw, OptionSpec, Options, Outcome, Script, Span, System, Target, Timing, Trouble, Values,
    parse_span,
};

/// A system that can be planned for.
pub(crate) struct Pond;

/// Another one beside it.
pub(crate) struct Lake;

/// The pond, but it stands every trouble with disks.
pub(crate) struct Sea;

/// The sea, but it survives every other trouble as well.
pub(crate) struct Ocean;

pub(crate) static POND: Pond = Pond;
pub(crate) static LAKE: Lake = Lake;
pub(crate) static SEA: Sea = Sea;
pub(crate) static OCEAN: Ocean = Ocean;
pub(crate) static SYSTEMS: [&dyn System; 2] = [&POND, &LAKE];

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "announce",
        about: "What becomes of an announcement that comes too early.",
        values: Values::Words(&["drop", "latch", "mailbox"]),
        default: "mailbox",
        per_node: false,
        drawn: false,
    },
    OptionSpec {
        name: "mode",
        about: "Whether a node votes and stands for election.",
        values: Values::Words(&["off", "voter", "candidate"]),
        default: "candidate",
        per_node: true,
        drawn: true,
    },
    OptionSpec {
        name: "election",
        about: "The election timeout.",
        values: Values::Time { low: Span::from_millis(50), high: Span::from_millis(400) },
        default: "150ms",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "window",
        about: "How many messages may be under way.",
        values: Values::Number { low: 0, high: 256 },
        default: "16",
        per_node: false,
        drawn: true,
    },
];

impl System for Pond {
    fn name(&self) -> &'static str {
        "pond"
    }

    fn about(&self) -> &'static str {
        "A system for tests."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        vec![("one-leader", "A term has one leader."), ("catches-up", "Every live follower catches up.")]
    }

    fn marks(&self) -> &'static [&'static str] {
        &[]
    }

    fn bugs(&self) -> &'static [&'static str] {
        &["leaky", "lazy"]
    }

    fn timing(&self, options: &Options) -> Timing {
        let low = options.span(OPTIONS, "election");
        Timing { election_low: low, election_high: low.times(2), heartbeat: low.part(10) }
    }

    fn clients(&self) -> (usize, usize) {
        (1, 3)
    }

    fn rolls(&self) -> &'static [&'static str] {
        &["window"]
    }

    fn stands(&self, trouble: DiskTrouble) -> bool {
        matches!(trouble, DiskTrouble::SlowSyncs | DiskTrouble::FailedSyncs)
    }

    fn draw_operation(&self, draw: &mut Draw, number: u32, _: &Script, _: &Options) -> (Target, String) {
        match draw.below(4) {
            0 => (Target::Leader, "campaign".to_owned()),
            _ => (Target::Leader, format!("propose x={number}")),
        }
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        match text {
            "campaign" => Ok(()),
            _ if text.starts_with("propose ") => Ok(()),
            _ => Err("write `campaign` or `propose name=value`".to_owned()),
        }
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["Announce", "MsgApp", "Vote"], &["election", "relay-ready"])
    }

    fn figures(&self) -> &'static [&'static str] {
        &["term", "commit"]
    }

    fn run(&self, _: &Script, _: &Options, _: bool) -> Result<Outcome, String> {
        Err("a system for the tests of plans does not run".to_owned())
    }
}

impl System for Lake {
    fn name(&self) -> &'static str {
        "lake"
    }

    fn about(&self) -> &'static str {
        "Another system for tests, with nothing that has a name."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn marks(&self) -> &'static [&'static str] {
        &[]
    }

    fn timing(&self, _: &Options) -> Timing {
        let low = parse_span("100ms").expect("a time");
        Timing { election_low: low, election_high: low.times(2), heartbeat: low.part(10) }
    }

    fn draw_operation(&self, _: &mut Draw, number: u32, _: &Script, _: &Options) -> (Target, String) {
        (Target::Leader, format!("put {number}"))
    }

    fn check_operation(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &[])
    }

    fn run(&self, _: &Script, _: &Options, _: bool) -> Result<Outcome, String> {
        Err("a system for the tests of plans does not run".to_owned())
    }
}

impl System for Sea {
    fn name(&self) -> &'static str {
        "sea"
    }

    fn about(&self) -> &'static str {
        "A system for tests that stands any disk."
    }

    fn options(&self) -> &'static [OptionSpec] {
        POND.options()
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        POND.rules()
    }

    fn marks(&self) -> &'static [&'static str] {
        POND.marks()
    }

    fn timing(&self, options: &Options) -> Timing {
        POND.timing(options)
    }

    fn clients(&self) -> (usize, usize) {
        POND.clients()
    }

    fn stands(&self, _: DiskTrouble) -> bool {
        true
    }

    fn rolls(&self) -> &'static [&'static str] {
        POND.rolls()
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String) {
        POND.draw_operation(draw, number, script, options)
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        POND.check_operation(text)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        POND.names()
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        POND.run(script, options, record)
    }
}

const OCEAN_OPTIONS: &[OptionSpec] = &[
    OPTIONS[0],
    OPTIONS[1],
    OPTIONS[2],
    OPTIONS[3],
    OptionSpec {
        name: "membership",
        about: "Whether the membership changes.",
        values: Values::Words(&["fixed", "changing"]),
        default: "fixed",
        per_node: false,
        drawn: true,
    },
];

impl System for Ocean {
    fn name(&self) -> &'static str {
        "ocean"
    }

    fn about(&self) -> &'static str {
        "A system for tests that stands and survives anything."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OCEAN_OPTIONS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        POND.rules()
    }

    fn marks(&self) -> &'static [&'static str] {
        POND.marks()
    }

    fn timing(&self, options: &Options) -> Timing {
        POND.timing(options)
    }

    fn clients(&self) -> (usize, usize) {
        POND.clients()
    }

    fn stands(&self, _: DiskTrouble) -> bool {
        true
    }

    fn survives(&self, _: Trouble) -> bool {
        true
    }

    fn rolls(&self) -> &'static [&'static str] {
        POND.rolls()
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String) {
        POND.draw_operation(draw, number, script, options)
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        POND.check_operation(text)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        POND.names()
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        POND.run(script, options, record)
    }
}

thread_local! {
    /// Lines of the sources that have found something wrong in this thread.
    static REACHED: RefCell<BTreeSet<(String, u32)>> = const { RefCell::new(BTreeSet::new()) };
}

/// An error was made there.
pub(crate) fn reach(place: &Location<'_>) {
    // With its folder, since several files may have one name.
    let mut parts = place.file().rsplit(['/', '\\']);
    let (file, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    REACHED.with_borrow_mut(|reached| reached.insert((format!("{folder}/{file}"), place.line())));
}

/// Places in sources, each a name with its text, that make an error with one of these calls and have not done so in this
/// thread.
pub(crate) fn unreached(sources: &[(&str, &str)], calls: &[&str]) -> Vec<String> {
    let makes_one = |line: &str| calls.iter().any(|call| line.contains(call));
    let mut missed = Vec::new();
    for (file, text) in sources {
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| makes_one(line)) {
            if !REACHED.with_borrow(|reached| reached.contains(&((*file).to_owned(), number))) {
                missed.push(format!("{file}:{number}: {}", line.trim()));
            }
        }
    }
    missed
}

/// Lines that are wrong, each in another way: every error of the grammar.
pub(crate) const WRONG_LINES: &[&str] = &[
    "crsh n3 at 200ms",
    "fail disk of n3 at 200ms",
    "fail-syncs",
    "crash n3 at -5ms",
    "crash n3 at 5.5ms",
    "crash n3 at 99999999999999999999s",
    "crash n3 at 18446744073709551616ns",
    "crash n3 from 5ms when n1 leads",
    "crash n3 from 5ms at 7ms",
    "drop n1->n2 any",
    "delay n1->n2 everything by 5ms",
    "drop n1->n2 MsgApp index 5",
    "eventually n1 leads",
    "never n1 leads within 5ms",
    "never n1 leads at end",
    "expect never n1 leads",
    "server 5",
    "propose x=1",
    "propose x=1 at 200ms",
    "propose x=1 at laeder",
    "\"propose x=1\" at",
    "hello world",
    "prepose x=1 at leader",
    "crash n4 at 200ms",
    "crash n17",
    "crash any",
    "crash leadr",
    "crash n3 at 1.5s",
    "crash n3 at +5ms",
    "crash n3 untill 2s",
    "crash n3 until",
    "crash n3 until 1s until 2s",
    "crash n3 losing nothing",
    "drop n1->n2 Vote losing unsynced",
    "crash n3 at send 0",
    "crash n3 at send 1 at storage call 2",
    "roll n3",
    "roll n3 window",
    "roll n3 colour=red",
    "roll n3 window=many",
    "slow n3 1ms",
    "clock n3",
    "clock n3 stops",
    "clock n3 rate 17/1",
    "ring",
    "bridge n1 | n2 | ",
    "partition n1 | n2 flapping 0ms",
    "clog n1",
    "replay n1->n2 after many elections",
    "replay n1->n2 after 2",
    "choke n1->n2 100",
    "corrupt n1->n2",
    "misdeliver n1->n2 Vote to leader",
    "crash n3 | ",
    "partition n1 n2",
    "partition n1 | n2 n1",
    "partition n1 | n2 | and a note",
    "cut n1 n2",
    "hold relay-redy n1->n2 until n1 leads",
    "hold relay-ready n1->n2 until n1 leeds",
    "hold until 2s",
    "drop n1->n2 MsgAp #3",
    "drop n1->n2 MsgApp #0",
    "drop n1->n2 relay-ready",
    "drop n1->n2 n1->n3 MsgApp",
    "drop n1->c1 MsgApp",
    "delay n1->n2 MsgApp",
    "lossy n1->n2 3%",
    "lossy n1->n2 1/100000",
    "campaign at n1 when MsgApp fires",
    "campaign at n1 when",
    "delay 10ms..1ms",
    "seed five",
    "servers 17",
    "servers 3 | a note",
    "servers 3",
    "settle 4s power",
    "sectors 0",
    "busy 2ms..1ms",
    "stalls 1/1000",
    "stalls 1/1000 for 2s",
    "stalls 1/1000 of two",
    "write-failures 2",
    "full",
    "capacity lots",
    "lies 3/2",
    "disk-faults",
    "disk-faults n1",
    "pin",
    "pin n1->n2 MsgApp #1 after 3ms",
    "pin n1->n2 MsgApp key 0x1f #1 after 3ms",
    "pin n1->n2 MsgApp key 1f 1 after 3ms",
    "pin n1->n2 MsgApp key 1f #1 soon",
    "pin timer election n1 #1",
    "pin draw timeout n4 #1 to 3",
    "pin disk n1 sync-fail #1 to 1",
    "expect n1 leads until 2s",
    "expect n1->n2 MsgApp arrives",
    "expect n1 reaches comit 5 at 2ms",
    "expect n1 reaches commit five at 2ms",
    "expect n1 leads within soon",
    "never n1 at 5ms",
    "never n9 leads",
    "crash n1 at end",
    "expect n1 within 5ms",
    "rot 1/1000 | a note",
    "limits memory 5",
    "",
];
