//! Chooses what of a recorded run is told: the events that get a line, and the repeats that are folded.
//!
//! Sends are told by what became of them. An event is told when it says something new; what only repeats is counted, and
//! what is background is left out. A long run is told more coarsely, and at last in full only from shortly before what
//! matters, until it fits on [`LINES_MAX`] lines.

use crate::background::background;
use crate::causes::{before, is_refusal, refusals};
use crate::crowd::fold_crowds;
use crate::fold::{Fold, Item};
use crate::words::{clock, margin_lines, numberless, remarks, step_line};
use std::collections::{BTreeMap, BTreeSet};
use whitewater_plan::Plan;
use whitewater_sim::{EventId, EventKind, NodeId, Role, Subject, Time, Trace, TraceEvent};

/// Lines a story has at most, but for a causal chain that is longer by itself. With what stands above and below it a whole
/// text has up to sixteen more.
pub(crate) const LINES_MAX: usize = 104;

/// Leaders that are told of where a client was told something wrong, the last ones.
pub(crate) const LEADERS_MAX: usize = 4;

/// Repeats that are worth a line of their own.
const FOLD_MIN: usize = 8;

/// How coarsely events are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grain {
    /// What has remarks or changes a role is new unless it is the same to the letter.
    Fine,
    /// What differs only in its numbers is a repeat, but for faults and changes of role.
    Coarse,
    /// What differs only in its numbers is a repeat.
    Coarser,
    /// Messages and timers are left out unless something is remarked on them or a role changes.
    Plain,
    /// Only causes, phases, crashes and cuts.
    Bare,
}

/// Everything the choice depends on.
pub(crate) struct Choice<'a> {
    plan: &'a Plan,
    trace: &'a Trace,
    /// Events that are told whatever else is left out: what led to the violation and to the first suspect.
    pinned: BTreeSet<EventId>,
    /// Events at which a node takes another role.
    changes: BTreeSet<EventId>,
    /// What is not told, nor counted among what repeats.
    background: BTreeSet<EventId>,
    /// Where what matters begins: a few causes before the first suspect, or else before the end.
    turn: Option<EventId>,
    /// The nodes it matters to: those of the violation, and the ends of what was lost.
    concerned: BTreeSet<NodeId>,
}

/// One way to tell a run.
#[derive(Clone, Copy)]
struct Way {
    grain: Grain,
    /// Tell in full only from the turn on.
    late: bool,
    /// Tell there only what the nodes concerned do.
    near: bool,
    /// Fold what all nodes do alike also if there is something to remark on it.
    dense: bool,
}

/// Ways to tell a run, the fullest first.
const WAYS: [Way; 10] = [
    Way { grain: Grain::Fine, late: false, near: false, dense: false },
    Way { grain: Grain::Coarse, late: false, near: false, dense: false },
    Way { grain: Grain::Coarser, late: false, near: false, dense: false },
    Way { grain: Grain::Fine, late: false, near: false, dense: true },
    Way { grain: Grain::Coarse, late: false, near: false, dense: true },
    Way { grain: Grain::Coarser, late: false, near: false, dense: true },
    Way { grain: Grain::Fine, late: true, near: false, dense: true },
    Way { grain: Grain::Coarser, late: true, near: false, dense: true },
    Way { grain: Grain::Fine, late: true, near: true, dense: true },
    Way { grain: Grain::Coarser, late: true, near: true, dense: true },
];

