//! Bounds: what a leader has under way, what it takes on, and what a node keeps of its log stay within what was configured.
//!
//! What is under way is counted from outside: appends that went to a peer since anything could have made room. While a node
//! waits for its disk, what it means to send waits as well, and what makes room meanwhile adds to what may leave later.

use crate::rule::{broken, switch_off};
use whitewater_sim::{NodeId, SERVERS_MAX, Violation};

const WINDOW_BOUNDED: (&str, &str) = (
    "window-bounded",
    "A leader has no more appends and bytes under way to a peer than its window holds, and no more in one append than fits.",
);
const UNCOMMITTED_BOUNDED: (&str, &str) = (
    "uncommitted-bounded",
    "A leader that has something uncommitted takes on nothing that would go beyond its limit.",
);
const LOG_BOUNDED: (&str, &str) = (
    "log-bounded",
    "A node that compacts its log keeps no more entries in front of its snapshot than it was told to.",
);
const FILES_BOUNDED: (&str, &str) = (
    "files-bounded",
    "Once faults are over and a node writes again, it keeps no files but those that its log and its snapshot need.",
);
const NOTHING_TO_SELF: (&str, &str) =
    ("nothing-to-self", "Nobody sends itself a message of the protocol over the network.");

/// What was configured. 0 means that there is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Appends under way to one peer.
    pub appends: u64,
    /// Bytes under way to one peer; the append that reaches the limit may go beyond it.
    pub window_bytes: u64,
    /// Bytes of entries in one append that carries more than one.
    pub append_bytes: u64,
    /// Bytes of entries that are not committed.
    pub uncommitted_bytes: u64,
}

/// An append with entries.
#[derive(Clone, Copy, Debug)]
pub struct Cargo {
    /// How many entries.
    pub entries: u64,
    /// Their bytes, as the limit of an append counts them.
    pub append_bytes: u64,
    /// Their bytes, as the limit of a window counts them.
    pub window_bytes: u64,
}

/// Appends and bytes that went out since there was room.
#[derive(Clone, Copy, Debug, Default)]
struct UnderWay {
    appends: u64,
    bytes: u64,
    /// How many windows may have been filled beside the first.
    more: u64,
}

impl UnderWay {
    fn open(&mut self, is_held_up: bool) {
        if is_held_up {
            self.more += 1;
        } else {
            *self = UnderWay::default();
        }
    }
}

/// What a leader has uncommitted in its term.
#[derive(Clone, Copy, Debug, Default)]
struct Uncommitted {
    term: u64,
    bytes: u64,
    commit: u64,
    applied: u64,
}

/// The rules over what is bounded.
#[derive(Clone, Debug)]
pub struct BoundRules {
    under_way: [[UnderWay; SERVERS_MAX]; SERVERS_MAX],
    uncommitted: [Uncommitted; SERVERS_MAX],
    first_index: [u64; SERVERS_MAX],
    /// Rules that are switched off, by place in [`BoundRules::rules`].
    blind: [bool; 5],
}

impl Default for BoundRules {
    fn default() -> BoundRules {
        BoundRules {
            under_way: [[UnderWay::default(); SERVERS_MAX]; SERVERS_MAX],
            uncommitted: [Uncommitted::default(); SERVERS_MAX],
            first_index: [0; SERVERS_MAX],
            blind: [false; 5],
        }
    }
}

impl BoundRules {
    /// The one of the rules that is about the rest behind faults, and not about a step.
    pub const AT_REST: (&'static str, &'static str) = FILES_BOUNDED;

    /// Name and claim of each rule.
    pub const fn rules() -> [(&'static str, &'static str); 5] {
        [WINDOW_BOUNDED, UNCOMMITTED_BOUNDED, LOG_BOUNDED, NOTHING_TO_SELF, FILES_BOUNDED]
    }

    /// Switches a rule off, if it is one of these; says whether it is.
    pub fn blind(&mut self, name: &str) -> bool {
        switch_off(&BoundRules::rules(), &mut self.blind, name)
    }

    /// A node starts, or is gone: whatever was under way counts no more.
    pub fn forget(&mut self, node: NodeId) {
        let at = node.position();
        (self.under_way[at], self.uncommitted[at]) =
            ([UnderWay::default(); SERVERS_MAX], Uncommitted::default());
        self.first_index[at] = 0;
    }

