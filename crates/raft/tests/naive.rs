//! A second implementation of the parts that are easy to get wrong, so simple that it is plainly right.

mod common;

use common::{Plant, message};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use whitewater_raft::{
    Change, ChangeKind, Changer, Entry, Joint, Majority, MemoryStorage, Message, MessageKind, NodeId,
    Tracker, VoteResult,
};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

/// The largest index that more than half of the voters have acknowledged: try every index that occurs.
fn naive_committed(voters: &BTreeSet<NodeId>, acked: &BTreeMap<NodeId, u64>) -> u64 {
    if voters.is_empty() {
        return u64::MAX;
    }
    let have =
        |index: u64| voters.iter().filter(|id| acked.get(id).is_some_and(|&acked| acked >= index)).count();
    acked.values().copied().filter(|&index| 2 * have(index) > voters.len()).max().unwrap_or(0)
}

/// Where a vote stands: imagine that all missing votes are yes, then that all are no.
fn naive_vote(voters: &BTreeSet<NodeId>, votes: &BTreeMap<NodeId, bool>) -> VoteResult {
    let wins = |missing: bool| {
        let yes = voters.iter().filter(|id| votes.get(id).copied().unwrap_or(missing)).count();
        voters.is_empty() || 2 * yes > voters.len()
    };
    match (wins(false), wins(true)) {
        (true, _) => VoteResult::Won,
        (false, true) => VoteResult::Pending,
        (false, false) => VoteResult::Lost,
    }
}

fn voters() -> impl Strategy<Value = BTreeSet<NodeId>> {
    btree_set(1..12_u64, 0..10)
}

