//! What a node knows of the others in an election: who sees the leader, who is connected, who chose whom.

use crate::bug::{Bug, Planted};
use whitewater_sim::{NodeId, SERVERS_MAX};

/// What is known of the others.
#[derive(Clone, Debug, Default)]
pub struct Census {
    planted: Planted,
    servers: u32,
    quorum: u32,
    /// Nodes that say they see the leader, this one included, as bits by position.
    witnesses: u32,
    /// Nodes whose relay is followed, this one not included, as bits by position.
    connected: u32,
    /// Whom each node chose in the present term.
    choices: [Option<NodeId>; SERVERS_MAX],
}

impl Census {
    /// Nothing known yet.
    pub fn new(servers: usize, quorum: u32, planted: Planted) -> Census {
        Census { planted, servers: servers as u32, quorum, ..Census::default() }
    }

    /// Whether somebody sees the leader.
    pub fn has_witness(&self) -> bool {
        self.witnesses != 0
    }

    /// A node says, or finds out, whether it sees the leader. Returns whether that is news.
    pub fn sees_leader(&mut self, node: NodeId, sees: bool) -> bool {
        let (bit, before) = (1 << node.position(), self.witnesses);
        if sees {
            self.witnesses |= bit
        } else {
            self.witnesses &= !bit
        }
        self.witnesses != before
    }

    /// Whether a node is known to see the leader.
    pub fn is_witness(&self, node: NodeId) -> bool {
        self.witnesses >> node.position() & 1 == 1
    }

    /// A connection begins or ends. What the node at its other end saw is not known any more when it ends.
    pub fn connect(&mut self, node: NodeId, is_connected: bool) {
        let bit = 1 << node.position();
        if is_connected {
            self.connected |= bit;
        } else {
            self.connected &= !bit;
            self.witnesses &= !bit;
        }
    }

    /// Whether this node and those it is connected to are a quorum.
    pub fn reaches_quorum(&self) -> bool {
        self.connected.count_ones() + 1 >= self.quorum
    }

    /// Whether an election may begin after a connection has ended.
    pub fn may_stand_alone(&self) -> bool {
        self.reaches_quorum() || self.planted.is(Bug::ElectionOnDisconnect)
    }

    /// A new term: nobody has chosen, and nobody sees a leader of it.
    pub fn new_term(&mut self) {
        self.choices = [None; SERVERS_MAX];
        self.witnesses = 0;
    }

    /// A node has chosen in the present term.
    pub fn chose(&mut self, node: NodeId, vote: NodeId) {
        self.choices[node.index()] = Some(vote);
    }

    /// Whether nobody can have a quorum any more, whomever those choose who have not chosen yet.
    pub fn is_split(&self) -> bool {
        let votes = |candidate: NodeId| {
            self.choices.iter().flatten().filter(|&&choice| choice == candidate).count() as u32
        };
        let most = self.choices.iter().flatten().map(|&candidate| votes(candidate)).max().unwrap_or(0);
        let open = self.servers - self.choices.iter().flatten().count() as u32;
        let spare = u32::from(self.planted.is(Bug::SplitTooSoon));
        most + open < self.quorum + spare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [NodeId; 4] = [NodeId::server(0), NodeId::server(1), NodeId::server(2), NodeId::server(3)];

    fn census() -> Census {
        Census::new(4, 3, Planted::default())
    }

    #[test]
    fn an_election_is_split_when_nobody_can_reach_a_quorum_any_more() {
        let mut census = census();
        census.chose(NODES[0], NODES[0]);
        census.chose(NODES[1], NODES[0]);
        census.chose(NODES[2], NODES[2]);
        assert!(!census.is_split(), "the fourth may make it three");
        census.chose(NODES[3], NODES[2]);
        assert!(census.is_split());
        census.new_term();
        assert!(!census.is_split());
    }

    #[test]
    fn a_connection_that_ends_takes_its_witness_with_it() {
        let mut census = census();
        census.connect(NODES[1], true);
        census.connect(NODES[2], true);
        census.sees_leader(NODES[1], true);
        assert!(census.has_witness() && census.reaches_quorum());
        census.connect(NODES[1], false);
        assert!(!census.has_witness() && !census.reaches_quorum());
    }
}
