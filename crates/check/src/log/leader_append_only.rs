//! Leader append-only: only a follower ever lets go of what is in its log.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// A leader never cuts or rewrites its own log, and a candidate does not change its.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeaderAppendOnly;

impl LogRule for LeaderAppendOnly {
    const NAME: &'static str = "leader-append-only";
    const CLAIM: &'static str =
        "A leader never cuts or rewrites its own log, and a candidate does not change its.";
    const SOURCE: &'static str =
        "Ongaro's thesis, figure 3.2; SandTable's LeaderAppendOnly; CCF's PermittedLogChangesProp";
    const WAKES_ON: Bits = Bits(Bits::LOG_TRUNCATED.0 | Bits::LOG_APPENDED.0);

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (before, after) = (change.election.before, change.election.after);
        if before.role != after.role || before.term != after.term || change.election.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        let node = change.election.node;
        let cut = change.election.bits.meets(Bits::LOG_TRUNCATED);
        let message = match after.role {
            Role::Leader if cut => format!(
                "{node} leads term {} and cuts its log from {} back to {}",
                after.term, change.before.last_index, change.kept
            ),
            Role::Candidate | Role::PreCandidate => format!(
                "{node} is a candidate in term {} and changes its log after entry {}",
                after.term, change.kept
            ),
            _ => return Ok(()),
        };
        Self::broken(node, None, message)
    }
}
