//! Who decides and who follows: sets of servers, a bit each by position, and which sets may follow each other.

use crate::progress::majority;
use whitewater_sim::NodeId;

/// A membership, as a server sees it. Sets have a bit for each server, by position.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Membership {
    /// Who votes; in a joint membership, who votes afterwards.
    pub voters: u16,
    /// Who voted before; empty unless the membership is joint.
    pub outgoing: u16,
    /// Who receives the log without a vote.
    pub learners: u16,
    /// Outgoing voters that become learners when the joint membership is left.
    pub learners_next: u16,
    /// Whether a leader leaves the joint membership without being asked.
    pub auto_leave: bool,
}

impl PartialEq for Membership {
    /// Told in two comparisons, as every step of a leader asks for it.
    #[inline]
    fn eq(&self, other: &Membership) -> bool {
        self.sets() == other.sets() && self.auto_leave == other.auto_leave
    }
}

/// The set of these servers.
pub fn set_of(nodes: impl IntoIterator<Item = NodeId>) -> u16 {
    nodes.into_iter().fold(0, |set, node| set | 1 << node.position())
}

/// The servers of a set.
#[inline]
pub(crate) fn members(mut set: u16) -> impl Iterator<Item = NodeId> {
    std::iter::from_fn(move || {
        let position = (set != 0).then_some(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(NodeId::server(position))
    })
}

impl Membership {
    /// The membership in which the first `servers` vote.
    pub const fn of_first(servers: usize) -> Membership {
        Membership {
            voters: ((1u32 << servers) - 1) as u16,
            outgoing: 0,
            learners: 0,
            learners_next: 0,
            auto_leave: false,
        }
    }

    /// All sets side by side, in the order in which they lie in memory.
    #[inline]
    const fn sets(&self) -> u64 {
        let Membership { voters, outgoing, learners, learners_next, .. } = *self;
        voters as u64 | (outgoing as u64) << 16 | (learners as u64) << 32 | (learners_next as u64) << 48
    }

    /// Whether two majorities have to agree.
    pub const fn is_joint(&self) -> bool {
        self.outgoing != 0
    }

    /// Everybody who has a vote.
    pub const fn all_voters(&self) -> u16 {
        self.voters | self.outgoing
    }

    /// Everybody who receives the log.
    pub const fn everybody(&self) -> u16 {
        self.voters | self.outgoing | self.learners
    }

    /// Whether a server receives the log.
    pub fn has(&self, node: NodeId) -> bool {
        self.everybody() & 1 << node.position() != 0
    }

    /// The halves that each need a majority.
    #[inline]
    pub fn halves(&self) -> impl Iterator<Item = u16> + use<> {
        [self.voters, self.outgoing].into_iter().filter(|&half| half != 0)
    }

    /// Whether the servers in a set can decide without anybody else.
    #[inline]
    pub fn decides(&self, set: u16) -> bool {
        let agrees = |half: u16| (set & half).count_ones() as usize >= majority(half.count_ones() as usize);
        self.voters != 0 && self.halves().all(agrees)
    }

    /// What is wrong with it in itself, if anything is.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        if self.voters == 0 {
            return Some("nobody votes in it");
        }
        if self.learners & self.all_voters() != 0 {
            return Some("somebody is a voter and a learner in it");
        }
        if self.learners_next & !(self.outgoing & !self.voters) != 0 {
            return Some("somebody waits in it to become a learner who does not leave the voters");
        }
        if self.auto_leave && !self.is_joint() {
            return Some("it is to be left, and is not joint");
        }
        None
    }

    /// What is wrong with `next` taking its place in one step, if anything is.
    pub(crate) fn misstep(&self, next: &Membership) -> Option<&'static str> {
        match (self.is_joint(), next.is_joint()) {
            (false, false) if (self.voters ^ next.voters).count_ones() > 1 => {
                Some("more than one voter changes at once")
            }
            (false, true) if next.outgoing != self.voters => {
                Some("it is not joint with the voters before it")
            }
            (true, true) if self != next => Some("a joint one is left for another joint one"),
            (true, false) if next.voters != self.voters => Some("a joint one is left for other voters"),
            (true, false) if next.learners != self.learners | self.learners_next => {
                Some("a joint one is left for other learners")
            }
            _ => None,
        }
    }
}

