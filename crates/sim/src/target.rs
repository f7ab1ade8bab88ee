//! Who and what a step of a script means: nodes, messages and timers, and what may happen to them.

use crate::id::NodeId;
use crate::node::Role;

/// Which node is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This one.
    Node(NodeId),
    /// Any node; only in conditions.
    Any,
    /// The server that leads the highest term at that moment.
    Leader,
    /// A server that is up and does not lead: 0 is the first one after the leader, counting round the cluster.
    Follower(u8),
}

/// Which messages or timers are meant; what is left out matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Name of the message kind or the timer.
    pub name: Option<String>,
    /// Sender of the message or owner of the timer. A role is who has it when the message or timer is looked at.
    pub from: Option<Target>,
    /// Receiver of the message or peer of the timer.
    pub to: Option<Target>,
    /// Term of the message.
    pub term: Option<u64>,
    /// Only the so-manieth that matches otherwise, from 1.
    pub number: Option<u32>,
}

impl From<NodeId> for Target {
    fn from(node: NodeId) -> Target {
        Target::Node(node)
    }
}

impl Target {
    /// The node that it names, if it names one.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Target::Node(node) => Some(node),
            Target::Any | Target::Leader | Target::Follower(_) => None,
        }
    }
}

impl Pattern {
    /// Every node it names.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        [self.from, self.to].into_iter().flatten().filter_map(Target::node)
    }

    /// Whether it means one of its ends by a role.
    pub fn names_a_role(&self) -> bool {
        let is_role = |end: &Target| matches!(end, Target::Leader | Target::Follower(_));
        [self.from, self.to].iter().flatten().any(is_role)
    }
}

/// Something the world can see happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A node takes a role: `n1 leads`.
    Takes(Target, Role),
    /// A timer goes off, such as `relay-ready n1->n2`.
    Fires(Pattern),
    /// A message is delivered: `n1->n2 MsgApp arrives`.
    Arrives(Pattern),
    /// A message is sent: `n1->n2 MsgApp leaves`.
    Leaves(Pattern),
    /// A figure of a node, one of [`crate::System::figures`], is at least this: `n2 reaches commit 5`.
    Reaches(Target, String, u64),
}

impl Condition {
    /// What it says of messages or timers, if it is about these.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Condition::Fires(pattern) | Condition::Arrives(pattern) | Condition::Leaves(pattern) => {
                Some(pattern)
            }
            Condition::Takes(..) | Condition::Reaches(..) => None,
        }
    }

    /// Every node it names.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Condition::Takes(target, _) | Condition::Reaches(target, ..) => {
                target.node().into_iter().collect()
            }
            Condition::Fires(p) | Condition::Arrives(p) | Condition::Leaves(p) => p.nodes().collect(),
        }
    }

    /// The node at which it comes true, if it names one: a sender, a receiver, the owner of a timer or state.
    pub fn place(&self) -> Option<NodeId> {
        match self {
            Condition::Takes(target, _) | Condition::Reaches(target, ..) => target.node(),
            Condition::Fires(pattern) | Condition::Leaves(pattern) => pattern.from.and_then(Target::node),
            Condition::Arrives(pattern) => pattern.to.and_then(Target::node),
        }
    }
}
