//! What a cluster goes round and round in: states that come again, apart from terms and indexes, as an explanation.
//!
//! Random timers repeat states by chance, so a repeated state breaks no rule. It only explains why a bound was missed.

use crate::log::RaftRules;
use std::collections::BTreeMap;
use whitewater_sim::{NodeId, Role, Time};

/// States that are remembered at most; then the older half is forgotten.
const MEMORY: usize = 1_024;

/// Changes of a circle that are told at most.
const TOLD_MAX: usize = 12;

/// A server, without any number that only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stance {
    is_up: bool,
    role: Option<Role>,
    leader: Option<NodeId>,
    /// How many different terms are higher than its own, and how many logs longer or newer.
    behind_term: u8,
    behind_log: u8,
    behind_commit: u8,
}

/// What a cluster looks like while it settles, as often as that changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circle {
    seen: Vec<(Time, Vec<Stance>)>,
}

/// For each value how many different ones are higher.
fn ranks<T: Ord + Copy>(values: &[T]) -> impl Fn(T) -> u8 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    move |value| sorted.iter().filter(|&&other| other > value).count() as u8
}

fn stances(rules: &RaftRules, servers: usize) -> Vec<Stance> {
    let nodes = || (0..servers).map(NodeId::server);
    let terms: Vec<u64> = nodes().map(|node| rules.standing(node).term).collect();
    let logs: Vec<(u64, u64)> = nodes().map(|node| rules.last_entry(node)).collect();
    let commits: Vec<u64> = nodes().map(|node| rules.log_standing(node).commit).collect();
    let (term, log, commit) = (ranks(&terms), ranks(&logs), ranks(&commits));
    let stance = |node: NodeId| {
        let (standing, place) = (rules.standing(node), node.position());
        let is_up = rules.is_up(node);
        Stance {
            is_up,
            role: is_up.then_some(standing.role),
            leader: standing.leader.filter(|_| is_up),
            behind_term: term(terms[place]),
            behind_log: log(logs[place]),
            behind_commit: commit(commits[place]),
        }
    };
    nodes().map(stance).collect()
}

impl Circle {
    /// Looks at the cluster.
    pub(crate) fn look(&mut self, now: Time, rules: &RaftRules, servers: usize) {
        let stances = stances(rules, servers);
        if self.seen.last().is_some_and(|(_, last)| *last == stances) {
            return;
        }
        if self.seen.len() == MEMORY {
            self.seen.drain(..MEMORY / 2);
        }
        self.seen.push((now, stances));
    }

    /// Why nothing comes of it, if what was seen tells.
    pub(crate) fn explain(&self, now: Time) -> Option<String> {
        let &(last, _) = self.seen.last()?;
        let mut times: BTreeMap<&[Stance], Vec<usize>> = BTreeMap::new();
        for (place, (_, stances)) in self.seen.iter().enumerate() {
            times.entry(stances).or_default().push(place);
        }
        // Of equally frequent ones the one that came first.
        let often = times.values().max_by_key(|places| (places.len(), std::cmp::Reverse(places[0])))?;
        let &[.., from, to] = often.as_slice() else {
            // Not worth a word if something happened just now.
            return (now > last).then(|| format!("nothing has changed in the cluster since {last}"));
        };
        let round = &self.seen[from..=to];
        let mut told: Vec<String> = round.windows(2).flat_map(|pair| changes(&pair[0], &pair[1])).collect();
        let more = told.len().saturating_sub(TOLD_MAX);
        told.truncate(TOLD_MAX);
        if more > 0 {
            told.push(format!("and {more} changes more"));
        }
        let (count, (began, _), (ended, _)) = (often.len(), &self.seen[from], &self.seen[to]);
        let first = self.seen[often[0]].0;
        Some(format!(
            "the cluster goes round in circles: since {first} it has come to the same state {count} times, the last time \
             from {began} to {ended} by: {}",
            told.join("; ")
        ))
    }
}

