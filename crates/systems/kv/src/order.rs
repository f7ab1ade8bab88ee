//! What operators ask of the cluster itself: another leader, other members.

use crate::naming::core_id;
use std::fmt;
use whitewater_raft::{Change, ChangeKind, ConfChangeV2, Payload, Transition};
use whitewater_sim::{Digest, Digester, Draw, NodeId};

/// Something about the cluster itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The leader hands its leadership to this server.
    Transfer(NodeId),
    /// Other servers become members.
    Change(MembershipChange),
}

/// A change of the membership. With several servers at once it goes through a joint membership, which is left without being
/// asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipChange {
    /// These become voters.
    Add(Vec<NodeId>),
    /// These receive the log without a vote, also if they had one.
    Learn(Vec<NodeId>),
    /// These learners become voters, once they have caught up.
    Promote(Vec<NodeId>),
    /// These leave.
    Remove(Vec<NodeId>),
    /// Some leave and others become voters, through a joint membership.
    Replace {
        /// Who leaves.
        old: Vec<NodeId>,
        /// Who becomes a voter.
        new: Vec<NodeId>,
        /// Whether the joint membership stays until it is left by [`MembershipChange::Leave`].
        explicit: bool,
    },
    /// The joint membership is left.
    Leave,
}

/// The forms a change is written in.
pub(crate) const FORMS: &str = "add NODES, learn NODES, promote NODES, remove NODES, replace NODES by NODES (also with `explicitly` behind it), leave, \
     with commas between several nodes";

/// Names of servers with commas between them.
struct Names<'a>(&'a [NodeId]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, node)| {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{node}")
        })
    }
}

impl fmt::Display for MembershipChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MembershipChange::Add(nodes) => write!(f, "add {}", Names(nodes)),
            MembershipChange::Learn(nodes) => write!(f, "learn {}", Names(nodes)),
            MembershipChange::Promote(nodes) => write!(f, "promote {}", Names(nodes)),
            MembershipChange::Remove(nodes) => write!(f, "remove {}", Names(nodes)),
            MembershipChange::Replace { old, new, explicit } => {
                let explicitly = if *explicit { " explicitly" } else { "" };
                write!(f, "replace {} by {}{explicitly}", Names(old), Names(new))
            }
            MembershipChange::Leave => f.write_str("leave"),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Transfer(to) => write!(f, "transfer {to}"),
            Order::Change(change) => change.fmt(f),
        }
    }
}

impl Digest for Order {
    fn digest(&self, digester: &mut Digester) {
        digester.bytes(self.to_string().as_bytes());
    }
}

/// Reads an order. `None` if the text does not begin like one.
pub(crate) fn parse(text: &str) -> Option<Result<Order, String>> {
    let words: Vec<&str> = text.split(' ').collect();
    let change = match words.as_slice() {
        ["transfer", to] => return Some(server(to).map(Order::Transfer)),
        ["add", nodes] => servers(nodes).map(MembershipChange::Add),
        ["learn", nodes] => servers(nodes).map(MembershipChange::Learn),
        ["promote", nodes] => servers(nodes).map(MembershipChange::Promote),
        ["remove", nodes] => servers(nodes).map(MembershipChange::Remove),
        ["replace", old, "by", new] => replace(old, new, false),
        ["replace", old, "by", new, "explicitly"] => replace(old, new, true),
        ["leave"] => Ok(MembershipChange::Leave),
        _ => return None,
    };
    Some(change.map(Order::Change))
}

fn replace(old: &str, new: &str, explicit: bool) -> Result<MembershipChange, String> {
    let (old, new) = (servers(old)?, servers(new)?);
    match old.iter().find(|node| new.contains(node)) {
        Some(node) => Err(format!("{node} cannot be replaced by itself")),
        None => Ok(MembershipChange::Replace { old, new, explicit }),
    }
}

fn server(word: &str) -> Result<NodeId, String> {
    let server = word.parse::<NodeId>().ok().filter(|node| node.is_server());
    server.ok_or_else(|| format!("`{word}` is no server: write one such as n2"))
}

fn servers(words: &str) -> Result<Vec<NodeId>, String> {
    let nodes: Vec<NodeId> = words.split(',').map(server).collect::<Result<_, _>>()?;
    match nodes.iter().enumerate().find(|&(at, node)| nodes[..at].contains(node)) {
        Some((_, node)) => Err(format!("{node} stands twice in `{words}`")),
        None => Ok(nodes),
    }
}

