//! Steps and their parts as text.

use super::read::{is_name, is_word, needs_quotes};
use super::words::{is_plain, quote};
use whitewater_sim::{
    Action, ClockChange, Condition, Countable, Losing, Pattern, Rate, Ratio, Role, Shape, Span, Step, Target,
    Time, Topology, Trigger,
};

/// A step as one line, its note behind a bar.
pub fn print_step(step: &Step) -> String {
    let Step { when, action, until, note } = step;
    let mut line = print_action(action);
    let ends_in_groups = match action {
        Action::Partition(_) => true,
        Action::Topology { topology, flapping: None, .. } => !topology.is_row(),
        _ => false,
    };
    // A bar behind the groups of a partition would begin another group.
    let must_say = ends_in_groups && until.is_none() && note.is_some();
    if *when != Trigger::At(Time::ZERO) || must_say {
        line.push_str(&match when {
            Trigger::At(time) => match has_duration(action, until.is_some()) {
                true => format!(" from {time}"),
                false => format!(" at {time}"),
            },
            Trigger::When(condition, after) => format!(" when {}", print_moment(condition, *after)),
            Trigger::After(span) => format!(" at +{span}"),
            Trigger::End => " at end".to_owned(),
        });
    }
    if let Some(until) = until {
        line.push_str(&match until {
            Trigger::At(time) => format!(" until {time}"),
            Trigger::After(span) => format!(" until +{span}"),
            Trigger::When(condition, after) => format!(" until {}", print_moment(condition, *after)),
            Trigger::End => " until end".to_owned(),
        });
    }
    line.push_str(&crash_clauses(action));
    match note {
        Some(note) if is_plain(note) => line.push_str(&format!(" | {note}")),
        Some(note) => line.push_str(&format!(" | {}", quote(note))),
        None => {}
    }
    line
}

/// What a crash says behind its times.
fn crash_clauses(action: &Action) -> String {
    let (losing, point) = match action {
        Action::Crash { losing, at_call: 0, .. } => (losing, String::new()),
        Action::Crash { losing, at_call, .. } => (losing, format!(" at storage call {at_call}")),
        Action::CrashAfter { losing, effect, number, .. } => {
            (losing, format!(" at {} {number}", countable_word(*effect)))
        }
        _ => return String::new(),
    };
    let lost = match losing {
        Losing::Some => "",
        Losing::Unsynced => " losing unsynced",
        Losing::Everything => " losing everything",
    };
    format!("{lost}{point}")
}

/// What a crash in the middle of a step is counted by.
pub(super) const fn countable_word(effect: Countable) -> &'static str {
    match effect {
        Countable::Sends => "send",
        Countable::Replies => "reply",
    }
}

/// Whether a step reads better with `from` than with `at`.
fn has_duration(action: &Action, has_end: bool) -> bool {
    match action {
        Action::Crash { .. } | Action::CrashAfter { .. } | Action::Roll { .. } => false,
        Action::Operate { every, .. } => every.is_some(),
        Action::Partition(_) | Action::Topology { .. } | Action::Cut { .. } | Action::Clog { .. } => true,
        Action::Hold(_) | Action::Lossy(..) | Action::Choke(..) | Action::Corrupt(..) => true,
        Action::Reorder { .. } | Action::DuplicateSome { .. } | Action::MisdeliverSome(..) => true,
        Action::Rewind(_) | Action::Pause(_) | Action::FailSyncs(_) | Action::Slow { .. } => true,
        Action::Clock { change: ClockChange::Rate(_) | ClockChange::Freeze, .. } => true,
        Action::Clock { .. } | Action::Drop(_) | Action::Delay(..) | Action::Jitter { .. } => has_end,
        Action::Duplicate(..) | Action::Replay(..) | Action::Misdeliver(..) => has_end,
        Action::Expect(..) => false,
        Action::Never(_) => true,
    }
}

