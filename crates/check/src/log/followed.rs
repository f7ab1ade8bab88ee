//! What a leader takes its peers to have: which of them it thinks otherwise of after a step.

use super::shadow::Shadow;
use crate::change::Standing;
use crate::log_view::{RaftView, Stimulus, Tracked};
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
    leader: NodeId,
    stimulus: Stimulus,
    view: &V,
    (was, is): (&Standing, &Standing),
) -> Followed {
    let mut followed = Followed::default();
    if was.role != Role::Leader || was.term != is.term {
        (shadow.matches, shadow.awaited) = ([0; SERVERS_MAX], [None; SERVERS_MAX]);
    }
    match stimulus {
        // A match index is learnt from its peer.
        Stimulus::Delivered(peer) | Stimulus::Refused(peer) => {
            if peer.is_server() && peer != leader {
                followed.follow(shadow, view, peer);
            }
        }
        Stimulus::Booted | Stimulus::Other => {
            let peers = (0..servers).map(NodeId::server).filter(|&peer| peer != leader);
            peers.for_each(|peer| followed.follow(shadow, view, peer));
        }
    }
    followed
}

impl Followed {
    #[inline]
    fn follow<V: RaftView + ?Sized>(&mut self, shadow: &mut Shadow, view: &V, peer: NodeId) {
        let (at, bit) = (peer.index(), 1 << peer.index());
        let Tracked { match_index: index, next_index, snapshot_awaited: awaited } = view.tracked(peer);
        let before = std::mem::replace(&mut shadow.matches[at], index);
        if next_index.is_some_and(|next| next <= index) {
            self.repeating |= bit;
        }
        let same = std::mem::replace(&mut shadow.awaited[at], awaited) == awaited;
        if before != index {
            self.matched |= bit;
            // Another one may have been asked for.
            if same && awaited.is_some() && before < index && index + 1 >= view.first_index() {
                self.awaiting |= bit;
            }
        }
    }
}
