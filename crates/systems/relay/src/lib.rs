//! A replication with election by broadcast: relays that start up, appliers that refuse rows, and the moment in between.
//!
//! The model follows Tarantool as of commit 660f3323b9 (April 2021). Every server subscribes to every other one. A
//! *relay* on the source sends rows and passes election broadcasts on; an *applier* on the subscriber takes them. What
//! the parts do by themselves:
//!
//! * [`raft`]: the election. A node announces its durable state - term, vote, part, and a candidate's vector clock - and
//!   nothing else. Announcements coalesce; while a write is in progress the node is a follower and its timer stands still.
//! * [`relay`], [`outlet`], [`cursor`]: the relay's two halves, tx and thread, and the queues between them. SUBSCRIBE is
//!   answered by tx directly, state included; the thread starts up for a while, says that it is ready, and sends rows only
//!   after the answer. Pushing the announcement of a leader starts the cursor again from what was acknowledged.
//! * [`applier`], [`inbound`]: a connection over datagrams: numbered, in order, broken by a gap or by silence. Rows of a node
//!   that does not lead are skipped; the cursor at the other end has moved on, so they do not come again by themselves.
//! * [`wal`], [`record`]: term, vote and rows in one log file, one sync at a time. A failed sync restarts the process.
//!
//! The race - a leader's only announcement meets a relay that is not ready - is nowhere provided for. It follows.
//!
//! # What `relay-not-ready=latch` gets wrong
//!
//! | | defect of the patch as mailed | what can be seen of it here |
//! |--|--|--|
//! | a | the kept broadcast is never cleared | `stale-broadcast-sent`: a relay that starts again sends it after the reply that had the present state. If it says "candidate" and its node leads by now, the follower takes it for a resignation: `follower-catches-up` at a voter, `no-needless-election` at a candidate |
//! | b | enabling and disabling share one hop, so it is sent at teardown as well | `broadcast-sent-at-teardown`; the same two rules, if the subscriber still listens on the connection that ends |
//! | c | the vector clock is kept as a pointer into live state | `broadcast-with-a-younger-vclock`. No rule can break: a vector clock only grows, the node has what it shows, and a torn read of memory is below this model |
//! | d | any number of pushes on the way | `two-broadcasts-on-the-way`. No rule can break: there is one queue from tx to the thread and it keeps order; the cost is memory |
//! | e | the kept broadcast does not start the cursor again | nothing: it goes out before the first row of its connection, so there is nothing to send again |
//! | f | the place to start again from is not set before the first acknowledgement | `cursor-restarted-from-nothing`, then `rows-repeated`: rows are sent a second time and skipped. Logs are never cut here, so nothing worse follows. `drop` has it as well |
//!
//! # What later releases brought
//!
//! Options, all of them off in the release that is modelled. `queue` makes writes wait for a quorum in the synchronous
//! [`queue`], which a leader claims with a row of its term and gives up with another; with it go terms in acknowledgements, relays that tell a term
//! before its claim, votes that are judged again behind a write, and rows that are accepted from anybody. `witness` keeps a
//! node from calling an election while somebody sees the leader, `fencing` makes a leader without a quorum of connections
//! resign, `split-vote` ends an election that nobody can win. [`bug`] names the guards that can be left out of all that.
//!
//! # What was simplified
//!
//! Lost datagrams are not repeated: a loss breaks the connection, which a real stream would do only if it lasts. An
//! acknowledgement goes to the sender of the rows, and to everybody with the next heartbeat. Relays send several rows in one
//! message, and heartbeats whether or not rows flow. Times are scaled down, and the random shift of the election
//! timeout is an option: what was a tenth of five seconds there would be less than one way of a message here.

pub mod applier;
pub mod bug;
pub mod census;
pub mod command;
pub mod cursor;
mod glossary;
pub mod inbound;
pub mod marks;
pub mod message;
pub mod monitor;
pub mod node;
pub mod outlet;
pub mod queue;
pub mod raft;
pub mod record;
pub mod relay;
pub mod row;
pub mod settings;
pub mod system;
pub mod timer;
pub mod vclock;
pub mod wal;

pub use system::{RELAY, Relay};
