//! The grammar both ways: examples, every kind of step, random scripts, and what is wrong with wrong lines.

use super::*;
use crate::testing::{LAKE, POND};
use proptest::prelude::*;
use whitewater_sim::{
    Action, ClockChange, Condition, Countable, Decision, DiskFaults, DiskTiming, Fate, Limits, Losing,
    Network, Pattern, Rate, Ratio, Rest, Role, Settle, Shape, Span, Step, Target, Time, Topology, Trigger,
};

fn node(name: &str) -> NodeId {
    name.parse().unwrap()
}

fn target(name: &str) -> Target {
    match name {
        "leader" => Target::Leader,
        "follower" => Target::Follower(0),
        name => Target::Node(node(name)),
    }
}

fn read(line: &str) -> Step {
    parse_step(line, Some(&POND)).unwrap_or_else(|wrong| panic!("{line}: {wrong}"))
}

fn pattern(name: Option<&str>, from: Option<&str>, to: Option<&str>) -> Pattern {
    Pattern {
        name: name.map(str::to_owned),
        from: from.map(target),
        to: to.map(target),
        ..Pattern::default()
    }
}

#[test]
fn a_line_in_its_usual_form_is_printed_as_it_was_written() {
    for line in [
        "crash n3 at 200ms until end losing unsynced",
        "crash leader when n1 leads after 5ms until +300ms at storage call 3",
        "crash follower until +1s",
        "crash n1 at 5ms until +1s at send 3",
        "crash leader until +1s losing unsynced at reply 1",
        "crash n2 at 1s until +1ms losing everything",
        "roll n1 window=16 at 1s until +5ms",
        "rewind n2 from 1s until 2s",
        "pause leader from 1s until n2 leads",
        "slow n3 by 1ms..2ms from 1s until end",
        "clock n1 rate 11/10 from 1s until 2s",
        "clock n1 rate 0/1 until 2s",
        "clock n2 freeze when n2 leads until +100ms",
        "clock n3 forward 5s at 1s",
        "clock n3 back 500ms from 1s until 2s | and put right",
        "crash follower-2 when any leads until 2s | the other one stays",
        "partition n1 | n2 n3 from 1s until 2s",
        "partition leader | n1 n2 n3 from 0ms | it stands in both groups, and the first one counts",
        "partition n1 | n2 n3 flapping 20ms from 1s until 2s | it comes and goes",
        "ring n1 n2 n3 n4 n5 from 1s until 2s",
        "ring n1 n2 n3 n4 n5 | a note may stand behind a row",
        "chain leader n2 n3 flapping 5ms until +1s",
        "bridge n1 n2 | n3 | n4 n5 when any leads until +1s",
        "one-way n1 n2 | n3 from 0ms | it hears and is not heard",
        "cut n1->n2 until +50ms",
        "clog leader->follower until +50ms",
        "cut leader->follower from 10ms until end",
        "hold relay-ready n1->n2 until n1 leads",
        "hold n1->n2 Announce term 2 from 1s until 2s",
        "hold election n2 until n1 leads after 1500us",
        "hold leader->follower-2 MsgApp until n1 leads",
        "hold election leader until follower->leader Announce #2 arrives",
        "drop n1->n2 MsgApp term 2 #3",
        "drop n1->any Vote from 5ms until +1s",
        "delay n1->n2 MsgApp #2 by 30ms",
        "delay n1->n2 MsgApp by 3ms..30ms long-tail until 2s",
        "delay n1->n2 by 3ms..3ms",
        "duplicate n1->n2 MsgApp #1 after 5ms when n2 follows after 1ns",
        "replay n1->n2 Vote #1 after 2 elections",
        "choke n1->n2 over 100 bytes from 1s until 2s",
        "corrupt n1->n2 1/10 until 2s",
        "duplicate n1->n2 MsgApp 1/10 after 5ms from 1ms until 2s",
        "reorder n1->n2 MsgApp 1/10 up to 5ms from 1ms until 2s",
        "misdeliver n1->n2 MsgApp 1/10 from 1ms until 2s",
        "misdeliver n1->n2 Vote #2 to n3 when n1 campaigns",
        "lossy n1->n2 3/100 from 1s until 2s",
        "lossy any->any 1/2 when n3 pre-campaigns until n3 campaigns",
        "propose x=1 at leader when n1 leads",
        "propose x=2 at n2 when relay-ready n1->n2 fires after 2ms | to a follower",
        "propose x=3 at follower when n1->n2 MsgApp #3 arrives",
        "campaign at n1 when Vote leaves | whoever asks",
        "propose x=4 at leader every 10ms from 1s until 2s",
        "campaign at n1 at 5ms",
        "expect n1 leads at 300ms",
        "expect n2 reaches commit 5 at end | all of it",
        "expect leader reaches term 2 when n3 campaigns",
        "expect n1->n2 MsgApp #2 leaves within 15ms when n1 leads after 1ms",
        "never follower-2 leads from 10ms until 2s",
        "never n1->n2 MsgApp #3 leaves until n2->n1 Announce arrives",
        "crash n1 when n1 reaches commit 3 until +5ms",
        "\"propose bars | and quotes at noon\" at n1",
        "crash n1 until +1ms | \" spaces matter \"",
    ] {
        assert_eq!(print_step(&read(line)), line);
    }
}

