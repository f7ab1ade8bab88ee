//! Steps and their parts as text.

use super::read::{is_name, is_word, needs_quotes};
use super::words::{is_plain, quote};
use whitewater_sim::{Action, Condition, Losing, Pattern, Ratio, Role, Span, Step, Target, Time, Trigger};

/// A step as one line, its note behind a bar.
pub fn print_step(step: &Step) -> String {
    let Step { when, action, until, note } = step;
    let mut line = print_action(action);
    let is_partition = matches!(action, Action::Partition(_));
    // A bar behind the groups of a partition would begin another group.
    let must_say = is_partition && until.is_none() && note.is_some();
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
    if let Action::Crash { losing, at_call, .. } = action {
        if *losing == Losing::Unsynced {
            line.push_str(" losing unsynced");
        }
        if *at_call > 0 {
            line.push_str(&format!(" at storage call {at_call}"));
        }
    }
    match note {
        Some(note) if is_plain(note) => line.push_str(&format!(" | {note}")),
        Some(note) => line.push_str(&format!(" | {}", quote(note))),
        None => {}
    }
    line
}

/// Whether a step reads better with `from` than with `at`.
fn has_duration(action: &Action, has_end: bool) -> bool {
    match action {
        Action::Crash { .. } => false,
        Action::Operate { every, .. } => every.is_some(),
        Action::Expect(..) => false,
        Action::Never(_) => true,
        Action::Partition(_) | Action::Cut { .. } | Action::Hold(_) | Action::Lossy(..) => true,
        Action::Drop(_) | Action::Delay(..) | Action::Duplicate(..) => has_end,
    }
}

/// What a step does, without its times and what else a crash says behind them.
pub fn print_action(action: &Action) -> String {
    match action {
        Action::Crash { node, .. } => format!("crash {}", print_target(node)),
        Action::Partition(groups) => {
            let group = |group: &Vec<Target>| group.iter().map(print_target).collect::<Vec<_>>().join(" ");
            format!("partition {}", groups.iter().map(group).collect::<Vec<_>>().join(" | "))
        }
        Action::Cut { from, to } => format!("cut {}->{}", print_target(from), print_target(to)),
        Action::Hold(pattern) => format!("hold {}", print_pattern(pattern)),
        Action::Drop(pattern) => format!("drop {}", print_pattern(pattern)),
        Action::Delay(pattern, by) => format!("delay {} by {by}", print_pattern(pattern)),
        Action::Duplicate(pattern, after) => format!("duplicate {} after {after}", print_pattern(pattern)),
        Action::Lossy(pattern, ratio) => format!("lossy {} {}", print_pattern(pattern), print_ratio(*ratio)),
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
    let end = |node: &Option<_>| node.as_ref().map_or("any".to_owned(), ToString::to_string);
    let link = match (from, to) {
        (None, None) => None,
        (Some(from), None) if is_timer => Some(from.to_string()),
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
    const DENOMINATORS: [u64; 14] = [1, 2, 3, 4, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000];
    let exact = DENOMINATORS.into_iter().find_map(|denominator| {
        let numerator = (u64::from(ratio.0) * denominator).div_ceil(65_536);
        (Ratio::of(numerator, denominator) == ratio).then(|| format!("{numerator}/{denominator}"))
    });
    exact.unwrap_or_else(|| format!("{}/65536", ratio.0))
}
