//! Walks through everything that three servers can do under the guards, in two terms with two values.
//!
//! Each value is proposed once. Servers differ by name only, so of states that a renaming makes equal one is enough. Each
//! state is held against the properties that Raft promises; that this can fail is shown by leaving out one guard after the
//! other.

use super::{Position, may_enter, may_lead_with, may_learn, may_take_over, may_vote};
use std::collections::BTreeSet;

const SERVERS: usize = 3;
const TERMS: u8 = 2;
const VALUES: u8 = 2;
const ENTRIES: usize = 2;

/// Term and value.
type Entry = (u8, u8);

type Log = Vec<Entry>;

/// A guard that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    VoteOnce,
    VoteNewest,
    Elected,
    LeadWith,
    TakeOver,
    CutOff,
    Quorum,
    Learn,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Server {
    term: u8,
    /// By term whom it voted for.
    votes: [Option<u8>; TERMS as usize + 1],
    leads: bool,
    log: Log,
    commit: u8,
}

/// A state with its history.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    servers: [Server; SERVERS],
    /// By term and server: where its log ended when it stood for election.
    stood: [[Option<Position>; SERVERS]; TERMS as usize + 1],
    /// By term everybody who has led it, and what the last of them has written.
    leaders: [(BTreeSet<u8>, Option<Log>); TERMS as usize + 1],
    /// What leaders have committed, and in which term each entry.
    gold: Vec<(Entry, u8)>,
    /// How many values were proposed.
    proposed: u8,
}

fn position(log: &Log) -> Position {
    log.last().map_or((0, 0), |entry| (u64::from(entry.0), log.len() as u64))
}

fn common(a: &Log, b: &Log) -> u64 {
    a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64
}

/// Every log there can be.
fn all_logs() -> Vec<Log> {
    let mut all = vec![Log::new()];
    let mut from = 0;
    for _ in 0..ENTRIES {
        let to = all.len();
        for place in from..to {
            let least = all[place].last().map_or(1, |entry| entry.0);
            for term in least..=TERMS {
                let is_new = |value: &u8| all[place].iter().all(|entry| entry.1 != *value);
                for value in (0..VALUES).filter(is_new).collect::<Vec<_>>() {
                    let mut log = all[place].clone();
                    log.push((term, value));
                    all.push(log);
                }
            }
        }
        from = to;
    }
    all
}

struct Explorer {
    logs: Vec<Log>,
    without: Option<Guard>,
}

impl Explorer {
    fn holds(&self, guard: Guard, condition: bool) -> bool {
        condition || self.without == Some(guard)
    }

    /// Whatever can follow a state.
    fn next(&self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        let highest = state.servers.iter().map(|server| server.term).max().unwrap_or(0);
        for n in 0..SERVERS {
            self.elections(state, n, highest, &mut next);
            self.log_changes(state, n, &mut next);
            self.commits(state, n, &mut next);
            let mut restarted = state.clone();
            restarted.servers[n].leads = false;
            next.push(restarted);
        }
        next
    }

    fn elections(&self, state: &State, n: usize, highest: u8, next: &mut Vec<State>) {
        let server = &state.servers[n];
        for term in server.term + 1..=TERMS {
            for stands in [false, true] {
                if !may_enter(term.into(), highest.into(), stands) || stands && term != server.term + 1 {
                    continue;
                }
                let mut after = state.clone();
                (after.servers[n].term, after.servers[n].leads) = (term, false);
                if stands {
                    after.servers[n].votes[term as usize] = Some(n as u8);
                    after.stood[term as usize][n] = Some(position(&server.log));
                }
                next.push(after);
            }
        }
        let term = server.term as usize;
        for (candidate, stood) in state.stood[term].iter().enumerate() {
            let Some(stood) = stood.filter(|_| candidate != n && !server.leads) else { continue };
            let newest = self.holds(Guard::VoteNewest, may_vote(position(&server.log), stood));
            if newest && self.holds(Guard::VoteOnce, server.votes[term].is_none()) {
                let mut after = state.clone();
                after.servers[n].votes[term] = Some(candidate as u8);
                next.push(after);
            }
        }
        let votes = state.servers.iter().filter(|voter| voter.votes[term] == Some(n as u8)).count();
        let stood = state.stood[term][n].is_some_and(|stood| stood == position(&server.log));
        if term > 0 && stood && !server.leads && self.holds(Guard::Elected, votes * 2 > SERVERS) {
            let mut after = state.clone();
            after.servers[n].leads = true;
            after.leaders[term].0.insert(n as u8);
            after.leaders[term].1 = Some(server.log.clone());
            next.push(after);
        }
    }

    fn log_changes(&self, state: &State, n: usize, next: &mut Vec<State>) {
        let server = &state.servers[n];
        let (before, written) = (server.log.len() as u64, &state.leaders[server.term as usize].1);
        let is_new = |log: &&Log| **log != server.log && log.iter().all(|entry| entry.1 <= state.proposed);
        for log in self.logs.iter().filter(is_new) {
            let (kept, last) = (common(&server.log, log), log.len() as u64);
            let may = if server.leads {
                // One entry at a time, of the next value.
                let is_next = |entry: &Entry| *entry == (server.term, state.proposed);
                let is_own = log[kept as usize..].iter().all(is_next);
                self.holds(Guard::LeadWith, may_lead_with(before, kept, is_own))
            } else {
                let is_leaders = written.as_ref().is_some_and(|written| written.starts_with(log));
                let removed = server.log.get(kept as usize);
                let other = written.as_ref().and_then(|written| written.get(kept as usize));
                let conflicts = removed.zip(other).is_some_and(|(removed, other)| removed != other);
                let conflicts = self.holds(Guard::CutOff, conflicts);
                self.holds(Guard::TakeOver, may_take_over(before, kept, last, is_leaders, conflicts))
            };
            let is_known = server.leads || log.iter().all(|entry| entry.1 < state.proposed);
            if !may || !is_known || log.last().is_some_and(|entry| entry.0 > server.term) {
                continue;
            }
            let mut after = state.clone();
            after.servers[n].log = log.clone();
            let values = log.iter().map(|entry| entry.1 + 1).max().unwrap_or(0);
            after.proposed = state.proposed.max(values);
            if server.leads {
                after.leaders[server.term as usize].1 = Some(log.clone());
            }
            next.push(after);
        }
    }

