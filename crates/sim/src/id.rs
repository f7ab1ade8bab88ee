//! Names of nodes and links: servers are `n1`, `n2`, ..., clients `c1`, `c2`, ..., a link is `n1->n2`.

use crate::digest::{Digest, Digester};
use std::fmt;
use std::str::FromStr;

/// Most servers a world holds.
pub const SERVERS_MAX: usize = 16;
/// Most clients a world holds.
pub const CLIENTS_MAX: usize = 8;
/// Slots for nodes of both kinds; every [`NodeId::index`] is below it.
pub const SLOTS: usize = SERVERS_MAX + CLIENTS_MAX;

/// One process of the world: a server, which faults may hit, or a client, which they spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(u8);

impl NodeId {
    /// Server `n{position + 1}`. Panics from [`SERVERS_MAX`] on.
    pub const fn server(position: usize) -> NodeId {
        assert!(position < SERVERS_MAX, "a world holds at most 16 servers");
        NodeId(position as u8)
    }

    /// Client `c{position + 1}`. Panics from [`CLIENTS_MAX`] on.
    pub const fn client(position: usize) -> NodeId {
        assert!(position < CLIENTS_MAX, "a world holds at most 8 clients");
        NodeId((SERVERS_MAX + position) as u8)
    }

    /// The node of a slot. Panics from [`SLOTS`] on.
    pub const fn from_index(index: usize) -> NodeId {
        assert!(index < SLOTS, "no such slot");
        NodeId(index as u8)
    }

    /// Its slot, below [`SLOTS`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is a server.
    pub const fn is_server(self) -> bool {
        (self.0 as usize) < SERVERS_MAX
    }

    /// Its place among the nodes of its kind, from 0: `n3` and `c3` both give 2.
    pub const fn position(self) -> usize {
        if self.is_server() { self.0 as usize } else { self.0 as usize - SERVERS_MAX }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_server() { 'n' } else { 'c' }, self.position() + 1)
    }
}

impl Digest for NodeId {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(self.0));
    }
}

impl FromStr for NodeId {
    type Err = String;
    fn from_str(text: &str) -> Result<NodeId, String> {
        let wrong = || format!("`{text}` is no node: write n1..n{SERVERS_MAX} or c1..c{CLIENTS_MAX}");
        let (kind, number) = text.split_at_checked(1).ok_or_else(wrong)?;
        let number: usize = number.parse().map_err(|_| wrong())?;
        match kind {
            "n" if (1..=SERVERS_MAX).contains(&number) => Ok(NodeId::server(number - 1)),
            "c" if (1..=CLIENTS_MAX).contains(&number) => Ok(NodeId::client(number - 1)),
            _ => Err(wrong()),
        }
    }
}

/// One direction between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Who sends.
    pub from: NodeId,
    /// Who receives.
    pub to: NodeId,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_as_the_node_it_names() {
        for index in 0..SLOTS {
            let node = NodeId::from_index(index);
            assert_eq!(node.to_string().parse(), Ok(node));
        }
        assert_eq!(NodeId::server(2).to_string(), "n3");
        assert_eq!(NodeId::client(0).to_string(), "c1");
    }

    #[test]
    fn a_name_outside_the_world_is_refused() {
        for text in ["", "n", "n0", "n17", "c9", "x1", "1", "né"] {
            assert!(text.parse::<NodeId>().is_err(), "{text}");
        }
    }
}
