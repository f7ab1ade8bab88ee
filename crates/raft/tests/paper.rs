//! The sentences of the Raft paper that a core can keep or break, one test each.
//!
//! Sections are those of "In Search of an Understandable Consensus Algorithm" (extended version).

mod common;

use common::{Cluster, Node, Plant, kinds, log, message, of_kind};
use std::collections::BTreeSet;
use whitewater_raft::{Config, Entry, EntryId, HardState, MemoryStorage, Message, MessageKind, NodeId, Role};

const ELECTION_TICKS: u32 = 10;

fn node(voters: u64) -> Node {
    Node::new(Plant::default().config(1), MemoryStorage::with_voters(1..=voters))
}

/// Node 1 of a group, with a log of entries of the given terms, in the term of the last of them.
fn node_with_log(voters: u64, terms: &[u64]) -> Node {
    let mut memory = MemoryStorage::with_voters(1..=voters);
    memory.append(&log(terms));
    memory.set_hard_state(HardState { term: terms.last().copied().unwrap_or(0), ..HardState::default() });
    Node::new(Config::new(1), memory)
}

fn candidate(voters: u64) -> Node {
    let mut node = node(voters);
    node.raw.campaign();
    node.drain();
    node
}

/// A leader whose first entry is stored and nothing more.
fn leader(voters: u64) -> Node {
    let mut node = candidate(voters);
    for from in 2..=voters / 2 + 1 {
        let term = node.raw.term();
        node.raw.step(message(MessageKind::VoteResponse, from, 1, term)).unwrap();
    }
    assert_eq!(node.raw.role(), Role::Leader);
    node
}

/// A leader whose first entry is committed everywhere.
fn settled_leader(voters: u64) -> Node {
    let mut node = leader(voters);
    node.drain();
    acknowledge(&mut node, voters);
    node.drain();
    node
}

/// Every peer acknowledges everything.
fn acknowledge(node: &mut Node, voters: u64) {
    for from in 2..=voters {
        let (term, index) = (node.raw.term(), node.raw.last_index());
        node.raw.step(Message { index, ..message(MessageKind::AppendResponse, from, 1, term) }).unwrap();
    }
}

fn append(from: NodeId, term: u64, previous: (u64, u64), entries: Vec<Entry>, commit: u64) -> Message {
    Message {
        log_term: previous.0,
        index: previous.1,
        commit,
        entries: entries.into(),
        ..message(MessageKind::Append, from, 1, term)
    }
}

fn entry(term: u64, index: u64) -> Entry {
    Entry { term, index, ..Entry::default() }
}

fn assert_follows_a_higher_term(mut node: Node) {
    node.raw.step(message(MessageKind::Append, 2, 1, 2)).unwrap();
    assert_eq!((node.raw.term(), node.raw.role()), (2, Role::Follower));
}

/// 5.1: "if one server's current term is smaller than the other's, then it updates its current term to the larger value".
#[test]
fn a_follower_takes_over_a_higher_term() {
    assert_follows_a_higher_term(node(3));
}

/// 5.1: "If a candidate or leader discovers that its term is out of date, it immediately reverts to follower state."
#[test]
fn a_candidate_with_a_lower_term_becomes_a_follower() {
    assert_follows_a_higher_term(candidate(3));
}

/// 5.1: the same sentence, for a leader.
#[test]
fn a_leader_with_a_lower_term_becomes_a_follower() {
    assert_follows_a_higher_term(leader(3));
}

/// 5.1: "If a server receives a request with a stale term number, it rejects the request."
#[test]
fn a_request_with_a_stale_term_changes_nothing() {
    let mut node = node_with_log(3, &[2]);
    node.raw.step(append(2, 1, (0, 0), vec![entry(1, 1)], 1)).unwrap();
    assert!(!node.raw.has_ready());
    assert_eq!((node.log_terms(), node.raw.leader()), (vec![2], 0));
}

/// 5.2: "When servers start up, they begin as followers."
#[test]
fn a_node_starts_as_a_follower() {
    assert_eq!(node(3).raw.role(), Role::Follower);
}

