//! Which progress a Raft with a log owes once faults are over: a function of options, topology and timing, and of nothing
//! that happens later.

use crate::progress::{Core, Obstructions, majority};
use whitewater_sim::{Cluster, Link, Node, NodeId, SERVERS_MAX, Span, Timing};

/// Longest wait for what is owed, in longest election timeouts.
///
/// A round of election lasts at most one of them. Round trips are at most a quarter of the shortest timeout. Where two
/// candidates still leave one of them with a majority, a round in which everybody can be elected then fails with a
/// probability below 0.1 (measured: 0.02 with 5 nodes at latencies up to a tenth of the timeout, and 0.3 with 9 nodes at up
/// to half of it, which is four times as much as here), and below 0.3 under pre-vote, where twice as many messages have to
/// pass before the others know. Where only a bare majority is left, any second candidate spoils the round: below 0.5.
/// So 10, 20 or 34 rounds all fail with a probability below 10^-10. Without pre-vote a server whose log is too old spoils
/// the rounds in which it comes first; at least half of a whole cluster can be elected, which takes 34 rounds again.
/// Six timeouts remain for what follows.
pub const SETTLE_TIMEOUTS: u64 = 40;

/// What old leases, the steps after an election, catching up and serving take at most, in longest election timeouts.
const SERVICE_TIMEOUTS: u64 = 6;

/// Options and times of a run that decide what is owed.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// Whether servers ask before they stand for election.
    pub pre_vote: bool,
    /// Whether a leader that hears from no majority steps down, and voters stand by a leader they hear from.
    pub check_quorum: bool,
    /// The system's times.
    pub timing: Timing,
    /// Longest time from sending a message to getting its answer while settling, the disk included.
    pub round_trip: Span,
    /// Time that the script gives.
    pub limit: Span,
    /// Entries that surely reach a follower in one round trip: those of one append, since on a network that reorders
    /// appends a larger window may bring no more than that.
    pub entries_per_round_trip: u64,
}

/// Who is up and reaches whom, and how far everybody is, when a phase of settling begins.
#[derive(Clone, Debug, Default)]
pub struct Terrain {
    servers: usize,
    /// For each server those that it reaches, itself included if it is up, a bit each by position.
    reach: [u16; SERVERS_MAX],
    /// Term and index of each server's last entry.
    logs: [(u64, u64); SERVERS_MAX],
    /// Each server's commit index: up to there its log is the leader's.
    commits: [u64; SERVERS_MAX],
    /// Entries that operations which are open will add.
    to_come: u64,
    /// Who leads the highest term that anybody is in, by position.
    leader: Option<usize>,
}

/// What is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// A leader, equal logs and service.
    Progress {
        /// A majority that is wholly connected.
        core: Core,
        /// Whether it has no link to anybody else. If it has, the leader may stand outside of it.
        alone: bool,
        /// Time beyond the script's limit for the entries that somebody lacks or that are to come.
        allowance: Span,
    },
    /// Nothing.
    Nothing(Because),
}

/// Why nothing is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// A round trip takes more than a quarter of the shortest election timeout.
    TooSlow,
    /// No majority is wholly connected.
    NoMajority,
    /// Somebody outside reaches a part of the majority, and pre-vote and check-quorum are not both on: it may call elections
    /// for ever.
    Disturbed,
    /// The elections it may take need more time than the script gives.
    TooLittleTime,
}