#[test]
fn a_name_that_looks_like_an_amount_is_a_name_in_its_quotes() {
    for line in [
        "duplicate \"0\" after 5ms",
        "delay \"1ms\" by 30ms",
        "hold n1->n2 until \"2s\" arrives",
        "hold n1->n2 until \"+2s\" leaves after 1ms",
    ] {
        let lines = [line.to_owned()];
        let script = parse_script(&lines, None).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
        assert_eq!(print_step(&script.steps[0]), line);
    }
}

#[test]
fn a_step_means_what_it_says() {
    let step =
        read("crash leader when n1 leads after 5ms until +300ms losing unsynced at storage call 3 | why");
    assert_eq!(
        step,
        Step {
            when: Trigger::When(
                Condition::Takes(Target::Node(node("n1")), Role::Leader),
                Span::from_millis(5)
            ),
            action: Action::Crash { node: Target::Leader, losing: Losing::Unsynced, at_call: 3 },
            until: Some(Trigger::After(Span::from_millis(300))),
            note: Some("why".to_owned()),
        }
    );
    let step = read("hold relay-ready n1->n2 until n1->n3 Announce arrives");
    assert_eq!(step.when, Trigger::At(Time::ZERO));
    assert_eq!(step.action, Action::Hold(pattern(Some("relay-ready"), Some("n1"), Some("n2"))));
    let announce = pattern(Some("Announce"), Some("n1"), Some("n3"));
    assert_eq!(step.until, Some(Trigger::When(Condition::Arrives(announce), Span::ZERO)));
}

#[test]
fn words_may_come_in_another_order() {
    let usual = read("crash n3 at 200ms until 2s losing unsynced at storage call 3");
    assert_eq!(read("crash n3 losing unsynced at storage call 3 until 2s from 200ms"), usual);
    assert_eq!(read("drop #3 term 2 MsgApp n1->n2"), read("drop n1->n2 MsgApp term 2 #3"));
    assert_eq!(read("hold n1->n2 relay-ready"), read("hold relay-ready n1->n2"));
    assert_eq!(read("hold n1->any election"), read("hold election n1"));
}

#[test]
fn settings_are_read_in_any_order_and_keep_their_defaults() {
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let script = parse_script(
        &lines(&[
            "crash n5 until end",
            "servers 5",
            "seed 0x5445",
            "delay 2ms",
            "loss 1/100",
            "reorder 5/100 up to 20ms",
            "settle 3s no power-cycle",
            "limits queue 7",
        ]),
        None,
    )
    .unwrap();
    let default = Script::default();
    assert_eq!((script.seed, script.servers, script.clients), (0x5445, 5, 0));
    assert_eq!(
        (script.network.delay_low, script.network.delay_high),
        (Span::from_millis(2), Span::from_millis(2))
    );
    assert_eq!(script.network.loss, Ratio::of(1, 100));
    assert_eq!(
        (script.network.reorder, script.network.reorder_window),
        (Ratio::of(5, 100), Span::from_millis(20))
    );
    let settle =
        Settle { limit: Span::from_millis(3_000), delay_high: default.settle.delay_high, power_cycle: false };
    assert_eq!(script.settle, settle);
    assert_eq!(script.limits, Limits { queue: 7, ..default.limits });
    assert_eq!(script.horizon, default.horizon);
}