    /// A node has other peers than before, or leads another term: its windows are new. `is_held_up` while it waits for its
    /// disk.
    pub fn open_all(&mut self, node: NodeId, is_held_up: bool) {
        self.under_way[node.position()].iter_mut().for_each(|under_way| under_way.open(is_held_up));
    }

    /// Something came from a peer, or its link is another one: there may be room.
    #[inline]
    pub fn open(&mut self, node: NodeId, peer: NodeId, is_held_up: bool) {
        if peer.is_server() {
            self.under_way[node.position()][peer.position()].open(is_held_up);
        }
    }

    /// A node sends a message of the protocol, of a term and a kind that are asked for only if it may not.
    ///
    /// # Errors
    /// It sends it to itself.
    #[inline]
    pub fn send(
        &self,
        node: NodeId,
        to: NodeId,
        what: impl FnOnce() -> (u64, &'static str),
    ) -> Result<(), Violation> {
        if node != to || self.blind[3] {
            return Ok(());
        }
        let (term, kind) = what();
        broken(NOTHING_TO_SELF, node, Some(to), format!("{node} sends {kind} of term {term} to itself"))
    }

    /// A leader sends an append with entries.
    ///
    /// # Errors
    /// It is too much.
    #[inline]
    pub fn append(
        &mut self,
        (leader, peer): (NodeId, NodeId),
        term: u64,
        cargo: Cargo,
        limits: &Limits,
    ) -> Result<(), Violation> {
        if self.blind[0] {
            return Ok(());
        }
        let under_way = &mut self.under_way[leader.position()][peer.position()];
        let before = *under_way;
        (under_way.appends, under_way.bytes) = (before.appends + 1, before.bytes + cargo.window_bytes);
        let is_full = limits.appends > 0 && before.appends >= limits.appends * (before.more + 1)
            || limits.window_bytes > 0 && before.bytes >= limits.window_bytes && before.more == 0;
        let is_fat = limits.append_bytes > 0 && cargo.entries > 1 && cargo.append_bytes > limits.append_bytes;
        if !is_full && !is_fat {
            return Ok(());
        }
        let message = if is_full {
            let (under_way, window) = match limits.window_bytes {
                0 => (format!("{} appends", before.appends), format!("{}", limits.appends)),
                bytes => (
                    format!("{} appends of {} bytes", before.appends, before.bytes),
                    format!("{}, and {bytes} bytes", limits.appends),
                ),
            };
            format!(
                "{leader} leads term {term} and sends {peer} an append when {under_way} are under way to it, and its window \
                 holds {window}"
            )
        } else {
            format!(
                "{leader} leads term {term} and sends {peer} {} entries of {} bytes in one append, which holds {}",
                cargo.entries, cargo.append_bytes, limits.append_bytes
            )
        };
        broken(WINDOW_BOUNDED, leader, Some(peer), message)
    }

    /// What a leader has uncommitted at the end of a step.
    ///
    /// # Errors
    /// It has taken on too much.
    #[inline]
    pub fn hold(
        &mut self,
        leader: NodeId,
        term: u64,
        bytes: u64,
        (commit, applied): (u64, u64),
        limits: &Limits,
    ) -> Result<(), Violation> {
        let now = Uncommitted { term, bytes, commit, applied };
        let before = std::mem::replace(&mut self.uncommitted[leader.position()], now);
        // What is committed in a step makes room in the middle of it.
        let stands = (before.term, before.commit, before.applied) == (term, commit, applied);
        let took = stands && before.bytes > 0 && bytes > before.bytes;
        if self.blind[1] || limits.uncommitted_bytes == 0 || !took || bytes <= limits.uncommitted_bytes {
            return Ok(());
        }
        let message = format!(
            "{leader} leads term {term}, has {} bytes uncommitted and takes on {} more, and its limit is {}",
            before.bytes,
            bytes - before.bytes,
            limits.uncommitted_bytes
        );
        broken(UNCOMMITTED_BOUNDED, leader, None, message)
    }

    /// Where the log of a node begins at the end of a step. How far its durable snapshot reached when it was compacted, and
    /// how many entries in front of that it is to keep, is asked for only if it has been compacted.
    ///
    /// # Errors
    /// It has compacted its log and kept too much.
    #[inline(always)]
    pub fn keep(
        &mut self,
        node: NodeId,
        first_index: u64,
        snapshot: impl FnOnce() -> (u64, u64),
    ) -> Result<(), Violation> {
        let before = std::mem::replace(&mut self.first_index[node.position()], first_index);
        if before == 0 || first_index <= before || self.blind[2] {
            return Ok(());
        }
        self.compacted(node, first_index, snapshot())
    }

    /// A node has compacted its log.
    #[inline(never)]
    fn compacted(
        &self,
        node: NodeId,
        first_index: u64,
        (snapshot_index, trail): (u64, u64),
    ) -> Result<(), Violation> {
        let kept = (snapshot_index + 1).saturating_sub(first_index);
        if kept <= trail {
            return Ok(());
        }
        let message = format!(
            "{node} compacts its log up to entry {} behind a snapshot up to {snapshot_index} and keeps {kept} entries, and \
             was told to keep {trail}",
            first_index - 1
        );
        broken(LOG_BOUNDED, node, None, message)
    }
}

impl BoundRules {
    /// What is still to be removed on the disk of a node that has written since faults were over: it has so many files, and
    /// needs so many.
    pub fn litter(&self, node: NodeId, files: usize, needed: usize) -> Option<Violation> {
        if files <= needed || self.blind[4] {
            return None;
        }
        let message = format!("{node} has {files} files, and its log and its snapshot need {needed}");
        broken(FILES_BOUNDED, node, None, message).err()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);
    const N3: NodeId = NodeId::server(2);
    const LIMITS: Limits = Limits { appends: 2, window_bytes: 100, append_bytes: 50, uncommitted_bytes: 64 };