impl Terrain {
    /// A terrain of `servers` of which none is up.
    pub fn new(servers: usize) -> Terrain {
        Terrain { servers, ..Terrain::default() }
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
                if from == to || cluster.is_open(link) && obstructions.is_free(link) {
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

    /// Servers that reach `node`.
    fn reached_by(&self, node: usize) -> u16 {
        (0..self.servers).filter(|&from| self.reach[from] & 1 << node != 0).fold(0, |set, n| set | 1 << n)
    }

    /// Servers that `node` reaches and that reach it.
    fn joined(&self, node: usize) -> u16 {
        self.reach[node] & self.reached_by(node)
    }

    /// Servers that `node` reaches or that reach it.
    fn touched(&self, node: usize) -> u16 {
        self.reach[node] | self.reached_by(node)
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

    /// The largest set of servers that are wholly connected; of equal ones the first.
    fn mesh(&self) -> u16 {
        let members = |set: u16| (0..self.servers).filter(move |&n| set & 1 << n != 0);
        let joined: Vec<u16> = (0..self.servers).map(|n| self.joined(n)).collect();
        let whole = |set: u16| members(set).all(|n| joined[n] & set == set);
        let up = members(u16::MAX).filter(|&n| joined[n] & 1 << n != 0).fold(0, |set, n| set | 1 << n);
        if whole(up) {
            return up;
        }
        let sets = (0..1u32 << self.servers).map(|set| set as u16).filter(|set| set & !up == 0);
        let mut best = 0u16;
        for set in sets.filter(|&set| whole(set)) {
            if set.count_ones() > best.count_ones() {
                best = set;
            }
        }
        best
    }

    /// Members of `mesh` whose log is at least as new as those of a majority of the cluster.
    fn electable(&self, mesh: u16) -> u64 {
        let members = || (0..self.servers).filter(|&n| mesh & 1 << n != 0);
        let votes = |n: usize| members().filter(|&voter| self.logs[n] >= self.logs[voter]).count();
        members().filter(|&n| votes(n) >= majority(self.servers)).count() as u64
    }
}

/// Time that the entries take which the last member of `mesh` may lack, and those that are to come.
fn catching_up(ground: &Ground, terrain: &Terrain, mesh: u16) -> Span {
    assert!(ground.entries_per_round_trip > 0, "an append holds at least one entry");
    let members = || (0..terrain.servers).filter(|&n| mesh & 1 << n != 0);
    let longest = members().map(|n| terrain.logs[n].1).max().unwrap_or(0);
    let shortest = members().map(|n| terrain.commits[n]).min().unwrap_or(0);
    let entries = longest.saturating_sub(shortest) + terrain.to_come;
    ground.round_trip.times(entries / ground.entries_per_round_trip)
}

/// What a cluster owes.
pub fn owed(ground: &Ground, terrain: &Terrain) -> Owed {
    if ground.round_trip > ground.timing.election_low.part(4) {
        return Owed::Nothing(Because::TooSlow);
    }
    let mesh = terrain.mesh();
    if (mesh.count_ones() as usize) < majority(terrain.servers) {
        return Owed::Nothing(Because::NoMajority);
    }
    let members: Vec<usize> = (0..terrain.servers).filter(|&n| mesh & 1 << n != 0).collect();
    let alone = members.iter().all(|&n| terrain.touched(n) & !mesh == 0);
    let undisturbed = alone || ground.pre_vote && ground.check_quorum;
    if !undisturbed {
        return Owed::Nothing(Because::Disturbed);
    }
    let is_led = alone && terrain.leader.is_some_and(|leader| mesh & 1 << leader != 0);
    let rounds = if is_led { 0 } else { rounds(ground, terrain, mesh) };
    if ground.timing.election_high.times(rounds + SERVICE_TIMEOUTS) > ground.limit {
        return Owed::Nothing(Because::TooLittleTime);
    }
    let members = members.into_iter().map(NodeId::server).collect();
    let allowance = catching_up(ground, terrain, mesh);
    Owed::Progress { core: Core { members }, alone, allowance }
}

/// Rounds of election that all fail with a probability below 10^-10, see [`SETTLE_TIMEOUTS`].
fn rounds(ground: &Ground, terrain: &Terrain, mesh: u16) -> u64 {
    const ONE: u64 = 1 << 32;
    let members = u64::from(mesh.count_ones());
    // Of two candidates the better one has its own vote and at least half of the others'.
    let survives_two = 1 + (members - 1) / 2 >= majority(terrain.servers) as u64;
    // Who cannot win an election disturbs those that can, unless it asks before.
    let (success, electable) = match (survives_two, ground.pre_vote) {
        (true, true) => (ONE / 10 * 7, members),
        (true, false) => (ONE / 10 * 9, terrain.electable(mesh)),
        (false, true) => (ONE / 2, members),
        (false, false) => (ONE / 2, terrain.electable(mesh)),
    };
    let failure = ONE - success / members * electable;
    let (mut rounds, mut rest) = (0, ONE << 16);
    while rest > (ONE << 16) / 10_000_000_000 {
        rest = ((u128::from(rest) * u128::from(failure)) >> 32) as u64;
        rounds += 1;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIGH: Span = Span::from_millis(200);

    fn ground(pre_vote: bool, check_quorum: bool) -> Ground {
        let timing = Timing {
            election_low: Span::from_millis(100),
            election_high: HIGH,
            heartbeat: Span::from_millis(10),
        };
        let round_trip = Span::from_millis(25);
        Ground {
            pre_vote,
            check_quorum,
            timing,
            round_trip,
            limit: HIGH.times(SETTLE_TIMEOUTS),
            entries_per_round_trip: 100,
        }
    }

    fn link(from: usize, to: usize) -> Link {
        Link { from: NodeId::server(from), to: NodeId::server(to) }
    }

    /// A terrain in which these links are open both ways.
    fn terrain(servers: usize, up: &[usize], links: &[(usize, usize)]) -> Terrain {
        let mut terrain = Terrain::new(servers);
        up.iter().for_each(|&n| terrain.open(link(n, n)));
        for &(a, b) in links {
            terrain.open(link(a, b));
            terrain.open(link(b, a));
        }
        terrain
    }

    fn whole(servers: usize, up: &[usize]) -> Terrain {
        let pairs = up.iter().flat_map(|&a| up.iter().map(move |&b| (a, b)));
        terrain(servers, up, &pairs.filter(|(a, b)| a < b).collect::<Vec<_>>())
    }

    fn progress(positions: &[usize], alone: bool) -> Owed {
        let members = positions.iter().map(|&p| NodeId::server(p)).collect();
        Owed::Progress { core: Core { members }, alone, allowance: Span::ZERO }
    }

    /// What is owed without and with either and both of pre-vote and check-quorum.
    fn all(terrain: &Terrain) -> [Owed; 4] {
        [(false, false), (true, false), (false, true), (true, true)]
            .map(|(p, c)| owed(&ground(p, c), terrain))
    }

    fn nothing(because: Because) -> [Owed; 4] {
        [(); 4].map(|()| Owed::Nothing(because))
    }

    #[test]
    fn a_cluster_that_is_whole_owes_progress_whatever_its_options() {
        for servers in 1..=9 {
            let everybody: Vec<usize> = (0..servers).collect();
            let expected = [(); 4].map(|()| progress(&everybody, true));
            assert_eq!(all(&whole(servers, &everybody)), expected, "{servers} servers");
        }
    }

    #[test]
    fn a_bare_majority_owes_progress_and_a_minority_nothing() {
        assert_eq!(all(&whole(5, &[0, 2, 4])), [(); 4].map(|()| progress(&[0, 2, 4], true)));
        assert_eq!(all(&whole(9, &[0, 1, 2, 3, 4])), [(); 4].map(|()| progress(&[0, 1, 2, 3, 4], true)));
        assert_eq!(all(&whole(5, &[0, 2])), nothing(Because::NoMajority));
        assert_eq!(all(&whole(4, &[0, 2])), nothing(Because::NoMajority));
        assert_eq!(all(&Terrain::new(3)), nothing(Because::NoMajority));
    }

    #[test]
    fn a_majority_apart_from_the_rest_owes_progress_alone() {
        let apart = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (1, 2), (3, 4)]);
        assert_eq!(all(&apart), [(); 4].map(|()| progress(&[0, 1, 2], true)));
    }

    #[test]
    fn a_bridge_into_a_majority_leaves_progress_owed_under_pre_vote_and_check_quorum_only() {
        // Servers 1, 2 and 3 are fully connected, 4 only with 2, 5 only with 3.
        let bridge = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (1, 2), (1, 3), (2, 4)]);
        let [neither, pre_vote, check_quorum, both] = all(&bridge);
        for owed in [neither, pre_vote, check_quorum] {
            assert_eq!(owed, Owed::Nothing(Because::Disturbed));
        }
        assert_eq!(both, progress(&[0, 1, 2], false));
    }