#[test]
fn every_setting_of_disks_is_one_line_in_its_usual_form_and_place() {
    let settings = [
        "sync 0ms..5ms",
        "sync-failures 1/1000",
        "sectors 512",
        "busy 0ms..1ms",
        "stalls 1/1000 of 2s",
        "write-failures 1/500",
        "read-failures 1/250",
        "full 1/200",
        "capacity 65536",
        "lies 1/100",
        "lost-writes 1/50",
        "misdirected 1/25",
        "rot 1/20",
        "disk-faults everywhere",
    ];
    let lines = settings.map(str::to_owned);
    let script = parse_script(&lines, None).unwrap();
    let printed = script_lines(&script);
    let first = printed.iter().position(|line| line == settings[0]).unwrap();
    assert_eq!(printed[first..first + settings.len()], lines);
    assert!(printed[first + settings.len()].starts_with("horizon"));
    let default = Script { disk: script.disk, ..Script::default() };
    assert_eq!(script, default, "they say nothing about anything else");
    let minority = parse_script(&["disk-faults minority".to_owned()], None);
    assert_eq!(minority, Ok(Script::default()));
}

#[test]
fn a_share_is_printed_as_the_simplest_fraction_that_is_exact() {
    assert_eq!(print_ratio(Ratio::of(1, 2)), "1/2");
    assert_eq!(print_ratio(Ratio::of(3, 100)), "3/100");
    assert_eq!(print_ratio(Ratio::of(1, 1)), "1/1");
    assert_eq!(print_ratio(Ratio(1)), "1/65536");
    for parts in 0..=u16::MAX {
        let text = format!("lossy any->any {}", print_ratio(Ratio(parts)));
        let Action::Lossy(_, ratio) = read(&text).action else { panic!("{text} is lossy") };
        assert_eq!(ratio, Ratio(parts), "{text}");
    }
}

#[test]
fn every_setting_of_the_network_is_one_line_in_its_usual_form_and_place() {
    let settings = [
        "delay 1ms..20ms bimodal",
        "loss 1/100",
        "duplicate 1/50",
        "reorder 1/20 up to 30ms",
        "corrupt 1/200",
        "misdeliver 1/500",
    ];
    let lines = settings.map(str::to_owned);
    let script = parse_script(&lines, None).unwrap();
    let printed = script_lines(&script);
    let first = printed.iter().position(|line| line == settings[0]).unwrap();
    assert_eq!(printed[first..first + settings.len()], lines);
    assert_eq!(script, Script { network: script.network, ..Script::default() });
}

/// Every wrong line with the column, the message and the mend it gets.
#[test]
fn every_error_points_at_its_word_and_says_how_to_mend_it() {
    let wrong = |line: &str| {
        let lines = ["servers 3".to_owned(), line.to_owned()];
        let LineError { line: at, column, message, mend } = parse_script(&lines, Some(&POND)).unwrap_err();
        format!("{at} {line}\n  {}^ {message}\n    {mend}", " ".repeat(column - 1))
    };
    let told: Vec<String> = crate::testing::WRONG_LINES.iter().map(|line| wrong(line)).collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn every_word_of_the_language_is_explained_to_those_who_write_scenarios() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/README.md");
    let guide = std::fs::read_to_string(file).unwrap();
    let is_explained = |word: &str| {
        let begins = format!("`{word}");
        let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '-');
        guide.match_indices(&begins).any(|(at, _)| ends(&guide[at + begins.len()..]))
    };
    let words = [&read::STEPS[..], &read::SETTINGS[..], &[pin::PIN]].concat();
    let missing: Vec<&str> = words.into_iter().filter(|word| !is_explained(word)).collect();
    assert!(missing.is_empty(), "scenarios/README.md says nothing of {missing:?}");
}

#[test]
fn every_error_of_the_reader_is_met_by_one_of_the_wrong_lines() {
    for line in crate::testing::WRONG_LINES {
        parse_script(&["servers 3".to_owned(), (*line).to_owned()], Some(&POND)).unwrap_err();
    }
    parse_step("", Some(&POND)).unwrap_err();
    let wrong = parse_script(&["clients 2".to_owned()], Some(&LAKE)).unwrap_err();
    assert_eq!((wrong.column, &*wrong.message), (1, "lake has no clients"));
    let sources = [
        ("text/disk.rs", include_str!("disk.rs")),
        ("text/pin.rs", include_str!("pin.rs")),
        ("text/read.rs", include_str!("read.rs")),
        ("text/setting.rs", include_str!("setting.rs")),
        ("text/step.rs", include_str!("step.rs")),
    ];
    let missed = crate::testing::unreached(&sources, &[".wrong(", ".wrong_here("]);
    assert!(missed.is_empty(), "write a wrong line for each of these:\n{}", missed.join("\n"));
}

