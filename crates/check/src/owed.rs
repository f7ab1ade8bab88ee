//! Which progress a Raft with a log owes once faults are over: a function of options, topology and timing, and of nothing
//! that happens later.

use crate::progress::{Core, majority};
use crate::terrain::{Court, Terrain, positions};
use whitewater_sim::{NodeId, Span, Timing};

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

/// Elections that few can win are given up to so many times the time of the script before nothing is owed: a bare majority
/// of which one in two can be elected may need 81 rounds, and hardly ever does.
const PATIENCE: u64 = 3;

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
    /// Longest time from when two servers reach each other until they hear each other, such as for a session to begin.
    pub connecting: Span,
    /// Time that the script gives.
    pub limit: Span,
    /// Whether every clock runs within a fifth of the true rate once faults are over, and none stands still.
    pub clocks_true: bool,
    /// Entries that surely reach a follower in one round trip: those of one append, since on a network that reorders
    /// appends a larger window may bring no more than that.
    pub entries_per_round_trip: u64,
}

/// What is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// A leader, equal logs and service.
    Progress {
        /// A majority that is wholly connected, or one server and all it reaches where nobody else reaches a majority.
        core: Core,
        /// Whether it hears nobody else. If it does, the leader may stand outside of it.
        alone: bool,
        /// Time beyond the script's limit for the entries that somebody lacks or that are to come, and for elections that
        /// few can win.
        allowance: Span,
    },
    /// Nothing.
    Nothing(Because),
}

/// Why nothing is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// A clock stands still, or runs at a rate that is off by more than a fifth.
    ClocksApart,
    /// A round trip takes more than a quarter of the shortest election timeout.
    TooSlow,
    /// No majority is wholly connected; or none that decides whatever becomes of the changes of the membership under way.
    NoMajority,
    /// Somebody outside reaches a part of the majority, and pre-vote and check-quorum are not both on: it may call elections
    /// for ever.
    Disturbed,
    /// The elections it may take need far more time than the script gives.
    TooLittleTime,
}

impl Because {
    /// Every reason there is.
    pub const ALL: [Because; 5] = [
        Because::ClocksApart,
        Because::TooSlow,
        Because::NoMajority,
        Because::Disturbed,
        Because::TooLittleTime,
    ];

    /// Its name, as summaries write it.
    pub const fn name(self) -> &'static str {
        match self {
            Because::ClocksApart => "clocks-apart",
            Because::TooSlow => "too-slow",
            Because::NoMajority => "no-majority",
            Because::Disturbed => "disturbed",
            Because::TooLittleTime => "too-little-time",
        }
    }
}

/// Time that the entries take which the last member of `mesh` may lack, and those that are to come.
fn catching_up(ground: &Ground, terrain: &Terrain, mesh: u16) -> Span {
    assert!(ground.entries_per_round_trip > 0, "an append holds at least one entry");
    let longest = positions(mesh).map(|n| terrain.logs[n].1).max().unwrap_or(0);
    let shortest = positions(mesh).map(|n| terrain.commits[n]).min().unwrap_or(0);
    let entries = longest.saturating_sub(shortest) + terrain.to_come;
    ground.round_trip.times(entries / ground.entries_per_round_trip)
}

/// What a cluster owes.
pub fn owed(ground: &Ground, terrain: &Terrain) -> Owed {
    if !ground.clocks_true {
        return Owed::Nothing(Because::ClocksApart);
    }
    if ground.round_trip > ground.timing.election_low.part(4) {
        return Owed::Nothing(Because::TooSlow);
    }
    let Some(Court { mesh, steady }) = terrain.court() else {
        return match terrain.hub().filter(|_| ground.pre_vote && ground.check_quorum) {
            Some(mesh) => led_by_a_hub(ground, terrain, mesh),
            None => Owed::Nothing(Because::NoMajority),
        };
    };
    let strangers = terrain.candidates() & !mesh;
    // Who only hears them disturbs nobody, whatever it makes of it.
    let alone = positions(mesh).all(|n| terrain.heard_by(n) & strangers == 0);
    // Who takes itself for a voter and is none any more may never hear of it.
    let undisturbed = alone && terrain.candidates() & mesh & !steady == 0;
    if !(undisturbed || ground.pre_vote && ground.check_quorum) {
        return Owed::Nothing(Because::Disturbed);
    }
    let is_led = alone && terrain.leader.is_some_and(|leader| steady & 1 << leader != 0);
    let rounds = if is_led { 0 } else { rounds(ground, terrain, Court { mesh, steady }) };
    let needed = ground.timing.election_high.times(rounds + SERVICE_TIMEOUTS);
    if needed > ground.limit.times(PATIENCE) {
        return Owed::Nothing(Because::TooLittleTime);
    }
    let members = positions(mesh).map(NodeId::server).collect();
    let longer = Span::from_nanos(needed.nanos().saturating_sub(ground.limit.nanos()));
    let allowance = longer + catching_up(ground, terrain, mesh);
    Owed::Progress { core: Core { members }, alone, allowance }
}