/// What tells two states apart, in words.
fn changes((_, before): &(Time, Vec<Stance>), (time, after): &(Time, Vec<Stance>)) -> Vec<String> {
    let mut told = Vec::new();
    for (place, (was, is)) in before.iter().zip(after).enumerate() {
        let node = NodeId::server(place);
        match (was.role, is.role) {
            (before, after) if before == after => {}
            (_, None) => told.push(format!("{node} goes down at {time}")),
            (None, Some(_)) => told.push(format!("{node} starts at {time}")),
            (_, Some(Role::PreCandidate)) => {
                told.push(format!("{node} asks whether to stand for election at {time}"));
            }
            (_, Some(Role::Candidate)) => told.push(format!("{node} stands for election at {time}")),
            (_, Some(Role::Leader)) => told.push(format!("{node} leads at {time}")),
            (Some(Role::Leader), _) => told.push(format!("{node} leads no more at {time}")),
            (_, Some(_)) => told.push(format!("{node} gives up standing for election at {time}")),
        }
        if was.leader != is.leader && is.role == Some(Role::Follower) {
            told.push(match is.leader {
                Some(leader) => format!("{node} follows {leader} at {time}"),
                None => format!("{node} knows no leader at {time}"),
            });
        }
    }
    if told.is_empty() {
        told.push(format!("logs or terms differ in another way at {time}"));
    }
    told
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::log::testing::{N1, N2, N3, Run, Toy};

    /// Two candidates spoil each other's votes, round after round.
    fn duel(rounds: u64) -> Circle {
        let (mut run, mut circle) = (Run::new(), Circle::default());
        for round in 0..rounds {
            for (step, node) in [N1, N2].into_iter().enumerate() {
                run.step(node, |n| n.enter(round + 1, Role::Candidate)).unwrap();
                circle.look(Time::from_millis(round * 100 + step as u64 * 10), &run.rules, 3);
            }
            for (step, node) in [N1, N2].into_iter().enumerate() {
                run.step(node, |n| n.role = Role::Follower).unwrap();
                circle.look(Time::from_millis(round * 100 + step as u64 * 10 + 50), &run.rules, 3);
            }
        }
        circle
    }

    #[test]
    fn a_state_that_comes_again_is_told_as_the_circle_it_is() {
        let told = duel(5).explain(Time::from_millis(2_000)).unwrap();
        assert!(told.contains("the same state 5 times"), "{told}");
        assert!(told.contains("n1 stands for election at 400ms; n2 stands for election at 410ms"), "{told}");
        assert!(!told.contains("n3"), "who does nothing is not told of: {told}");
    }

    #[test]
    fn a_cluster_that_stands_still_is_said_to() {
        let (run, mut circle) = (Run::new(), Circle::default());
        assert_eq!(circle.explain(Time::ZERO), None);
        for millis in [20, 40, 60] {
            circle.look(Time::from_millis(millis), &run.rules, 3);
        }
        assert_eq!(
            circle.explain(Time::from_millis(60)).unwrap(),
            "nothing has changed in the cluster since 20ms"
        );
    }

    /// A round in which servers do all there is, and in which no state but the first comes twice.
    fn goes_round(run: &mut Run, term: u64, mut look: impl FnMut(&Run)) {
        let mut act = |run: &mut Run, node, act: &dyn Fn(&mut Toy)| {
            run.step(node, act).unwrap();
            look(run);
        };
        act(run, N1, &|n| n.role = Role::PreCandidate);
        act(run, N1, &|n| n.enter(term, Role::Candidate));
        run.crash(N3);
        act(run, N2, &|n| n.enter(term, Role::Follower));
        act(run, N1, &|n| n.role = Role::Follower);
        act(run, N2, &|n| n.role = Role::PreCandidate);
        act(run, N2, &|n| n.role = Role::Candidate);
        act(run, N2, &|n| n.role = Role::Leader);
        act(run, N1, &|n| n.leader = Some(N2));
        run.boot(N3, |n| n.enter(term, Role::Follower)).unwrap();
        act(run, N3, &|n| n.leader = Some(N2));
        act(run, N2, &|n| n.role = Role::Follower);
        act(run, N1, &|n| n.leader = None);
        act(run, N3, &|n| n.leader = None);
    }

    /// What else can be told: that nothing happens, that only logs change, and all that servers do who come and go.
    pub(crate) fn explanations() -> [String; 3] {
        let (mut still, mut logs, mut all) = (Circle::default(), Circle::default(), Circle::default());
        let mut run = Run::new();
        still.look(Time::from_millis(20), &run.rules, 3);
        let mut now = 0;
        let mut next = || {
            now += 10;
            Time::from_millis(now)
        };
        for term in 1..4 {
            goes_round(&mut run, term, |run| all.look(next(), &run.rules, 3));
        }
        run.rules.blind("leader-longest").expect("it is a rule");
        for node in [N1, N2, N3, N1, N2, N3] {
            run.step(node, |n| n.append(&[3])).unwrap();
            logs.look(next(), &run.rules, 3);
        }
        [&still, &logs, &all]
            .map(|circle| circle.explain(Time::from_millis(900)).expect("it has been looked at"))
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        assert!(duel(2_000).seen.len() <= MEMORY);
    }
}
