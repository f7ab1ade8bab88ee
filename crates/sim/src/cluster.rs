//! The nodes of a world and the state of the links between them, as monitors see them.

use crate::id::{Link, NodeId, SERVERS_MAX, SLOTS};
use crate::node::{Node, Role};

/// One place for a node.
pub(crate) struct Slot<N> {
    pub(crate) node: Option<N>,
    pub(crate) incarnation: u32,
    pub(crate) role: Role,
    /// Crash intervals that are open on it.
    pub(crate) down: u16,
    /// How many steps keep its process stopped.
    pub(crate) paused: u16,
    /// Whether its disk has lied to it, misplaced a write or rotted.
    pub(crate) betrayed: bool,
    /// Files on its disk when the monitor was last asked what is owed.
    pub(crate) files: usize,
}

impl<N> Default for Slot<N> {
    fn default() -> Self {
        Slot { node: None, incarnation: 0, role: Role::None, down: 0, paused: 0, betrayed: false, files: 0 }
    }
}

/// All nodes with the links between them.
pub struct Cluster<N> {
    pub(crate) slots: Vec<Slot<N>>,
    pub(crate) servers: usize,
    pub(crate) clients: usize,
    /// Open cuts per link; by sender and receiver.
    pub(crate) cuts: Vec<u16>,
    pub(crate) cuts_open: u32,
}

impl<N: Node> Cluster<N> {
    pub(crate) fn new(servers: usize, clients: usize) -> Self {
        let slots = (0..SLOTS).map(|_| Slot::default()).collect();
        Cluster { slots, servers, clients, cuts: vec![0; SLOTS * SLOTS], cuts_open: 0 }
    }

    /// Number of servers.
    pub fn server_count(&self) -> usize {
        self.servers
    }

    /// All servers, up or down.
    pub fn servers(&self) -> impl Iterator<Item = NodeId> + use<N> {
        (0..self.servers).map(NodeId::server)
    }

    /// All clients.
    pub fn clients(&self) -> impl Iterator<Item = NodeId> + use<N> {
        (0..self.clients).map(NodeId::client)
    }

    /// All servers and clients.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<N> {
        let clients = self.clients;
        (0..self.servers).chain(SERVERS_MAX..SERVERS_MAX + clients).map(NodeId::from_index)
    }

    /// What is to be seen of a node; nothing while it is down.
    #[inline]
    pub fn view(&self, id: NodeId) -> Option<&N::View> {
        self.slots[id.index()].node.as_ref().map(N::view)
    }

    /// Whether a node is up.
    #[inline]
    pub fn is_up(&self, id: NodeId) -> bool {
        self.slots[id.index()].node.is_some()
    }

    /// Whether a node is up and its process is not stopped.
    #[inline]
    pub fn is_running(&self, id: NodeId) -> bool {
        self.is_up(id) && self.slots[id.index()].paused == 0
    }

    /// The role of a node that is up, as of its last step.
    pub fn role(&self, id: NodeId) -> Option<Role> {
        self.is_up(id).then(|| self.slots[id.index()].role)
    }

    /// How often a node was restarted.
    pub fn incarnation(&self, id: NodeId) -> u32 {
        self.slots[id.index()].incarnation
    }

    /// Whether the disk of a node has ever lied to it, misplaced a write or flipped a bit, which no answer of the disk
    /// tells, or was emptied or put back by a step. Until then the node's disk is as good as any.
    #[inline]
    pub fn is_betrayed(&self, id: NodeId) -> bool {
        self.slots[id.index()].betrayed
    }

    /// How many files are on the disk of a node, where a monitor is asked what is owed.
    pub fn file_count(&self, id: NodeId) -> usize {
        self.slots[id.index()].files
    }

    /// Whether no cut stops messages on a link.
    #[inline]
    pub fn is_open(&self, link: Link) -> bool {
        self.cuts_open == 0 || self.cuts[link.from.index() * SLOTS + link.to.index()] == 0
    }

    /// Whether two nodes are running and reach each other both ways.
    pub fn connected(&self, a: NodeId, b: NodeId) -> bool {
        let open = self.is_open(Link { from: a, to: b }) && self.is_open(Link { from: b, to: a });
        open && self.is_running(a) && self.is_running(b)
    }

    pub(crate) fn cut(&mut self, link: Link, open: bool) {
        let count = &mut self.cuts[link.from.index() * SLOTS + link.to.index()];
        if open {
            *count += 1;
            self.cuts_open += 1;
        } else {
            *count -= 1;
            self.cuts_open -= 1;
        }
    }
}
