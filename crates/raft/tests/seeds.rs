//! The twelve rules of the seed, each with the situation that shows what happens without it.
//!
//! With the feature `mutants` every scenario is run a second time with the guard of its rule removed, and has to fail.

mod common;

use common::{Cluster, Plant, kinds, message, of_kind};
use whitewater_raft::{Config, EntryId, HardState, MessageKind, ProgressState, Role, StepError};

/// A scenario as a test, and the proof that it fails when the rule is removed.
macro_rules! rule {
    ($(#[$doc:meta])* $name:ident, $bug:ident, $scenario:expr) => {
        mod $name {
            use super::*;

            $(#[$doc])*
            #[test]
            fn holds() {
                let scenario: fn(Plant) = $scenario;
                scenario(Plant::default());
            }

            #[cfg(feature = "mutants")]
            #[test]
            fn is_missed_when_it_is_removed() {
                let plant = Plant { bug: Some(whitewater_raft::Bug::$bug) };
                let scenario: fn(Plant) = $scenario;
                let outcome = std::panic::catch_unwind(|| scenario(plant));
                assert!(outcome.is_err(), "{:?} goes unnoticed", plant.bug);
            }
        }
    };
}

rule!(
    /// E1: a timer and a caller may both start an election, and the second one finds that it is won already.
    a_leader_that_is_told_to_campaign_goes_on_leading,
    SeedE1,
    |plant| {
        for pre_vote in [false, true] {
            let mut cluster = Cluster::new(1, |id| Config { pre_vote, ..plant.config(id) });
            cluster.elect(1);
            let before = cluster.raw(1).hard_state();
            cluster.raw(1).campaign();
            assert!(!cluster.raw(1).has_ready(), "nothing is sent and nothing changes");
            assert_eq!((cluster.raw(1).role(), cluster.raw(1).hard_state()), (Role::Leader, before));
        }
    }
);

/// A group whose node 3 missed entries that the leader has compacted, and was just heard of.
fn behind_a_compaction(plant: Plant, snapshot_failures: u32) -> Cluster {
    let mut cluster = Cluster::new(3, |id| plant.config(id));
    cluster.elect(1);
    cluster.isolate(3);
    for at in 0..4 {
        cluster.propose(1, &format!("entry {at}"));
    }
    cluster.settle();
    cluster.heal();
    let storage = cluster.raw(1).storage_mut();
    let conf_state = whitewater_raft::ConfState { voters: vec![1, 2, 3], ..Default::default() };
    storage.memory.create_snapshot(4, conf_state, b"state").unwrap();
    storage.memory.compact(4).unwrap();
    storage.snapshot_failures.set(snapshot_failures);
    cluster
}

/// Ticks a leader and delivers everything; returns how many snapshots were sent.
fn rounds_of_heartbeats(cluster: &mut Cluster, rounds: usize) -> usize {
    let mut snapshots = 0;
    for _ in 0..rounds {
        cluster.heartbeat(1);
        while let Some(message) = cluster.wire.front() {
            snapshots += usize::from(message.kind == MessageKind::Snapshot);
            cluster.deliver_one();
        }
    }
    snapshots
}

rule!(
    /// E2: a storage needs time to make a snapshot; meanwhile nothing may change, or the peer is never asked again.
    a_snapshot_that_is_not_ready_is_asked_for_again,
    SeedE2,
    |plant| {
        let mut cluster = behind_a_compaction(plant, 3);
        for _ in 0..3 {
            assert_eq!(rounds_of_heartbeats(&mut cluster, 1), 0);
            let state = cluster.node(1).peer(3).state;
            assert_ne!(state, ProgressState::Snapshot, "no snapshot is on its way");
        }
        assert_eq!(rounds_of_heartbeats(&mut cluster, 1), 1);
        rounds_of_heartbeats(&mut cluster, 1);
        assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    }
);

rule!(
    /// E3: the log is compacted right between the two reads that make an append.
    a_compaction_between_two_reads_leads_to_a_snapshot,
    SeedE3,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        cluster.elect(1);
        cluster.isolate(3);
        for at in 0..4 {
            cluster.propose(1, &format!("entry {at}"));
        }
        cluster.settle();
        cluster.heal();
        let storage = cluster.raw(1).storage_mut();
        let conf_state = whitewater_raft::ConfState { voters: vec![1, 2, 3], ..Default::default() };
        storage.memory.create_snapshot(4, conf_state, b"state").unwrap();
        storage.compact_after_term.set(4);
        assert_eq!(rounds_of_heartbeats(&mut cluster, 4), 1, "exactly one snapshot");
        assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    }
);

rule!(
    /// E4: what is sent ahead of acknowledgements is bounded, and a window that was lost as a whole is recovered.
    appends_in_flight_are_limited_and_a_lost_window_is_recovered,
    SeedE4,
    |plant| {
        let mut cluster =
            Cluster::new(2, |id| Config { inflight_count_max: 3, ..plant.config(id) });
        cluster.elect(1);
        cluster.isolate(2);
        for at in 0..9 {
            cluster.propose(1, &format!("entry {at}"));
        }
        let peer = cluster.node(1).peer(2);
        assert_eq!((peer.inflights.count(), peer.is_paused()), (3, true));
        cluster.heal();
        cluster.heartbeat(1);
        cluster.settle();
        assert_eq!(cluster.raw(2).last_index(), cluster.raw(1).last_index());
    }
);

rule!(
    /// E5: an entry that is larger than the limit travels alone; it must not wait for ever.
    a_message_holds_what_fits_and_at_least_one_entry,
    SeedE5,
    |plant| {
        let size = whitewater_raft::Entry { term: 1, index: 2, ..Default::default() }.encoded_size_bytes();
        for (limit, counts) in [(2 * size, vec![2, 2, 2, 1]), (0, vec![1; 7])] {
            let mut cluster =
                Cluster::new(3, |id| Config { message_size_max_bytes: limit, ..plant.config(id) });
            cluster.elect(1);
            cluster.isolate(2);
            (0..7).for_each(|_| cluster.propose(1, ""));
            cluster.settle();
            cluster.heal();
            cluster.raw(1).report_unreachable(2);
            let mut seen = Vec::new();
            cluster.heartbeat(1);
            while let Some(next) = cluster.wire.front() {
                if (next.kind, next.to) == (MessageKind::Append, 2) && !next.entries.is_empty() {
                    seen.push(next.entries.len());
                }
                cluster.deliver_one();
            }
            assert_eq!(seen, counts);
            assert_eq!(cluster.raw(2).last_index(), 8);
        }
    }
);

rule!(
    /// E6: a repeated append from before the commit index would be rejected where the log is compacted.
    an_old_append_is_acknowledged_with_the_commit_index,
    SeedE6,
    |plant| {
        let mut cluster = Cluster::new(2, |id| plant.config(id));
        cluster.elect(1);
        cluster.propose(1, "first");
        let repeated = of_kind(cluster.wire.iter().cloned().collect(), MessageKind::Append);
        cluster.settle();
        (0..3).for_each(|_| cluster.propose(1, "more"));
        cluster.settle();
        let commit = cluster.raw(2).commit_index();
        assert_eq!(commit, 5);
        cluster.raw(2).storage_mut().memory.compact(5).unwrap();
        cluster.raw(2).step(repeated[0].clone()).unwrap();
        let answers = cluster.node(2).drain();
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].reject, answers[0].index), (false, commit));
    }
);

