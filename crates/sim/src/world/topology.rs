//! Cuts: which links a step takes away, what kind of fault each is, and how they come and go.

use super::World;
use crate::action::{Action, Topology};
use crate::fault::Fault;
use crate::id::{Link, NodeId, SLOTS};
use crate::monitor::Monitor;
use crate::node::{Node, Role};
use crate::target::Target;

/// Links to be cut, with what they are counted as.
pub(super) struct Cuts {
    pub(super) links: Vec<Link>,
    fault: Fault,
    /// Whether the leader was meant.
    at_leader: bool,
}

/// Why a link is cut, in one byte: the kind of fault, and a bit for cuts aimed at the leader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blame(u8);

impl Blame {
    pub(super) const NONE: Blame = Blame(Fault::Cut as u8);
    const AT_LEADER: u8 = 1 << 7;

    fn fault(self) -> Fault {
        Fault::ALL[usize::from(self.0 & !Blame::AT_LEADER)]
    }
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// The links an action cuts; `None` if a target it names does not exist at this moment.
    pub(super) fn cuts_of(&self, action: &Action) -> Option<Cuts> {
        let nothing = Cuts { links: Vec::new(), fault: Fault::Cut, at_leader: false };
        let cuts = match action {
            Action::Cut { from, to } => {
                let link = Link { from: self.resolve(*from)?, to: self.resolve(*to)? };
                Cuts { links: vec![link], ..nothing }
            }
            Action::Partition(groups) => {
                let groups = self.groups_of(groups)?;
                let links = apart(&groups, |_, _| false);
                Cuts { links, fault: self.kind_of_split(&groups), ..nothing }
            }
            Action::Topology { topology, groups, flapping } => {
                let groups = self.groups_of(groups)?;
                let links = match topology {
                    Topology::Groups => apart(&groups, |_, _| false),
                    Topology::Bridge => apart(&groups, |from, to| from.abs_diff(to) == 1),
                    Topology::OneWay => apart(&groups, |from, to| from < to),
                    Topology::Ring => ring(&groups.concat()),
                    Topology::Chain => chain(&groups.concat()),
                };
                let fault = match topology {
                    _ if flapping.is_some() => Fault::Flap,
                    Topology::Groups => self.kind_of_split(&groups),
                    Topology::Bridge => Fault::Bridge,
                    Topology::OneWay => Fault::OneWay,
                    Topology::Ring => Fault::Ring,
                    Topology::Chain => Fault::Chain,
                };
                Cuts { links, fault, ..nothing }
            }
            _ => return Some(nothing),
        };
        Some(Cuts { at_leader: action.targets().contains(&Target::Leader), ..cuts })
    }

    /// Groups of nodes; one that is named twice, once by its role, belongs to the first group that names it.
    fn groups_of(&self, groups: &[Vec<Target>]) -> Option<Vec<Vec<NodeId>>> {
        let groups = groups.iter().map(|group| group.iter().map(|&t| self.resolve(t)).collect());
        let mut groups: Vec<Vec<NodeId>> = groups.collect::<Option<_>>()?;
        let mut placed = Vec::new();
        for group in &mut groups {
            group.retain(|node| {
                let is_new = !placed.contains(node);
                placed.push(*node);
                is_new
            });
        }
        Some(groups)
    }

    fn kind_of_split(&self, groups: &[Vec<NodeId>]) -> Fault {
        let servers = self.cluster.servers;
        let leads = |&node: &NodeId| self.cluster.role(node) == Some(Role::Leader);
        let straddles = |group: &Vec<NodeId>| {
            servers > 2 && group.len() == servers / 2 && servers % 2 == 1 && group.iter().any(leads)
        };
        match groups {
            [_, rest] if groups.iter().any(straddles) && groups[0].len() + rest.len() == servers => {
                Fault::Straddle
            }
            [first, second] if first.len() == 1 || second.len() == 1 => Fault::Isolate,
            _ => Fault::Split,
        }
    }

    /// Cuts links in the name of a step.
    pub(super) fn cut(&mut self, step: usize, cuts: Cuts) {
        let aims_off = cuts.at_leader && self.without.has(Fault::CutLeader);
        if cuts.links.is_empty() || self.without.has(cuts.fault) || aims_off {
            return;
        }
        let blame = Blame(cuts.fault as u8 | if cuts.at_leader { Blame::AT_LEADER } else { 0 });
        for &link in &cuts.links {
            self.cluster.cut(link, true);
            self.blame[link.from.index() * SLOTS + link.to.index()] = blame;
        }
        self.director.steps[step].cuts = cuts.links;
    }

