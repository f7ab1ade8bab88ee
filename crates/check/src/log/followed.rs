//! What a leader takes its peers to have: which of them it thinks otherwise of after a step.

use super::shadow::Shadow;
use crate::change::Standing;
use crate::log_view::{RaftView, Stimulus};
use whitewater_sim::{NodeId, Role, SERVERS_MAX};

/// Peers of a leader, a bit each by position.
#[derive(Clone, Copy, Default)]
pub(super) struct Followed {
    /// Their match index changed.
    pub(super) matched: u16,
    /// They would be sent again what they have.
    pub(super) repeating: u16,
    /// They are waited for to have a snapshot although entries would do.
    pub(super) awaiting: u16,
}

/// Follows what a leader takes its peers to have.
#[inline]
pub(super) fn follow_matches<V: RaftView + ?Sized>(
    shadow: &mut Shadow,
    servers: usize,
    node: NodeId,
    stimulus: Stimulus,
    view: &V,
    (was, is): (Standing, Standing),
) -> Followed {
    let mut followed = Followed::default();
    if is.role != Role::Leader {
        return followed;
    }
    if was.role != Role::Leader || was.term != is.term {
        (shadow.matches, shadow.awaited) = ([0; SERVERS_MAX], [None; SERVERS_MAX]);
    }
    let mut follow = |peer: NodeId| {
        let (at, bit) = (peer.position(), 1 << peer.position());
        let index = view.match_index(peer).unwrap_or(0);
        let before = std::mem::replace(&mut shadow.matches[at], index);
        if view.next_index(peer).is_some_and(|next| next <= index) {
            followed.repeating |= bit;
        }
        let awaited = view.snapshot_awaited(peer);
        let same = std::mem::replace(&mut shadow.awaited[at], awaited) == awaited;
        if before != index {
            followed.matched |= bit;
            // Another one may have been asked for.
            if same && awaited.is_some() && before < index && index + 1 >= view.first_index() {
                followed.awaiting |= bit;
            }
        }
    };
    match stimulus {
        // A match index is learnt from its peer.
        Stimulus::Delivered(peer) | Stimulus::Refused(peer) => {
            if peer.is_server() && peer != node {
                follow(peer);
            }
        }
        Stimulus::Booted | Stimulus::Other => {
            (0..servers).map(NodeId::server).filter(|&p| p != node).for_each(follow);
        }
    }
    followed
}