/// What is owed where one server alone reaches a majority, which would elect it.
///
/// Nobody else can win, and with pre-vote nobody else stands for election, except who stood already. By check-quorum a
/// leader that it does not reach steps down within two timeouts, and forgets to be loyal in another one; then it is elected
/// as soon as it has asked, once for each server that answers from a later term. Nothing is left to chance.
fn led_by_a_hub(ground: &Ground, terrain: &Terrain, mesh: u16) -> Owed {
    let rounds = u64::from(mesh.count_ones()) + 3;
    if ground.timing.election_high.times(rounds + SERVICE_TIMEOUTS) > ground.limit {
        return Owed::Nothing(Because::TooLittleTime);
    }
    let members = positions(mesh).map(NodeId::server).collect();
    Owed::Progress { core: Core { members }, alone: false, allowance: catching_up(ground, terrain, mesh) }
}

/// Elections that those who owe progress hold at most, but for a chance below 10^-10; `None` if no number is enough, or if
/// somebody disturbs them who need not ask before.
///
/// Rounds after which a leader is there are counted as for [`SETTLE_TIMEOUTS`], as if there were none yet. In one round each
/// candidate stands at most once, as it draws a new timeout when it does. One more time each may stand whose timeout ends
/// before it has heard from the leader. And until all hear each other, each may stand once in every shortest timeout, by a
/// clock that runs a fifth too fast.
///
/// For a whole cluster of three that asks before it stands these are 3 * (20 + 1) = 63. Others watch for 6 elections: with
/// three candidates these are two rounds, which both fail with a probability of up to 0.3^2 under the timing that is granted
/// here. A lawful run would miss that bound every day, and only a leader that is never kept misses this one.
///
/// Where they are not `alone`, those outside stand as well, if a majority says before that it hears no leader. Then a round
/// is counted as one of a bare majority. So terms do not grow without end: what a disturber brings about is as many
/// elections as there is time for, several times this number.
pub(crate) fn elections_max(ground: &Ground, terrain: &Terrain, alone: bool) -> Option<u64> {
    if !(alone || ground.pre_vote && ground.check_quorum) {
        return None;
    }
    let (rounds, among) = match terrain.court() {
        Some(court) if alone => (rounds(ground, terrain, court), court.mesh),
        Some(court) => (rounds(ground, terrain, court).max(BARE_ROUNDS), u16::MAX),
        None => terrain.hub().map(|_| (BARE_ROUNDS, u16::MAX))?,
    };
    let candidates = u64::from((terrain.candidates() & among).count_ones());
    let low = ground.timing.election_low;
    let deaf = (ground.connecting.nanos() * 6).div_ceil(low.nanos() * 5);
    (rounds <= ROUNDS_MAX).then(|| candidates * (deaf + rounds + 1))
}

/// Rounds of election that all fail with a probability below 10^-10, see [`SETTLE_TIMEOUTS`].
fn rounds(ground: &Ground, terrain: &Terrain, Court { mesh, steady }: Court) -> u64 {
    const ONE: u64 = 1 << 32;
    let candidates = u64::from((terrain.candidates() & mesh).count_ones());
    // Of two candidates the better one has its own vote and at least half of the others'.
    let survives = |half: u16| {
        let votes = (steady & half).count_ones() as usize;
        1 + votes.saturating_sub(1) / 2 >= majority(half.count_ones() as usize)
    };
    let survives_two = terrain.possible().flat_map(|membership| membership.halves()).all(survives);
    // Who cannot win an election disturbs those that can, unless it asks before.
    let (success, electable) = match (survives_two, ground.pre_vote) {
        (true, true) => (ONE / 10 * 7, candidates),
        (true, false) => (ONE / 10 * 9, terrain.electable(mesh)),
        (false, true) => (ONE / 2, candidates),
        (false, false) => (ONE / 2, terrain.electable(mesh)),
    };
    let failure = ONE - success / candidates * electable;
    let (mut rounds, mut rest) = (0, ONE << 16);
    while rest > (ONE << 16) / 10_000_000_000 {
        rest = ((u128::from(rest) * u128::from(failure)) >> 32) as u64;
        rounds += 1;
        if rounds > ROUNDS_MAX {
            break;
        }
    }
    rounds
}

