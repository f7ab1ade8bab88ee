//! Which progress is owed: the whole core of a cluster, links that never heal, and how many elections it may take.

use whitewater_sim::{Action, Cluster, Link, Node, NodeId, SLOTS, Script, Target, Trigger};

/// The smallest number of nodes that is more than half of `servers`.
pub const fn majority(servers: usize) -> usize {
    servers / 2 + 1
}

/// Links on which a step of the script interferes until the end of the run, other than by cutting them for good.
///
/// What is held back, delayed or lost there is damage that outlasts the faults; nothing is owed over such a link.
#[derive(Clone, Debug)]
pub struct Obstructions {
    links: Vec<bool>,
}

impl Obstructions {
    /// The obstructions of a script.
    pub fn of(script: &Script) -> Obstructions {
        let mut links = vec![false; SLOTS * SLOTS];
        for step in script.steps.iter().filter(|step| step.until == Some(Trigger::End)) {
            for Link { from, to } in restless_links(&step.action, script.servers) {
                links[from.index() * SLOTS + to.index()] = true;
            }
            // Whoever cannot write owes nobody anything, and is owed nothing.
            if let Action::FailSyncs(target) = &step.action {
                for place in 0..SLOTS {
                    let may_be = target.node().is_none_or(|node| node.index() == place);
                    (0..SLOTS).filter(|_| may_be).for_each(|other| {
                        links[place * SLOTS + other] = true;
                        links[other * SLOTS + place] = true;
                    });
                }
            }
            let pattern = match step.action.pattern() {
                Some(pattern) if !only_adds_copies(&step.action) => pattern,
                _ => continue,
            };
            // A role may mean anybody.
            let may_be = |end: Option<Target>, place: usize| {
                end.and_then(Target::node).is_none_or(|node| node.index() == place)
            };
            for from in (0..SLOTS).filter(|&place| may_be(pattern.from, place)) {
                for to in (0..SLOTS).filter(|&place| may_be(pattern.to, place)) {
                    links[from * SLOTS + to] = true;
                }
            }
        }
        Obstructions { links }
    }

    /// Whether nothing outlasts the faults on a link.
    pub fn is_free(&self, link: Link) -> bool {
        !self.links[link.from.index() * SLOTS + link.to.index()]
    }
}

/// Whether all that an action does is to deliver something once more.
fn only_adds_copies(action: &Action) -> bool {
    matches!(action, Action::Duplicate(..) | Action::DuplicateSome { .. } | Action::Replay(..))
}

/// Links that an action stops, or cuts and opens again and again. A role may mean any server.
fn restless_links(action: &Action, servers: usize) -> Vec<Link> {
    let is_restless = matches!(action, Action::Clog { .. } | Action::Topology { flapping: Some(_), .. });
    if !is_restless {
        return Vec::new();
    }
    let meant = |target: &Target| match target {
        Target::Node(node) => vec![*node],
        _ => (0..servers).map(NodeId::server).collect(),
    };
    let pairs = |from: &[NodeId], to: &[NodeId]| {
        let links = from.iter().flat_map(|&from| to.iter().map(move |&to| Link { from, to }));
        links.filter(|link| link.from != link.to).collect()
    };
    match action {
        Action::Clog { from, to } => pairs(&meant(from), &meant(to)),
        _ => {
            let nodes: Vec<NodeId> = action.targets().iter().flat_map(meant).collect();
            pairs(&nodes, &nodes)
        }
    }
}

/// The servers that are up and reach each other, all of them both ways, and nobody else.
///
/// Only a core owes progress. A server that reaches a part of it only could lawfully call elections for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its servers, in order; at least a majority of the cluster.
    pub members: Vec<NodeId>,
}

