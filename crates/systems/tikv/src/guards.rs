//! What the crate is kept from, as it is known to stall or to break it; FINDINGS tells each, and `guards=off` lifts them.

use crate::shelf::Shelf;
use raft::{Raft, StateRole};

/// Who has no vote would stand for election, too, and panic once it is elected.
pub(crate) fn may_stand(raft: &Raft<Shelf>) -> bool {
    raft.promotable() && may_win_at_once(raft)
}

/// A sole voter wins as soon as it stands, and panics if something of its log is not stored yet.
pub(crate) fn may_win_at_once(raft: &Raft<Shelf>) -> bool {
    let log = &raft.raft_log;
    raft.state == StateRole::Leader || !is_sole_voter(raft) || log.persisted == log.last_index()
}

/// A sole voter leads before its term is stored, and what a leader sends does not wait for its disk.
pub(crate) fn may_speak_early(raft: &Raft<Shelf>) -> bool {
    !is_sole_voter(raft)
}

/// And a crash may take that term from it, with whatever it has taken in it: it would lead the same term once more with other
/// entries.
pub(crate) fn may_take_entries(raft: &Raft<Shelf>) -> bool {
    let log = &raft.raft_log;
    !is_sole_voter(raft) || log.term(log.persisted).is_ok_and(|term| term == raft.term)
}

/// Who asks for a snapshot takes no entries until it has come: if it is needed for a majority, it must not wait for entries that
/// nobody can commit without it.
pub(crate) fn may_request_snapshot(raft: &Raft<Shelf>) -> bool {
    raft.raft_log.last_index() == raft.raft_log.committed
}

fn is_sole_voter(raft: &Raft<Shelf>) -> bool {
    raft.prs().conf().voters().ids().iter().all(|id| id == raft.id)
}