fn spans() -> BoxedStrategy<Span> {
    prop_oneof![Just(0), 0..2_000_000_000u64, any::<u64>()].prop_map(Span::from_nanos).boxed()
}

fn nodes() -> BoxedStrategy<NodeId> {
    (0..whitewater_sim::SLOTS).prop_map(NodeId::from_index).boxed()
}

fn repeats() -> BoxedStrategy<Option<Span>> {
    prop::option::of((1..2_000_000_000u64).prop_map(Span::from_nanos)).boxed()
}

/// Texts that a grammar may stumble over.
fn texts() -> BoxedStrategy<String> {
    const WORDS: [&str; 13] =
        ["at", "n1", "|", "until", "leader", "\"", "#3", "a->b", "\n", "term", "crash", " ", "é"];
    prop_oneof![
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6).prop_map(|words| words.join(" ")),
        "[a-zA-Z][a-zA-Z0-9=_-]{0,8}",
        any::<String>(),
    ]
    .boxed()
}

fn targets() -> BoxedStrategy<Target> {
    prop_oneof![nodes().prop_map(Target::Node), Just(Target::Leader), any::<u8>().prop_map(Target::Follower)]
        .boxed()
}

fn patterns() -> BoxedStrategy<Pattern> {
    let names = prop_oneof!["[A-Z][a-zA-Z]{0,6}", "[a-z][a-z-]{0,8}", texts()];
    let number = prop::option::of(1..=u32::MAX);
    (
        prop::option::of(names),
        prop::option::of(targets()),
        prop::option::of(targets()),
        any::<Option<u64>>(),
        number,
    )
        .prop_map(|(name, from, to, term, number)| Pattern { name, from, to, term, number })
        .boxed()
}

fn conditions() -> BoxedStrategy<Condition> {
    const ROLES: [Role; 6] =
        [Role::None, Role::Follower, Role::PreCandidate, Role::Candidate, Role::Leader, Role::Learner];
    let somebody = prop_oneof![targets(), Just(Target::Any)];
    prop_oneof![
        (somebody, prop::sample::select(&ROLES[..]))
            .prop_map(|(target, role)| Condition::Takes(target, role)),
        patterns().prop_map(Condition::Fires),
        patterns().prop_map(Condition::Arrives),
        patterns().prop_map(Condition::Leaves),
        states(),
    ]
    .boxed()
}

fn states() -> BoxedStrategy<Condition> {
    let figures = prop_oneof!["[a-z]{1,8}", texts()];
    (prop_oneof![targets(), Just(Target::Any)], figures, any::<u64>())
        .prop_map(|(target, figure, value)| Condition::Reaches(target, figure, value))
        .boxed()
}

fn moments() -> BoxedStrategy<Trigger> {
    prop_oneof![
        spans().prop_map(|span| Trigger::At(Time::ZERO + span)),
        (conditions(), spans()).prop_map(|(condition, after)| Trigger::When(condition, after)),
    ]
    .boxed()
}

fn losing() -> BoxedStrategy<Losing> {
    prop_oneof![Just(Losing::Some), Just(Losing::Unsynced), Just(Losing::Everything)].boxed()
}

fn changes() -> BoxedStrategy<ClockChange> {
    prop_oneof![
        (0..=Rate::MAX.0).prop_map(|parts| ClockChange::Rate(Rate(parts))),
        Just(ClockChange::Freeze),
        spans().prop_map(ClockChange::Forward),
        spans().prop_map(ClockChange::Back),
    ]
    .boxed()
}

/// A partition that does not come and go is a step of its own.
fn cut_apart((groups, topology, flapping): (Vec<Vec<Target>>, Topology, Option<Span>)) -> Action {
    match (topology, flapping) {
        (Topology::Groups, None) => Action::Partition(groups),
        _ if topology.is_row() => Action::Topology { topology, groups: vec![groups.concat()], flapping },
        _ => Action::Topology { topology, groups, flapping },
    }
}