fn joint(incoming: &BTreeSet<NodeId>, outgoing: &BTreeSet<NodeId>) -> Joint {
    let majority = |voters: &BTreeSet<NodeId>| Majority::new(voters.iter().copied().collect());
    Joint { incoming: majority(incoming), outgoing: majority(outgoing) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_commit_index_of_a_quorum_is_the_naive_one(
        incoming in voters(),
        outgoing in voters(),
        acked in proptest::collection::btree_map(1..12_u64, 1..20_u64, 0..12),
    ) {
        let quorum = joint(&incoming, &outgoing);
        let expected = naive_committed(&incoming, &acked).min(naive_committed(&outgoing, &acked));
        prop_assert_eq!(quorum.committed_index(|id| acked.get(&id).copied()), expected);
    }

    #[test]
    fn the_outcome_of_a_vote_is_the_naive_one(
        incoming in voters(),
        outgoing in voters(),
        votes in proptest::collection::btree_map(1..12_u64, any::<bool>(), 0..12),
    ) {
        let quorum = joint(&incoming, &outgoing);
        let expected = match (naive_vote(&incoming, &votes), naive_vote(&outgoing, &votes)) {
            (VoteResult::Won, VoteResult::Won) => VoteResult::Won,
            (VoteResult::Lost, _) | (_, VoteResult::Lost) => VoteResult::Lost,
            _ => VoteResult::Pending,
        };
        prop_assert_eq!(quorum.vote_result(|id| votes.get(&id).copied()), expected);
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let kind = prop_oneof![
        Just(ChangeKind::AddNode),
        Just(ChangeKind::RemoveNode),
        Just(ChangeKind::AddLearner),
        Just(ChangeKind::UpdateNode),
    ];
    vec((kind, 0..9_u64).prop_map(|(kind, node)| Change { kind, node }), 0..12)
}

/// A group with voter 1 and whatever else the first changes make of it, one simple step at a time.
fn group(changes: &[Change]) -> Tracker {
    let mut tracker = Tracker::new(10, 0);
    let first = Change { kind: ChangeKind::AddNode, node: 1 };
    for change in [first].iter().chain(changes) {
        if let Ok(changed) = (Changer { tracker: &tracker, last_index: 10 }).simple(&[*change]) {
            tracker.replace(changed);
        }
    }
    tracker
}

proptest! {
    #![proptest_config(config())]

    /// Into a joint configuration and out again leads where one simple change after the other leads.
    #[test]
    fn a_sequence_of_simple_changes_equals_a_joint_one(setup in changes(), changes in changes()) {
        let start = group(&setup);
        let mut simple = start.clone();
        for change in &changes {
            match (Changer { tracker: &simple, last_index: 10 }).simple(&[*change]) {
                Ok(changed) => simple.replace(changed),
                // Some simple steps cannot be taken alone, such as removing the last voter first.
                Err(_) => return Ok(()),
            }
        }
        for auto_leave in [false, true] {
            let mut joint = start.clone();
            let entered = Changer { tracker: &joint, last_index: 10 }.enter_joint(auto_leave, &changes);
            joint.replace(entered.expect("every single step was possible"));
            prop_assert_eq!(joint.configuration.auto_leave, auto_leave);
            let again = Changer { tracker: &joint, last_index: 10 }.enter_joint(auto_leave, &changes);
            prop_assert!(again.is_err(), "there is no way from joint to joint");
            let left = Changer { tracker: &joint, last_index: 10 }.leave_joint();
            joint.replace(left.expect("a joint configuration can always be left"));
            prop_assert_eq!(&joint.configuration, &simple.configuration);
            let members = |tracker: &Tracker| {
                tracker.peers().iter().map(|peer| (peer.id, peer.is_learner)).collect::<Vec<_>>()
            };
            prop_assert_eq!(members(&joint), members(&simple));
        }
    }

    /// What is stored in a snapshot leads back to the same configuration, joint or not.
    #[test]
    fn a_stored_configuration_is_restored(setup in changes(), changes in changes()) {
        let mut tracker = group(&setup);
        if let Ok(changed) = (Changer { tracker: &tracker, last_index: 10 }).enter_joint(true, &changes) {
            tracker.replace(changed);
        }
        let stored = tracker.configuration.to_conf_state();
        let empty = Tracker::new(10, 0);
        let (restored, _) = Changer { tracker: &empty, last_index: 10 }.restore(&stored).unwrap();
        prop_assert_eq!(restored, tracker.configuration);
    }
}

/// What happens to a log.
#[derive(Clone, Debug)]
enum Event {
    /// A leader of this term sends entries of its log: from a position on, so many of them.
    Append { leader: usize, start: usize, count: usize },
    /// What is unstable is stored.
    Store,
    /// What is applied is compacted.
    Compact,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let append = (0..4_usize, 0..12_usize, 0..6_usize).prop_map(|(leader, start, count)| Event::Append {
        leader,
        start,
        count,
    });
    vec(prop_oneof![6 => append, 2 => Just(Event::Store), 1 => Just(Event::Compact)], 1..60)
}

/// Logs of successive leaders: each keeps a prefix of the one before, and adds entries of its own term.
fn leader_logs(kept: &[usize]) -> Vec<Vec<u64>> {
    let mut logs: Vec<Vec<u64>> = vec![vec![1; 8]];
    for (&kept, term) in kept.iter().zip(2..) {
        let mut log = logs[logs.len() - 1].clone();
        log.truncate(kept);
        log.extend([term; 4]);
        logs.push(log);
    }
    logs
}

proptest! {
    #![proptest_config(config())]

    /// A follower's log, part stored, part not, part compacted, is the plain vector that the same appends lead to.
    #[test]
    fn a_log_is_a_plain_vector(kept in vec(0..10_usize, 3), events in events()) {
        let logs = leader_logs(&kept);
        // What every leader has in common may be committed; anything else would not be Raft.
        let common = kept.iter().copied().min().unwrap_or(0);
        let mut committed = 0;
        let mut node = common::Node::new(Plant::default().config(1), MemoryStorage::with_voters(1..=3));
        let mut model: Vec<u64> = Vec::new();
        let mut term = 0;
        for event in events {
            match event {
                Event::Append { leader, start, count } => {
                    let log = &logs[leader];
                    let start = start.min(log.len());
                    let end = (start + count).min(log.len());
                    let sender = leader as u64 + 1;
                    let entries: Vec<Entry> = (start..end)
                        .map(|at| Entry { term: log[at], index: at as u64 + 1, ..Entry::default() })
                        .collect();
                    let append = Message {
                        log_term: start.checked_sub(1).map_or(0, |at| log[at]),
                        index: start as u64,
                        commit: common as u64,
                        entries: entries.into(),
                        ..message(MessageKind::Append, 2, 1, sender)
                    };
                    node.raw.step(append).unwrap();
                    if sender >= term {
                        term = sender;
                        if start >= committed && naive_append(&mut model, log, start, end) {
                            committed = committed.max(common.min(end));
                        }
                    }
                }
                Event::Store => drop(node.drain()),
                Event::Compact => {
                    let stable = node.raw.stable_index().min(node.raw.applied_index());
                    let _ = node.raw.storage_mut().memory.compact(stable);
                }
            }
            prop_assert_eq!(node.raw.last_index(), model.len() as u64);
            prop_assert_eq!(node.raw.commit_index(), committed as u64);
            for index in node.raw.first_index()..=node.raw.last_index() {
                prop_assert_eq!(node.raw.term_at(index), Some(model[index as usize - 1]));
                prop_assert_eq!(node.raw.entry_at(index).map(|entry| entry.term), node.raw.term_at(index));
            }
        }
        node.drain();
        let stored: Vec<u64> = node.raw.storage().memory.log().iter().map(|entry| entry.term).collect();
        prop_assert_eq!(&model[model.len() - stored.len()..], stored);
    }
}

/// If the entry before agrees: keep what agrees, and replace the rest at the first that does not.
fn naive_append(model: &mut Vec<u64>, log: &[u64], start: usize, end: usize) -> bool {
    if model.get(start.wrapping_sub(1)) != log.get(start.wrapping_sub(1)) {
        return false;
    }
    for (at, &term) in log.iter().enumerate().take(end).skip(start) {
        if model.get(at) != Some(&term) {
            model.truncate(at);
            model.push(term);
        }
    }
    true
}
