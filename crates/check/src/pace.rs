//! Pace: what a leader owes its peers from one step to the next, what it makes of their answers, and what a disk that stands
//! still takes from it.
//!
//! Each of these costs no more than time if it is broken, and so nothing that is owed once faults are over would show it. What
//! leaves a node is seen from outside; whether a window is full, and whether a node waits for its disk, it says itself.

use crate::rule::{broken, switch_off};
use whitewater_sim::{NodeId, SERVERS_MAX, Violation};

const HEARTBEATS_ON_TIME: (&str, &str) = (
    "heartbeats-on-time",
    "A leader that does not wait for its disk lets no heartbeat interval end without a word to each of its peers.",
);
const ACKNOWLEDGED_GOES_ON: (&str, &str) = (
    "acknowledged-goes-on",
    "An acknowledgement that tells a leader something new is followed at once by the entries that waited for it.",
);
const OLD_ANSWERS_IGNORED: (&str, &str) = (
    "old-answers-ignored",
    "An acknowledgement of an earlier term says nothing about the log of its sender in this one.",
);
const TAKEOVER_CAUGHT_UP: (&str, &str) =
    ("takeover-caught-up", "A leader tells only a peer to take over that has acknowledged its whole log.");
const PREFIX_ACCEPTED: (&str, &str) =
    ("prefix-accepted", "An append that begins within what its receiver has committed is not refused.");
const SILENT_WITHOUT_DISK: (&str, &str) = (
    "silent-without-disk",
    "A leader that can do nothing before its disk is done says nothing until then, so that others replace it.",
);

/// The end of a step of a leader, as far as its heartbeats care.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    /// Which.
    pub leader: NodeId,
    /// The term it leads.
    pub term: u64,
    /// Ticks that it was given in this life.
    pub ticks: u64,
    /// How many of them its heartbeat interval has.
    pub interval_ticks: u32,
    /// Who belongs to its membership, a bit each by position; it may be among them.
    pub members: u16,
    /// Whom it said something to in this step, whether or not that could leave.
    pub said: u16,
    /// It waits for its disk, and what it has to say with it.
    pub is_held_up: bool,
}

/// Since when a leader owes whom a word.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    term: u64,
    members: u16,
    /// The tick at which the interval began.
    since: u64,
    /// Who was told nothing since then.
    untold: u16,
}

impl Interval {
    /// It ends, and somebody was told nothing in it.
    #[cold]
    fn accuse(&self, &Beat { leader, term, ticks, interval_ticks, .. }: &Beat) -> Result<(), Violation> {
        let peer = NodeId::server(self.untold.trailing_zeros() as usize);
        let message = format!(
            "{leader} leads term {term} and has said nothing to {peer} for {} of its ticks: its heartbeat interval has \
             {interval_ticks}",
            ticks - self.since
        );
        broken(HEARTBEATS_ON_TIME, leader, Some(peer), message)
    }
}

/// What a leader was told last by a peer.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    term: u64,
    match_index: u64,
}

/// The rules over the pace of a leader, and of those that answer it.
#[derive(Clone, Debug)]
pub struct PaceRules {
    intervals: [Interval; SERVERS_MAX],
    known: [[Known; SERVERS_MAX]; SERVERS_MAX],
    /// Rules that are switched off, by place in [`PaceRules::rules`].
    blind: [bool; 6],
}

impl Default for PaceRules {
    fn default() -> PaceRules {
        PaceRules {
            intervals: [Interval::default(); SERVERS_MAX],
            known: [[Known::default(); SERVERS_MAX]; SERVERS_MAX],
            blind: [false; 6],
        }
    }
}

impl PaceRules {
    /// Name and claim of each rule.
    pub const fn rules() -> [(&'static str, &'static str); 6] {
        [
            HEARTBEATS_ON_TIME,
            ACKNOWLEDGED_GOES_ON,
            PREFIX_ACCEPTED,
            SILENT_WITHOUT_DISK,
            OLD_ANSWERS_IGNORED,
            TAKEOVER_CAUGHT_UP,
        ]
    }

