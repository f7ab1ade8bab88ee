//! What a snapshot holds: the state machine with the hash of the log that led to it, and the membership.
//!
//! Layout of the data: chain hash of the log (8 bytes), number of cells (4), the cells, the last request of each client.
//! A cell: length of the key (1), key, hash (8), length of the value (4), value. A request: number (8, 0 for none), kind
//! of the answer (1), for a value that was read its length (4) and its bytes. Numbers are little-endian.
//!
//! Layout of the membership: for each of voters, learners, outgoing voters and next learners their number (1) and the
//! ids (8 each), then whether the joint configuration is left without being asked (1).

use crate::bytes::Bytes;
use crate::machine::Machine;
use whitewater_raft::ConfState;

/// A state machine as a snapshot has it.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// Index of the last entry in it.
    pub(crate) index: u64,
    /// Term of that entry.
    pub(crate) term: u64,
    /// A hash over the log up to it.
    pub(crate) chain: u64,
    /// The state.
    pub(crate) machine: Machine,
}

/// The data of a snapshot.
pub(crate) fn write(chain: u64, machine: &Machine) -> Vec<u8> {
    let mut bytes = chain.to_le_bytes().to_vec();
    machine.write(&mut bytes);
    bytes
}

/// Reads the data of a snapshot; index and term stand beside it. `None` if it is none.
pub(crate) fn read(data: &[u8]) -> Option<Image> {
    let mut bytes = Bytes(data);
    let chain = bytes.word()?;
    let machine = Machine::read(&mut bytes)?;
    bytes.0.is_empty().then_some(Image { index: 0, term: 0, chain, machine })
}

/// The metadata of a snapshot.
pub(crate) fn members(members: &ConfState) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ids in [&members.voters, &members.learners, &members.voters_outgoing, &members.learners_next] {
        bytes.push(ids.len() as u8);
        ids.iter().for_each(|id| bytes.extend(id.to_le_bytes()));
    }
    bytes.push(u8::from(members.auto_leave));
    bytes
}

/// Reads the metadata of a snapshot. `None` if it is none.
pub(crate) fn read_members(metadata: &[u8]) -> Option<ConfState> {
    let mut bytes = Bytes(metadata);
    let mut ids = || -> Option<Vec<u64>> {
        let count = bytes.byte()?;
        (0..count).map(|_| bytes.word()).collect()
    };
    let (voters, learners, voters_outgoing, learners_next) = (ids()?, ids()?, ids()?, ids()?);
    let auto_leave = bytes.byte()? != 0;
    Some(ConfState { voters, learners, voters_outgoing, learners_next, auto_leave })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_membership_reads_back_as_it_was_written() {
        let given = ConfState {
            voters: vec![1, 2],
            learners: vec![4],
            voters_outgoing: vec![1, 2, 3],
            learners_next: vec![3],
            auto_leave: true,
        };
        let bytes = members(&given);
        assert_eq!(read_members(&bytes), Some(given));
        assert_eq!(read_members(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn what_is_no_image_is_not_read() {
        let bytes = write(7, &Machine::default());
        assert_eq!(read(&bytes).unwrap().chain, 7);
        assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_none()));
        assert!(read(&[&bytes[..], &[0]].concat()).is_none());
    }
}