    fn cargo(entries: u64, bytes: u64) -> Cargo {
        Cargo { entries, append_bytes: bytes, window_bytes: bytes }
    }

    fn appends(cargoes: &[Cargo], limits: Limits, answered: Option<NodeId>) -> Result<(), Violation> {
        let mut rules = BoundRules::default();
        for (place, &cargo) in cargoes.iter().enumerate() {
            if let Some(peer) = answered.filter(|_| place == 2) {
                rules.open(N1, peer, false);
            }
            rules.append((N1, N2), 3, cargo, &limits)?;
        }
        Ok(())
    }

    fn too_many() -> Result<(), Violation> {
        appends(&[cargo(1, 20); 3], LIMITS, None)
    }

    #[test]
    fn an_append_beyond_the_window_is_found() {
        let rule = |appends: Result<(), Violation>| appends.err().map(|violation| violation.rule);
        assert_eq!(rule(too_many()), Some("window-bounded"));
        assert_eq!(appends(&[cargo(1, 20); 3], LIMITS, Some(N2)), Ok(()), "an answer makes room");
        assert_eq!(rule(appends(&[cargo(1, 20); 3], LIMITS, Some(N3))), Some("window-bounded"));
        let by_bytes = Limits { appends: 9, ..LIMITS };
        assert_eq!(rule(appends(&[cargo(1, 50); 3], by_bytes, None)), Some("window-bounded"));
        assert_eq!(appends(&[cargo(1, 49); 3], by_bytes, None), Ok(()), "the last one reaches the limit");
        assert_eq!(appends(&[cargo(1, 50); 30], Limits::default(), None), Ok(()), "there is no limit");
    }

    #[test]
    fn an_append_that_holds_too_much_is_found_unless_it_is_one_entry() {
        let rule = appends(&[cargo(2, 51)], LIMITS, None).unwrap_err().rule;
        assert_eq!(rule, "window-bounded");
        assert_eq!(appends(&[cargo(1, 51)], LIMITS, None), Ok(()));
        assert_eq!(appends(&[cargo(2, 50)], LIMITS, None), Ok(()));
    }

    fn takes_on(first: u64, second: u64, commit: u64) -> Result<(), Violation> {
        let mut rules = BoundRules::default();
        rules.hold(N1, 3, first, (4, 4), &LIMITS)?;
        rules.hold(N1, 3, second, (commit, 4), &LIMITS)
    }

    #[test]
    fn a_leader_that_takes_on_more_than_it_may_is_found() {
        assert_eq!(takes_on(60, 65, 4).unwrap_err().rule, "uncommitted-bounded");
        assert_eq!(takes_on(60, 64, 4), Ok(()));
        assert_eq!(takes_on(0, 65, 4), Ok(()), "a first one is taken on however large it is");
        assert_eq!(takes_on(60, 65, 5), Ok(()), "something was committed, which made room");
        assert_eq!(takes_on(70, 70, 4), Ok(()), "nothing was taken on");
    }