rule!(
    /// E7: without the link layer's word the leader waits for an answer that may have been lost.
    the_link_layer_reports_what_became_of_a_snapshot,
    SeedE7,
    |plant| {
        let mut cluster = behind_a_compaction(plant, 0);
        cluster.lose(MessageKind::Snapshot);
        rounds_of_heartbeats(&mut cluster, 5);
        assert_eq!(cluster.node(1).peer(3).state, ProgressState::Snapshot);
        // It failed: another one is sent, but not before the next heartbeat.
        cluster.heal();
        cluster.raw(1).report_snapshot(3, false);
        cluster.drain();
        assert!(cluster.wire.is_empty());
        assert_eq!(cluster.node(1).peer(3).pending_snapshot, 0, "probing does not start behind it");
        cluster.lose(MessageKind::AppendResponse);
        assert_eq!(rounds_of_heartbeats(&mut cluster, 1), 1);
        assert_eq!(cluster.raw(3).first_index(), 5, "it was applied");
        // It arrived, but the answer is lost: one append finds out.
        cluster.heal();
        cluster.raw(1).report_snapshot(3, true);
        assert_eq!(rounds_of_heartbeats(&mut cluster, 1), 0);
        assert_eq!(cluster.node(1).peer(3).state, ProgressState::Replicate);
        assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    }
);

