//! Traces sketched by hand, for tests.

use whitewater_plan::{PLAN_VERSION, Plan, Profile};
use whitewater_sim::{
    Counters, EventId, EventKind, Figures, NodeId, Options, Outcome, Role, Script, Span, Subject, Time,
    Trace, TraceEvent, TraceHash, Verdict, Violation,
};

/// Server `n{number}`.
pub(crate) fn n(number: usize) -> NodeId {
    NodeId::server(number - 1)
}

/// A violation found at `node`, with `peer` concerned.
pub(crate) fn stranded(node: NodeId, peer: NodeId) -> Violation {
    Violation {
        rule: "follower-applies",
        claim: "A live follower that is connected to the leader applies its rows.",
        message: format!("{node} applied none of the rows of leader {peer}"),
        node: Some(node),
        peer: Some(peer),
    }
}

/// Any plan; what sketches are traces of.
pub(crate) fn plan() -> Plan {
    let (options, script) = (Options::new(), Script::default());
    Plan { version: PLAN_VERSION, system: "sketch".into(), profile: Profile::Calm, options, script }
}

/// A run that left this trace.
pub(crate) fn outcome(trace: Trace, verdict: Verdict) -> Outcome {
    Outcome {
        verdict,
        time: Time::from_millis(trace.events.len() as u64),
        hash: TraceHash(7),
        counters: Counters::default(),
        figures: Figures::default(),
        marks: Vec::new(),
        unfired: Vec::new(),
        claim: None,
        unmet: Vec::new(),
        role: None,
        faulty: Span::ZERO,
        disks: Vec::new(),
        decisions: Vec::new(),
        trace: Some(trace),
        history: None,
        evidence: Vec::new(),
    }
}

/// A trace in the making. Each event is a millisecond after the one before, but for what is said to be at once.
pub(crate) struct Sketch {
    trace: Trace,
    now: u64,
    roles: Vec<Role>,
}

impl Sketch {
    pub(crate) fn new() -> Sketch {
        Sketch { trace: Trace::default(), now: 0, roles: vec![Role::Follower; 16] }
    }

    pub(crate) fn trace(self) -> Trace {
        self.trace
    }

    /// The role `node` has from now on.
    pub(crate) fn role(&mut self, node: NodeId, role: Role) {
        self.roles[node.position()] = role;
    }

    pub(crate) fn push(
        &mut self,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        text: &str,
        note: &str,
    ) -> EventId {
        let id = EventId(self.trace.events.len() as u32);
        let role = node.map(|node| self.roles[node.position()]);
        let notes = if note.is_empty() { vec![] } else { vec![note.to_owned()] };
        let (time, text) = (Time::from_millis(self.now), text.to_owned());
        self.now += 1;
        let event = TraceEvent {
            id,
            cause,
            time,
            node,
            role,
            kind,
            subject: None,
            step: None,
            text,
            notes,
            state: None,
        };
        self.trace.events.push(event);
        id
    }

    pub(crate) fn timer(&mut self, node: NodeId, name: &'static str) -> EventId {
        self.push(EventKind::Timer, Some(node), EventId::NONE, name, "")
    }

    /// A message is sent, with its number as content and term.
    pub(crate) fn send(
        &mut self,
        cause: EventId,
        from: NodeId,
        to: NodeId,
        name: &'static str,
        key: u64,
    ) -> EventId {
        self.message(EventKind::Send, Some(from), cause, Subject { from, to, name, key, term: Some(key) }, "")
    }

    /// A node or the network loses a message.
    pub(crate) fn lose(
        &mut self,
        kind: EventKind,
        cause: EventId,
        from: NodeId,
        to: NodeId,
        name: &'static str,
        key: u64,
    ) -> EventId {
        self.message(kind, Some(from), cause, Subject { from, to, name, key, term: Some(key) }, "gone")
    }

    /// What was sent arrives.
    pub(crate) fn receive(&mut self, sent: EventId, note: &str) -> EventId {
        let subject = self.trace.events[sent.0 as usize].subject.expect("a message was sent");
        self.message(EventKind::Recv, Some(subject.to), sent, subject, note)
    }

    pub(crate) fn message(
        &mut self,
        kind: EventKind,
        node: Option<NodeId>,
        cause: EventId,
        subject: Subject,
        note: &str,
    ) -> EventId {
        let Subject { from, to, name, key, .. } = subject;
        let id = self.push(kind, node, cause, &format!("{from}->{to} {name} Term:{key}"), note);
        self.trace.events[id.0 as usize].subject = Some(subject);
        id
    }

    /// Time is up and something is still owed.
    pub(crate) fn violation(&mut self, cause: EventId, node: NodeId) -> EventId {
        let note = format!("{node} applied none of the rows");
        let id = self.push(EventKind::Violation, Some(node), cause, "follower-applies", &note);
        self.trace.violation = Some(id);
        id
    }

    /// An event breaks a rule.
    pub(crate) fn violation_at_once(&mut self, cause: EventId, node: NodeId) -> EventId {
        let id = self.violation(cause, node);
        let time = self.trace.events[cause.0 as usize].time;
        self.trace.events[id.0 as usize].time = time;
        id
    }
}
