//! Servers as cores count them: from 1.

use whitewater_sim::NodeId;

/// The number a server has for cores that count them from 1.
#[inline]
pub fn number_of(node: NodeId) -> u64 {
    node.position() as u64 + 1
}

/// The server of that number; `None` for 0, which is nobody.
#[inline]
pub fn server_of(number: u64) -> Option<NodeId> {
    Some(NodeId::server(usize::try_from(number).ok()?.checked_sub(1)?))
}

/// The servers of a set, a bit each by position, as numbers.
pub fn numbers_in(set: u16) -> Vec<u64> {
    (1..=16).filter(|number| set >> (number - 1) & 1 == 1).collect()
}

/// The set of the servers of these numbers, a bit each by position.
pub fn set_of_numbers<'a>(numbers: impl IntoIterator<Item = &'a u64>) -> u16 {
    numbers.into_iter().fold(0, |set, number| set | 1 << (number - 1))
}