impl Core {
    /// The core of a cluster, if it has one at this moment.
    pub fn of<N: Node>(cluster: &Cluster<N>, obstructions: &Obstructions) -> Option<Core> {
        let joined = |a: NodeId, b: NodeId| {
            cluster.connected(a, b)
                && obstructions.is_free(Link { from: a, to: b })
                && obstructions.is_free(Link { from: b, to: a })
        };
        let up: Vec<NodeId> = cluster.servers().filter(|&node| cluster.is_running(node)).collect();
        // What it sends may arrive, be it only now and then.
        let heard = |from: NodeId, to: NodeId| {
            let link = Link { from, to };
            cluster.is_open(link) || !obstructions.is_free(link)
        };
        Core::among(&up, cluster.server_count(), joined, heard)
    }

    fn among(
        up: &[NodeId],
        servers: usize,
        joined: impl Fn(NodeId, NodeId) -> bool,
        heard: impl Fn(NodeId, NodeId) -> bool,
    ) -> Option<Core> {
        let group = |one: NodeId| -> Vec<NodeId> {
            up.iter().copied().filter(|&other| one == other || joined(one, other)).collect()
        };
        let members = up.iter().map(|&one| group(one)).find(|group| group.len() >= majority(servers))?;
        // Everybody in it sees the same group, so it is whole, and nobody outside is joined to one of it or heard by it.
        let outside = || up.iter().filter(|node| !members.contains(node));
        let is_left_alone = |&member: &NodeId| {
            group(member) == members && outside().all(|&stranger| !heard(stranger, member))
        };
        members.iter().all(is_left_alone).then_some(Core { members })
    }

    /// Whether a server belongs to it.
    pub fn has(&self, node: NodeId) -> bool {
        self.members.contains(&node)
    }
}