impl<'a> Choice<'a> {
    /// What is told of a run in which `suspect` is the first suspect, and `answer` the answer to a client that no order explains.
    pub(crate) fn new(
        plan: &'a Plan,
        trace: &'a Trace,
        suspect: Option<EventId>,
        answer: Option<EventId>,
    ) -> Choice<'a> {
        let changes = role_changes(trace);
        let mut background = background(plan, trace, &changes);
        [trace.violation, suspect, answer].into_iter().flatten().for_each(|end| {
            background.remove(&end);
        });
        // A timer of which nothing is to be said is only the turn of some thread.
        let speaks = |id: &EventId| {
            let quiet = |e: &TraceEvent| e.kind == EventKind::Timer && remarks(e).is_empty();
            changes.contains(id) || !background.contains(id) && !trace.event(*id).is_some_and(quiet)
        };
        let near =
            |end, count| chain(trace, end).into_iter().filter(speaks).take(count).collect::<Vec<EventId>>();
        let ends = [trace.violation, suspect, answer].into_iter().flatten();
        // The near causes; far ones are told if they say something new.
        let mut pinned: BTreeSet<EventId> = ends.flat_map(|end| near(end, 12)).collect();
        // Whose answer was wrong may not have known who led: that is another's deed.
        let begins = |id: &&EventId| trace.event(**id).is_some_and(|event| event.role == Some(Role::Leader));
        let led = answer.map(|answer| changes.range(..answer).rev().filter(begins).take(LEADERS_MAX));
        pinned.extend(led.into_iter().flatten());
        let turn = suspect.or(answer).or(trace.violation).and_then(|end| near(end, 4).pop());
        let events =
            [trace.violation, suspect, answer].into_iter().flatten().filter_map(|id| trace.event(id));
        let nodes = events.flat_map(|e| {
            let ends = e.subject.map(|s| [s.from, s.to]);
            e.node.into_iter().chain(ends.into_iter().flatten())
        });
        let concerned = nodes.collect();
        Choice { plan, trace, pinned, changes, background, turn, concerned }
    }

    /// The lines, and what is left out if the run is too long to tell it whole.
    pub(crate) fn items(&self) -> (Vec<Item>, Option<String>) {
        let turn = self.turn.and_then(|id| self.trace.event(id));
        for way in WAYS.into_iter().filter(|way| !way.late || turn.is_some()) {
            let items = self.told(way);
            if self.lines(&items) <= LINES_MAX {
                let omission = turn.filter(|_| way.late).map(|turn| self.omission(way, turn.time));
                return (items, omission);
            }
        }
        let plain = Way { grain: Grain::Plain, late: false, near: false, dense: true };
        let items = self.told(plain);
        if self.lines(&items) <= LINES_MAX {
            return (items, Some("messages and timers without a remark are left out".into()));
        }
        let bare = Way { grain: Grain::Bare, late: false, near: false, dense: true };
        (self.told(bare), Some("only causes, crashes and cuts are told".into()))
    }

    /// How many lines it takes to tell them: a long margin goes on below.
    fn lines(&self, items: &[Item]) -> usize {
        let lines = |item: &Item| match item {
            Item::Event(at) => margin_lines(&remarks(&self.trace.events[*at])).len().max(1),
            Item::Fold(_) => 1,
        };
        items.iter().map(lines).sum()
    }

    fn omission(&self, way: Way, turn: Time) -> String {
        let before = format!("only causes, crashes and cuts are told before {}", clock(turn));
        let nodes: Vec<String> = self.concerned.iter().map(NodeId::to_string).collect();
        let near =
            if way.near { format!(", and then what {} do", nodes.join(" and ")) } else { String::new() };
        format!("{before}{near}")
    }

    /// The lines of a run told in some way.
    fn told(&self, way: Way) -> Vec<Item> {
        let mut seen = BTreeSet::new();
        let mut unreached = BTreeSet::new();
        let mut items = Vec::new();
        let mut fold = Fold::default();
        let mut phase = None;
        let events = self.trace.events.iter().enumerate();
        for (at, event) in events.filter(|(_, event)| !self.background.contains(&event.id)) {
            let early = way.late && self.turn.is_some_and(|turn| event.id < turn);
            let far = way.near && !self.concerns(event);
            let grain = if early || far { Grain::Bare } else { way.grain };
            let old = match (event.kind, event.subject, event.node) {
                (EventKind::Phase, ..) => {
                    phase = Some(event.time);
                    false
                }
                // The phase says so.
                (EventKind::Close, ..) => phase == Some(event.time),
                (EventKind::Boot, _, Some(node)) => {
                    unreached.remove(&node);
                    false
                }
                // That a node is down is news once; nothing reaches it until it starts.
                (EventKind::Down, Some(s), _) => !unreached.insert(s.to),
                _ => false,
            };
            let manner = if old { Manner::Never } else { self.manner(event, grain) };
            let is_pinned = self.pinned.contains(&event.id);
            let is_new = match manner {
                Manner::Always => true,
                Manner::Never if !is_pinned => continue,
                Manner::Never => true,
                Manner::Once(exact) => seen.insert(signature(self.plan, event, exact)),
            };
            if !is_new && !is_pinned {
                fold.add(event);
                continue;
            }
            let ends = matches!(event.kind, EventKind::Phase | EventKind::Violation);
            if fold.len() >= FOLD_MIN || (ends && fold.len() > 0) {
                self.put(&mut items, std::mem::take(&mut fold));
            }
            items.push(Item::Event(at));
        }
        if fold.len() > 0 {
            self.put(&mut items, fold);
        }
        let matters = |event: &TraceEvent| {
            let changes = self.changes.contains(&event.id);
            changes || self.pinned.contains(&event.id) || !way.dense && !remarks(event).is_empty()
        };
        fold_crowds(&self.trace.events, items, matters)
    }

    /// Puts repeats where the last of them was.
    fn put(&self, items: &mut Vec<Item>, fold: Fold) {
        let (_, last) = fold.times();
        let later = |item: &Item| matches!(item, Item::Event(at) if self.trace.events[*at].time > last);
        let place = items.len() - items.iter().rev().take_while(|item| later(item)).count();
        items.insert(place, Item::Fold(fold));
    }

    fn manner(&self, event: &TraceEvent, grain: Grain) -> Manner {
        let remarked = !remarks(event).is_empty();
        let once_or_always = |always: bool| if always { Manner::Always } else { Manner::Once(false) };
        match event.kind {
            EventKind::Phase | EventKind::Violation => Manner::Always,
            // The step that crashed it says so.
            EventKind::Crash if event.text.is_empty() && event.cause != EventId::NONE => Manner::Never,
            EventKind::Open | EventKind::Close if grain == Grain::Bare && !self.is_gross(event) => {
                Manner::Never
            }
            EventKind::Boot | EventKind::Crash | EventKind::Open | EventKind::Close => {
                once_or_always(grain < Grain::Coarser)
            }
            _ if grain == Grain::Bare => Manner::Never,
            EventKind::Recv | EventKind::Timer | EventKind::Sync
                if grain == Grain::Plain && !remarked && !self.changes.contains(&event.id) =>
            {
                Manner::Never
            }
            EventKind::Send => Manner::Never,
            EventKind::Discard | EventKind::Hold | EventKind::Operate | EventKind::Reply => {
                Manner::Once(grain == Grain::Fine)
            }
            EventKind::Drop | EventKind::Cut | EventKind::Down => Manner::Once(false),
            _ if self.changes.contains(&event.id) => once_or_always(grain < Grain::Coarser),
            EventKind::Timer if !remarked => Manner::Never,
            EventKind::Sync if !remarked && !event.text.contains("FAILED") => Manner::Never,
            EventKind::Recv | EventKind::Timer | EventKind::Sync => {
                Manner::Once(remarked && grain == Grain::Fine)
            }
        }
    }

    /// Whether an event is about the nodes concerned only.
    fn concerns(&self, event: &TraceEvent) -> bool {
        let about = |node: &NodeId| self.concerned.contains(node);
        match event.subject {
            Some(Subject { from, to, .. }) => about(&from) && about(&to),
            None => event.node.as_ref().is_none_or(about),
        }
    }

    /// Whether a step does more than to bend single messages.
    fn is_gross(&self, event: &TraceEvent) -> bool {
        let step = event.step.and_then(|at| self.plan.script.steps.get(at));
        step.is_some_and(|s| s.action.victim().is_some() || s.action.cuts_links())
    }
}

