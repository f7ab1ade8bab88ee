//! The ground on which progress is owed: who is up and reaches whom, how far everybody is, and who decides.

use crate::membership::Membership;
use crate::progress::Obstructions;
use whitewater_sim::{Cluster, Link, Node, NodeId, SERVERS_MAX};

/// Who is up and reaches whom, and how far everybody is, when a phase of settling begins.
#[derive(Clone, Debug, Default)]
pub struct Terrain {
    pub(crate) servers: usize,
    /// For each server those that it reaches, itself included if it is up, a bit each by position.
    reach: [u16; SERVERS_MAX],
    /// For each server those that something of it may reach now and then, over a link that is not reliable.
    strays: [u16; SERVERS_MAX],
    /// Term and index of each server's last entry.
    pub(crate) logs: [(u64, u64); SERVERS_MAX],
    /// Each server's commit index: up to there its log is the leader's.
    pub(crate) commits: [u64; SERVERS_MAX],
    /// Entries that operations which are open will add.
    pub(crate) to_come: u64,
    /// Who leads the highest term that anybody is in, by position.
    pub(crate) leader: Option<usize>,
    /// Everybody who leads, in whatever term, a bit each by position.
    leading: u16,
    /// What each server takes the membership for, and what that may become by changes in its log; where memberships never
    /// change, nothing.
    memberships: [Vec<Membership>; SERVERS_MAX],
    /// The membership where it never changes.
    fixed: Membership,
}

/// Servers that are wholly connected and can decide, a bit each by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Court {
    /// All of them.
    pub(crate) mesh: u16,
    /// Those that have a vote whatever becomes of the changes under way.
    pub(crate) steady: u16,
}

/// The positions in a set.
pub(crate) fn positions(set: u16) -> impl Iterator<Item = usize> {
    (0..SERVERS_MAX).filter(move |&n| set & 1 << n != 0)
}

impl Terrain {
    /// A terrain of `servers` of which none is up.
    pub fn new(servers: usize) -> Terrain {
        Terrain { servers, fixed: Membership::of_first(servers), ..Terrain::default() }
    }

    /// The servers of a cluster at this moment. What `healthy` denies counts as down.
    pub fn of<N: Node>(
        cluster: &Cluster<N>,
        obstructions: &Obstructions,
        healthy: impl Fn(NodeId) -> bool,
    ) -> Terrain {
        let mut terrain = Terrain::new(cluster.server_count());
        let up = |node: NodeId| cluster.is_running(node) && healthy(node);
        for from in cluster.servers().filter(|&node| up(node)) {
            for to in cluster.servers().filter(|&node| up(node)) {
                let link = Link { from, to };
                if !obstructions.is_free(link) {
                    terrain.stray(link);
                } else if from == to || cluster.is_open(link) {
                    terrain.open(link);
                }
            }
        }
        terrain
    }

    /// Opens a link between servers that are up; a link of a server to itself says that it is up.
    pub fn open(&mut self, link: Link) {
        self.reach[link.from.position()] |= 1 << link.to.position();
    }

    /// Says that a link between servers that are up is not reliable, and yet something may come over it.
    pub fn stray(&mut self, link: Link) {
        self.strays[link.from.position()] |= 1 << link.to.position();
    }

    /// Servers that reach `node`.
    fn reached_by(&self, node: usize) -> u16 {
        (0..self.servers).filter(|&from| self.reach[from] & 1 << node != 0).fold(0, |set, n| set | 1 << n)
    }

    /// Servers that `node` reaches and that reach it.
    fn joined(&self, node: usize) -> u16 {
        self.reach[node] & self.reached_by(node)
    }

    /// Servers that `node` may hear: those that reach it, be it only now and then.
    pub(crate) fn heard_by(&self, node: usize) -> u16 {
        let strays = (0..self.servers).filter(|&from| self.strays[from] & 1 << node != 0);
        self.reached_by(node) | strays.fold(0, |set, n| set | 1 << n)
    }

    /// Says how far a server's log reaches, and how far it is known to be committed.
    pub(crate) fn set_log(&mut self, node: NodeId, last: (u64, u64), commit: u64) {
        (self.logs[node.position()], self.commits[node.position()]) = (last, commit);
    }

    /// Says how many entries the operations that are open may still add, all attempts counted.
    pub fn expect(&mut self, entries: u64) {
        self.to_come = entries;
    }

    /// Says who leads the highest term that anybody is in.
    pub(crate) fn set_leader(&mut self, leader: Option<NodeId>) {
        self.leader = leader.map(NodeId::position);
    }

