//! What an adapter brings: a Raft that somebody wrote, as the store drives it.

use crate::log::Log;
use crate::membership::Step;
use crate::options::Settings;
use crate::outline::Outlined;
use crate::place::Place;
use std::rc::Rc;
use whitewater_check::RefusalReason;
use whitewater_sim::{OptionSpec, Role};

pub use whitewater_check::Membership;
pub use whitewater_sim::NodeId;
pub use whitewater_wal::{Entry, HardState, Snapshot};

/// Where a core stands and what it is set to.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Who it is.
    pub id: NodeId,
    /// How often it was started before: another number in every life of its process.
    pub incarnation: u32,
    /// The members as of what the log begins with: those of its snapshot, or the founders.
    pub members: Membership,
    /// Options.
    pub settings: Settings,
}

/// The kind of an entry that holds a request; a core gives other numbers to entries of its own.
pub const REQUEST: u8 = 0;

/// What a core wants done, in this order: send what promises nothing, store, then send the rest and take over a snapshot.
/// Committed entries and reads do not wait for what is stored with them.
#[derive(Debug)]
pub struct Todo<M> {
    /// The core's own number for it, which [`Core::stored`] gives back; 0 if the core need not hear of it.
    pub number: u64,
    /// Messages that promise nothing that is not durable yet.
    pub messages: Vec<(NodeId, M)>,
    /// Term, vote and commit index to be stored.
    pub hard_state: Option<HardState>,
    /// Whether it may be lost in a crash, since only the commit index moved.
    pub may_be_lost: bool,
    /// A snapshot to be stored in place of the log.
    pub snapshot: Option<Snapshot>,
    /// Entries to be stored, in place of whatever the log has from the index of the first on.
    pub entries: Vec<Entry>,
    /// Messages to be sent when all of that is durable.
    pub promises: Vec<(NodeId, M)>,
    /// Peers whose logs end before what the log has: the store sends them its snapshot, with the promises. For cores that
    /// leave it to their user, see [`Core::BARE`].
    pub behind: Vec<NodeId>,
    /// Up to where entries are committed and durable: what of it is not applied yet is taken from the log. 0 says nothing.
    pub committed: u64,
    /// Reads that may be served when so much is applied: what they were asked with, and the index. Those that nobody here
    /// has asked for are left out by the store.
    pub reads: Vec<(ReadId, u64)>,
}

impl<M> Default for Todo<M> {
    fn default() -> Todo<M> {
        Todo {
            number: 0,
            messages: Vec::new(),
            hard_state: None,
            may_be_lost: false,
            snapshot: None,
            entries: Vec::new(),
            promises: Vec::new(),
            behind: Vec::new(),
            committed: 0,
            reads: Vec::new(),
        }
    }
}

impl<M> Todo<M> {
    /// Whether there is nothing to be done.
    pub(crate) fn is_empty(&self) -> bool {
        let sends = !self.messages.is_empty() || !self.promises.is_empty() || !self.behind.is_empty();
        let stores = self.hard_state.is_some() || self.snapshot.is_some() || !self.entries.is_empty();
        !sends && !stores && self.committed == 0 && self.reads.is_empty()
    }
}

/// What a read is known by: no two reads of a run have the same, whoever asks and however often it was restarted.
pub type ReadId = Vec<u8>;

/// What a script makes a core do, if it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order<'a> {
    /// To stand for election.
    Campaign,
    /// To change the members, asked of a leader: by one step, or by several at once through a joint membership that is left
    /// without being asked.
    Change(&'a [Step]),
    /// To ask the leader for a snapshot although the log is whole.
    RequestSnapshot,
}

/// What a core is told, and makes of it what it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The leadership is to be handed over to that server, by whoever leads.
    Transfer(NodeId),
    /// A snapshot that was sent to that server has come.
    SnapshotArrived(NodeId),
    /// A snapshot that was sent to that server is taken for lost.
    SnapshotLost(NodeId),
    /// Nothing has come from that peer for a while.
    Unreachable(NodeId),
    /// It leads, and a change of the members that was just applied has taken its vote.
    Removed,
}

/// What a core shows of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Its term.
    pub term: u64,
    /// Whom it chose in its term.
    pub vote: Option<NodeId>,
    /// Its part.
    pub role: Role,
    /// Whom it takes for the leader.
    pub leader: Option<NodeId>,
    /// Index of the last entry it has in memory.
    pub last_index: u64,
    /// Up to where it knows entries to be committed.
    pub commit: u64,
}