/// The chain of causes of an event, itself first, as it is told: sends are told by what became of them, a row of
/// refusals by the first of them, and what caused itself again and again, as a timer does, by its latest.
pub(crate) fn chain(trace: &Trace, end: EventId) -> Vec<EventId> {
    let mut shapes = BTreeSet::new();
    let mut chain = Vec::new();
    let mut next = trace.event(end);
    while let Some(event) = next {
        let event = match is_refusal(event) {
            true => trace.event(refusals(trace, event).0).expect("a refusal is an event of the trace"),
            false => event,
        };
        let subject = event.subject.map(|s| (s.from, s.to, s.name));
        let fresh = shapes.insert((event.kind.word(), event.node, subject, event.text.clone()));
        if event.kind != EventKind::Send && (fresh || event.kind != EventKind::Timer) {
            chain.push(event.id);
        }
        next = before(trace, event);
    }
    chain
}

/// Events at which a node takes another role.
fn role_changes(trace: &Trace) -> BTreeSet<EventId> {
    let mut roles: BTreeMap<NodeId, Role> = BTreeMap::new();
    let mut changes = BTreeSet::new();
    for event in &trace.events {
        let (Some(node), Some(role)) = (event.node, event.role) else { continue };
        let acts = !matches!(event.kind, EventKind::Send | EventKind::Discard | EventKind::Cut);
        if roles.insert(node, role).is_some_and(|before| before != role) && acts {
            changes.insert(event.id);
        }
    }
    changes
}

/// How an event is told.
enum Manner {
    /// Every time.
    Always,
    /// When it is new; the same to the letter, or but for numbers.
    Once(bool),
    /// Not at all.
    Never,
}

/// What makes an event the same as another.
fn signature(plan: &Plan, event: &TraceEvent, exact: bool) -> Signature {
    let step = event.step.and_then(|at| plan.script.steps.get(at)).map(step_line).unwrap_or_default();
    let text = format!("{} {step} {}", event.text, remarks(event));
    let subject = event.subject.map(|Subject { from, to, name, .. }| (from, to, name));
    let text = if exact { text } else { numberless(&text) };
    (event.kind.word(), event.node, event.role, subject, text)
}

type Signature = (&'static str, Option<NodeId>, Option<Role>, Option<(NodeId, NodeId, &'static str)>, String);
