//! Configuration changes as they are proposed, written into entries and read back.

use crate::entry::{EntryKind, Payload};
use crate::identity::NodeId;

/// What happens to one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It becomes a voter.
    #[default]
    AddNode,
    /// It leaves.
    RemoveNode,
    /// Nothing changes in the core; the application may attach a meaning, such as a new address.
    UpdateNode,
    /// It becomes a learner: receives the log, does not vote.
    AddLearner,
}

/// One node and what happens to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What happens.
    pub kind: ChangeKind,
    /// To whom; 0 is ignored, so that an application can cancel a change when it applies it.
    pub node: NodeId,
}

/// How a joint configuration is entered and left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// Joint only if more than one change needs it, and then left on its own.
    #[default]
    Auto,
    /// Always joint, left on its own.
    JointImplicit,
    /// Always joint, left by proposing an empty change.
    JointExplicit,
}

/// The older form of a change: one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfChange {
    /// A number for the application; the core ignores it.
    pub id: u64,
    /// The change.
    pub change: Change,
    /// Bytes for the application.
    pub context: Payload,
}

/// A change of any number of nodes (Raft paper, section 6); empty to leave a joint configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfChangeV2 {
    /// How a joint configuration is entered and left.
    pub transition: Transition,
    /// The changes, applied in this order.
    pub changes: Vec<Change>,
    /// Bytes for the application.
    pub context: Payload,
}

/// What a change amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStep {
    /// One step from one configuration to the next.
    Simple,
    /// Into a joint configuration.
    EnterJoint {
        /// Whether the leader leaves it on its own.
        auto_leave: bool,
    },
    /// Out of a joint configuration.
    LeaveJoint,
}

impl ConfChangeV2 {
    /// What this change amounts to.
    pub fn step(&self) -> ChangeStep {
        if self.transition == Transition::Auto && self.changes.is_empty() {
            ChangeStep::LeaveJoint
        } else if self.transition != Transition::Auto || self.changes.len() > 1 {
            ChangeStep::EnterJoint { auto_leave: self.transition != Transition::JointExplicit }
        } else {
            ChangeStep::Simple
        }
    }

    /// The change in etcd's encoding.
    pub fn encode(&self) -> Payload {
        let mut bytes = Vec::new();
        wire::number(&mut bytes, 1, self.transition as u64);
        for change in &self.changes {
            let mut inner = Vec::new();
            wire::number(&mut inner, 1, change.kind as u64);
            wire::number(&mut inner, 2, change.node);
            wire::bytes(&mut bytes, 2, &inner);
        }
        if !self.context.is_empty() {
            wire::bytes(&mut bytes, 3, &self.context);
        }
        bytes.into()
    }

    /// Reads a change back; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<ConfChangeV2> {
        let mut decoded = ConfChangeV2::default();
        let mut reader = wire::Reader(bytes);
        while let Some(field) = reader.field()? {
            match field {
                wire::Field::Number(1, value) => decoded.transition = transition(value)?,
                wire::Field::Bytes(2, inner) => decoded.changes.push(decode_change(inner)?),
                wire::Field::Bytes(3, context) => decoded.context = context.into(),
                _ => return None,
            }
        }
        Some(decoded)
    }
}

impl ConfChange {
    /// The change in etcd's encoding.
    pub fn encode(&self) -> Payload {
        let mut bytes = Vec::new();
        wire::number(&mut bytes, 1, self.id);
        wire::number(&mut bytes, 2, self.change.kind as u64);
        wire::number(&mut bytes, 3, self.change.node);
        if !self.context.is_empty() {
            wire::bytes(&mut bytes, 4, &self.context);
        }
        bytes.into()
    }

    /// Reads a change back; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<ConfChange> {
        let mut decoded = ConfChange::default();
        let mut reader = wire::Reader(bytes);
        while let Some(field) = reader.field()? {
            match field {
                wire::Field::Number(1, value) => decoded.id = value,
                wire::Field::Number(2, value) => decoded.change.kind = change_kind(value)?,
                wire::Field::Number(3, value) => decoded.change.node = value,
                wire::Field::Bytes(4, context) => decoded.context = context.into(),
                _ => return None,
            }
        }
        Some(decoded)
    }
}

impl From<ConfChange> for ConfChangeV2 {
    fn from(change: ConfChange) -> ConfChangeV2 {
        ConfChangeV2 { transition: Transition::Auto, changes: vec![change.change], context: change.context }
    }
}