    /// Switches a rule off, if it is one of these; says whether it is.
    pub fn blind(&mut self, name: &str) -> bool {
        switch_off(&PaceRules::rules(), &mut self.blind, name)
    }

    /// A node starts, or is gone: it owes nothing.
    pub fn forget(&mut self, node: NodeId) {
        self.intervals[node.position()] = Interval::default();
        self.known[node.position()] = [Known::default(); SERVERS_MAX];
    }

    /// A step of a leader is over.
    ///
    /// # Errors
    /// An interval is over as well, and somebody has heard nothing in it.
    #[inline(always)]
    pub fn beat(&mut self, beat: &Beat) -> Result<(), Violation> {
        let Beat { leader, term, ticks, interval_ticks, said, .. } = *beat;
        let members = beat.members & !(1 << leader.position());
        let interval = &mut self.intervals[leader.position()];
        let is_new = (interval.term, interval.members) != (term, members);
        interval.untold &= !said;
        if is_new || beat.is_held_up || interval.untold == 0 {
            *interval = Interval { term, members, since: ticks, untold: members };
            return Ok(());
        }
        // In the tick that ends it there was the heartbeat to be sent.
        if ticks - interval.since < u64::from(interval_ticks) || self.blind[0] {
            return Ok(());
        }
        let silent = *interval;
        silent.accuse(beat)
    }

    /// A peer has acknowledged something to the leader of a term, which takes its log to match up to an index now. What it
    /// leaves waiting for it, the next entry for the peer and the last one of the log, is asked for only if that was news.
    ///
    /// # Errors
    /// Something waits.
    #[inline]
    pub fn acknowledged(
        &mut self,
        (leader, peer): (NodeId, NodeId),
        term: u64,
        match_index: u64,
        waiting: impl FnOnce() -> Option<(u64, u64)>,
    ) -> Result<(), Violation> {
        let known = &mut self.known[leader.position()][peer.position()];
        let before = std::mem::replace(known, Known { term, match_index });
        let is_news = before.term != term || before.match_index < match_index;
        if !is_news || self.blind[1] {
            return Ok(());
        }
        let Some((next, last)) = waiting().filter(|(next, last)| next <= last) else { return Ok(()) };
        let left = if next == last { format!("entry {last}") } else { format!("entries {next} to {last}") };
        let message = format!(
            "{leader} leads term {term}, is told by {peer} that it has everything up to entry {match_index}, and leaves \
             {left} unsent, although its window has room"
        );
        broken(ACKNOWLEDGED_GOES_ON, leader, Some(peer), message)
    }

    /// A peer has acknowledged something to the leader of a term as if it led an earlier one; what the leader takes its log to
    /// match up to is as it is afterwards.
    ///
    /// # Errors
    /// That was believed.
    #[inline]
    pub fn acknowledged_late(
        &self,
        (leader, peer): (NodeId, NodeId),
        (term, acknowledged_term): (u64, u64),
        match_index: u64,
    ) -> Result<(), Violation> {
        let known = self.known[leader.position()][peer.position()];
        let before = if known.term == term { known.match_index } else { 0 };
        if match_index <= before || self.blind[4] {
            return Ok(());
        }
        let message = format!(
            "{leader} leads term {term}, is told by {peer} what that had in term {acknowledged_term}, and takes its log to match \
             up to entry {match_index} now instead of {before}"
        );
        broken(OLD_ANSWERS_IGNORED, leader, Some(peer), message)
    }

    /// A leader tells a peer to take over, whose log it takes to match up to an index, and has a last entry itself.
    ///
    /// # Errors
    /// The peer lacks entries (Raft thesis, section 3.10).
    pub fn order(
        &self,
        (leader, peer): (NodeId, NodeId),
        term: u64,
        match_index: u64,
        last_index: u64,
    ) -> Result<(), Violation> {
        if match_index >= last_index || self.blind[5] {
            return Ok(());
        }
        let message = format!(
            "{leader} leads term {term}, has entries up to {last_index} and tells {peer} to take over, which has acknowledged them \
             up to {match_index}"
        );
        broken(TAKEOVER_CAUGHT_UP, leader, Some(peer), message)
    }

