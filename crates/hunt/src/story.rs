//! A recorded run as it is told: the lines that were chosen, what each says, and the name it goes by.
//!
//! The name of an event is its time, so that an event more or less somewhere does not rename everything after it.

use crate::causes::before;
use crate::choice::{Choice, chain};
use crate::fold::Item;
use crate::sights::last_answer;
use crate::suspect::suspect;
use crate::words::{clock, remarks, step_line};
use std::collections::BTreeMap;
use whitewater_plan::Plan;
use whitewater_sim::{EventId, EventKind, Outcome, Role, Trace, TraceEvent, Verdict};

/// What is told of a run.
pub(crate) struct Story<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) trace: &'a Trace,
    pub(crate) suspect: Option<EventId>,
    /// The answer to a client that no order explains, which may be found only when the run is over.
    pub(crate) answer: Option<EventId>,
    pub(crate) items: Vec<Item>,
    /// What is left out, if the run is too long to tell it whole.
    pub(crate) omission: Option<String>,
    names: BTreeMap<EventId, String>,
}

impl<'a> Story<'a> {
    /// The story of a run; none if it was not recorded.
    pub(crate) fn of(plan: &'a Plan, outcome: &'a Outcome) -> Option<Story<'a>> {
        let trace = outcome.trace.as_ref()?;
        let suspect = match &outcome.verdict {
            Verdict::Violated(violation) => suspect(trace, violation),
            _ => None,
        };
        let answer = last_answer(trace, &outcome.evidence);
        let (items, omission) = Choice::new(plan, trace, suspect, answer).items();
        let names = names(trace, &items);
        Some(Story { plan, trace, suspect, answer, items, omission, names })
    }

    /// The same with a line for every event, however many there are.
    pub(crate) fn whole(self) -> Story<'a> {
        let items: Vec<Item> = (0..self.trace.events.len()).map(Item::Event).collect();
        let names = names(self.trace, &items);
        Story { items, omission: None, names, ..self }
    }

    /// The name an event is told under: its time in milliseconds, with a letter if it is not the first told at that time.
    pub(crate) fn name(&self, event: EventId) -> Option<&str> {
        self.names.get(&event).map(String::as_str)
    }

    /// The name of an event in two columns, so that times stand below each other.
    pub(crate) fn name_column(&self, event: &TraceEvent) -> String {
        let time = clock(event.time);
        let letters = self.name(event.id).and_then(|name| name.strip_prefix(&*time)).unwrap_or_default();
        format!("{time:>9}{letters:<2}")
    }

    /// The name of the nearest cause that is told.
    pub(crate) fn cause(&self, event: EventId) -> Option<&str> {
        let cause = before(self.trace, self.trace.event(event)?)?;
        chain(self.trace, cause.id).into_iter().find_map(|cause| self.name(cause))
    }

    /// What an event is about, in words.
    pub(crate) fn text(&self, event: &TraceEvent) -> String {
        let step = event.step.and_then(|at| Some((at + 1, self.plan.script.steps.get(at)?)));
        match (event.kind, step) {
            (EventKind::Open, Some((number, step))) => format!("step {number}: {}", step_line(step)),
            (EventKind::Close, Some((number, _))) => format!("step {number}"),
            (EventKind::Boot | EventKind::Crash, _) => {
                let node = event.node.map_or(String::new(), |n| n.to_string());
                format!("{node} {}", event.text).trim_end().to_owned()
            }
            _ => event.text.clone(),
        }
    }

    /// What stands in the margin beside an event.
    pub(crate) fn margin(&self, event: &TraceEvent) -> String {
        let mut parts = Vec::new();
        let step = event.step.and_then(|at| Some((at + 1, self.plan.script.steps.get(at)?)));
        if let (EventKind::Hold, Some((number, _))) = (event.kind, step) {
            parts.push(format!("by step {number}"));
        }
        let said = remarks(event);
        if let Some(role) = self.new_role(event) {
            let (short, word) = role_words(role);
            if !said.to_ascii_lowercase().contains(short) {
                parts.push(word.to_owned());
            }
        }
        if !said.is_empty() {
            parts.push(said);
        }
        if let (EventKind::Open | EventKind::Operate, Some((_, step))) = (event.kind, step) {
            parts.extend(step.note.clone());
        }
        parts.join("; ")
    }

    /// The role a node takes at an event, if it had another before.
    pub(crate) fn new_role(&self, event: &TraceEvent) -> Option<Role> {
        let (role, node) = (event.role?, event.node?);
        if matches!(event.kind, EventKind::Boot | EventKind::Crash) {
            return None;
        }
        let at = self.trace.events.partition_point(|e| e.id < event.id);
        let before = self.trace.events[..at].iter().rev().find(|e| e.node == Some(node))?;
        (before.role? != role).then_some(role)
    }

    /// An event in one sentence with its name; none if it is not told.
    pub(crate) fn sentence(&self, event: EventId) -> Option<String> {
        let (name, event) = (self.name(event)?, self.trace.event(event)?);
        let at = event.node.map_or(String::new(), |node| format!(" {node}"));
        let margin = self.margin(event);
        let margin = if margin.is_empty() { margin } else { format!(" ({margin})") };
        let (word, text) = (event.kind.word(), self.text(event));
        Some(format!("{name} ms:{at} {word} {text}{margin}"))
    }
}

/// The names of the events that are told.
fn names(trace: &Trace, items: &[Item]) -> BTreeMap<EventId, String> {
    let mut names = BTreeMap::new();
    let mut last = (String::new(), 0);
    for item in items {
        let Item::Event(at) = item else { continue };
        let event = &trace.events[*at];
        let time = clock(event.time);
        last = if last.0 == time { (time, last.1 + 1) } else { (time, 0) };
        names.insert(event.id, format!("{}{}", last.0, letters(last.1)));
    }
    names
}