/// Elections after which a leader is there but for a chance below 1 in 10^10, or `None` if none can be elected.
///
/// Of `candidates` servers that stand for election, `electable` could win. In each round all of them wait for a time drawn
/// evenly from a range of which `clash_permille` is the part within which a second one spoils the votes of the first. A
/// round succeeds if an electable one comes first and nobody follows within that part:
/// p >= electable / candidates * (1 - clash)^(candidates - 1) * granted, and (1 - p)^rounds has to be below 10^-10. The
/// estimate is on the safe side: two candidates that clash may still leave one with a majority. `granted_permille` is the
/// chance that a candidate which is left alone gets the votes it needs.
pub fn rounds_needed(
    candidates: u64,
    electable: u64,
    clash_permille: u64,
    granted_permille: u64,
) -> Option<u64> {
    const ONE: u64 = 1 << 48;
    if electable == 0 || clash_permille >= 1_000 || granted_permille == 0 {
        return None;
    }
    let multiply = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 48) as u64;
    let quiet = (ONE / 1_000) * (1_000 - clash_permille);
    let first = ONE / candidates * electable / 1_000 * granted_permille;
    let success = (1..candidates).fold(first, |p, _| multiply(p, quiet));
    let failure = ONE - success.min(ONE);
    let (mut rounds, mut rest) = (1, failure);
    while rest >= ONE / 10_000_000_000 {
        rest = multiply(rest, failure);
        rounds += 1;
        if rounds > 10_000 {
            return None;
        }
    }
    Some(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::{Pattern, Span, Step, Time, Topology};

    fn nodes(positions: &[usize]) -> Vec<NodeId> {
        positions.iter().map(|&p| NodeId::server(p)).collect()
    }

    fn core(up: &[usize], servers: usize, apart: &[(usize, usize)]) -> Option<Vec<NodeId>> {
        let joined = |a: NodeId, b: NodeId| {
            !apart.contains(&(a.position(), b.position())) && !apart.contains(&(b.position(), a.position()))
        };
        Core::among(&nodes(up), servers, joined, joined).map(|core| core.members)
    }

    #[test]
    fn a_stranger_that_is_heard_and_does_not_hear_leaves_no_core() {
        let joined = |a: NodeId, b: NodeId| a.position() < 3 && b.position() < 3;
        let core = |heard: bool| {
            let heard = |from: NodeId, _: NodeId| from.position() < 3 || heard;
            Core::among(&nodes(&[0, 1, 2, 3]), 4, joined, heard).map(|core| core.members)
        };
        assert_eq!(core(false), Some(nodes(&[0, 1, 2])));
        assert_eq!(core(true), None);
    }

    #[test]
    fn a_majority_that_is_wholly_connected_is_a_core() {
        assert_eq!(core(&[0, 1, 2], 3, &[]), Some(nodes(&[0, 1, 2])));
        assert_eq!(core(&[0, 2], 3, &[]), Some(nodes(&[0, 2])));
        assert_eq!(core(&[0, 1, 2], 3, &[(0, 2), (1, 2)]), Some(nodes(&[0, 1])));
    }

    #[test]
    fn a_minority_or_a_partly_connected_cluster_owes_nothing() {
        assert_eq!(core(&[1], 3, &[]), None);
        assert_eq!(core(&[0, 1, 2], 3, &[(0, 2)]), None);
        assert_eq!(core(&[0, 1, 2, 3], 5, &[(0, 3)]), None);
    }

    #[test]
    fn a_hold_that_never_ends_obstructs_its_link_and_one_that_ends_does_not() {
        let (from, to) = (NodeId::server(0), NodeId::server(1));
        let pattern = Pattern { from: Some(from.into()), to: Some(to.into()), ..Pattern::default() };
        let mut script = Script::default();
        let mut step = Step::new(Trigger::At(Time::ZERO), Action::Hold(pattern));
        step.until = Some(Trigger::At(Time::from_millis(5)));
        script.steps.push(step);
        assert!(Obstructions::of(&script).is_free(Link { from, to }));
        script.steps[0].until = Some(Trigger::End);
        assert!(!Obstructions::of(&script).is_free(Link { from, to }));
        assert!(Obstructions::of(&script).is_free(Link { from: to, to: from }));
    }

    #[test]
    fn links_that_stand_still_or_come_and_go_for_good_are_obstructed() {
        let all: Vec<Target> = nodes(&[0, 1, 2]).into_iter().map(Target::Node).collect();
        let obstructed = |action: Action| {
            let mut step = Step::new(Trigger::At(Time::ZERO), action);
            step.until = Some(Trigger::End);
            let script = Script { steps: vec![step], servers: 4, ..Script::default() };
            let obstructions = Obstructions::of(&script);
            let pairs =
                (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to);
            let links = pairs.map(|(from, to)| Link { from: NodeId::server(from), to: NodeId::server(to) });
            links.filter(|&link| !obstructions.is_free(link)).count()
        };
        let clog = |from| Action::Clog { from, to: all[1] };
        assert_eq!(obstructed(clog(all[0])), 1);
        assert_eq!(obstructed(clog(Target::Leader)), 3, "anybody may lead");
        let groups = vec![vec![all[0]], all[1..].to_vec()];
        let cut =
            |flapping| Action::Topology { topology: Topology::Groups, groups: groups.clone(), flapping };
        assert_eq!(obstructed(cut(Some(Span::from_millis(5)))), 6);
        assert_eq!(obstructed(cut(None)), 0, "what is cut is seen when it is looked at");
        assert_eq!(obstructed(Action::Replay(Pattern::default(), 1)), 0);
        assert_eq!(obstructed(Action::Choke(Pattern::default(), 1)), 12);
    }

    #[test]
    fn more_clashes_and_fewer_electable_candidates_need_more_elections() {
        let needed = |c, e, p| rounds_needed(c, e, p, 1_000).unwrap();
        assert_eq!(needed(1, 1, 0), 1);
        // 2^-33 is 1.2e-10, 2^-34 is 0.6e-10.
        assert_eq!(needed(2, 1, 0), 34);
        assert!(needed(3, 3, 300) > needed(3, 3, 100));
        assert!(needed(5, 1, 100) > needed(5, 3, 100));
        assert_eq!(rounds_needed(3, 0, 100, 1_000), None);
        assert_eq!(rounds_needed(3, 3, 1_000, 1_000), None);
        assert_eq!(rounds_needed(1, 1, 0, 500), Some(34));
        assert_eq!(rounds_needed(1, 1, 0, 0), None);
    }
}
