//! Snapshot ended: a leader waits for no snapshot any more once its log reaches back to what the peer has.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, Violation};

/// A leader goes on with entries as soon as a peer acknowledges what its log reaches back to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SnapshotEnded;

impl LogRule for SnapshotEnded {
    const NAME: &'static str = "snapshot-ended";
    const CLAIM: &'static str = "A leader that waits for a peer to have a snapshot goes on with entries once its log reaches back to what the peer has.";
    const SOURCE: &'static str =
        "Specula's SnapshotTransitionCorrectInv; etcd raft, stepLeader on MsgAppResp";
    const WAKES_ON: Bits = Bits::MATCH;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        if change.awaiting == 0 {
            return Ok(());
        }
        let (leader, term) = (change.node, change.is.term);
        let peer = NodeId::server(change.awaiting.trailing_zeros() as usize);
        let shadow = books.node(leader);
        let message = format!(
            "{leader} leads term {term} and waits for {peer} to have the snapshot up to {}, and {peer} has its log up to \
             entry {}, behind which nothing is compacted: its own log begins with {}",
            shadow.awaited[peer.position()].unwrap_or_default(),
            shadow.matches[peer.position()],
            change.after.first_index
        );
        Self::broken(leader, Some(peer), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    /// n1 has given up entry 1, waits for n2 to have a snapshot up to 2, and then goes on as told.
    fn hears(run: &mut Run, has: u64, awaited: Option<u64>) -> Going {
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1, 1]);
        })?;
        run.step(N1, |n| {
            n.enter(1, Role::Leader);
            n.append(&[1, 1, 1]);
        })?;
        run.step(N1, |n| (n.commit, n.applied) = (2, 2))?;
        run.step(N1, |n| {
            n.log.compact(2);
            n.snapshots_awaited[1] = Some(2);
        })?;
        run.deliver(N1, N2, |n| (n.matches[1], n.snapshots_awaited[1]) = (has, awaited))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        hears(run, 2, Some(2))
    }

    #[test]
    fn a_leader_that_waits_for_a_snapshot_that_nobody_needs_any_more_is_found() {
        assert_eq!(broken(violating), Some(SnapshotEnded::NAME));
        assert_eq!(broken(|run| hears(run, 2, None)), None, "it goes on with entries");
        assert_eq!(broken(|run| hears(run, 1, Some(2))), None, "the entry behind that is given up");
        assert_eq!(
            broken(|run| hears(run, 2, Some(3))),
            None,
            "that is another snapshot, which was asked for"
        );
    }
}