rule!(
    /// E8: without heartbeats in between, nothing else would send what waited.
    an_acknowledgement_sends_the_appends_that_waited_for_it,
    SeedE8,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        cluster.raw(1).campaign();
        cluster.lose(MessageKind::Append);
        cluster.settle();
        cluster.heal();
        let ack = |from, index| whitewater_raft::Message {
            index,
            ..message(MessageKind::AppendResponse, from, 1, 1)
        };
        cluster.raw(1).step(ack(2, 1)).unwrap();
        cluster.propose(1, "second");
        let (to_2, to_3) = (cluster.take(2), cluster.take(3));
        assert_eq!(to_2.last().unwrap().entries.len(), 1);
        assert!(to_3.iter().all(|append| append.entries.is_empty()), "the first append is not acknowledged");
        cluster.raw(1).step(ack(3, 1)).unwrap();
        let appends = of_kind(cluster.take(3), MessageKind::Append);
        assert!(appends.iter().any(|append| append.entries.iter().any(|entry| entry.index == 2)));
    }
);

rule!(
    /// E9: the acknowledgement of the last entry is lost, and nobody proposes anything.
    a_heartbeat_response_revives_a_lost_acknowledgement,
    SeedE9,
    |plant| {
        let mut cluster = Cluster::new(2, |id| plant.config(id));
        cluster.elect(1);
        cluster.lose(MessageKind::AppendResponse);
        cluster.propose(1, "quiet");
        cluster.settle();
        assert_eq!((cluster.raw(2).last_index(), cluster.raw(1).commit_index()), (2, 1));
        cluster.heal();
        cluster.heartbeat(1);
        assert_eq!(kinds(&cluster.take(2)), [MessageKind::Heartbeat]);
        cluster.heartbeat(1);
        cluster.settle();
        assert_eq!((cluster.raw(1).commit_index(), cluster.raw(2).commit_index()), (2, 2));
    }
);

rule!(
    /// E10: an interval of one tick means every tick.
    heartbeats_come_at_every_interval_not_one_tick_later,
    SeedE10,
    |plant| {
        for heartbeat_ticks in [1, 3] {
            let mut cluster = Cluster::new(3, |id| Config { heartbeat_ticks, ..plant.config(id) });
            cluster.elect(1);
            for _ in 0..3 {
                (1..heartbeat_ticks).for_each(|_| cluster.heartbeat(1));
                assert!(cluster.wire.is_empty());
                cluster.heartbeat(1);
                let sent = Vec::from(std::mem::take(&mut cluster.wire));
                assert_eq!(kinds(&sent), [MessageKind::Heartbeat; 2]);
            }
        }
    }
);

rule!(
    /// E11: while it is unknown what a peer has, everything sent to it may be in vain.
    a_probe_is_answered_or_lost_before_the_next_one_is_sent,
    SeedE11,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        cluster.isolate(3);
        cluster.elect(1);
        cluster.heal();
        cluster.raw(1).report_unreachable(3);
        (0..100).for_each(|_| cluster.propose(1, "burst"));
        let sent = of_kind(cluster.take(3), MessageKind::Append);
        assert!(sent.is_empty(), "the first probe is still out, {} more were sent", sent.len());
        cluster.settle();
        let mut lost = 0;
        for _ in 0..3 {
            cluster.heartbeat(1);
            let heartbeats = cluster.take(3);
            heartbeats.into_iter().for_each(|heartbeat| cluster.raw(3).step(heartbeat).unwrap());
            cluster.drain();
            let responses = cluster.take(1);
            responses.into_iter().for_each(|response| cluster.raw(1).step(response).unwrap());
            lost += of_kind(cluster.take(3), MessageKind::Append).len();
        }
        assert_eq!(lost, 3, "one more for every heartbeat that was answered");
        cluster.heartbeat(1);
        cluster.settle();
        assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    }
);

rule!(
    /// E12: a follower without a leader has nowhere to send a proposal, and says so.
    a_proposal_without_a_leader_is_dropped_with_an_error,
    SeedE12,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        assert_eq!(cluster.raw(2).propose("lost"), Err(StepError::ProposalDropped));
        cluster.isolate(2);
        cluster.raw(2).campaign();
        assert_eq!(cluster.raw(2).propose("lost"), Err(StepError::ProposalDropped));
        cluster.drain();
        assert_eq!(cluster.raw(2).last_index(), 0);
        assert!(cluster.wire.is_empty());
    }
);