impl MembershipChange {
    /// The servers it names.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let (first, second): (&[NodeId], &[NodeId]) = match self {
            MembershipChange::Add(nodes)
            | MembershipChange::Learn(nodes)
            | MembershipChange::Promote(nodes)
            | MembershipChange::Remove(nodes) => (nodes, &[]),
            MembershipChange::Replace { old, new, .. } => (old, new),
            MembershipChange::Leave => (&[], &[]),
        };
        first.iter().chain(second).copied()
    }

    /// The change as the core takes it.
    pub(crate) fn to_core(&self, context: Payload) -> ConfChangeV2 {
        let all = |nodes: &[NodeId], kind| -> Vec<Change> {
            nodes.iter().map(|&node| Change { kind, node: core_id(node) }).collect()
        };
        let (transition, changes) = match self {
            MembershipChange::Add(nodes) | MembershipChange::Promote(nodes) => {
                (Transition::Auto, all(nodes, ChangeKind::AddNode))
            }
            MembershipChange::Learn(nodes) => (Transition::Auto, all(nodes, ChangeKind::AddLearner)),
            MembershipChange::Remove(nodes) => (Transition::Auto, all(nodes, ChangeKind::RemoveNode)),
            MembershipChange::Replace { old, new, explicit } => {
                let mut changes = all(old, ChangeKind::RemoveNode);
                changes.extend(all(new, ChangeKind::AddNode));
                let implicit = Transition::JointImplicit;
                (if *explicit { Transition::JointExplicit } else { implicit }, changes)
            }
            MembershipChange::Leave => (Transition::Auto, Vec::new()),
        };
        ConfChangeV2 { transition, changes, context }
    }

    /// Draws one for a plan with that many servers.
    pub(crate) fn draw(draw: &mut Draw, servers: usize) -> MembershipChange {
        let mut nodes: Vec<NodeId> = (0..servers).map(NodeId::server).collect();
        draw.shuffle(&mut nodes);
        let most = if draw.chance(1, 4) { 2 } else { 1 };
        let mut take = |most: usize| -> Vec<NodeId> {
            let rest = nodes.split_off(most.min(nodes.len()));
            std::mem::replace(&mut nodes, rest)
        };
        match draw.weighted(&[4, 3, 4, 3, 3, 2]) {
            0 => MembershipChange::Add(take(most)),
            1 => MembershipChange::Learn(take(most)),
            2 => MembershipChange::Promote(take(most)),
            3 => MembershipChange::Remove(take(most)),
            4 if servers > most => {
                let (old, new) = (take(most), take(most));
                MembershipChange::Replace { old, new, explicit: draw.chance(1, 3) }
            }
            _ => MembershipChange::Leave,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_back_as_it_is_written() {
        for text in [
            "transfer n2",
            "add n4",
            "learn n4,n5",
            "promote n4",
            "remove n1",
            "replace n1,n2 by n4,n5",
            "replace n1 by n4 explicitly",
            "leave",
        ] {
            assert_eq!(parse(text).unwrap().unwrap().to_string(), text);
        }
        for seed in 0..200 {
            let change = MembershipChange::draw(&mut Draw::from_value(seed), 1 + seed as usize % 5);
            let text = change.to_string();
            assert_eq!(parse(&text), Some(Ok(Order::Change(change))), "{text}");
        }
    }

    #[test]
    fn an_order_about_nobody_or_somebody_twice_is_refused() {
        let refusal = |text| parse(text).unwrap().unwrap_err();
        assert!(refusal("transfer c1").contains("no server"));
        assert!(refusal("add n1,").contains("no server"));
        assert!(refusal("remove n2,n2").contains("twice"));
        assert!(refusal("replace n1 by n1").contains("by itself"));
        for text in ["add", "leave now", "replace n1 n2", "promote n1 n2"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_change_of_several_servers_is_joint() {
        use whitewater_raft::ChangeStep;
        let step = |text| match parse(text).unwrap().unwrap() {
            Order::Change(change) => change.to_core(Payload::EMPTY).step(),
            Order::Transfer(_) => panic!("{text} is a change"),
        };
        assert_eq!(step("add n4"), ChangeStep::Simple);
        assert_eq!(step("add n4,n5"), ChangeStep::EnterJoint { auto_leave: true });
        assert_eq!(step("replace n1 by n4"), ChangeStep::EnterJoint { auto_leave: true });
        assert_eq!(step("replace n1 by n4 explicitly"), ChangeStep::EnterJoint { auto_leave: false });
        assert_eq!(step("leave"), ChangeStep::LeaveJoint);
    }
}
