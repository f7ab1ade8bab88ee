//! A walk through a recorded run: forward and back event by event, with what is under way, and other decisions on demand.

use crate::run::run;
use crate::words::{clock, remarks};
use std::collections::BTreeMap;
use whitewater_plan::{Plan, text};
use whitewater_sim::{
    Decision, EventId, EventKind, Fate, NodeId, Outcome, Pin, Span, System, Time, Trace, TraceEvent,
};

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// There may be more.
    On,
    /// It is over.
    Done,
}

/// A place in a run that can be changed from here on.
pub struct Walk {
    system: &'static dyn System,
    plan: Plan,
    outcome: Outcome,
    at: usize,
}

/// A message that was sent and has not arrived.
struct UnderWay<'a> {
    sent: &'a TraceEvent,
    arrives: Option<Time>,
}

impl Walk {
    /// The beginning of a run.
    ///
    /// # Errors
    /// The plan cannot be run.
    pub fn begin(system: &'static dyn System, plan: Plan) -> Result<Walk, String> {
        let outcome = run(system, &plan, true)?;
        Ok(Walk { system, plan, outcome, at: 0 })
    }

    fn trace(&self) -> &Trace {
        self.outcome.trace.as_ref().expect("the run was recorded")
    }

    /// Events of the run.
    pub fn len(&self) -> usize {
        self.trace().events.len()
    }

    /// Whether nothing happens in the run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plan as it stands.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How the run as it stands ends.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The plan as it stands, one line of its script each.
    pub fn plan_text(&self) -> String {
        text::script_lines(&self.plan.script).join("\n")
    }

    /// How the run as it stands ends, in one line.
    pub fn verdict(&self) -> String {
        format!("{}: {}", self.outcome.verdict.rule(), self.outcome.verdict)
    }

    /// The event one stands at.
    pub fn here(&self) -> String {
        self.trace().events.get(self.at).map_or_else(|| "the run is over".to_owned(), event_line)
    }

    /// Goes on by some events and tells each.
    pub fn forward(&mut self, count: usize) -> String {
        let last = self.len().saturating_sub(1);
        let to = self.at.saturating_add(count).min(last);
        if to == self.at {
            return "the run is over".to_owned();
        }
        let told: Vec<String> = self.trace().events[self.at + 1..=to].iter().map(event_line).collect();
        self.at = to;
        told.join("\n")
    }

    /// Goes back by some events.
    pub fn back(&mut self, count: usize) -> String {
        self.at = self.at.saturating_sub(count);
        self.here()
    }

    /// Goes on to the event at which a rule is found broken, or to the end.
    pub fn to_the_verdict(&mut self) -> String {
        let found = self.trace().violation;
        let at = found.map(|id| self.trace().events.partition_point(|e| e.id < id));
        self.at = at.unwrap_or(self.len().saturating_sub(1));
        self.here()
    }

    fn now(&self) -> Time {
        self.trace().events.get(self.at).map_or(self.outcome.time, |event| event.time)
    }

