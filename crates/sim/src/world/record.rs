//! Recording: numbers every event, and writes it down with its text if a trace was asked for.

use super::World;
use crate::effects::Effect;
use crate::id::NodeId;
use crate::monitor::Monitor;
use crate::node::{Message, Node, Timer};
use crate::trace::{EventId, EventKind, Subject, TraceEvent};
use crate::verdict::Verdict;
use std::fmt;

/// Shows a node's state through [`Node::describe`].
struct Described<'a, N>(&'a N);

impl<N: Node> fmt::Display for Described<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// Numbers an event and, when a trace is recorded, writes it down. Text is made only then.
    #[inline]
    pub(super) fn record(
        &mut self,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        subject: Option<Subject>,
        text: fmt::Arguments<'_>,
    ) -> EventId {
        let id = EventId(self.events);
        self.events += 1;
        if self.trace.is_some() {
            self.write_down(id, kind, node, cause, subject, text.to_string());
        }
        id
    }

    #[cold]
    fn write_down(
        &mut self,
        id: EventId,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        subject: Option<Subject>,
        text: String,
    ) {
        let role = node.and_then(|node| self.cluster.role(node));
        let (time, notes) = (self.now, Vec::new());
        let event =
            TraceEvent { id, cause, time, node, role, kind, subject, step: None, text, notes, state: None };
        self.trace.as_mut().expect("a trace is recorded").events.push(event);
    }

    /// Records something about a message.
    #[expect(clippy::too_many_arguments, reason = "everything a line of a trace tells about a message")]
    #[inline(always)]
    pub(super) fn record_message(
        &mut self,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        from: NodeId,
        to: NodeId,
        message: &N::Message,
        remark: &str,
    ) -> EventId {
        if self.trace.is_none() {
            self.events += 1;
            return EventId(self.events - 1);
        }
        self.write_message(kind, node, cause, from, to, message, remark)
    }

    #[expect(clippy::too_many_arguments, reason = "as for what calls it")]
    #[cold]
    fn write_message(
        &mut self,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        from: NodeId,
        to: NodeId,
        message: &N::Message,
        remark: &str,
    ) -> EventId {
        let subject = self.subject_of(from, to, message, message.key());
        let id = self.record(kind, node, cause, Some(subject), format_args!("{from}->{to} {message}"));
        if !remark.is_empty() {
            self.remark(remark.to_owned());
        }
        id
    }

    pub(super) fn record_timer(
        &mut self,
        kind: EventKind,
        node: NodeId,
        timer: N::Timer,
        cause: EventId,
    ) -> EventId {
        if self.trace.is_none() {
            self.events += 1;
            return EventId(self.events - 1);
        }
        let subject = self.timer_subject(node, timer);
        match timer.peer() {
            Some(peer) => self.record(
                kind,
                Some(node),
                cause,
                Some(subject),
                format_args!("{} {node}->{peer}", timer.name()),
            ),
            None => self.record(kind, Some(node), cause, Some(subject), format_args!("{}", timer.name())),
        }
    }

    /// Records the beginning or end of a step of the script.
    pub(super) fn record_step(&mut self, kind: EventKind, step: usize, cause: EventId) -> EventId {
        let id = self.record(kind, None, cause, None, format_args!(""));
        if let Some(event) = self.trace.as_mut().and_then(|t| t.events.last_mut()) {
            event.step = Some(step);
        }
        id
    }

    /// Adds a remark to the newest event.
    pub(super) fn remark(&mut self, text: String) {
        if let Some(event) = self.trace.as_mut().and_then(|t| t.events.last_mut()) {
            event.notes.push(text);
        }
    }

    /// Adds what the node remarked to its event, and the role it has after it.
    pub(super) fn record_notes(&mut self, node: NodeId, event: EventId) {
        let Some(trace) = &mut self.trace else { return };
        let slot = &self.cluster.slots[node.index()];
        let (role, state) = (slot.role, slot.node.as_ref().map(|node| Described(node).to_string()));
        let told = &mut self.around[node.index()].as_mut().expect("the node is in the cluster").told;
        let state = state.filter(|state| told.as_ref() != Some(state));
        if state.is_some() {
            told.clone_from(&state);
        }
        let Some(event) = trace.events.iter_mut().rev().find(|e| e.id == event) else { return };
        event.role = Some(role);
        event.state = state;
        event.notes.extend(self.outbox.effects.iter().filter_map(|effect| match effect {
            Effect::Note(text) => Some(text.clone()),
            _ => None,
        }));
    }

    /// Ends the run with a verdict found at an event; the first verdict stays.
    pub(super) fn end_with(&mut self, verdict: Verdict, cause: EventId) {
        if self.verdict.is_some() {
            return;
        }
        let node = verdict.node();
        let rule = verdict.rule();
        let id = self.record(EventKind::Violation, node, cause, None, format_args!("{rule}"));
        self.remark(verdict.to_string());
        if let Some(trace) = &mut self.trace {
            trace.violation = Some(id);
        }
        self.verdict_role = node.and_then(|node| self.cluster.role(node));
        self.verdict = Some(verdict);
    }

    pub(super) fn record_final_states(&mut self) {
        let Some(mut trace) = self.trace.take() else { return };
        for node in self.cluster.nodes() {
            let state = match &self.cluster.slots[node.index()].node {
                Some(state) => Described(state).to_string(),
                None => "down".to_owned(),
            };
            trace.final_states.push((node, state));
        }
        self.trace = Some(trace);
    }

    /// What an event about a message with this key is about.
    #[inline]
    pub(super) fn subject_of(&self, from: NodeId, to: NodeId, message: &N::Message, key: u64) -> Subject {
        Subject { from, to, name: message.kind().name, key, term: message.term() }
    }

    pub(super) fn timer_subject(&self, node: NodeId, timer: N::Timer) -> Subject {
        let to = timer.peer().unwrap_or(node);
        Subject { from: node, to, name: timer.name(), key: u64::from(timer.code()), term: None }
    }
}
