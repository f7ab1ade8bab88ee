//! What one event changed at a node with a log, for the rules that read logs.

use crate::change::{Bits, Grant, Standing};
use crate::log_view::{LogView, Refusal, Spoken};
use crate::membership::Membership;
use whitewater_sim::NodeId;

impl Bits {
    /// Index up to which the node knows entries to be committed.
    pub const COMMIT: Bits = Bits(1 << 16);
    /// Index up to which the node has applied entries.
    pub const APPLIED: Bits = Bits(1 << 17);
    /// The log has entries it did not have.
    pub const LOG_APPENDED: Bits = Bits(1 << 18);
    /// The log lost entries at its end, whether or not others took their place.
    pub const LOG_TRUNCATED: Bits = Bits(1 << 19);
    /// What a leader takes a peer's log for.
    pub const MATCH: Bits = Bits(1 << 21);
    /// The node refused a message of a peer.
    pub const REFUSED: Bits = Bits(1 << 22);
    /// The node sent an answer that nobody asked for.
    pub const UNASKED: Bits = Bits(1 << 24);
    /// The membership, or the node has started and says what it is.
    pub const MEMBERSHIP: Bits = Bits(1 << 23);
}

/// A node's log at one moment, without its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStanding {
    /// See [`LogView::first_index`].
    pub first_index: u64,
    /// See [`LogView::last_index`].
    pub last_index: u64,
    /// Chain hash of the whole log.
    pub last_chain: u64,
    /// See [`LogView::commit`]; at most the last index shown.
    pub commit: u64,
    /// By how much [`LogView::commit`] is beyond the log.
    pub unfounded: u64,
    /// See [`LogView::applied`].
    pub applied: u64,
    /// See [`LogView::state_hash`].
    pub state_hash: Option<u64>,
    /// See [`LogView::durable_index`].
    pub durable_index: u64,
    /// See [`LogView::refusals`].
    pub refusals: u32,
}

impl LogStanding {
    /// The present standing of a node. Panics if the node cannot tell the chain hash of its own last entry.
    #[inline]
    pub(crate) fn of<V: LogView + ?Sized>(view: &V) -> LogStanding {
        let (last_index, commit) = (view.last_index(), view.commit());
        LogStanding {
            first_index: view.first_index(),
            last_index,
            last_chain: view.chain_at(last_index).expect("a log knows the hash of its last entry"),
            commit: commit.min(last_index),
            unfounded: commit.saturating_sub(view.memory_last_index()),
            applied: view.applied(),
            state_hash: view.state_hash(),
            durable_index: view.durable_index(),
            refusals: view.refusals(),
        }
    }
}

/// What one event changed at one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogChange<'a> {
    /// The node.
    pub(crate) node: NodeId,
    /// What changed, in elections and in the log.
    pub(crate) bits: Bits,
    /// Its part in elections as it was, for a node that starts as it was before the crash.
    pub(crate) was: &'a Standing,
    /// Its part in elections as it is.
    pub(crate) is: &'a Standing,
    /// Votes the node sent in this event.
    pub(crate) grants: &'a [Grant],
    /// The log as it was; for a node that starts, what was durable before the crash.
    pub(crate) before: &'a LogStanding,
    /// The log as it is.
    pub(crate) after: &'a LogStanding,
    /// Index up to which the log is as it was.
    pub(crate) kept: u64,
    /// Peers whose match index changed, a bit each by position.
    pub(crate) matched: u16,
    /// How many entries were known to be committed anywhere before this event.
    pub(crate) committed_known: u64,
    /// The membership before this event; nobody votes in it if memberships never change.
    pub(crate) membership: Membership,
    /// Memberships that are new in this event, each with the index from which it holds.
    pub(crate) memberships: &'a [(u64, Membership)],
    /// From which index the one of them holds that came with a snapshot, if there is one.
    pub(crate) from_snapshot: Option<u64>,
    /// See [`LogView::changes`].
    pub(crate) changes: &'a [u64],
    /// The last refusal, if one is new.
    pub(crate) refusal: Option<Refusal>,
    /// Peers that would be sent again what they have, a bit each by position.
    pub(crate) repeating: u16,
    /// Peers of `matched` that are waited for to have a snapshot although entries would do, a bit each by position.
    pub(crate) awaiting: u16,
    /// A vote or an acknowledgement that was sent in this event to somebody who had not asked for it.
    pub(crate) unasked: Option<Spoken>,
    /// See [`LogView::is_whole`]; asked only where a vote, a role or the log changed.
    pub(crate) is_whole: bool,
    /// See [`LogView::applies_durable_only`].
    pub(crate) applies_durable_only: bool,
}