    fn messages(&self) -> Vec<UnderWay<'_>> {
        let events = &self.trace().events;
        let (past, future) = events.split_at((self.at + 1).min(events.len()));
        let mut open: BTreeMap<EventId, UnderWay<'_>> = BTreeMap::new();
        for event in past {
            match event.kind {
                EventKind::Send => drop(open.insert(event.id, UnderWay { sent: event, arrives: None })),
                EventKind::Recv | EventKind::Cut | EventKind::Down => drop(open.remove(&event.cause)),
                _ => {}
            }
        }
        for event in future.iter().rev().filter(|e| e.kind == EventKind::Recv) {
            if let Some(message) = open.get_mut(&event.cause) {
                message.arrives = Some(event.time);
            }
        }
        open.into_values().collect()
    }

    /// The messages under way, numbered from 1.
    pub fn under_way(&self) -> String {
        let messages = self.messages();
        if messages.is_empty() {
            return "nothing is under way".to_owned();
        }
        let told = messages.iter().enumerate().map(|(at, message)| {
            let sent = clock(message.sent.time);
            let arrives = match message.arrives {
                Some(time) => format!("arrives at {}", clock(time)),
                None => "never arrives".to_owned(),
            };
            format!("{:>4}  {}   sent at {sent}, {arrives}", at + 1, message.sent.text)
        });
        told.collect::<Vec<_>>().join("\n")
    }

    /// The state of a node after the event one stands at.
    ///
    /// # Errors
    /// There is no such node.
    pub fn state(&self, node: NodeId) -> Result<String, String> {
        if !self.plan.script.has(node) {
            return Err(format!("{node} is not in the cluster"));
        }
        let past = self.trace().events.iter().take(self.at + 1).rev().filter(|e| e.node == Some(node));
        for event in past {
            if event.kind == EventKind::Crash {
                return Ok(format!("{node} is down"));
            }
            if let Some(state) = &event.state {
                return Ok(format!("{node} {state}"));
            }
        }
        Ok(format!("{node} has not started"))
    }

    /// Lets a message arrive as soon as it can.
    ///
    /// # Errors
    /// There is no message of that number, or the run cannot be made so.
    pub fn deliver(&mut self, number: usize) -> Result<String, String> {
        let now = self.now();
        self.decide(number, |sent| Fate::Arrives {
            // It comes in behind what is going on at this moment.
            after: Span::from_nanos(now.since(sent).nanos() + 1),
            again: None,
            at: None,
        })
    }

    /// Loses a message.
    ///
    /// # Errors
    /// There is no message of that number, or the run cannot be made so.
    pub fn lose(&mut self, number: usize) -> Result<String, String> {
        self.decide(number, |_| Fate::Lost)
    }

    fn decide(&mut self, number: usize, fate: impl Fn(Time) -> Fate) -> Result<String, String> {
        let messages = self.messages();
        let count = messages.len();
        let message = number.checked_sub(1).and_then(|at| messages.get(at));
        let message =
            message.ok_or_else(|| format!("there is no message {number}: {count} are under way"))?;
        let (sent, at, text) = (message.sent.id, message.sent.time, message.sent.text.clone());
        let name = self.name_of(sent).ok_or("this message has no name of its own")?;
        let mut plan = self.plan.clone();
        plan.script.pins.retain(|pin| name_only(&pin.decision) != name_only(&name));
        plan.script.pins.push(Pin { decision: with_fate(&name, fate(at)), note: Some(text.clone()) });
        let outcome = run(self.system, &plan, true)?;
        if outcome.trace.as_ref().is_none_or(|trace| trace.event(sent).is_none()) {
            return Err("the run would be another before now".to_owned());
        }
        (self.plan, self.outcome) = (plan, outcome);
        Ok(format!("{text}: decided; the run now ends with {}", self.outcome.verdict.rule()))
    }

    /// The name of the message that an event sent: link, kind, content and its number among equals.
    fn name_of(&self, sent: EventId) -> Option<Decision> {
        let events = &self.trace().events;
        let mine = self.trace().event(sent)?;
        let subject = mine.subject?;
        let mut start = 0;
        let mut number = 0;
        for event in events.iter().take_while(|event| event.id <= sent) {
            match event.kind {
                EventKind::Boot if event.node == Some(subject.from) => (start, number) = (start + 1, 0),
                EventKind::Send | EventKind::Drop => {
                    let same = event.subject.is_some_and(|other| {
                        (other.from, other.to, other.name, other.key)
                            == (subject.from, subject.to, subject.name, subject.key)
                    });
                    number += u32::from(same && event.node == Some(subject.from));
                }
                // A cut link stops a message as it leaves or as it arrives; only the first was a sending.
                EventKind::Cut if event.node == Some(subject.from) => {
                    let same = event.subject.is_some_and(|other| {
                        (other.from, other.to, other.name, other.key)
                            == (subject.from, subject.to, subject.name, subject.key)
                    });
                    number += u32::from(same);
                }
                _ => {}
            }
        }
        let name = subject.name.to_owned();
        let (from, to, key) = (subject.from, subject.to, subject.key);
        Some(Decision::Message { from, to, name, key, start, number, fate: Fate::Lost })
    }
}

/// The same decision with another fate.
fn with_fate(decision: &Decision, fate: Fate) -> Decision {
    let mut with = decision.clone();
    if let Decision::Message { fate: of, .. } = &mut with {
        *of = fate;
    }
    with
}

/// What a decision is about, whatever was decided.
fn name_only(decision: &Decision) -> Decision {
    with_fate(decision, Fate::Lost)
}

/// An event in one line: number, time, cause, node, kind, text and remarks.
pub fn event_line(event: &TraceEvent) -> String {
    let node = event.node.map_or_else(String::new, |node| node.to_string());
    let cause = match event.cause {
        EventId::NONE => String::new(),
        cause => format!("<{cause}"),
    };
    let id = event.id.to_string();
    let text = format!(
        "{id:>6} {:>10} {cause:<7} {node:<3} {:<9} {:<48} {}",
        clock(event.time),
        event.kind.word(),
        event.text,
        remarks(event)
    );
    text.trim_end().to_owned()
}
