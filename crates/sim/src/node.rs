//! What a system brings to the world: a node, its messages, its timers and what it may be told to do.

use crate::digest::{Digest, Digester};
use crate::disk::Ticket;
use crate::draw::Draw;
use crate::effects::Effects;
use crate::id::NodeId;
use crate::time::LocalTime;
use std::fmt::{self, Display};

/// A process as a value: it handles one input at a time and answers with effects.
///
/// A node owns no clock, no thread, no randomness and no I/O: time is an argument, everything else goes through
/// [`Effects`]. It need not be `Clone`. What it keeps in itself is lost in a crash; what it synced to its disk is not.
pub trait Node: Sized {
    /// What nodes send each other.
    type Message: Message;
    /// The timers a node has; setting one replaces it.
    type Timer: Timer;
    /// What a script or a client may ask a node to do.
    type Command: Clone + Display;
    /// What a node answers to a command.
    type Reply: Clone + Display + Digest;
    /// What checks see of a node; usually the node itself.
    type View: ?Sized;
    /// Options of the system, the same for every node of a run.
    type Options;

    /// First start and restart alike, from what is on the disk.
    fn boot(boot: &Boot<'_, Self::Options>, fx: &mut Effects<'_, Self>) -> Self;
    /// Handles one input. Called only while the node is up.
    fn handle(&mut self, now: LocalTime, input: Input<Self>, fx: &mut Effects<'_, Self>);
    /// What checks see.
    fn view(&self) -> &Self::View;
    /// Its part in the protocol, for faults aimed by role and for the lanes of a trace.
    fn role(&self) -> Role {
        Role::None
    }
    /// A number that scripts may wait for, such as its term, by its name in [`crate::System::figures`].
    fn figure(&self, name: &str) -> Option<u64> {
        let _ = name;
        None
    }
    /// Its state in one line, as the end of a trace shows it.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Reads a command from its text form, the inverse of its `Display`. The error says what would be right.
    fn parse_command(text: &str) -> Result<Self::Command, String>;
}

/// What a node knows when it starts.
#[derive(Debug)]
pub struct Boot<'a, O> {
    /// Who it is.
    pub id: NodeId,
    /// Number of servers, `n1` to `n{servers}`.
    pub servers: usize,
    /// Number of clients.
    pub clients: usize,
    /// How often it was started before; 0 at the first start.
    pub incarnation: u32,
    /// Its clock.
    pub now: LocalTime,
    /// Options of the system.
    pub options: &'a O,
}

/// One thing that happens to a node.
pub enum Input<N: Node> {
    /// A message arrived.
    Deliver {
        /// Its sender.
        from: NodeId,
        /// The message.
        message: N::Message,
    },
    /// A timer that the node had set went off; it is no longer set.
    Timeout(N::Timer),
    /// The script or a client asks for something. Answer with [`Effects::reply`], at once, later or never.
    Command {
        /// Which operation the answer belongs to.
        op: OpId,
        /// What is asked.
        command: N::Command,
    },
    /// A sync that took time is done: what it covered is durable.
    Synced(Ticket),
    /// A sync that took time failed: the data it covered is lost, and the next sync will say it is fine.
    SyncFailed(Ticket),
}

/// Number of an operation of the script, in the order in which they were given to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpId(pub u32);

impl Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op{}", self.0)
    }
}

/// What a kind of message is called, with a small number that is its identity.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Unique among the kinds of one system, and never reused for another.
    pub code: u8,
    /// As traces and scripts write it, for example `MsgApp`.
    pub name: &'static str,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.code == other.code
    }
}

impl Eq for Kind {}

/// Something that travels over a link. `Display` prints it without sender and receiver.
pub trait Message: Display + Digest + Sized {
    /// Its kind.
    fn kind(&self) -> Kind;
    /// A number made of what names it among messages of its kind on one link, such as term and index range. Draws and
    /// pins go by it, so it holds nothing that changes from run to run for other reasons.
    fn key(&self) -> u64;
    /// The term it belongs to, if it has one; scripts may ask for it.
    fn term(&self) -> Option<u64> {
        None
    }
    /// Its size on the wire, roughly.
    fn size_bytes(&self) -> u32;
    /// A second copy for the network to deliver; `None` if the message cannot be copied.
    fn duplicate(&self) -> Option<Self>;
    /// Damages the message in a way its receiver can detect, and says whether it did. If not, as by default, the checksum of
    /// the transport is what detects it, and the message does not come to its receiver.
    fn corrupt(&mut self, draw: &mut Draw) -> bool {
        let _ = draw;
        false
    }
}

/// A timer of a node.
pub trait Timer: Copy + Ord {
    /// Unique among the timers of a node, peers included.
    fn code(&self) -> u32;
    /// As traces and scripts write it, for example `election`.
    fn name(&self) -> &'static str;
    /// The peer it is about; `relay-ready` of `n1` about `n2` is written `relay-ready n1->n2`.
    fn peer(&self) -> Option<NodeId> {
        None
    }
}

/// A node's part in the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The system has no roles, or the node has none yet.
    #[default]
    None,
    /// Follows a leader or waits for one.
    Follower,
    /// Asks whether an election could be won.
    PreCandidate,
    /// Stands for election.
    Candidate,
    /// Leads its term.
    Leader,
    /// Receives the log but has no vote.
    Learner,
}

impl Role {
    /// One letter, as the lanes of a trace show it.
    pub const fn letter(self) -> char {
        match self {
            Role::None => '-',
            Role::Follower => 'F',
            Role::PreCandidate => 'P',
            Role::Candidate => 'C',
            Role::Leader => 'L',
            Role::Learner => 'l',
        }
    }

    /// What stands behind `n1 is` in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Role::None => "without a role",
            Role::Follower => "a follower",
            Role::PreCandidate => "asking whether it could win",
            Role::Candidate => "a candidate",
            Role::Leader => "the leader",
            Role::Learner => "a learner",
        }
    }
}

impl Digest for Role {
    fn digest(&self, digester: &mut Digester) {
        digester.word(*self as u64);
    }
}