    /// A node refuses an append that was to stand behind the entry at `index`, when it has committed up to `commit`.
    ///
    /// # Errors
    /// The append begins within that.
    #[inline]
    pub fn refused(
        &self,
        (node, leader): (NodeId, NodeId),
        term: u64,
        index: u64,
        commit: u64,
    ) -> Result<(), Violation> {
        if index > commit || self.blind[2] {
            return Ok(());
        }
        let message = format!(
            "{node} refuses an append of term {term} from {leader} that stands behind entry {index}, and has committed up to \
             {commit}"
        );
        broken(PREFIX_ACCEPTED, node, Some(leader), message)
    }

    /// A leader says something to a peer in the middle of its wait for its disk.
    ///
    /// # Errors
    /// It does.
    #[cold]
    pub fn speak_without_disk(
        &self,
        (leader, peer): (NodeId, NodeId),
        term: u64,
        kind: &str,
    ) -> Result<(), Violation> {
        if self.blind[3] {
            return Ok(());
        }
        let message = format!(
            "{leader} leads term {term}, waits for its disk and sends {peer} {kind}, so that nobody replaces it however long \
             its disk takes"
        );
        broken(SILENT_WITHOUT_DISK, leader, Some(peer), message)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);
    const N3: NodeId = NodeId::server(2);

    fn at(ticks: u64, said: u16) -> Beat {
        Beat { leader: N1, term: 3, ticks, interval_ticks: 4, members: 0b111, said, is_held_up: false }
    }

    fn led(beats: &[Beat]) -> Result<(), Violation> {
        let mut rules = PaceRules::default();
        beats.iter().try_for_each(|beat| rules.beat(beat))
    }

    fn misses_a_heartbeat() -> Result<(), Violation> {
        led(&[at(10, 0), at(12, 0b010), at(14, 0b010)])
    }

    #[test]
    fn a_leader_that_lets_an_interval_end_without_a_word_to_somebody_is_found() {
        let violation = misses_a_heartbeat().unwrap_err();
        assert_eq!((violation.rule, violation.peer), ("heartbeats-on-time", Some(N3)));
        assert_eq!(led(&[at(10, 0), at(12, 0b010), at(14, 0b110)]), Ok(()), "the heartbeat is on time");
        assert_eq!(led(&[at(10, 0), at(13, 0b010), at(13, 0)]), Ok(()), "the interval is not over");
        assert_eq!(led(&[at(10, 0), at(19, 0b110)]), Ok(()), "however many ticks it was given at once");
    }

    #[test]
    fn an_interval_begins_anew_with_everybody_told_a_term_a_membership_and_the_end_of_a_wait() {
        assert_eq!(led(&[at(10, 0), at(12, 0b110), at(15, 0)]), Ok(()));
        assert_eq!(led(&[at(10, 0), Beat { term: 4, ..at(14, 0) }, Beat { term: 4, ..at(17, 0) }]), Ok(()));
        assert_eq!(led(&[at(10, 0), Beat { members: 0b011, ..at(14, 0) }]), Ok(()));
        assert_eq!(led(&[at(10, 0), Beat { is_held_up: true, ..at(14, 0) }, at(17, 0)]), Ok(()));
        assert!(led(&[at(10, 0), Beat { is_held_up: true, ..at(14, 0) }, at(18, 0)]).is_err());
        assert!(led(&[at(10, 0), at(12, 0b110), at(16, 0)]).is_err());
    }

    #[test]
    fn who_leads_alone_owes_nobody_a_word() {
        assert_eq!(led(&[Beat { members: 1, ..at(10, 0) }, Beat { members: 1, ..at(99, 0) }]), Ok(()));
    }

    fn told(matches: &[u64], waiting: Option<(u64, u64)>) -> Result<(), Violation> {
        let mut rules = PaceRules::default();
        rules.acknowledged((N1, N2), 3, 2, || None)?;
        matches.iter().try_for_each(|&index| rules.acknowledged((N1, N2), 3, index, || waiting))
    }

