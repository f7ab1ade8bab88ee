//! What a script can make a server do besides proposing: what an operator, a timer or a transport would bring about.

use std::fmt;
use whitewater_sim::{Draw, NodeId};

/// A control event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Stops following its leader, in the same term.
    ForgetLeader,
    /// Makes a snapshot now and gives up the log before it.
    Snapshot,
    /// Makes a snapshot now, and gives up the log before it after so many more reads of that part: between two reads of
    /// one step.
    CompactAfterReads(u32),
    /// The transport says that a message to this server was lost.
    Unreachable(NodeId),
    /// The transport says that the snapshot for this server did not arrive.
    SnapshotFailed(NodeId),
}

/// A drawn compaction waits for at most so many reads: an append takes two, the term before it and its entries.
const READS_MAX: u64 = 4;

/// How they are written.
pub(crate) const FORMS: &str =
    "forget-leader, snapshot, compact-after-reads NUMBER, unreachable NODE, snapshot-failed NODE";

impl Control {
    /// Draws one for a cluster of so many servers.
    pub(crate) fn draw(draw: &mut Draw, servers: usize) -> Control {
        let peer = NodeId::server(draw.below(servers as u64) as usize);
        match draw.below(6) {
            4 | 5 => Control::CompactAfterReads(draw.within(1, READS_MAX) as u32),
            0 => Control::ForgetLeader,
            1 => Control::Unreachable(peer),
            2 => Control::SnapshotFailed(peer),
            _ => Control::Snapshot,
        }
    }

    /// Reads one; `None` if it is another command.
    ///
    /// # Errors
    /// It names no server.
    pub(crate) fn parse(text: &str) -> Option<Result<Control, String>> {
        let peer = |name: &str| match name.parse::<NodeId>() {
            Ok(node) if node.is_server() => Ok(node),
            _ => Err(format!("`{name}` is no server: write one such as n1")),
        };
        match text.split_once(' ') {
            None if text == "forget-leader" => Some(Ok(Control::ForgetLeader)),
            None if text == "snapshot" => Some(Ok(Control::Snapshot)),
            Some(("compact-after-reads", number)) => Some(match number.parse() {
                Ok(reads) if reads > 0 => Ok(Control::CompactAfterReads(reads)),
                _ => Err(format!("`{number}` is no number of reads: write one from 1 on")),
            }),
            Some(("unreachable", name)) => Some(peer(name).map(Control::Unreachable)),
            Some(("snapshot-failed", name)) => Some(peer(name).map(Control::SnapshotFailed)),
            _ => None,
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::ForgetLeader => f.write_str("forget-leader"),
            Control::Snapshot => f.write_str("snapshot"),
            Control::CompactAfterReads(reads) => write!(f, "compact-after-reads {reads}"),
            Control::Unreachable(peer) => write!(f, "unreachable {peer}"),
            Control::SnapshotFailed(peer) => write!(f, "snapshot-failed {peer}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_reads_back_from_its_text() {
        let peer = NodeId::server(1);
        for control in [
            Control::ForgetLeader,
            Control::Snapshot,
            Control::CompactAfterReads(3),
            Control::Unreachable(peer),
            Control::SnapshotFailed(peer),
        ] {
            assert_eq!(Control::parse(&control.to_string()), Some(Ok(control)));
        }
        for wrong in ["compact-after-reads 0", "compact-after-reads soon", "unreachable c1"] {
            assert!(matches!(Control::parse(wrong), Some(Err(_))), "{wrong}");
        }
        assert_eq!(Control::parse("put r1 v1"), None);
    }

    #[test]
    fn every_control_is_drawn() {
        let mut names = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let text = Control::draw(&mut Draw::from_value(seed), 3).to_string();
            names.insert(text.split(' ').next().unwrap().to_owned());
        }
        let known = FORMS.split(", ").map(|form| form.split(' ').next().unwrap().to_owned());
        assert_eq!(names, known.collect());
    }
}