/// What a step does, without its times and what else a crash says behind them.
pub fn print_action(action: &Action) -> String {
    match action {
        Action::Crash { node, .. } | Action::CrashAfter { node, .. } => {
            format!("crash {}", print_target(node))
        }
        Action::Roll { node, option, value } => {
            format!("roll {} {}", print_target(node), print_assignment(option, value))
        }
        Action::Rewind(node) => format!("rewind {}", print_target(node)),
        Action::Pause(node) => format!("pause {}", print_target(node)),
        Action::FailSyncs(node) => format!("fail-syncs {}", print_target(node)),
        Action::Slow { node, low, high } => {
            format!("slow {} by {}", print_target(node), print_range(*low, *high))
        }
        Action::Clock { node, change } => format!("clock {} {}", print_target(node), print_change(*change)),
        Action::Partition(groups) => format!("partition {}", print_groups(groups)),
        Action::Topology { topology, groups, flapping } => {
            let flapping = flapping.map_or_else(String::new, |every| format!(" flapping {every}"));
            format!("{} {}{flapping}", topology_word(*topology), print_groups(groups))
        }
        Action::Cut { from, to } => format!("cut {}->{}", print_target(from), print_target(to)),
        Action::Clog { from, to } => format!("clog {}->{}", print_target(from), print_target(to)),
        Action::Hold(pattern) => format!("hold {}", print_pattern(pattern)),
        Action::Drop(pattern) => format!("drop {}", print_pattern(pattern)),
        Action::Delay(pattern, by) => format!("delay {} by {by}", print_pattern(pattern)),
        Action::Jitter { pattern, low, high, shape } => {
            format!("delay {} by {low}..{high}{}", print_pattern(pattern), print_shape(*shape))
        }
        Action::Duplicate(pattern, after) => format!("duplicate {} after {after}", print_pattern(pattern)),
        Action::Reorder { pattern, share, window } => {
            format!("reorder {} {} up to {window}", print_pattern(pattern), print_ratio(*share))
        }
        Action::DuplicateSome { pattern, share, after } => {
            format!("duplicate {} {} after {after}", print_pattern(pattern), print_ratio(*share))
        }
        Action::MisdeliverSome(pattern, share) => {
            format!("misdeliver {} {}", print_pattern(pattern), print_ratio(*share))
        }
        Action::Replay(pattern, elections) => {
            format!("replay {} after {elections} elections", print_pattern(pattern))
        }
        Action::Lossy(pattern, ratio) => format!("lossy {} {}", print_pattern(pattern), print_ratio(*ratio)),
        Action::Choke(pattern, bytes) => format!("choke {} over {bytes} bytes", print_pattern(pattern)),
        Action::Corrupt(pattern, ratio) => {
            format!("corrupt {} {}", print_pattern(pattern), print_ratio(*ratio))
        }
        Action::Misdeliver(pattern, to) => format!("misdeliver {} to {to}", print_pattern(pattern)),
        Action::Expect(condition, None) => format!("expect {}", print_condition(condition)),
        Action::Expect(condition, Some(within)) => {
            format!("expect {} within {within}", print_condition(condition))
        }
        Action::Never(condition) => format!("never {}", print_condition(condition)),
        Action::Operate { target, text, every } => {
            let text = if needs_quotes(text) { quote(text) } else { text.clone() };
            let every = every.map_or_else(String::new, |every| format!(" every {every}"));
            format!("{text} at {}{every}", print_target(target))
        }
    }
}

fn print_groups(groups: &[Vec<Target>]) -> String {
    let group = |group: &Vec<Target>| group.iter().map(print_target).collect::<Vec<_>>().join(" ");
    groups.iter().map(group).collect::<Vec<_>>().join(" | ")
}

/// `option=value`, in quotes if it would not be one word.
fn print_assignment(option: &str, value: &str) -> String {
    let text = format!("{option}={value}");
    let is_word = !text.is_empty() && is_plain(&text) && !text.contains(char::is_whitespace);
    if is_word && !text.starts_with('"') { text } else { quote(&text) }
}

fn print_change(change: ClockChange) -> String {
    match change {
        ClockChange::Rate(rate) => format!("rate {}", print_rate(rate)),
        ClockChange::Freeze => "freeze".to_owned(),
        ClockChange::Forward(by) => format!("forward {by}"),
        ClockChange::Back(by) => format!("back {by}"),
    }
}

/// What is said behind a range of delays.
pub(super) fn print_shape(shape: Shape) -> String {
    if shape == Shape::Uniform { String::new() } else { format!(" {}", shape.name()) }
}