    #[test]
    fn a_link_into_a_majority_that_is_open_one_way_disturbs_as_well() {
        let mut one_way = terrain(3, &[0, 1, 2], &[(0, 1)]);
        one_way.open(link(2, 0));
        let [neither, .., both] = all(&one_way);
        assert_eq!((neither, both), (Owed::Nothing(Because::Disturbed), progress(&[0, 1], false)));
    }

    #[test]
    fn a_node_that_alone_reaches_a_majority_owes_nothing() {
        // Its log may be behind, and then nobody can be elected.
        let star = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (0, 3), (0, 4)]);
        assert_eq!(all(&star), nothing(Because::NoMajority));
    }

    #[test]
    fn a_network_that_is_slow_against_the_timeouts_owes_nothing() {
        let mut slow = ground(true, true);
        slow.round_trip = Span::from_millis(26);
        assert_eq!(owed(&slow, &whole(3, &[0, 1, 2])), Owed::Nothing(Because::TooSlow));
    }

    #[test]
    fn a_whole_cluster_owes_a_leader_however_old_the_logs_of_some_are() {
        for servers in [3, 5, 7, 9] {
            let everybody: Vec<usize> = (0..servers).collect();
            let mut terrain = whole(servers, &everybody);
            everybody.iter().for_each(|&n| terrain.set_log(NodeId::server(n), (1, n as u64), 0));
            assert_eq!(terrain.electable((1 << servers) - 1) as usize, majority(servers));
            let expected = [(); 4].map(|()| progress(&everybody, true));
            assert_eq!(all(&terrain), expected, "{servers} servers");
        }
    }

    #[test]
    fn elections_that_few_can_win_need_time_unless_losers_ask_before_or_there_is_a_leader() {
        let mut behind = whole(3, &[0, 1]);
        behind.set_log(NodeId::server(0), (2, 5), 0);
        behind.set_log(NodeId::server(1), (1, 9), 0);
        let mut plain = ground(false, false);
        assert_eq!(behind.electable(0b11), 1);
        assert_eq!(owed(&plain, &behind), Owed::Nothing(Because::TooLittleTime));
        assert_eq!(owed(&ground(true, false), &behind), progress(&[0, 1], true));
        plain.limit = HIGH.times(90);
        assert_eq!(owed(&plain, &behind), progress(&[0, 1], true));
        plain.limit = HIGH.times(SERVICE_TIMEOUTS);
        behind.set_leader(Some(NodeId::server(1)));
        assert_eq!(owed(&plain, &behind), progress(&[0, 1], true));
        plain.limit = HIGH.times(SERVICE_TIMEOUTS - 1);
        assert_eq!(owed(&plain, &behind), Owed::Nothing(Because::TooLittleTime));
    }

    #[test]
    fn entries_that_somebody_lacks_are_given_time_unless_one_append_holds_many() {
        let mut terrain = whole(3, &[0, 1, 2]);
        terrain.set_log(NodeId::server(0), (1, 600), 600);
        terrain.set_log(NodeId::server(1), (1, 600), 600);
        terrain.set_log(NodeId::server(2), (1, 590), 100);
        let mut ground = ground(true, true);
        let allowance = |ground: &Ground, terrain: &Terrain| match owed(ground, terrain) {
            Owed::Progress { allowance, .. } => allowance,
            Owed::Nothing(because) => panic!("nothing is owed: {because:?}"),
        };
        ground.entries_per_round_trip = 1_000;
        assert_eq!(allowance(&ground, &terrain), Span::ZERO);
        ground.entries_per_round_trip = 1;
        assert_eq!(allowance(&ground, &terrain), Span::from_millis(500 * 25));
        terrain.expect(300);
        assert_eq!(allowance(&ground, &terrain), Span::from_millis(800 * 25), "as many are to come");
    }

    #[test]
    fn forty_timeouts_are_enough_for_the_rounds_the_constant_speaks_of() {
        let rounds =
            |pre_vote, terrain: &Terrain, mesh| super::rounds(&ground(pre_vote, true), terrain, mesh);
        assert_eq!(rounds(false, &whole(3, &[0, 1, 2]), 0b111), 10);
        assert_eq!(rounds(true, &whole(3, &[0, 1, 2]), 0b111), 20);
        for pre_vote in [false, true] {
            assert_eq!(rounds(pre_vote, &whole(3, &[0, 1]), 0b011), 34);
        }
        assert_eq!(34 + SERVICE_TIMEOUTS, SETTLE_TIMEOUTS);
    }
}
