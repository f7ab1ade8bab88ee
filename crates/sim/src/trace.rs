//! Traces: every event of a recorded run with its cause and text; campaigns record none.

use crate::id::NodeId;
use crate::node::Role;
use crate::time::Time;
use std::fmt;

/// Number of an event, in the order of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId(pub u32);

impl EventId {
    /// No event: the cause of what begins by itself.
    pub const NONE: EventId = EventId(u32::MAX);
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A node starts.
    Boot,
    /// A message leaves a node.
    Send,
    /// A message arrives.
    Recv,
    /// The network loses a message.
    Drop,
    /// A cut link stops a message.
    Cut,
    /// A step holds a message or timer back.
    Hold,
    /// A message finds its receiver down.
    Down,
    /// A node itself loses a message.
    Discard,
    /// A timer goes off.
    Timer,
    /// A sync comes back.
    Sync,
    /// An operation of the script is given to a node.
    Operate,
    /// A node answers an operation.
    Reply,
    /// A node crashes.
    Crash,
    /// A step begins.
    Open,
    /// A step ends.
    Close,
    /// A phase of the run begins.
    Phase,
    /// A rule is found broken, a node panics or a limit is hit.
    Violation,
}

impl EventKind {
    /// The word traces use.
    pub const fn word(self) -> &'static str {
        match self {
            EventKind::Boot => "boot",
            EventKind::Send => "send",
            EventKind::Recv => "recv",
            EventKind::Drop => "DROP",
            EventKind::Cut => "CUT",
            EventKind::Hold => "HOLD",
            EventKind::Down => "DOWN",
            EventKind::Discard => "LOST",
            EventKind::Timer => "timer",
            EventKind::Sync => "sync",
            EventKind::Operate => "op",
            EventKind::Reply => "reply",
            EventKind::Crash => "CRASH",
            EventKind::Open => "open",
            EventKind::Close => "close",
            EventKind::Phase => "phase",
            EventKind::Violation => "VIOLATION",
        }
    }

    /// Whether the event is one by which something that was to be said got lost.
    pub const fn is_loss(self) -> bool {
        matches!(self, EventKind::Drop | EventKind::Cut | EventKind::Down | EventKind::Discard)
    }
}

/// The message or timer an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Sender, or owner of a timer.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Kind or timer name.
    pub name: &'static str,
    /// Content key of a message.
    pub key: u64,
    /// Term of a message, if it has one.
    pub term: Option<u64>,
}

/// One event of a recorded run.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    /// Its number.
    pub id: EventId,
    /// The event that brought it about, or [`EventId::NONE`].
    pub cause: EventId,
    /// When.
    pub time: Time,
    /// The node it happens at, if it is one.
    pub node: Option<NodeId>,
    /// The role of that node after the event; `None` while it is down.
    pub role: Option<Role>,
    /// What kind.
    pub kind: EventKind,
    /// The message or timer it is about.
    pub subject: Option<Subject>,
    /// The step of the script it belongs to, by position.
    pub step: Option<usize>,
    /// What it is about, in words.
    pub text: String,
    /// What the node remarked on it.
    pub notes: Vec<String>,
    /// The state of the node after it in one line, if it is another than before.
    pub state: Option<String>,
}

/// A recorded run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// All events in order. Sends come after the event that caused them.
    pub events: Vec<TraceEvent>,
    /// How each server stands at the end, by position; one line each.
    pub final_states: Vec<(NodeId, String)>,
    /// The event at which a rule was found broken.
    pub violation: Option<EventId>,
}

impl Trace {
    /// The event of that number.
    pub fn event(&self, id: EventId) -> Option<&TraceEvent> {
        self.events.binary_search_by_key(&id, |e| e.id).ok().map(|at| &self.events[at])
    }
}