/// Reads the change out of an entry's bytes, whichever of the two forms it has.
///
/// `None` if the entry is not a configuration change or its bytes are not one.
pub fn decode_entry(kind: EntryKind, data: &[u8]) -> Option<ConfChangeV2> {
    match kind {
        EntryKind::Normal => None,
        EntryKind::ConfChange => ConfChange::decode(data).map(ConfChangeV2::from),
        EntryKind::ConfChangeV2 => ConfChangeV2::decode(data),
    }
}

fn decode_change(bytes: &[u8]) -> Option<Change> {
    let mut change = Change::default();
    let mut reader = wire::Reader(bytes);
    while let Some(field) = reader.field()? {
        match field {
            wire::Field::Number(1, value) => change.kind = change_kind(value)?,
            wire::Field::Number(2, value) => change.node = value,
            _ => return None,
        }
    }
    Some(change)
}

fn change_kind(value: u64) -> Option<ChangeKind> {
    use ChangeKind::{AddLearner, AddNode, RemoveNode, UpdateNode};
    [AddNode, RemoveNode, UpdateNode, AddLearner].into_iter().find(|&kind| kind as u64 == value)
}

fn transition(value: u64) -> Option<Transition> {
    use Transition::{Auto, JointExplicit, JointImplicit};
    [Auto, JointImplicit, JointExplicit].into_iter().find(|&transition| transition as u64 == value)
}

/// The part of the protocol buffer encoding that configuration changes need.
mod wire {
    pub(super) enum Field<'a> {
        Number(u64, u64),
        Bytes(u64, &'a [u8]),
    }

    pub(super) struct Reader<'a>(pub(super) &'a [u8]);

    impl<'a> Reader<'a> {
        /// `Some(None)` at the end, `None` if the bytes are malformed.
        pub(super) fn field(&mut self) -> Option<Option<Field<'a>>> {
            if self.0.is_empty() {
                return Some(None);
            }
            let tag = self.varint()?;
            match tag & 7 {
                0 => Some(Some(Field::Number(tag >> 3, self.varint()?))),
                2 => {
                    let length = usize::try_from(self.varint()?).ok()?;
                    let (inner, rest) = self.0.split_at_checked(length)?;
                    self.0 = rest;
                    Some(Some(Field::Bytes(tag >> 3, inner)))
                }
                _ => None,
            }
        }

        fn varint(&mut self) -> Option<u64> {
            let mut value = 0u64;
            for shift in (0..64).step_by(7) {
                let (&byte, rest) = self.0.split_first()?;
                self.0 = rest;
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    return Some(value);
                }
            }
            None
        }
    }

    pub(super) fn number(into: &mut Vec<u8>, field: u64, value: u64) {
        varint(into, field << 3);
        varint(into, value);
    }

    pub(super) fn bytes(into: &mut Vec<u8>, field: u64, value: &[u8]) {
        varint(into, field << 3 | 2);
        varint(into, value.len() as u64);
        into.extend_from_slice(value);
    }

    fn varint(into: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            into.push(value as u8 | 0x80);
            value >>= 7;
        }
        into.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_survives_its_encoding() {
        let change = ConfChangeV2 {
            transition: Transition::JointExplicit,
            changes: vec![
                Change { kind: ChangeKind::AddLearner, node: 300 },
                Change { kind: ChangeKind::RemoveNode, node: u64::MAX },
            ],
            context: "why".into(),
        };
        assert_eq!(ConfChangeV2::decode(&change.encode()), Some(change.clone()));
        let older = ConfChange { id: 7, change: change.changes[0], context: "who".into() };
        assert_eq!(ConfChange::decode(&older.encode()), Some(older));
    }

    #[test]
    fn the_encoding_is_the_one_of_protocol_buffers() {
        let change = ConfChange {
            id: 0,
            change: Change { kind: ChangeKind::AddNode, node: 3 },
            context: Payload::EMPTY,
        };
        assert_eq!(&change.encode()[..], [0x08, 0, 0x10, 0, 0x18, 3]);
        assert_eq!(&ConfChangeV2::default().encode()[..], [0x08, 0]);
    }

    #[test]
    fn empty_bytes_leave_a_joint_configuration() {
        assert_eq!(ConfChangeV2::decode(&[]).unwrap().step(), ChangeStep::LeaveJoint);
    }

    #[test]
    fn bytes_that_are_no_change_are_refused() {
        for bytes in [&[0x08][..], &[0x08, 9], &[0x12, 5, 0], &[0xff; 12], &[0x21, 0]] {
            assert_eq!(ConfChangeV2::decode(bytes), None, "{bytes:?}");
        }
    }
}
