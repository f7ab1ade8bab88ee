//! Who is who: node ids, the absence of a node, and the two local storage threads.

/// The name of a node: any number except [`NONE`], [`APPEND_THREAD`] and [`APPLY_THREAD`].
pub type NodeId = u64;

/// No node: an unknown leader, a vote that was not cast.
pub const NONE: NodeId = 0;

/// The address of the local thread that makes the log durable, see
/// [`Config::async_storage_writes`](crate::Config::async_storage_writes).
pub const APPEND_THREAD: NodeId = u64::MAX;

/// The address of the local thread that applies committed entries.
pub const APPLY_THREAD: NodeId = u64::MAX - 1;

/// The largest term and log index the core accepts from outside.
///
/// Half of the number space: nothing that is added to a term or an index afterwards can overflow.
pub const POSITION_MAX: u64 = u64::MAX / 2;

/// Whether an id names one of the two local storage threads.
#[inline]
pub fn is_storage_thread(id: NodeId) -> bool {
    id == APPEND_THREAD || id == APPLY_THREAD
}

/// Whether an id can be the id of a node.
#[inline]
pub fn is_node(id: NodeId) -> bool {
    id != NONE && !is_storage_thread(id)
}
