//! Snapshot committed: a leader sends a snapshot only of what it has committed.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// A snapshot reaches no further than its leader has committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotCommitted;

impl SpeechRule for SnapshotCommitted {
    const NAME: &'static str = "snapshot-committed";
    const CLAIM: &'static str = "A snapshot that a leader sends reaches no further than it has committed.";
    const SOURCE: &'static str = "SandTable's SnapshotIdxLECommitIdx";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::Snapshot { term, index } = said else { return Ok(()) };
        if !speaker.leads || term != speaker.term || index <= speaker.commit {
            return Ok(());
        }
        let message = format!(
            "{} leads term {term} and sends a snapshot up to entry {index}, and has committed up to {}",
            speaker.node, speaker.commit
        );
        Self::broken(speaker, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    fn sends(run: &mut Run, index: u64) -> Going {
        run.say(N1, Spoken::Snapshot { term: 1, index }, |n| {
            n.enter(1, Role::Leader);
            n.append(&[1, 1]);
            n.commit = 1;
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        sends(run, 2)
    }

    #[test]
    fn a_snapshot_of_what_is_not_committed_is_found() {
        assert_eq!(broken(violating), Some(SnapshotCommitted::NAME));
        assert_eq!(broken(|run| sends(run, 1)), None);
    }
}