/// Rounds of a bare majority that all fail with a probability below 10^-10: half of them fail.
const BARE_ROUNDS: u64 = 34;

/// More rounds than any plan gives time for; where nobody can be elected, no number would be enough.
const ROUNDS_MAX: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::Membership;
    use whitewater_sim::Link;

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
            connecting: Span::ZERO,
            limit: HIGH.times(SETTLE_TIMEOUTS),
            entries_per_round_trip: 100,
            clocks_true: true,
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
    fn who_hears_a_majority_and_is_not_heard_disturbs_nobody() {
        let mut mute = terrain(3, &[0, 1, 2], &[(0, 1)]);
        mute.open(link(0, 2));
        mute.stray(link(1, 2));
        assert_eq!(all(&mute), [(); 4].map(|()| progress(&[0, 1], true)));
    }

    /// Five servers of which the first one alone reaches a majority.
    fn star() -> Terrain {
        terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (0, 3), (0, 4)])
    }

    #[test]
    fn a_node_that_alone_reaches_a_majority_owes_to_lead_under_pre_vote_and_check_quorum_only() {
        let [neither, pre_vote, check_quorum, both] = all(&star());
        for owed in [neither, pre_vote, check_quorum] {
            assert_eq!(owed, Owed::Nothing(Because::NoMajority));
        }
        assert_eq!(both, progress(&[0, 1, 2, 3, 4], false));
        let mut short = ground(true, true);
        short.limit = HIGH.times(5 + 3 + SERVICE_TIMEOUTS) - Span::from_nanos(1);
        assert_eq!(owed(&short, &star()), Owed::Nothing(Because::TooLittleTime));
    }

    #[test]
    fn a_node_that_alone_reaches_a_majority_owes_nothing_if_that_has_newer_logs() {
        let mut star = star();
        let ahead = |star: &mut Terrain, n: usize| star.set_log(NodeId::server(n), (1, 5), 0);
        ahead(&mut star, 1);
        ahead(&mut star, 2);
        assert_eq!(all(&star)[3], progress(&[0, 1, 2, 3, 4], false), "two others and itself are enough");
        ahead(&mut star, 3);
        assert_eq!(all(&star), nothing(Because::NoMajority));
        ahead(&mut star, 0);
        assert_eq!(all(&star)[3], progress(&[0, 1, 2, 3, 4], false));
        // Who leads may write more before it finds out that nobody hears it.
        ahead(&mut star, 4);
        star.set_log(NodeId::server(1), (1, 6), 0);
        star.set_log(NodeId::server(2), (1, 6), 0);
        assert_eq!(all(&star)[3], progress(&[0, 1, 2, 3, 4], false));
        star.add_leader(NodeId::server(3));
        assert_eq!(all(&star), nothing(Because::NoMajority));
    }

    #[test]
    fn where_two_reach_a_majority_each_and_no_majority_is_whole_nothing_is_owed() {
        let two = terrain(6, &[0, 1, 2, 3, 4, 5], &[(0, 1), (0, 2), (0, 3), (1, 3), (1, 4), (1, 5)]);
        assert_eq!(all(&two), nothing(Because::NoMajority));
        let mut apart = star();
        apart.stray(link(0, 1));
        assert_eq!(all(&apart)[3], progress(&[0, 1, 2, 3, 4], false));
    }

    #[test]
    fn a_link_into_a_majority_that_comes_and_goes_disturbs_as_well() {
        let mut flaps = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (1, 2)]);
        assert_eq!(all(&flaps), [(); 4].map(|()| progress(&[0, 1, 2], true)));
        flaps.stray(link(4, 1));
        let [neither, pre_vote, check_quorum, both] = all(&flaps);
        for owed in [neither, pre_vote, check_quorum] {
            assert_eq!(owed, Owed::Nothing(Because::Disturbed));
        }
        assert_eq!(both, progress(&[0, 1, 2], false));
    }

    #[test]
    fn a_chain_owes_nothing_without_a_majority_that_is_whole() {
        let chain = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(all(&chain), nothing(Because::NoMajority));
        // Three in a mesh and two behind one of them, in a row.
        let tail = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(all(&tail)[0], Owed::Nothing(Because::Disturbed));
        assert_eq!(all(&tail)[3], progress(&[0, 1, 2], false));
    }

    #[test]
    fn a_ring_in_which_everybody_reaches_a_bare_majority_owes_nothing() {
        let ring = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        assert_eq!(all(&ring), nothing(Because::NoMajority));
    }

    #[test]
    fn clocks_that_are_not_true_owe_nothing() {
        let mut apart = ground(true, true);
        apart.clocks_true = false;
        assert_eq!(owed(&apart, &whole(3, &[0, 1, 2])), Owed::Nothing(Because::ClocksApart));
    }

    #[test]
    fn a_network_that_is_slow_against_the_timeouts_owes_nothing() {
        let mut slow = ground(true, true);
        slow.round_trip = Span::from_millis(26);
        assert_eq!(owed(&slow, &whole(3, &[0, 1, 2])), Owed::Nothing(Because::TooSlow));
    }

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = Because::ALL.map(Because::name).into();
        assert_eq!(names.len(), Because::ALL.len());
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
        let longer = |timeouts| match progress(&[0, 1], true) {
            Owed::Progress { core, alone, .. } => {
                Owed::Progress { core, alone, allowance: HIGH.times(timeouts) }
            }
            nothing => nothing,
        };
        // 81 rounds, and what follows them.
        assert_eq!(owed(&plain, &behind), longer(81 + SERVICE_TIMEOUTS - SETTLE_TIMEOUTS));
        assert_eq!(owed(&ground(true, false), &behind), longer(0));
        plain.limit = HIGH.times(90);
        assert_eq!(owed(&plain, &behind), longer(0));
        plain.limit = HIGH.times(28);
        assert_eq!(owed(&plain, &behind), Owed::Nothing(Because::TooLittleTime));
        plain.limit = HIGH.times(SERVICE_TIMEOUTS);
        behind.set_leader(Some(NodeId::server(1)));
        assert_eq!(owed(&plain, &behind), longer(0));
        plain.limit = HIGH;
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
        let rounds = |pre_vote, terrain: &Terrain| {
            super::rounds(&ground(pre_vote, true), terrain, terrain.court().unwrap())
        };
        assert_eq!(rounds(false, &whole(3, &[0, 1, 2])), 10);
        assert_eq!(rounds(true, &whole(3, &[0, 1, 2])), 20);
        for pre_vote in [false, true] {
            assert_eq!(rounds(pre_vote, &whole(3, &[0, 1])), 34);
        }
        assert_eq!(34 + SERVICE_TIMEOUTS, SETTLE_TIMEOUTS);
    }

    #[test]
    fn elections_are_bounded_by_the_rounds_that_may_fail_and_those_who_stand_in_them() {
        let most = |pre_vote, terrain: &Terrain| elections_max(&ground(pre_vote, true), terrain, true);
        assert_eq!(most(false, &whole(3, &[0, 1, 2])), Some(3 * 11));
        assert_eq!(most(true, &whole(3, &[0, 1, 2])), Some(3 * 21));
        assert_eq!(most(true, &whole(3, &[0, 1])), Some(2 * 35));
        assert_eq!(most(true, &whole(3, &[0])), None);
        let deaf = Ground { connecting: Span::from_millis(250), ..ground(false, true) };
        assert_eq!(elections_max(&deaf, &whole(3, &[0, 1, 2]), true), Some(3 * (3 + 11)));
    }

    #[test]
    fn elections_are_bounded_beside_others_only_if_those_have_to_ask_before() {
        let bridge = terrain(5, &[0, 1, 2, 3, 4], &[(0, 1), (0, 2), (1, 2), (1, 3), (2, 4)]);
        let star = star();
        for (pre_vote, check_quorum) in [(false, false), (true, false), (false, true)] {
            let ground = ground(pre_vote, check_quorum);
            assert_eq!(elections_max(&ground, &bridge, false), None);
            assert_eq!(elections_max(&ground, &star, false), None);
        }
        let both = ground(true, true);
        assert_eq!(elections_max(&both, &bridge, false), Some(5 * (BARE_ROUNDS + 1)));
        assert_eq!(elections_max(&both, &star, false), Some(5 * (BARE_ROUNDS + 1)));
        // Everybody could stand that often in the time that is given, if nothing held them back.
        let possible = 5 * both.limit.nanos() / both.timing.election_low.nanos();
        assert!(elections_max(&both, &star, false).unwrap() * 2 < possible);
        let nobody = terrain(5, &[0, 1], &[(0, 1)]);
        assert_eq!(elections_max(&both, &nobody, false), None);
    }

    /// Everybody takes the membership for these, one after the other.
    fn all_take(terrain: &mut Terrain, memberships: &[Membership]) {
        (0..terrain.servers).for_each(|n| terrain.set_memberships(NodeId::server(n), memberships.to_vec()));
    }

    fn of(voters: u16, outgoing: u16, learners: u16) -> Membership {
        Membership { voters, outgoing, learners, ..Membership::default() }
    }

    #[test]
    fn a_server_that_is_no_member_neither_decides_nor_disturbs() {
        let mut spare = whole(5, &[0, 1, 3, 4]);
        all_take(&mut spare, &[of(0b111, 0, 0)]);
        assert_eq!(all(&spare), [(); 4].map(|()| progress(&[0, 1], true)));
        let mut few = whole(5, &[0, 3, 4]);
        all_take(&mut few, &[of(0b111, 0, 0)]);
        assert_eq!(all(&few), nothing(Because::NoMajority));
    }

    #[test]
    fn a_learner_belongs_to_those_who_owe_and_does_not_decide() {
        let mut terrain = whole(4, &[0, 1, 3]);
        all_take(&mut terrain, &[of(0b0111, 0, 0b1000)]);
        assert_eq!(all(&terrain)[0], progress(&[0, 1, 3], true));
        all_take(&mut terrain, &[of(0b0110, 0, 0b1001)]);
        assert_eq!(all(&terrain), nothing(Because::NoMajority));
    }

    #[test]
    fn who_does_not_know_yet_that_it_votes_does_not_count() {
        let mut terrain = whole(5, &[1, 2, 4]);
        all_take(&mut terrain, &[of(0b00001, 0, 0b00110)]);
        terrain.set_memberships(NodeId::server(4), vec![of(0b11111, 0, 0)]);
        assert_eq!(all(&terrain), nothing(Because::NoMajority), "n5 alone would stand for election");
    }

    #[test]
    fn a_joint_membership_owes_nothing_without_a_majority_of_both_halves() {
        let mut terrain = whole(5, &[1, 2, 3]);
        all_take(&mut terrain, &[of(0b01110, 0b00111, 0)]);
        assert_eq!(all(&terrain)[0], progress(&[1, 2, 3], true));
        all_take(&mut terrain, &[of(0b11000, 0b00111, 0)]);
        assert_eq!(all(&terrain), nothing(Because::NoMajority));
    }

    #[test]
    fn a_change_under_way_must_leave_a_quorum_whatever_becomes_of_it() {
        // n4 is down, and somebody has an entry that makes it a voter.
        let mut terrain = whole(4, &[0, 1]);
        all_take(&mut terrain, &[of(0b111, 0, 0)]);
        assert_eq!(all(&terrain)[0], progress(&[0, 1], true));
        terrain.set_memberships(NodeId::server(1), vec![of(0b111, 0, 0), of(0b1111, 0, 0)]);
        assert_eq!(all(&terrain), nothing(Because::NoMajority));
    }

    #[test]
    fn a_voter_that_is_none_any_more_and_does_not_know_it_disturbs() {
        let mut terrain = whole(4, &[0, 1, 2, 3]);
        all_take(&mut terrain, &[of(0b0111, 0, 0)]);
        terrain.set_memberships(NodeId::server(3), vec![of(0b1111, 0, 0)]);
        let [neither, .., both] = all(&terrain);
        assert_eq!(neither, Owed::Nothing(Because::Disturbed));
        assert_eq!(both, progress(&[0, 1, 2, 3], true));
    }
}