/// 5.2: "Leaders send periodic heartbeats ... to all followers in order to maintain their authority."
#[test]
fn a_leader_sends_heartbeats_at_every_interval() {
    let mut node = leader(3);
    node.drain();
    for _ in 0..3 {
        node.raw.tick();
        let sent = node.drain();
        assert_eq!(kinds(&sent), [MessageKind::Heartbeat; 2]);
        assert_eq!(sent.iter().map(|message| message.to).collect::<Vec<_>>(), [2, 3]);
        assert!(sent.iter().all(|message| message.entries.is_empty() && message.term == 1));
    }
}

fn assert_elects_after_a_timeout(mut node: Node) {
    let term = node.raw.term();
    node.raw.tick_by(2 * ELECTION_TICKS);
    assert_eq!((node.raw.term(), node.raw.role()), (term + 1, Role::Candidate));
    let requests = node.drain();
    assert_eq!(node.raw.vote(), 1, "it votes for itself");
    assert_eq!(kinds(&requests), [MessageKind::Vote; 2]);
    assert_eq!(requests.iter().map(|request| request.to).collect::<Vec<_>>(), [2, 3]);
}

/// 5.2: "If a follower receives no communication over a period of time called the election timeout, then it assumes there
/// is no viable leader and begins an election", "increments its current term", "votes for itself and issues RequestVote
/// RPCs in parallel to each of the other servers".
#[test]
fn a_follower_without_a_leader_starts_an_election() {
    assert_elects_after_a_timeout(node(3));
}

/// 5.2: "each candidate will time out and start a new election by incrementing its term".
#[test]
fn a_candidate_without_an_outcome_starts_another_election() {
    assert_elects_after_a_timeout(candidate(3));
}