fn actions() -> BoxedStrategy<Action> {
    let groups = prop::collection::btree_set(nodes(), 2..6).prop_flat_map(|nodes| {
        let nodes: Vec<Target> = nodes.into_iter().map(Target::Node).collect();
        (1..nodes.len()).prop_map(move |cut| vec![nodes[..cut].to_vec(), nodes[cut..].to_vec()])
    });
    prop_oneof![
        (targets(), losing(), any::<u32>()).prop_map(|(node, losing, at_call)| Action::Crash {
            node,
            losing,
            at_call
        }),
        (targets(), losing(), any::<bool>(), 1..u32::MAX).prop_map(|(node, losing, sends, number)| {
            let effect = if sends { Countable::Sends } else { Countable::Replies };
            Action::CrashAfter { node, losing, effect, number }
        }),
        (targets(), "[a-z-]{1,8}", texts()).prop_map(|(node, option, value)| Action::Roll {
            node,
            option,
            value
        }),
        targets().prop_map(Action::Rewind),
        targets().prop_map(Action::Pause),
        targets().prop_map(Action::FailSyncs),
        (targets(), spans(), spans()).prop_map(|(node, a, b)| Action::Slow {
            node,
            low: a.min(b),
            high: a.max(b)
        }),
        (targets(), changes()).prop_map(|(node, change)| Action::Clock { node, change }),
        groups.clone().prop_map(Action::Partition),
        (groups, prop::sample::select(&Topology::ALL[..]), repeats()).prop_map(cut_apart),
        (targets(), targets()).prop_map(|(from, to)| Action::Cut { from, to }),
        (targets(), targets()).prop_map(|(from, to)| Action::Clog { from, to }),
        patterns().prop_map(Action::Hold),
        patterns().prop_map(Action::Drop),
        (patterns(), spans()).prop_map(|(pattern, span)| Action::Delay(pattern, span)),
        (patterns(), spans(), spans(), prop::sample::select(&Shape::ALL[..])).prop_map(
            |(pattern, a, b, shape)| Action::Jitter { pattern, low: a.min(b), high: a.max(b), shape }
        ),
        (patterns(), spans()).prop_map(|(pattern, span)| Action::Duplicate(pattern, span)),
        (patterns(), any::<u16>(), spans()).prop_map(|(pattern, parts, after)| Action::DuplicateSome {
            pattern,
            share: Ratio(parts),
            after
        }),
        (patterns(), any::<u16>(), spans()).prop_map(|(pattern, parts, window)| Action::Reorder {
            pattern,
            share: Ratio(parts),
            window
        }),
        (patterns(), any::<u16>()).prop_map(|(pattern, parts)| Action::MisdeliverSome(pattern, Ratio(parts))),
        (patterns(), any::<u32>()).prop_map(|(pattern, elections)| Action::Replay(pattern, elections)),
        (patterns(), any::<u32>()).prop_map(|(pattern, bytes)| Action::Choke(pattern, bytes)),
        (patterns(), any::<u16>()).prop_map(|(pattern, parts)| Action::Corrupt(pattern, Ratio(parts))),
        (patterns(), nodes()).prop_map(|(pattern, to)| Action::Misdeliver(pattern, to)),
        (patterns(), any::<u16>()).prop_map(|(pattern, parts)| Action::Lossy(pattern, Ratio(parts))),
        (targets(), texts(), repeats()).prop_map(|(target, text, every)| Action::Operate {
            target,
            text,
            every
        }),
        (conditions(), spans()).prop_map(|(condition, within)| Action::Expect(condition, Some(within))),
        states().prop_map(|condition| Action::Expect(condition, None)),
        conditions().prop_map(Action::Never),
    ]
    .boxed()
}

fn steps() -> BoxedStrategy<Step> {
    let ends = prop_oneof![moments(), spans().prop_map(Trigger::After), Just(Trigger::End)];
    (moments(), actions(), prop::option::of(ends), prop::option::of(texts()))
        .prop_map(|(when, action, until, note)| {
            let until = until.filter(|_| !matches!(action, Action::Expect(..)));
            Step { when, action, until, note }
        })
        .boxed()
}