/// Somebody else's Raft. Every method is called only while the process lives; a crash drops the value, and [`Core::start`] makes
/// another one of what the disk has.
pub trait Core: Sized + 'static {
    /// What its nodes send each other.
    type Message: Outlined;
    /// The name of the system.
    const NAME: &'static str;
    /// What it is, in one sentence.
    const ABOUT: &'static str;
    /// What can be set: some of those in [`mod@crate::options`], and others of its own.
    const OPTIONS: &'static [OptionSpec];
    /// Whether it is right, and makes progress, whatever clocks do: it counts ticks and trusts no lease.
    const NEEDS_NO_CLOCK: bool;
    /// Whether [`Shown::leader`] is somebody who leads, and not only the candidate it chose.
    const NAMES_LEADER: bool = true;
    /// Whether nobody is told up to where the log is as it was sent, see [`crate::Claim::Appended`], but who leads the term.
    const ACKNOWLEDGES_LEADERS_ONLY: bool = true;

    /// Whether it can ask for a snapshot although its log is whole, see [`Order::RequestSnapshot`]; plans then have it do so.
    const REQUESTS_SNAPSHOTS: bool = false;
    /// Whether it knows entries by their places alone and leaves the rest to its user. Then the store keeps what requests hold,
    /// bounds what an append carries, gives up what a link is busy with already, brings and installs snapshots, and counts the
    /// ticks of timeouts. Its messages have [`Outlined::entries_mut`].
    const BARE: bool = false;
    /// Whether it hands over its leadership, or asks the leader to, when it is told [`Notice::Transfer`].
    const TRANSFERS: bool = false;

    /// Starts from what the log has.
    fn start(seat: &Seat, log: Log) -> Self;
    /// The log that was given.
    fn log(&self) -> &Log;
    /// The log, to be written to.
    fn log_mut(&mut self) -> &mut Log;

    /// A tick has passed, if it counts them.
    fn tick(&mut self) {}
    /// The timeout that was set last has passed, if it counts no ticks. A leader's are as long as its heartbeats are apart.
    fn time_out(&mut self) {}
    /// A message has come.
    ///
    /// # Errors
    /// The core refuses it with an error instead of handling it.
    fn receive(&mut self, from: NodeId, message: Self::Message) -> Result<(), RefusalReason>;
    /// It leads and puts a request into the log, or passes it on to the leader; false if it does neither.
    fn propose(&mut self, data: Rc<[u8]>) -> bool;
    /// It finds out from where on a read is linearizable, and says so in [`Todo::reads`]. Asked only of a core that has the option
    /// [`READS`](crate::options::READS), unless it says that reads go through the log.
    fn read(&mut self, id: ReadId) {
        let _ = id;
    }
    /// Does as it is told; false if it cannot, or never does such a thing.
    fn obey(&mut self, order: Order<'_>) -> bool;
    /// It is told something.
    fn notice(&mut self, notice: Notice) {
        let _ = notice;
    }

    /// Says what it wants done; false if nothing. `todo` is empty; what was handed on as committed is applied up to `applied`.
    fn ready(&mut self, todo: &mut Todo<Self::Message>, applied: u64) -> bool;
    /// What it wanted stored is written, and can be read from its log; after a crash it may be gone.
    fn written(&mut self) {}
    /// Everything it wanted stored, up to the [`Todo`] of that number, is durable. Adds to `todo` what it wants done
    /// at once, if it does not wait until it is asked.
    fn stored(&mut self, number: u64, todo: &mut Todo<Self::Message>) {
        let _ = (number, todo);
    }
    /// A committed entry that changes the members has been applied, see [`Core::change_in`]: it holds from now on.
    fn applied(&mut self, steps: &[Step]) {
        let _ = steps;
    }
    /// The log begins behind that place from now on: what was before is given up, or a snapshot has taken its place.
    fn begins_behind(&mut self, place: Place) {
        let _ = place;
    }
    /// Whether it wants another timeout since it was asked last.
    fn timeout_wanted(&mut self) -> bool;
    /// The timeout that was drawn for it, in ticks from when it was wanted, if it counts them.
    fn set_timeout(&mut self, ticks: u64) {
        let _ = ticks;
    }

    /// What it shows of itself.
    fn shown(&self) -> Shown;
    /// While it leads: up to where it takes a peer's log to equal its own.
    fn match_index(&self, peer: NodeId) -> Option<u64>;
    /// The members as of what was handed on; `None` if they never change.
    fn members(&self) -> Option<Membership> {
        None
    }
    /// How an entry changes the members, if it does; without a step it ends a joint membership.
    fn change_in(entry: &Entry) -> Option<Vec<Step>> {
        let _ = entry;
        None
    }
}