    fn commits(&self, state: &State, n: usize, next: &mut Vec<State>) {
        let server = &state.servers[n];
        for commit in server.commit + 1..=server.log.len() as u8 {
            let prefix = &server.log[..commit as usize];
            let holders = state.servers.iter().filter(|other| other.log.starts_with(prefix)).count();
            let known = state.gold.len() as u64;
            let agrees = state.gold.iter().zip(prefix).all(|((gold, _), entry)| gold == entry);
            let may = if server.leads {
                self.holds(Guard::Quorum, holders * 2 > SERVERS && prefix[prefix.len() - 1].0 == server.term)
            } else {
                self.holds(Guard::Learn, may_learn(commit.into(), known, agrees))
            };
            if !may {
                continue;
            }
            let mut after = state.clone();
            after.servers[n].commit = commit;
            after.gold.extend(
                prefix[after.gold.len().min(prefix.len())..].iter().map(|&entry| (entry, server.term)),
            );
            next.push(after);
        }
    }
}

/// The property of Raft that a state breaks.
fn broken(state: &State) -> Option<&'static str> {
    let servers = &state.servers;
    if state.leaders.iter().any(|(leaders, _)| leaders.len() > 1) {
        return Some("a term has two leaders");
    }
    for a in servers {
        for b in servers {
            let equal = |place: &usize| {
                a.log.get(*place).map(|entry| entry.0) == b.log.get(*place).map(|entry| entry.0)
            };
            let highest = (0..a.log.len().min(b.log.len())).rev().find(equal);
            if highest.is_some_and(|place| a.log[..=place] != b.log[..=place]) {
                return Some("two logs have an entry of the same index and term, and other entries before");
            }
        }
        let committed = &a.log[..(a.commit as usize).min(a.log.len())];
        let gold: Vec<Entry> = state.gold.iter().map(|&(entry, _)| entry).collect();
        if committed.len() < a.commit as usize || !gold.starts_with(committed) {
            return Some("a server has committed something else than another");
        }
        let lacks = |(place, &(entry, term)): (usize, &(Entry, u8))| {
            term < a.term && a.log.get(place) != Some(&entry)
        };
        if a.leads && state.gold.iter().enumerate().any(lacks) {
            return Some("a leader lacks what was committed in an earlier term");
        }
    }
    None
}

/// The same state under every other naming of the servers and values; the least of them stands for all.
fn least(state: State) -> State {
    const NAMINGS: [[usize; SERVERS]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let named = |naming: &[usize; SERVERS]| {
        let mut other = state.clone();
        for (from, &to) in naming.iter().enumerate() {
            let mut server = state.servers[from].clone();
            for vote in server.votes.iter_mut().flatten() {
                *vote = naming[*vote as usize] as u8;
            }
            other.servers[to] = server;
            for term in 0..=TERMS as usize {
                other.stood[term][to] = state.stood[term][from];
            }
        }
        for (leaders, _) in &mut other.leaders {
            *leaders = leaders.iter().map(|&leader| naming[leader as usize] as u8).collect();
        }
        other
    };
    NAMINGS.iter().map(named).min().expect("there are namings")
}

/// How many states there are, or the first property that one of them breaks.
fn explore(without: Option<Guard>) -> Result<usize, &'static str> {
    let explorer = Explorer { logs: all_logs(), without };
    let (mut seen, mut todo) = (BTreeSet::new(), vec![State::default()]);
    seen.insert(State::default());
    while let Some(state) = todo.pop() {
        for next in explorer.next(&state) {
            if let Some(property) = broken(&next) {
                return Err(property);
            }
            let next = least(next);
            if !seen.contains(&next) {
                seen.insert(next.clone());
                todo.push(next);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn nothing_that_three_servers_can_do_in_two_terms_breaks_raft() {
    let states = explore(None).expect("the abstract Raft is a Raft");
    assert!(states > 10_000, "{states} states are too few to prove anything");
}

#[test]
fn without_any_guard_that_two_terms_can_show_raft_is_broken() {
    for (guard, property) in [
        (Guard::VoteOnce, "a term has two leaders"),
        (Guard::Elected, "a term has two leaders"),
        (Guard::VoteNewest, "a leader lacks what was committed in an earlier term"),
        (Guard::LeadWith, "two logs have an entry of the same index and term, and other entries before"),
        (Guard::TakeOver, "two logs have an entry of the same index and term, and other entries before"),
        (Guard::CutOff, "a server has committed something else than another"),
        (Guard::Quorum, "a server has committed something else than another"),
        (Guard::Learn, "a server has committed something else than another"),
    ] {
        let found = explore(Some(guard)).expect_err(&format!("{guard:?} is of no use"));
        assert_eq!(found, property, "{guard:?}");
    }
}