    fn leaves_entries_waiting() -> Result<(), Violation> {
        told(&[5], Some((8, 9)))
    }

    #[test]
    fn a_leader_that_leaves_entries_waiting_behind_an_acknowledgement_is_found() {
        assert_eq!(leaves_entries_waiting().unwrap_err().rule, "acknowledged-goes-on");
        assert_eq!(told(&[5], Some((10, 9))), Ok(()), "everything is sent");
        assert_eq!(told(&[5], None), Ok(()), "the window is full");
        assert_eq!(told(&[2], Some((8, 9))), Ok(()), "that was known");
    }

    fn believes(match_index: u64) -> Result<(), Violation> {
        let mut rules = PaceRules::default();
        rules.acknowledged((N1, N2), 3, 5, || None)?;
        rules.acknowledged_late((N1, N2), (3, 2), match_index)
    }

    #[test]
    fn a_leader_that_believes_an_acknowledgement_of_an_earlier_term_is_found() {
        assert_eq!(believes(6).unwrap_err().rule, "old-answers-ignored");
        assert_eq!(believes(5), Ok(()), "it was known");
        assert_eq!(PaceRules::default().acknowledged_late((N1, N2), (3, 2), 0), Ok(()));
        assert!(PaceRules::default().acknowledged_late((N1, N2), (3, 2), 1).is_err(), "nothing was known");
    }

    fn orders(match_index: u64) -> Result<(), Violation> {
        PaceRules::default().order((N1, N2), 3, match_index, 7)
    }

    #[test]
    fn a_leader_that_hands_over_to_a_peer_that_lacks_entries_is_found() {
        assert_eq!(orders(6).unwrap_err().rule, "takeover-caught-up");
        assert_eq!(orders(7), Ok(()));
    }

    fn refuses(index: u64) -> Result<(), Violation> {
        PaceRules::default().refused((N2, N1), 3, index, 7)
    }

    #[test]
    fn who_refuses_an_append_that_begins_within_what_it_has_committed_is_found() {
        assert_eq!(refuses(7).unwrap_err().rule, "prefix-accepted");
        assert_eq!(refuses(8), Ok(()));
    }

    fn speaks() -> Result<(), Violation> {
        PaceRules::default().speak_without_disk((N1, N2), 3, "MsgHeartbeat")
    }

    #[test]
    fn a_leader_that_is_heard_while_its_disk_stands_still_is_found() {
        assert_eq!(speaks().unwrap_err().rule, "silent-without-disk");
    }

    #[test]
    fn what_is_blind_finds_nothing_and_another_life_owes_nothing() {
        let mut rules = PaceRules::default();
        rules.beat(&at(10, 0)).unwrap();
        rules.forget(N1);
        assert_eq!(rules.beat(&at(30, 0)), Ok(()));
        for (rule, _) in PaceRules::rules() {
            assert!(rules.blind(rule));
        }
        assert!(!rules.blind("no-rule"));
        assert_eq!(rules.beat(&at(60, 0)), Ok(()));
        assert_eq!(rules.acknowledged((N1, N2), 3, 2, || Some((3, 9))), Ok(()));
        assert_eq!(rules.refused((N2, N1), 3, 1, 7), Ok(()));
        assert_eq!(rules.speak_without_disk((N1, N2), 3, "MsgHeartbeat"), Ok(()));
        assert_eq!(rules.acknowledged_late((N1, N2), (4, 3), 9), Ok(()));
        assert_eq!(rules.order((N1, N2), 3, 6, 7), Ok(()));
    }

    type Breaking = fn() -> Result<(), Violation>;

    /// A run that breaks each rule, for the list of all messages.
    pub(crate) const RUNS: &[(&str, Breaking)] = &[
        ("heartbeats-on-time", misses_a_heartbeat),
        ("acknowledged-goes-on", leaves_entries_waiting),
        ("prefix-accepted", || refuses(7)),
        ("silent-without-disk", speaks),
        ("old-answers-ignored", || believes(6)),
        ("takeover-caught-up", || orders(6)),
    ];
}
