//! The same server by two names: as a node of the world and as a node of the core.

use whitewater_raft::NONE;
use whitewater_sim::NodeId;

/// The node a server is to the core.
#[inline]
pub(crate) fn core_id(node: NodeId) -> whitewater_raft::NodeId {
    node.position() as u64 + 1
}

/// The server that a node of the core is; `None` for no node.
#[inline]
pub(crate) fn server(id: whitewater_raft::NodeId) -> Option<NodeId> {
    (id != NONE).then(|| NodeId::server(id as usize - 1))
}