    /// Says that a server leads, in whatever term.
    pub(crate) fn add_leader(&mut self, leader: NodeId) {
        self.leading |= 1 << leader.position();
    }

    /// Says what a server that is up takes the membership for, and then whatever that may become by changes in its log.
    pub fn set_memberships(&mut self, node: NodeId, memberships: Vec<Membership>) {
        self.memberships[node.position()] = memberships;
    }

    /// What a server takes the membership for, and what that may become.
    pub(crate) fn memberships(&self, node: usize) -> &[Membership] {
        match self.memberships[node].as_slice() {
            [] => std::slice::from_ref(&self.fixed),
            some => some,
        }
    }

    /// What a server takes the membership for.
    fn membership(&self, node: usize) -> Membership {
        self.memberships(node)[0]
    }

    /// Servers that are up.
    fn up(&self) -> u16 {
        (0..self.servers).filter(|&n| self.reach[n] & 1 << n != 0).fold(0, |set, n| set | 1 << n)
    }

    /// Servers that are up and take themselves for voters: they may stand for election.
    pub(crate) fn candidates(&self) -> u16 {
        positions(self.up())
            .filter(|&n| self.membership(n).all_voters() & 1 << n != 0)
            .fold(0, |set, n| set | 1 << n)
    }

    /// Every membership that somebody may come to act by.
    pub(crate) fn possible(&self) -> impl Iterator<Item = Membership> + '_ {
        positions(self.candidates()).flat_map(|n| self.memberships(n)).copied()
    }

    /// Those in a set who take themselves for voters and have a vote in every possible membership, if they decide in every
    /// one.
    ///
    /// Whoever of them has the newest log then has a quorum of its own membership, whatever that is: they need nobody else.
    fn steady(&self, set: u16) -> Option<u16> {
        let among = set & self.candidates();
        let steady = self.possible().fold(among, |set, membership| set & membership.all_voters());
        let decide = self.possible().all(|membership| membership.decides(steady));
        (decide && steady != 0).then_some(steady)
    }

    /// The largest set of servers that are wholly connected and decide; of equal ones the first. Who is in no possible
    /// membership does not count.
    pub(crate) fn court(&self) -> Option<Court> {
        let joined: Vec<u16> = (0..self.servers).map(|n| self.joined(n)).collect();
        let whole = |set: u16| positions(set).all(|n| joined[n] & set == set);
        let everybody = self.possible().fold(0, |set, membership| set | membership.everybody());
        let up = self.up() & everybody;
        if whole(up) {
            return self.steady(up).map(|steady| Court { mesh: up, steady });
        }
        let sets = (0..1u32 << self.servers).map(|set| set as u16).filter(|set| set & !up == 0);
        let mut best: Option<Court> = None;
        for set in sets.filter(|&set| whole(set)) {
            if best.is_none_or(|best| set.count_ones() > best.mesh.count_ones())
                && let Some(steady) = self.steady(set)
            {
                best = Some(Court { mesh: set, steady });
            }
        }
        best
    }

    /// Where one server alone reaches a majority that would elect it: that server and all it reaches.
    ///
    /// A leader among those is not counted on: it may have written more before it finds out that nobody hears it.
    pub(crate) fn hub(&self) -> Option<u16> {
        let around = |n: usize| self.joined(n) | 1 << n;
        let among = self.up() & self.candidates();
        let reaches = |&n: &usize| self.possible().any(|membership| membership.decides(around(n) & among));
        let mut hubs = positions(among).filter(reaches);
        let hub = hubs.next().filter(|_| hubs.next().is_none())?;
        let votes = |&n: &usize| n == hub || self.logs[n] <= self.logs[hub] && self.leading & 1 << n == 0;
        let votes = positions(around(hub) & among).filter(votes).fold(0, |set, n| set | 1 << n);
        let everybody = self.possible().fold(0, |set, membership| set | membership.everybody());
        self.steady(votes).map(|_| around(hub) & everybody)
    }

    /// Members of `mesh` that would be elected in it at once: their log is at least as new as those of a quorum.
    pub(crate) fn electable(&self, mesh: u16) -> u64 {
        let votes = |n: usize| positions(mesh).filter(move |&voter| self.logs[n] >= self.logs[voter]);
        let wins = |&n: &usize| self.membership(n).decides(votes(n).fold(0, |set, voter| set | 1 << voter));
        positions(mesh & self.candidates()).filter(wins).count() as u64
    }
}
