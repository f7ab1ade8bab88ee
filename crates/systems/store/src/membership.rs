//! Members of the cluster: steps that change them, what comes of a change, and their form on the disk.

use crate::number::{numbers_in, set_of_numbers};
use whitewater_check::Membership;
use whitewater_sim::NodeId;

/// What a server becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It votes.
    Voter,
    /// It receives the log without a vote.
    Learner,
    /// It is no member.
    Nobody,
}

/// One server becomes something.
pub type Step = (Part, NodeId);

/// The membership after a change; `None` if the change does not fit, and nothing comes of it.
pub(crate) fn after(before: &Membership, steps: &[Step]) -> Option<Membership> {
    let mut next = *before;
    if steps.is_empty() {
        next.learners |= next.learners_next;
        (next.outgoing, next.learners_next, next.auto_leave) = (0, 0, false);
        return before.is_joint().then_some(next);
    }
    if before.is_joint() {
        return None;
    }
    if steps.len() > 1 {
        (next.outgoing, next.auto_leave) = (next.voters, true);
    }
    for (part, node) in steps {
        let bit = 1 << node.position();
        next.voters &= !bit;
        next.learners &= !bit;
        next.learners_next &= !bit;
        match part {
            Part::Voter => next.voters |= bit,
            // Who has a vote still may not be a learner yet.
            Part::Learner if next.outgoing & bit != 0 => next.learners_next |= bit,
            Part::Learner => next.learners |= bit,
            Part::Nobody => {}
        }
    }
    (next.voters != 0).then_some(next)
}

/// A membership of numbers: of those who vote, who vote in what is being left, who learn, and who are going to.
pub fn of_numbers(sets: [&[u64]; 4], auto_leave: bool) -> Membership {
    let [voters, outgoing, learners, learners_next] = sets.map(set_of_numbers);
    Membership { voters, outgoing, learners, learners_next, auto_leave }
}

/// Its numbers, as [`of_numbers`] takes them.
pub fn numbers(members: &Membership) -> [Vec<u64>; 4] {
    [members.voters, members.outgoing, members.learners, members.learners_next].map(numbers_in)
}

/// A membership as bytes.
pub fn write(members: &Membership) -> Vec<u8> {
    let sets = [members.voters, members.outgoing, members.learners, members.learners_next];
    let mut bytes: Vec<u8> = sets.iter().flat_map(|set| set.to_le_bytes()).collect();
    bytes.push(u8::from(members.auto_leave));
    bytes
}

/// Reads what [`write()`] has written.
///
/// # Panics
/// It has not: what was stored and read back with a right checksum is whole.
pub fn read(bytes: &[u8]) -> Membership {
    let set = |place: usize| u16::from_le_bytes([bytes[2 * place], bytes[2 * place + 1]]);
    Membership {
        voters: set(0),
        outgoing: set(1),
        learners: set(2),
        learners_next: set(3),
        auto_leave: bytes[8] == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: [NodeId; 5] =
        [NodeId::server(0), NodeId::server(1), NodeId::server(2), NodeId::server(3), NodeId::server(4)];

    #[test]
    fn a_single_step_takes_effect_at_once() {
        let three = Membership::of_first(3);
        assert_eq!(after(&three, &[(Part::Voter, N[3])]), Some(Membership::of_first(4)));
        let learning = after(&three, &[(Part::Learner, N[2])]).unwrap();
        assert_eq!((learning.voters, learning.learners), (0b011, 0b100));
        assert_eq!(after(&Membership::of_first(1), &[(Part::Nobody, N[0])]), None, "nobody would vote");
        assert_eq!(after(&three, &[]), None, "it is not joint");
    }

    #[test]
    fn several_steps_are_joint_until_the_joint_membership_is_left() {
        let joint = after(
            &Membership::of_first(3),
            &[(Part::Nobody, N[0]), (Part::Voter, N[3]), (Part::Learner, N[2])],
        );
        let joint = joint.unwrap();
        assert_eq!((joint.voters, joint.outgoing), (0b1010, 0b0111));
        assert_eq!((joint.learners, joint.learners_next, joint.auto_leave), (0, 0b0100, true));
        assert_eq!(after(&joint, &[(Part::Voter, N[4])]), None, "one change at a time");
        let left = after(&joint, &[]).unwrap();
        let expected = Membership { voters: 0b1010, learners: 0b0100, ..Membership::default() };
        assert_eq!(left, expected);
    }

    #[test]
    fn a_membership_reads_back_as_it_was_written() {
        let joint = Membership {
            voters: 0x8001,
            outgoing: 0x0702,
            learners: 0x30,
            learners_next: 0x40,
            auto_leave: true,
        };
        assert_eq!(read(&write(&joint)), joint);
        let [voters, outgoing, learners, learners_next] = numbers(&joint);
        assert_eq!((&voters[..], &outgoing[..]), (&[1, 16][..], &[2, 9, 10, 11][..]));
        assert_eq!(of_numbers([&voters, &outgoing, &learners, &learners_next], true), joint);
        assert_eq!(read(&write(&Membership::of_first(3))), Membership::of_first(3));
    }
}