/// Nothing for the first, then `b` to `z`, `bb` to `zz` and so on.
fn letters(count: usize) -> String {
    let letter = char::from(b'a' + (count % 26) as u8);
    if count == 0 { String::new() } else { String::from(letter).repeat(count / 26 + 1) }
}

/// The part of a role's name that a remark would use, and what is said without a remark.
const fn role_words(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::None => ("no role", "has no role"),
        Role::Follower => ("follow", "follows"),
        Role::PreCandidate => ("pre-", "asks whether it could win"),
        Role::Candidate => ("candidate", "candidate"),
        Role::Leader => ("lead", "LEADS"),
        Role::Learner => ("learner", "learner"),
    }
}

/// The event of that name: its number as in `e31`, or the time at which a text trace tells it, as in `36.17b`.
pub fn find_event(plan: &Plan, outcome: &Outcome, name: &str) -> Option<EventId> {
    let trace = outcome.trace.as_ref()?;
    if let Some(number) = name.strip_prefix('e').and_then(|digits| digits.parse().ok()) {
        return trace.event(EventId(number)).map(|event| event.id);
    }
    let story = Story::of(plan, outcome)?;
    trace.events.iter().map(|event| event.id).find(|id| story.name(*id) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::LINES_MAX;
    use crate::traces::{Sketch, n, outcome, plan, stranded};
    use whitewater_sim::Time;

    /// An election with a heartbeat so many times, and what comes after them.
    fn with_heartbeats(beats: usize) -> (Trace, EventId) {
        let mut sketch = Sketch::new();
        let start = sketch.push(EventKind::Boot, Some(n(1)), EventId::NONE, "", "");
        for _ in 0..beats {
            let beat = sketch.timer(n(1), "heartbeat");
            let sent = sketch.send(beat, n(1), n(2), "Heartbeat", 1);
            sketch.receive(sent, "");
        }
        let vote = sketch.send(start, n(1), n(2), "Vote", 2);
        let granted = sketch.receive(vote, "votes n1");
        (sketch.trace(), granted)
    }

    fn names_of(beats: usize) -> Vec<Option<String>> {
        let (trace, granted) = with_heartbeats(beats);
        let (plan, outcome) = (plan(), outcome(trace, Verdict::Pass));
        let story = Story::of(&plan, &outcome).unwrap();
        [story.name(EventId(0)), story.name(granted), story.cause(granted)]
            .map(|n| n.map(str::to_owned))
            .into()
    }

    #[test]
    fn a_heartbeat_more_renames_nothing() {
        let names = |granted: &str| ["0.00", granted, "0.00"].map(|n| Some(n.to_owned()));
        assert_eq!(names_of(1), names("5.00"));
        // Each heartbeat takes three events of a millisecond.
        assert_eq!(names_of(20), names("62.00"));
    }

    #[test]
    fn events_at_one_time_are_told_apart_by_letters() {
        let (mut trace, _) = with_heartbeats(1);
        trace.events.iter_mut().for_each(|event| event.time = Time::from_millis(7));
        let (plan, outcome) = (plan(), outcome(trace, Verdict::Pass));
        let story = Story::of(&plan, &outcome).unwrap();
        let names: Vec<_> = story.names.values().collect();
        assert_eq!(names, ["7.00", "7.00b"], "the heartbeat is background");
        let names: Vec<_> = story.whole().names.into_values().collect();
        assert_eq!(names, ["7.00", "7.00b", "7.00c", "7.00d", "7.00e", "7.00f"]);
        assert_eq!([0, 1, 25, 26, 27].map(letters), ["", "b", "z", "aa", "bb"]);
    }

    #[test]
    fn a_message_is_told_when_it_arrives_and_goes_back_to_what_sent_it() {
        let (trace, granted) = with_heartbeats(1);
        let sent = trace.event(granted).unwrap().cause;
        let (plan, outcome) = (plan(), outcome(trace, Verdict::Pass));
        let story = Story::of(&plan, &outcome).unwrap();
        assert_eq!(story.name(sent), None);
        assert_eq!(story.cause(granted), story.name(EventId(0)));
    }

    #[test]
    fn a_run_full_of_news_is_told_in_few_lines_with_its_causes() {
        let mut sketch = Sketch::new();
        let lost = sketch.lose(EventKind::Discard, EventId::NONE, n(1), n(2), "State", 1);
        for number in 1..600 {
            let node = n(number % 3 + 1);
            let text = format!("op{number} {}", "w".repeat(number));
            sketch.push(EventKind::Operate, Some(node), EventId::NONE, &text, "");
        }
        let violation = sketch.violation(EventId::NONE, n(2));
        let (plan, outcome) = (plan(), outcome(sketch.trace(), Verdict::Violated(stranded(n(2), n(1)))));
        let story = Story::of(&plan, &outcome).unwrap();
        assert!(story.items.len() <= LINES_MAX, "{} lines", story.items.len());
        assert!(story.name(lost).is_some() && story.name(violation).is_some());
    }

    #[test]
    fn a_role_that_nobody_remarks_on_is_told_in_the_margin() {
        let mut sketch = Sketch::new();
        sketch.timer(n(1), "election");
        sketch.role(n(1), Role::Leader);
        let won = sketch.timer(n(1), "election");
        let (plan, outcome) = (plan(), outcome(sketch.trace(), Verdict::Pass));
        let story = Story::of(&plan, &outcome).unwrap();
        let event = story.trace.event(won).unwrap();
        assert_eq!(story.margin(event), "LEADS");
        assert_eq!(story.sentence(won).unwrap(), "1.00 ms: n1 timer election (LEADS)");
    }
}