    fn compacts(before: u64, first: u64, snapshot: u64) -> Result<(), Violation> {
        let mut rules = BoundRules::default();
        rules.keep(N1, before, || (snapshot, 3))?;
        rules.keep(N1, first, || (snapshot, 3))
    }

    #[test]
    fn a_log_that_is_compacted_too_little_is_found() {
        assert_eq!(compacts(1, 6, 9).unwrap_err().rule, "log-bounded");
        assert_eq!(compacts(1, 7, 9), Ok(()), "entries 7 to 9 are kept");
        assert_eq!(compacts(1, 10, 9), Ok(()), "a snapshot took the place of the log");
        assert_eq!(compacts(6, 6, 9), Ok(()), "nothing was compacted");
    }

    #[test]
    fn what_is_blind_finds_nothing() {
        let mut rules = BoundRules::default();
        assert!(rules.blind("nothing-to-self") && rules.blind("window-bounded") && !rules.blind("no-rule"));
        assert_eq!(rules.send(N1, N1, || (3, "MsgApp")), Ok(()));
        assert!((0..9).all(|_| rules.append((N1, N2), 3, cargo(1, 20), &LIMITS).is_ok()));
    }

    fn talks_to(peer: NodeId) -> Result<(), Violation> {
        BoundRules::default().send(N1, peer, || (3, "MsgApp"))
    }

    #[test]
    fn who_talks_to_itself_over_the_network_is_found() {
        assert_eq!(talks_to(N1).unwrap_err().rule, "nothing-to-self");
        assert_eq!(talks_to(N2), Ok(()));
    }

    #[test]
    fn what_a_node_had_under_way_in_another_life_or_term_is_not_counted() {
        let opens: fn(&mut BoundRules, NodeId) = |rules, node| rules.open_all(node, false);
        for reset in [BoundRules::forget, opens] {
            let mut rules = BoundRules::default();
            for _ in 0..2 {
                rules.append((N1, N2), 3, cargo(1, 20), &LIMITS).unwrap();
            }
            reset(&mut rules, N1);
            assert_eq!(rules.append((N1, N2), 4, cargo(1, 20), &LIMITS), Ok(()));
        }
    }

    #[test]
    fn what_makes_room_while_the_disk_is_waited_for_adds_to_what_may_leave_later() {
        let leave = |held_up, count| {
            let mut rules = BoundRules::default();
            for _ in 0..2 {
                rules.append((N1, N2), 3, cargo(1, 20), &LIMITS).unwrap();
            }
            rules.open(N1, N2, held_up);
            (0..count).try_for_each(|_| rules.append((N1, N2), 3, cargo(1, 20), &LIMITS))
        };
        assert_eq!((leave(true, 2), leave(false, 2)), (Ok(()), Ok(())));
        assert!(leave(true, 3).is_err() && leave(false, 3).is_err());
    }

    fn keeps(files: usize) -> Result<(), Violation> {
        BoundRules::default().litter(N1, files, 4).map_or(Ok(()), Err)
    }

    #[test]
    fn who_removes_nothing_is_found() {
        assert_eq!(keeps(5).unwrap_err().rule, "files-bounded");
        assert_eq!(keeps(4), Ok(()));
        let mut rules = BoundRules::default();
        assert!(rules.blind("files-bounded"));
        assert_eq!(rules.litter(N1, 5, 4), None);
    }

    type Breaking = fn() -> Result<(), Violation>;

    /// A run that breaks each rule, for the list of all messages.
    pub(crate) const RUNS: &[(&str, Breaking)] = &[
        ("window-bounded", too_many),
        ("uncommitted-bounded", || takes_on(60, 65, 4)),
        ("log-bounded", || compacts(1, 6, 9)),
        ("nothing-to-self", || talks_to(N1)),
        ("files-bounded", || keeps(5)),
    ];

    /// What those rules that say several things say besides.
    pub(crate) const FURTHER: &[(&str, Breaking)] = &[
        ("window-bounded", || appends(&[cargo(1, 20); 3], Limits { window_bytes: 0, ..LIMITS }, None)),
        ("window-bounded", || appends(&[cargo(2, 51)], LIMITS, None)),
    ];
}