/// The servers of a set by name.
pub(crate) fn names(set: u16) -> String {
    members(set).map(|node| node.to_string()).collect::<Vec<_>>().join(" ")
}

impl std::fmt::Display for Membership {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.voters {
            0 => f.write_str("voters nobody")?,
            voters => write!(f, "voters {}", names(voters))?,
        }
        if self.is_joint() {
            write!(f, ", before {}", names(self.outgoing))?;
        }
        if self.learners != 0 {
            write!(f, ", learners {}", names(self.learners))?;
        }
        if self.learners_next != 0 {
            write!(f, ", learners to be {}", names(self.learners_next))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(voters: u16) -> Membership {
        Membership { voters, ..Membership::default() }
    }

    fn joint(voters: u16, outgoing: u16) -> Membership {
        Membership { voters, outgoing, ..Membership::default() }
    }

    #[test]
    fn memberships_that_differ_in_anything_are_not_the_same() {
        let whole = Membership { voters: 1, outgoing: 2, learners: 4, learners_next: 2, auto_leave: true };
        let others = [
            Membership { voters: 3, ..whole },
            Membership { outgoing: 0, ..whole },
            Membership { learners: 1 << 15, ..whole },
            Membership { learners_next: 0, ..whole },
            Membership { auto_leave: false, ..whole },
        ];
        assert_eq!(whole, { whole });
        assert!(others.iter().all(|other| *other != whole));
    }

    #[test]
    fn a_joint_membership_needs_a_majority_of_both_halves() {
        assert!(simple(0b111).decides(0b101));
        assert!(!simple(0b1111).decides(0b101));
        let joint = joint(0b11100, 0b00111);
        assert!(joint.decides(0b01110));
        assert!(!joint.decides(0b11100), "n3 alone is no majority of those before");
        assert!(!simple(0).decides(u16::MAX), "without voters nobody decides");
        assert_eq!(Membership::of_first(16).voters, u16::MAX);
    }

    #[test]
    fn one_voter_may_change_at_once_and_more_only_by_a_joint_step() {
        let from = simple(0b111);
        assert_eq!(from.misstep(&simple(0b1111)), None);
        assert_eq!(from.misstep(&simple(0b011)), None);
        assert!(from.misstep(&simple(0b1110)).is_some());
        assert_eq!(from.misstep(&joint(0b1110, 0b111)), None);
        assert!(from.misstep(&joint(0b1110, 0b011)).is_some());
        assert_eq!(joint(0b1110, 0b111).misstep(&simple(0b1110)), None);
        assert!(joint(0b1110, 0b111).misstep(&simple(0b111)).is_some());
        assert!(joint(0b1110, 0b111).misstep(&joint(0b1100, 0b111)).is_some());
    }

    #[test]
    fn learners_that_waited_are_learners_when_a_joint_membership_is_left() {
        let waiting = Membership { learners_next: 0b001, learners: 0b10000, ..joint(0b1110, 0b111) };
        assert_eq!(waiting.flaw(), None);
        let left = Membership { learners: 0b10001, ..simple(0b1110) };
        assert_eq!(waiting.misstep(&left), None);
        assert!(waiting.misstep(&simple(0b1110)).is_some());
    }

    #[test]
    fn a_membership_that_contradicts_itself_has_a_flaw() {
        assert_eq!(simple(0b1).flaw(), None);
        for wrong in [
            simple(0),
            Membership { learners: 0b001, ..simple(0b111) },
            Membership { learners_next: 0b100, ..joint(0b110, 0b111) },
            Membership { auto_leave: true, ..simple(0b111) },
        ] {
            assert!(wrong.flaw().is_some(), "{wrong}");
        }
    }
}
