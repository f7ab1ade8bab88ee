//! What a node wants done: to be stored, sent, applied and answered.

use crate::entry::Entry;
use crate::message::Message;
use crate::state::{HardState, ReadState, Snapshot, SoftState};
use std::rc::Rc;

/// Everything that has changed since the last one was taken.
///
/// **The obligations of the owner, for every Ready and in this order:**
///
/// 1. **Make `snapshot` (if any), then `entries`, then `hard_state` (if any) durable. Entries overwrite what is
///    stored at their indexes, and cut off what follows. If `must_sync` is set, or there is a snapshot, wait until all
///    of it would survive a crash.**
/// 2. **Send `messages` in order; those from [`Ready::promises`] only after step 1. The others may go out at any time,
///    also before.**
/// 3. **Apply `snapshot` and then `committed_entries`, in order, each once. A configuration change among them goes to
///    [`RawNode::apply_conf_change`](crate::RawNode::apply_conf_change).**
/// 4. **Serve each of `read_states` when the entry at its index is applied.**
/// 5. **Call [`RawNode::advance`](crate::RawNode::advance) before the next Ready is taken.**
///
/// With [`Config::async_storage_writes`](crate::Config::async_storage_writes) steps 1 and 3 arrive as messages to
/// [`APPEND_THREAD`](crate::APPEND_THREAD) and [`APPLY_THREAD`](crate::APPLY_THREAD). Each thread works in the order the
/// messages come, then delivers the `responses` in them: those to this node to
/// [`RawNode::step`](crate::RawNode::step), the others to the network. There is no step 5. A snapshot comes with the append
/// work and may overtake apply work: entries that it covers must not be applied any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// Role and leader, if they changed. Need not be stored.
    pub soft_state: Option<SoftState>,
    /// Term, vote and commit index, if they changed.
    pub hard_state: Option<HardState>,
    /// Reads that may be served.
    pub read_states: Vec<ReadState>,
    /// Entries to be stored.
    pub entries: Vec<Entry>,
    /// A snapshot to be stored and applied; it replaces the whole log.
    pub snapshot: Option<Rc<Snapshot>>,
    /// Entries to be applied. They may be among `entries`, too.
    pub committed_entries: Vec<Entry>,
    /// Messages to be sent.
    pub messages: Vec<Message>,
    /// Whether something must not be lost in a crash: entries, a term, a vote. A commit index alone may be lost.
    pub must_sync: bool,
    pub(crate) immediate_count: usize,
}

impl Ready {
    /// Messages that may be sent before anything is durable: among them the leader's appends. There are none if
    /// `hard_state` has a new term or vote.
    pub fn immediate_messages(&self) -> &[Message] {
        &self.messages[..self.immediate_count]
    }

    /// Messages that promise what this Ready stores: acknowledgements and votes, and all of them if `hard_state` has a new
    /// term or vote.
    pub fn promises(&self) -> &[Message] {
        &self.messages[self.immediate_count..]
    }

    /// Empties the Ready and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.soft_state = None;
        self.hard_state = None;
        self.read_states.clear();
        self.entries.clear();
        self.snapshot = None;
        self.committed_entries.clear();
        self.messages.clear();
        self.must_sync = false;
        self.immediate_count = 0;
    }
}