/// The first word of a cut of this shape.
pub(super) const fn topology_word(topology: Topology) -> &'static str {
    match topology {
        Topology::Groups => "partition",
        Topology::Ring => "ring",
        Topology::Bridge => "bridge",
        Topology::Chain => "chain",
        Topology::OneWay => "one-way",
    }
}

/// A condition: `n1 leads`, `relay-ready n1->n2 fires`, `n1->n2 MsgApp arrives`, `n2 reaches commit 5`.
pub fn print_condition(condition: &Condition) -> String {
    match condition {
        Condition::Takes(target, role) => format!("{} {}", print_target(target), role_verb(*role)),
        Condition::Fires(pattern) => format!("{} fires", print_pattern(pattern)),
        Condition::Arrives(pattern) => format!("{} arrives", print_pattern(pattern)),
        Condition::Leaves(pattern) => format!("{} leaves", print_pattern(pattern)),
        Condition::Reaches(target, figure, value) => {
            let figure = if is_word(figure) { figure.clone() } else { quote(figure) };
            format!("{} reaches {figure} {value}", print_target(target))
        }
    }
}

fn print_moment(condition: &Condition, after: Span) -> String {
    match after {
        Span::ZERO => print_condition(condition),
        after => format!("{} after {after}", print_condition(condition)),
    }
}

/// What taking a role is called.
pub(super) const fn role_verb(role: Role) -> &'static str {
    match role {
        Role::None => "idles",
        Role::Follower => "follows",
        Role::PreCandidate => "pre-campaigns",
        Role::Candidate => "campaigns",
        Role::Leader => "leads",
        Role::Learner => "learns",
    }
}

/// A target: `n1`, `any`, `leader`, `follower`, `follower-2`.
pub fn print_target(target: &Target) -> String {
    match target {
        Target::Node(node) => node.to_string(),
        Target::Any => "any".to_owned(),
        Target::Leader => "leader".to_owned(),
        Target::Follower(0) => "follower".to_owned(),
        Target::Follower(count) => format!("follower-{}", u16::from(*count) + 1),
    }
}

/// A pattern: `n1->n2 MsgApp term 2 #3`, `relay-ready n1->n2`, `any->any` for everything.
pub fn print_pattern(pattern: &Pattern) -> String {
    let Pattern { name, from, to, term, number } = pattern;
    // Timers are written in lower case: name first, and no peer means that there is none to speak of.
    let is_timer = name.as_ref().is_some_and(|name| name.starts_with(char::is_lowercase));
    let end = |end: &Option<Target>| end.as_ref().map_or("any".to_owned(), print_target);
    let link = match (from, to) {
        (None, None) => None,
        (Some(from), None) if is_timer => Some(print_target(from)),
        _ => Some(format!("{}->{}", end(from), end(to))),
    };
    let name = name.as_ref().map(|name| if is_name(name) { name.clone() } else { quote(name) });
    let mut parts: Vec<String> = if is_timer { vec![name, link] } else { vec![link, name] }
        .into_iter()
        .flatten()
        .chain(term.map(|term| format!("term {term}")))
        .chain(number.map(|number| format!("#{number}")))
        .collect();
    if parts.is_empty() {
        parts.push("any->any".to_owned());
    }
    parts.join(" ")
}

/// A range of times; one time if it is always the same.
pub(super) fn print_range(low: Span, high: Span) -> String {
    if low == high { low.to_string() } else { format!("{low}..{high}") }
}

/// A share: the fraction with the smallest usual denominator that is exact, or of 65,536.
pub fn print_ratio(ratio: Ratio) -> String {
    print_parts(u64::from(ratio.0), |numerator, denominator| u64::from(Ratio::of(numerator, denominator).0))
}

/// The rate of a clock, in the same way.
fn print_rate(rate: Rate) -> String {
    print_parts(u64::from(rate.0), |numerator, denominator| u64::from(Rate::of(numerator, denominator).0))
}

fn print_parts(parts: u64, of: impl Fn(u64, u64) -> u64) -> String {
    const DENOMINATORS: [u64; 14] = [1, 2, 3, 4, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000];
    let exact = DENOMINATORS.into_iter().find_map(|denominator| {
        let numerator = (parts * denominator).div_ceil(65_536);
        (of(numerator, denominator) == parts).then(|| format!("{numerator}/{denominator}"))
    });
    exact.unwrap_or_else(|| format!("{parts}/65536"))
}