    /// Opens the links that a step has cut.
    pub(super) fn uncut(&mut self, step: usize) {
        for link in std::mem::take(&mut self.director.steps[step].cuts) {
            self.cluster.cut(link, false);
        }
    }

    /// A cut that comes and goes: it goes if it is there, and comes if it is not.
    pub(super) fn flap(&mut self, step: usize) {
        if !self.director.steps[step].cuts.is_empty() {
            return self.uncut(step);
        }
        if let Some(cuts) = self.cuts_of(&self.script.steps[step].action) {
            self.cut(step, cuts);
        }
    }

    /// A cut has stopped a message.
    pub(super) fn count_cut(&mut self, link: Link) {
        let blame = self.blame[link.from.index() * SLOTS + link.to.index()];
        self.counters.cut += 1;
        self.counters.bites[blame.fault()] += 1;
        if blame.0 & Blame::AT_LEADER != 0 {
            self.counters.bites[Fault::CutLeader] += 1;
        }
    }
}

/// All links between different groups, but for those that `stays` keeps by the places of the two groups.
fn apart(groups: &[Vec<NodeId>], stays: impl Fn(usize, usize) -> bool) -> Vec<Link> {
    let mut links = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let others = groups.iter().enumerate().filter(|(other, _)| *other != at && !stays(at, *other));
        for to in others.flat_map(|(_, group)| group.iter().copied()) {
            links.extend(group.iter().map(|&from| Link { from, to }));
        }
    }
    links
}

/// Links of a ring that are not to one of the nearest neighbours: equally many on both sides, and just enough of them for a
/// majority.
fn ring(nodes: &[NodeId]) -> Vec<Link> {
    let count = nodes.len();
    let reach = (count / 2).div_ceil(2);
    links_between(nodes, |from, to| {
        let apart = from.abs_diff(to);
        apart.min(count - apart) > reach
    })
}

/// Links of a row that are not to a neighbour.
fn chain(nodes: &[NodeId]) -> Vec<Link> {
    links_between(nodes, |from, to| from.abs_diff(to) > 1)
}

fn links_between(nodes: &[NodeId], is_cut: impl Fn(usize, usize) -> bool) -> Vec<Link> {
    let pairs = (0..nodes.len()).flat_map(|from| (0..nodes.len()).map(move |to| (from, to)));
    let cut = pairs.filter(|&(from, to)| from != to && is_cut(from, to));
    cut.map(|(from, to)| Link { from: nodes[from], to: nodes[to] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: usize) -> Vec<NodeId> {
        (0..count).map(NodeId::server).collect()
    }

    fn reached(links: &[Link], count: usize, from: usize) -> usize {
        let cut = links.iter().filter(|link| link.from == NodeId::server(from)).count();
        count - cut
    }

    #[test]
    fn in_a_ring_everybody_reaches_a_majority_and_nobody_all() {
        for count in 4..=9 {
            let links = ring(&nodes(count));
            for from in 0..count {
                let reached = reached(&links, count, from);
                assert!(reached > count / 2 && reached < count, "{count} {from} {reached}");
            }
        }
    }

    #[test]
    fn in_a_chain_everybody_reaches_the_neighbours_only() {
        let links = chain(&nodes(5));
        let reached: Vec<usize> = (0..5).map(|from| reached(&links, 5, from)).collect();
        assert_eq!(reached, [2, 3, 3, 3, 2]);
    }

    #[test]
    fn a_bridge_keeps_the_links_of_the_middle_and_one_way_those_ahead() {
        let groups = vec![nodes(2), vec![NodeId::server(2)], vec![NodeId::server(3), NodeId::server(4)]];
        let bridge = apart(&groups, |from, to| from.abs_diff(to) == 1);
        assert_eq!(bridge.len(), 8, "two by two, both ways");
        assert!(bridge.iter().all(|link| link.from.position() != 2 && link.to.position() != 2));
        let one_way = apart(&groups[..2], |from, to| from < to);
        assert!(one_way.len() == 2 && one_way.iter().all(|link| link.from.position() == 2));
    }
}