/// 5.2: a candidate wins "if it receives votes from a majority of the servers in the full cluster for the same term".
#[test]
fn a_majority_of_votes_in_one_round_makes_a_leader_and_less_does_not() {
    use Role::{Candidate, Follower, Leader};
    // Group size, who answers and how, the role that follows.
    type Answers<'a> = &'a [(NodeId, bool)];
    let cases: [(u64, Answers<'_>, Role); 12] = [
        (1, &[], Leader),
        (3, &[(2, true), (3, true)], Leader),
        (3, &[(2, true)], Leader),
        (5, &[(2, true), (3, true), (4, true), (5, true)], Leader),
        (5, &[(2, true), (3, true), (4, true)], Leader),
        (5, &[(2, true), (3, true)], Leader),
        (3, &[(2, false), (3, false)], Follower),
        (5, &[(2, false), (3, false), (4, false), (5, false)], Follower),
        (5, &[(2, true), (3, false), (4, false), (5, false)], Follower),
        (3, &[], Candidate),
        (5, &[(2, true)], Candidate),
        (5, &[(2, false), (3, false)], Candidate),
    ];
    for (size, votes, role) in cases {
        let mut node = candidate(size);
        for &(from, granted) in votes {
            let vote = message(MessageKind::VoteResponse, from, 1, 1);
            node.raw.step(Message { reject: !granted, ..vote }).unwrap();
        }
        assert_eq!((node.raw.role(), node.raw.term()), (role, 1), "{size} nodes, {votes:?}");
    }
}

/// 5.2: "Each server will vote for at most one candidate in a given term, on a first-come-first-served basis."
#[test]
fn a_follower_votes_for_one_candidate_in_a_term() {
    for (vote, asked_by, granted) in
        [(0, 2, true), (0, 3, true), (2, 2, true), (3, 3, true), (2, 3, false), (3, 2, false)]
    {
        let mut memory = MemoryStorage::with_voters(1..=3);
        memory.set_hard_state(HardState { term: 1, vote, commit: 0 });
        let mut node = Node::new(Config::new(1), memory);
        node.raw.step(message(MessageKind::Vote, asked_by, 1, 1)).unwrap();
        let answers = node.drain();
        assert_eq!(kinds(&answers), [MessageKind::VoteResponse]);
        assert_eq!(!answers[0].reject, granted, "voted for {vote}, asked by {asked_by}");
    }
}

/// 5.2: "If the leader's term ... is at least as large as the candidate's current term, then the candidate recognizes the
/// leader as legitimate and returns to follower state."
#[test]
fn a_candidate_follows_a_leader_of_its_term_or_a_later_one() {
    for term in [1, 2] {
        let mut node = candidate(3);
        node.raw.step(message(MessageKind::Append, 2, 1, term)).unwrap();
        assert_eq!((node.raw.role(), node.raw.term(), node.raw.leader()), (Role::Follower, term, 2));
    }
}

/// 5.2: "election timeouts are chosen randomly from a fixed interval": the owner draws, and every value of the interval
/// is kept.
fn assert_keeps_drawn_timeouts(start: impl Fn() -> Node) {
    let mut seen = BTreeSet::new();
    for drawn in ELECTION_TICKS..2 * ELECTION_TICKS {
        let mut node = start();
        assert_eq!(node.raw.take_timeout_request(), Some(ELECTION_TICKS..2 * ELECTION_TICKS));
        node.raw.set_randomized_timeout(drawn);
        let term = node.raw.term();
        assert_eq!(node.raw.ticks_until_due(), Some(drawn));
        node.raw.tick_by(drawn - 1);
        assert_eq!(node.raw.term(), term);
        node.raw.tick();
        assert_eq!(node.raw.term(), term + 1);
        seen.insert(drawn);
    }
    assert_eq!(seen.len(), ELECTION_TICKS as usize);
}

/// 5.2: randomized timeouts of followers.
#[test]
fn a_follower_asks_for_a_timeout_and_keeps_it() {
    assert_keeps_drawn_timeouts(|| node(3));
}

/// 5.2: "Each candidate restarts its randomized election timeout at the start of an election".
#[test]
fn a_candidate_asks_for_a_timeout_and_keeps_it() {
    assert_keeps_drawn_timeouts(|| candidate(3));
}

/// How often more than one of several nodes has the smallest timeout, where nobody answers their requests.
fn conflicts(start: impl Fn(Config) -> Node) -> usize {
    const ROUNDS: u64 = 500;
    let rounds = (1..=ROUNDS).filter(|round| {
        let timeouts: Vec<u32> = (1..=5)
            .map(|id| {
                let mut node = start(Config::new(id));
                node.raw.step(message(MessageKind::Append, 6, id, *round)).unwrap();
                node.raw.randomized_timeout()
            })
            .collect();
        let smallest = timeouts.iter().min();
        timeouts.iter().filter(|timeout| Some(*timeout) == smallest).count() > 1
    });
    rounds.count() * 100 / ROUNDS as usize
}

/// 5.2: randomized timeouts "ensure that split votes are rare": so do those a node computes for itself.
#[test]
fn followers_rarely_share_the_smallest_timeout() {
    let percent = conflicts(|config| Node::new(config, MemoryStorage::with_voters(1..=6)));
    assert!(percent <= 40, "{percent} %");
}

/// 5.2: the same for candidates that lost.
#[test]
fn candidates_rarely_share_the_smallest_timeout() {
    let percent = conflicts(|config| {
        let mut node = Node::new(config, MemoryStorage::with_voters(1..=6));
        node.raw.campaign();
        node.drain();
        node
    });
    assert!(percent <= 40, "{percent} %");
}

/// 5.3: "The leader appends the command to its log as a new entry, then issues AppendEntries RPCs in parallel to each of
/// the other servers to replicate the entry", with "the index and term of the entry in its log that immediately precedes".
#[test]
fn a_leader_sends_a_proposal_to_everybody_with_the_entry_before_it() {
    let mut node = settled_leader(3);
    node.raw.propose("data").unwrap();
    let sent = of_kind(node.drain(), MessageKind::Append);
    assert_eq!(node.raw.last_index(), 2);
    assert_eq!(node.raw.commit_index(), 1, "it is not committed yet");
    assert_eq!(sent.iter().map(|append| append.to).collect::<Vec<_>>(), [2, 3]);
    for append in &sent {
        assert_eq!((append.log_id(), append.commit), (EntryId { term: 1, index: 1 }, 1));
        assert_eq!((append.entries.len(), &append.entries[0].data[..]), (1, &b"data"[..]));
    }
}

/// 5.3: "When the entry has been safely replicated ..., the leader applies the entry to its state machine"; followers learn
/// of it with the next append.
#[test]
fn a_leader_commits_a_replicated_entry_and_tells_everybody() {
    let mut node = settled_leader(3);
    node.raw.propose("data").unwrap();
    node.drain();
    acknowledge(&mut node, 3);
    let sent = node.drain();
    assert_eq!(node.raw.commit_index(), 2);
    assert_eq!(node.applied.last().unwrap().data[..], b"data"[..]);
    assert!(sent.iter().all(|append| append.commit == 2));
    assert_eq!(sent.iter().map(|append| append.to).collect::<Vec<_>>(), [2, 3]);
}

/// 5.3: "A log entry is committed once the leader that created the entry has replicated it on a majority of the servers".
#[test]
fn an_entry_is_committed_once_a_majority_has_it() {
    let cases: [(u64, &[NodeId], bool); 8] = [
        (1, &[], true),
        (3, &[], false),
        (3, &[2], true),
        (3, &[2, 3], true),
        (5, &[], false),
        (5, &[2], false),
        (5, &[2, 3], true),
        (5, &[2, 3, 4, 5], true),
    ];
    for (size, acknowledged_by, committed) in cases {
        let mut node = settled_leader(size);
        node.raw.propose("data").unwrap();
        node.drain();
        for &from in acknowledged_by {
            let response = message(MessageKind::AppendResponse, from, 1, 1);
            node.raw.step(Message { index: 2, ..response }).unwrap();
        }
        assert_eq!(node.raw.commit_index() == 2, committed, "{size} nodes, {acknowledged_by:?}");
    }
}

/// 5.3: "This also commits all preceding entries in the leader's log, including entries created by previous leaders."
#[test]
fn committing_an_entry_commits_everything_before_it() {
    for terms in [&[][..], &[2], &[1, 2], &[1]] {
        let mut node = node_with_log(3, terms);
        node.raw.campaign();
        node.drain();
        let term = node.raw.term();
        node.raw.step(message(MessageKind::VoteResponse, 2, 1, term)).unwrap();
        node.raw.propose("data").unwrap();
        node.drain();
        acknowledge(&mut node, 3);
        node.drain();
        let applied: Vec<u64> = node.applied.iter().map(|entry| entry.term).collect();
        assert_eq!(applied, [terms, &[term, term]].concat());
    }
}

/// 5.3: "Once a follower learns that a log entry is committed, it applies the entry to its local state machine (in log order)".
#[test]
fn a_follower_applies_what_the_leader_says_is_committed() {
    for (count, commit) in [(1, 1), (2, 2), (2, 1)] {
        let mut node = node(3);
        let entries = (1..=count).map(|index| entry(1, index)).collect();
        node.raw.step(append(2, 1, (0, 0), entries, commit)).unwrap();
        node.drain();
        assert_eq!(node.raw.commit_index(), commit);
        assert_eq!(
            node.applied.iter().map(|entry| entry.index).collect::<Vec<_>>(),
            Vec::from_iter(1..=commit)
        );
    }
}

/// 5.3: "If the follower does not find an entry in its log with the same index and term, then it refuses the new entries."
#[test]
fn a_follower_checks_the_entry_before_the_new_ones() {
    // The position before, and the answer: index, refused, hint, term at the hint.
    let cases = [
        ((0, 0), (1, false, 0, 0)),
        ((1, 1), (1, false, 0, 0)),
        ((2, 2), (2, false, 0, 0)),
        ((1, 2), (2, true, 1, 1)),
        ((3, 3), (3, true, 2, 2)),
    ];
    for (previous, (index, reject, hint, hint_term)) in cases {
        let mut node = node_with_log(3, &[1, 2]);
        node.raw.step(Message { commit: 1, ..message(MessageKind::Heartbeat, 2, 1, 2) }).unwrap();
        node.drain();
        node.raw.step(append(2, 2, previous, vec![], 0)).unwrap();
        let answers = node.drain();
        let answer = &answers[0];
        assert_eq!((answer.kind, answer.index, answer.reject), (MessageKind::AppendResponse, index, reject));
        assert_eq!((answer.reject_hint, answer.log_term), (hint, hint_term), "{previous:?}");
    }
}

/// 5.3: "If an existing entry conflicts with a new one (same index but different terms), delete the existing entry and all
/// that follow it", "append any new entries not already in the log".
#[test]
fn a_follower_replaces_what_conflicts_and_keeps_what_does_not() {
    type Terms<'a> = &'a [u64];
    let cases: [((u64, u64), Terms<'_>, Terms<'_>, u64); 4] = [
        ((2, 2), &[3], &[1, 2, 3], 3),
        ((1, 1), &[3, 4], &[1, 3, 4], 2),
        ((0, 0), &[1], &[1, 2], 3),
        ((0, 0), &[3], &[3], 1),
    ];
    for (previous, new_terms, expected, first_written) in cases {
        let mut node = node_with_log(3, &[1, 2]);
        let entries =
            new_terms.iter().zip(previous.1 + 1..).map(|(&term, index)| entry(term, index)).collect();
        node.raw.step(append(2, 4, previous, entries, 0)).unwrap();
        let written: Vec<u64> = node.raw.unstable_entries().iter().map(|entry| entry.index).collect();
        assert_eq!(written, Vec::from_iter(first_written..=expected.len() as u64));
        assert_eq!(node.log_terms(), expected);
        node.drain();
        assert_eq!(node.log_terms(), expected);
    }
}

/// 5.3 and figure 7: "the leader must find the latest log entry where the two logs agree, delete any entries in the
/// follower's log after that point, and send the follower all of the leader's entries after that point".
#[test]
fn a_leader_brings_every_follower_of_figure_7_to_its_own_log() {
    let leader_log: &[u64] = &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6];
    let follower_logs: [&[u64]; 6] = [
        &[1, 1, 1, 4, 4, 5, 5, 6, 6],
        &[1, 1, 1, 4],
        &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6],
        &[1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7],
        &[1, 1, 1, 4, 4, 4, 4],
        &[1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
    ];
    for follower_log in follower_logs {
        // The third node votes for the leader, whatever the follower thinks.
        let mut cluster = Cluster::with_logs(&[leader_log, follower_log, &[]], Config::new);
        for _ in 0..3 {
            cluster.raw(1).campaign();
            cluster.settle();
        }
        assert_eq!(cluster.raw(1).role(), Role::Leader);
        cluster.propose(1, "");
        cluster.settle();
        let expected = cluster.node(1).log_terms();
        assert_eq!(expected[..leader_log.len()], *leader_log);
        assert_eq!(cluster.node(2).log_terms(), expected, "{follower_log:?}");
    }
}