rule!(
    /// A vote that can be forgotten in a crash can be given twice.
    a_granted_vote_waits_until_it_is_durable,
    E04,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        let request = whitewater_raft::Message { index: 9, ..message(MessageKind::Vote, 2, 1, 1) };
        cluster.raw(1).step(request).unwrap();
        let ready = cluster.raw(1).ready();
        assert!(ready.must_sync);
        assert_eq!(ready.hard_state, Some(HardState { term: 1, vote: 2, commit: 0 }));
        assert_eq!(kinds(ready.promises()), [MessageKind::VoteResponse]);
        assert!(ready.immediate_messages().is_empty());
    }
);

rule!(
    /// A reordered append that is shorter than the log must not cut off entries that were acknowledged.
    a_short_append_without_conflict_leaves_the_rest_of_the_log,
    R06,
    |plant| {
        let mut cluster = Cluster::new(2, |id| plant.config(id));
        cluster.elect(1);
        cluster.propose(1, "second");
        let short = of_kind(cluster.take(2), MessageKind::Append).remove(0);
        cluster.propose(1, "third");
        let long = of_kind(cluster.take(2), MessageKind::Append).remove(0);
        cluster.raw(2).step(short.clone()).unwrap();
        cluster.raw(2).step(long).unwrap();
        cluster.raw(2).step(short).unwrap();
        assert_eq!(cluster.raw(2).last_index(), 3);
    }
);

rule!(
    /// An entry that only the leader has is not committed.
    an_entry_is_committed_by_a_majority_not_by_half,
    R14,
    |plant| {
        let mut cluster = Cluster::new(3, |id| plant.config(id));
        cluster.elect(1);
        cluster.isolate(1);
        cluster.propose(1, "alone");
        assert_eq!((cluster.raw(1).last_index(), cluster.raw(1).commit_index()), (2, 1));
    }
);

/// E3, E4 and E7 at once, the area where etcd had to mend its mending: small windows, small messages, a compaction.
#[test]
fn a_peer_behind_a_compaction_catches_up_within_a_small_window() {
    let config = |id| Config { inflight_count_max: 2, message_size_max_bytes: 0, ..Config::new(id) };
    let mut cluster = Cluster::new(3, config);
    cluster.elect(1);
    cluster.isolate(3);
    (0..6).for_each(|at| cluster.propose(1, &format!("entry {at}")));
    cluster.settle();
    let storage = cluster.raw(1).storage_mut();
    let conf_state = whitewater_raft::ConfState { voters: vec![1, 2, 3], ..Default::default() };
    storage.memory.create_snapshot(4, conf_state, b"state").unwrap();
    storage.memory.compact(4).unwrap();
    cluster.heal();
    let mut snapshots = 0;
    for _ in 0..3 {
        cluster.heartbeat(1);
        while let Some(next) = cluster.wire.front() {
            snapshots += usize::from(next.kind == MessageKind::Snapshot);
            cluster.deliver_one();
            assert!(cluster.node(1).peer(3).inflights.count() <= 2);
        }
    }
    assert!(snapshots <= 1, "{snapshots} snapshots");
    assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
}

/// A late confirmation of entries that were overwritten meanwhile must not make the new ones count as durable.
#[test]
fn a_confirmation_from_an_earlier_term_does_not_make_later_entries_durable() {
    let mut memory = whitewater_raft::MemoryStorage::with_voters(1..=3);
    memory.set_hard_state(HardState { term: 1, ..HardState::default() });
    let config = Config { async_storage_writes: true, ..Config::new(1) };
    let mut node = common::Node::new(config, memory);
    let append = |from, term, entry_term| whitewater_raft::Message {
        entries: common::log(&[entry_term]).into(),
        ..message(MessageKind::Append, from, 1, term)
    };
    let mut confirmations = Vec::new();
    for (from, term) in [(2, 1), (3, 2), (2, 3)] {
        // The third leader brings back the entry of the first.
        node.raw.step(append(from, term, if term == 2 { 2 } else { 1 })).unwrap();
        let mut ready = node.raw.ready();
        confirmations.extend(ready.messages.iter_mut().flat_map(|work| work.take_responses()));
    }
    confirmations.retain(|response| response.kind == MessageKind::StorageAppendResponse);
    assert_eq!(confirmations.len(), 3);
    assert_eq!(confirmations[0].log_id(), EntryId { term: 1, index: 1 });
    node.raw.step(confirmations[0].clone()).unwrap();
    assert_eq!(node.raw.stable_index(), 0, "same index, same term, but not what is in the log now");
    node.raw.step(confirmations[2].clone()).unwrap();
    assert_eq!(node.raw.stable_index(), 1);
}
