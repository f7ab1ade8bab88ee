//! A small abstract Raft: what one server may do in one step, whatever messages and disks lie behind it.
//!
//! It knows no messages. A server stands for election, enters a term that exists, votes, leads, appends, takes over what
//! the leader of its term has written, and commits; what the whole cluster did so far is history that the guards look at.
//! Every concrete step of a server has to be one of these or none: the rule `abstract-step` asks the guards. That they are
//! enough is not believed but tried: [`explore`] walks through everything that three servers can do under them in two terms
//! with two values, and no state breaks a property of Raft; and without any one of them but the first, which keeps terms in
//! order, some state does.

#[cfg(test)]
mod explore;

/// The position of a log's last entry: its term, then its index.
pub(crate) type Position = (u64, u64);

/// Whether a server may come into `term`, `highest` being the highest term there is. `stands` if it stands for election there
/// or leads.
///
/// A term comes into being only when somebody stands for election in it, and nobody skips one.
pub(crate) const fn may_enter(term: u64, highest: u64, stands: bool) -> bool {
    term <= highest || term == highest + 1 && stands
}

/// Whether a server whose log ends at `own` may vote for a candidate whose log ended at `candidate` when it stood.
pub(crate) const fn may_vote(own: Position, candidate: Position) -> bool {
    candidate.0 > own.0 || candidate.0 == own.0 && candidate.1 >= own.1
}

/// Whether a server that leads, or begins to, may have the log it has: of the `before` entries it had `kept` are left, and
/// `is_own` says whether all behind them are of its term.
pub(crate) const fn may_lead_with(before: u64, kept: u64, is_own: bool) -> bool {
    kept == before && is_own
}

/// Whether a server that follows may have a log of `last` entries of which it had `kept` before, out of `before`.
/// `is_leaders` says whether all of it stands in what the leader of its term has written, `conflicts` whether that leader
/// has written something else where the first of the entries stood that went.
///
/// Entries go only where others take their place; as those differ at the first, the conflict is real. Some Rafts cut a log
/// as soon as they hear that it conflicts, perhaps bit by bit, and are sent the rest later.
pub(crate) const fn may_take_over(
    before: u64,
    kept: u64,
    last: u64,
    is_leaders: bool,
    conflicts: bool,
) -> bool {
    if last == kept && kept < before { conflicts } else { is_leaders }
}

/// Whether a server that does not lead may have committed up to `commit`, if leaders have committed up to `known`.
/// `agrees` says whether it has what they have.
pub(crate) const fn may_learn(commit: u64, known: u64, agrees: bool) -> bool {
    commit <= known && agrees
}