/// 5.4.1: "The RequestVote RPC implements this restriction: the RPC includes information about the candidate's log".
#[test]
fn a_request_for_a_vote_names_the_last_entry() {
    for terms in [&[1][..], &[1, 2]] {
        let mut node = node_with_log(3, terms);
        node.raw.tick_by(2 * ELECTION_TICKS);
        let requests = node.drain();
        assert_eq!(kinds(&requests), [MessageKind::Vote; 2]);
        for request in requests {
            let last = EntryId { term: *terms.last().unwrap(), index: terms.len() as u64 };
            assert_eq!(request.log_id(), last);
            assert_eq!(request.term, last.term + 1);
        }
    }
}

/// 5.4.1: "the voter denies its vote if its own log is more up-to-date than that of the candidate": later last term, or
/// the same and longer.
#[test]
fn a_voter_refuses_a_candidate_whose_log_is_behind() {
    let cases: [(&[u64], (u64, u64), bool); 9] = [
        (&[1], (1, 1), true),
        (&[1], (1, 2), true),
        (&[1, 1], (1, 1), false),
        (&[1], (2, 1), true),
        (&[1], (2, 2), true),
        (&[1, 1], (2, 1), true),
        (&[2], (1, 1), false),
        (&[2], (1, 2), false),
        (&[2, 2], (2, 1), false),
    ];
    for (terms, (log_term, index), granted) in cases {
        let mut node = node_with_log(3, terms);
        node.raw.step(Message { log_term, index, ..message(MessageKind::Vote, 2, 1, 3) }).unwrap();
        let answers = node.drain();
        assert_eq!(!answers[0].reject, granted, "{terms:?} and {log_term}/{index}");
    }
}

/// 5.4.2: "Only log entries from the leader's current term are committed by counting replicas."
#[test]
fn a_leader_does_not_commit_an_entry_of_an_earlier_term_by_counting() {
    for (index, commit) in [(1, 0), (2, 0), (3, 3)] {
        let mut node = node_with_log(3, &[1, 2]);
        node.raw.campaign();
        node.drain();
        node.raw.step(message(MessageKind::VoteResponse, 2, 1, 3)).unwrap();
        node.drain();
        node.raw.step(Message { index, ..message(MessageKind::AppendResponse, 2, 1, 3) }).unwrap();
        assert_eq!(node.raw.commit_index(), commit, "acknowledged {index}");
    }
}