fn pins() -> BoxedStrategy<Pin> {
    let names = || prop_oneof!["[A-Z][a-zA-Z]{0,6}", "[a-z][a-z-]{0,8}", texts()];
    let fates = prop_oneof![
        Just(Fate::Lost),
        (spans(), prop::option::of(spans()), prop::option::of(nodes()))
            .prop_map(|(after, again, at)| Fate::Arrives { after, again, at }),
    ];
    let numbers = || (1..=u32::MAX, any::<u32>());
    let decisions = prop_oneof![
        (nodes(), nodes(), names(), any::<u64>(), numbers(), fates).prop_map(
            |(from, to, name, key, (start, number), fate)| Decision::Message {
                from,
                to,
                name,
                key,
                start,
                number,
                fate
            }
        ),
        (nodes(), names(), prop::option::of(nodes()), numbers(), spans()).prop_map(
            |(node, name, peer, (start, number), span)| Decision::Timer {
                node,
                name,
                peer,
                start,
                number,
                span
            }
        ),
        (nodes(), names(), numbers(), any::<u64>()).prop_map(|(node, site, (start, number), value)| {
            Decision::Draw { node, site, start, number, value }
        }),
        (nodes(), any::<u32>(), any::<u64>()).prop_map(|(node, number, bits)| Decision::Crash {
            node,
            number,
            bits
        }),
        (nodes(), prop::sample::select(whitewater_sim::DISK_DECISIONS), any::<u64>(), any::<u64>()).prop_map(
            |(node, what, number, value)| Decision::Disk { node, what: what.to_owned(), number, value }
        ),
    ];
    (decisions, prop::option::of(texts())).prop_map(|(decision, note)| Pin { decision, note }).boxed()
}

fn disks() -> BoxedStrategy<DiskTiming> {
    let range = || (spans(), spans()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    // What is left out of a text has to be drawn often enough.
    let share = || prop_oneof![Just(0), any::<u16>()];
    let sizes = (prop_oneof![Just(0), any::<u32>()], prop_oneof![Just(0), any::<u64>()]);
    let fails = (share(), share(), share(), share());
    let faults = (share(), share(), share(), share(), any::<bool>()).prop_map(
        |(lies, lost_writes, misdirected, rot, everywhere)| DiskFaults {
            lies,
            lost_writes,
            misdirected,
            rot,
            everywhere,
        },
    );
    (range(), range(), (share(), spans()), sizes, fails, faults)
        .prop_map(|(sync, busy, (stalls, stall), sizes, fails, faults)| DiskTiming {
            low: sync.0,
            high: sync.1,
            failures: fails.0,
            sector_bytes: sizes.0,
            busy_low: busy.0,
            busy_high: busy.1,
            stalls,
            stall,
            write_failures: fails.1,
            read_failures: fails.2,
            full: fails.3,
            capacity_bytes: sizes.1,
            faults,
        })
        .boxed()
}

fn scripts() -> BoxedStrategy<Script> {
    let range = || (spans(), spans()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let shares = (any::<[u16; 5]>(), prop::sample::select(&Shape::ALL[..]));
    let limits = (1..u64::MAX, 1..u32::MAX, 1..u32::MAX, spans());
    let settle = (spans(), spans(), any::<bool>());
    let steps = (prop::collection::vec(steps(), 0..6), prop::collection::vec(pins(), 0..4));
    (any::<Option<u64>>(), range(), disks(), shares, (spans(), spans()), settle, limits, steps)
        .prop_map(|(seed, delay, disk, shares, (horizon, reorder_window), settle, limits, (steps, pins))| {
            let (shares, shape) = shares;
            Script {
                seed: seed.unwrap_or_default(),
                rest: if seed.is_some() { Rest::Drawn } else { Rest::Fixed },
                servers: whitewater_sim::SERVERS_MAX,
                clients: whitewater_sim::CLIENTS_MAX,
                network: Network {
                    delay_low: delay.0,
                    delay_high: delay.1,
                    shape,
                    corrupt: Ratio(shares[3]),
                    misdeliver: Ratio(shares[4]),
                    loss: Ratio(shares[0]),
                    duplicate: Ratio(shares[1]),
                    reorder: Ratio(shares[2]),
                    reorder_window,
                },
                disk,
                steps,
                pins,
                horizon,
                settle: Settle { limit: settle.0, delay_high: settle.1, power_cycle: settle.2 },
                limits: Limits {
                    events: limits.0,
                    queue: limits.1 as usize,
                    steps: limits.2,
                    time: limits.3,
                },
            }
        })
        .boxed()
}

proptest! {
    #[test]
    fn every_script_reads_back_as_it_was_printed(script in scripts()) {
        let lines = script_lines(&script);
        prop_assert_eq!(parse_script(&lines, None), Ok(script), "{:#?}", lines);
    }

    #[test]
    fn no_line_makes_the_reader_panic(line in texts()) {
        let _ = parse_script(&[line], Some(&POND));
    }

    #[test]
    fn a_printed_step_is_one_line(step in steps()) {
        let line = print_step(&step);
        prop_assert!(!line.contains(['\n', '\r']), "{}", line);
    }
}
