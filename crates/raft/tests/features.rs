//! What the core can do beyond the paper's core: the options, one situation each.

mod common;

use common::{Cluster, FlakyStorage, Node, kinds, message, of_kind};
use whitewater_raft::{
    Change, ChangeKind, ConfChangeV2, ConfState, Config, Entry, MemoryStorage, Message, MessageKind, NodeId,
    Payload, ProgressState, RawNode, ReadMode, Role, StepError, StorageError, Transition,
};

fn steady(id: NodeId) -> Config {
    Config { pre_vote: true, check_quorum: true, ..Config::new(id) }
}

fn change(kind: ChangeKind, node: NodeId) -> ConfChangeV2 {
    ConfChangeV2 { changes: vec![Change { kind, node }], ..ConfChangeV2::default() }
}

#[test]
fn a_node_that_was_cut_off_does_not_disturb_a_leader_when_it_returns() {
    let mut cluster = Cluster::new(3, steady);
    cluster.elect(1);
    cluster.isolate(3);
    for _ in 0..5 {
        cluster.raw(3).tick_by(20);
        cluster.settle();
    }
    assert_eq!((cluster.raw(3).role(), cluster.raw(3).term()), (Role::PreCandidate, 1));
    cluster.heal();
    cluster.raw(3).tick_by(20);
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!((cluster.raw(1).role(), cluster.raw(1).term()), (Role::Leader, 1));
    assert_eq!(cluster.raw(3).leader(), 1);
}

#[test]
fn a_leader_without_a_quorum_steps_down_within_two_election_timeouts() {
    let mut cluster = Cluster::new(3, steady);
    cluster.elect(1);
    cluster.isolate(1);
    (0..20).for_each(|_| cluster.heartbeat(1));
    assert_eq!((cluster.raw(1).role(), cluster.raw(1).term()), (Role::Follower, 1));
}

#[test]
fn a_node_at_a_higher_term_is_freed_by_its_answer_to_a_heartbeat() {
    let mut cluster = Cluster::new(3, |id| Config { check_quorum: true, ..Config::new(id) });
    cluster.elect(1);
    cluster.isolate(3);
    cluster.raw(3).campaign();
    cluster.settle();
    cluster.heal();
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.raw(1).role(), Role::Follower, "the leader learned of the term");
    assert_eq!(cluster.raw(1).term(), cluster.raw(3).term());
}

#[test]
fn ticks_taken_together_have_the_effect_of_ticks_taken_one_by_one() {
    let start = || {
        let mut node = Node::new(steady(1), MemoryStorage::with_voters(1..=3));
        node.raw.set_randomized_timeout(13);
        node
    };
    for total in 1..80 {
        let (mut together, mut single) = (start(), start());
        together.raw.tick_by(total);
        (0..total).for_each(|_| single.raw.tick());
        assert_eq!(together.raw.status(), single.raw.status());
        assert_eq!(together.raw.ticks_until_due(), single.raw.ticks_until_due());
        assert_eq!(together.drain(), single.drain());
    }
}

#[test]
fn nothing_happens_before_the_ticks_until_due_and_something_then() {
    let mut cluster = Cluster::new(3, |id| Config { heartbeat_ticks: 4, ..Config::new(id) });
    cluster.elect(1);
    for _ in 0..10 {
        let due = cluster.raw(1).ticks_until_due().unwrap();
        cluster.raw(1).tick_by(due - 1);
        assert!(!cluster.raw(1).has_ready());
        cluster.raw(1).tick();
        // The end of an election timeout may pass without a message.
        cluster.settle();
    }
    let idle: Node = Node::new(Config::new(9), MemoryStorage::with_voters([1, 2]));
    assert_eq!(idle.raw.ticks_until_due(), None, "whoever has no vote never campaigns");
}

#[test]
fn leadership_passes_to_a_node_that_has_everything_and_later_to_one_that_has_not() {
    let mut cluster = Cluster::new(3, steady);
    cluster.elect(1);
    cluster.raw(1).transfer_leader(2);
    cluster.settle();
    assert_eq!((cluster.raw(2).role(), cluster.raw(1).leader()), (Role::Leader, 2));
    cluster.isolate(3);
    cluster.propose(2, "missed");
    cluster.settle();
    cluster.heal();
    // Asked at a follower, which passes it on.
    cluster.raw(1).transfer_leader(3);
    cluster.heartbeat(2);
    cluster.settle();
    assert_eq!(cluster.raw(3).role(), Role::Leader);
    assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
}

#[test]
fn a_transfer_drops_proposals_until_it_is_given_up() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.isolate(3);
    cluster.raw(1).transfer_leader(3);
    assert_eq!(cluster.raw(1).propose("no"), Err(StepError::ProposalDropped));
    cluster.raw(1).tick_by(10);
    assert_eq!(cluster.raw(1).transferee(), 0);
    assert_eq!(cluster.raw(1).propose("yes"), Ok(()));
}

#[test]
fn a_transfer_to_oneself_a_stranger_or_a_learner_is_ignored() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose_conf_change(&change(ChangeKind::AddLearner, 4)).unwrap();
    cluster.settle();
    for target in [1, 4, 9] {
        cluster.raw(1).transfer_leader(target);
        assert_eq!(cluster.raw(1).transferee(), 0, "target {target}");
    }
}

#[test]
fn a_read_is_confirmed_by_a_quorum_and_repeated_contexts_are_told_apart() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.raw(1).read_index("same");
    cluster.raw(1).read_index("same");
    cluster.raw(3).read_index("remote");
    assert!(cluster.node(1).reads.is_empty());
    cluster.settle();
    let same = (1, b"same".to_vec());
    assert_eq!(cluster.node(1).reads, [same.clone(), same]);
    assert_eq!(cluster.node(3).reads, [(1, b"remote".to_vec())]);
    assert_eq!(cluster.raw(1).waiting_read_count(), 0);
}

#[test]
fn a_read_is_not_confirmed_without_a_quorum_and_is_forgotten_with_the_leadership() {
    let mut cluster = Cluster::new(3, steady);
    cluster.elect(1);
    cluster.isolate(1);
    cluster.raw(1).read_index("stale");
    cluster.settle();
    assert_eq!(cluster.raw(1).waiting_read_count(), 1);
    (0..20).for_each(|_| cluster.heartbeat(1));
    assert_eq!((cluster.raw(1).role(), cluster.raw(1).waiting_read_count()), (Role::Follower, 0));
    assert!(cluster.node(1).reads.is_empty());
}

#[test]
fn a_new_leader_parks_reads_until_it_has_committed_an_entry_of_its_term() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.raw(1).campaign();
    cluster.lose(MessageKind::Append);
    cluster.settle();
    cluster.raw(1).read_index("early");
    cluster.settle();
    assert!(cluster.node(1).reads.is_empty());
    cluster.heal();
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.node(1).reads, [(1, b"early".to_vec())]);
}

/// In etcd a single voter answers at once, with a commit index that a crash may have taken back.
#[test]
fn a_single_voter_parks_reads_as_well_after_a_restart_that_lost_the_commit_index() {
    let mut memory = MemoryStorage::with_voters([1]);
    memory.append(&common::log(&[1, 1]));
    memory.set_hard_state(whitewater_raft::HardState { term: 1, vote: 1, commit: 0 });
    let mut node = Node::new(Config::new(1), memory);
    node.raw.campaign();
    let ready = node.raw.ready();
    node.persist(&ready);
    node.raw.advance();
    assert_eq!((node.raw.role(), node.raw.commit_index()), (Role::Leader, 0));
    node.raw.read_index("early");
    node.drain();
    assert_eq!(node.reads, [(3, b"early".to_vec())]);
}

#[test]
fn a_lease_answers_at_once_and_a_single_voter_as_well() {
    let lease = |id| Config { check_quorum: true, read_mode: ReadMode::LeaseBased, ..Config::new(id) };
    let mut cluster = Cluster::new(3, lease);
    cluster.elect(1);
    cluster.raw(1).read_index("now");
    cluster.drain();
    assert_eq!(cluster.node(1).reads.len(), 1);
    assert_eq!(cluster.raw(2).forget_leader(), Err(StepError::LeaseReads));
    let mut single = Cluster::new(1, Config::new);
    single.elect(1);
    single.raw(1).read_index("now");
    single.drain();
    assert_eq!(single.node(1).reads.len(), 1);
}

#[test]
fn a_lease_ends_with_the_order_to_take_over_even_if_nobody_takes_over() {
    let lease = |id| Config { check_quorum: true, read_mode: ReadMode::LeaseBased, ..Config::new(id) };
    let mut cluster = Cluster::new(3, lease);
    cluster.elect(1);
    cluster.raw(1).transfer_leader(2);
    cluster.lose(MessageKind::TimeoutNow);
    cluster.settle();
    cluster.lose(MessageKind::Heartbeat);
    cluster.raw(1).read_index("the order may still arrive");
    cluster.settle();
    assert_eq!(cluster.node(1).reads.len(), 0, "a leader that was deposed at its own wish answered a read");
    cluster.heal();
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.node(1).reads.len(), 1);
}

#[test]
fn a_voter_that_is_alone_in_both_halves_of_a_joint_configuration_answers_reads() {
    let mut single = Cluster::new(1, Config::new);
    single.elect(1);
    let learner = vec![Change { kind: ChangeKind::AddLearner, node: 2 }];
    let joint =
        ConfChangeV2 { transition: Transition::JointExplicit, changes: learner, context: Payload::EMPTY };
    single.raw(1).propose_conf_change(&joint).unwrap();
    single.drain();
    assert!(single.raw(1).configuration().is_joint());
    single.raw(1).read_index("alone");
    single.drain();
    assert_eq!(single.node(1).reads.len(), 1);
}

#[test]
fn a_read_that_waits_for_a_removed_voter_is_confirmed_by_its_removal() {
    let mut cluster = Cluster::new(2, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose_conf_change(&change(ChangeKind::RemoveNode, 2)).unwrap();
    cluster.lose(MessageKind::HeartbeatResponse);
    cluster.raw(1).read_index("waits");
    cluster.settle();
    assert_eq!(cluster.node(1).reads.len(), 1);
}

#[test]
fn a_joint_configuration_is_left_on_its_own_and_a_removed_node_does_not_campaign() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.nodes.insert(4, Node::new(Config::new(4), MemoryStorage::new()));
    cluster.elect(1);
    let replace = ConfChangeV2 {
        transition: Transition::Auto,
        changes: vec![
            Change { kind: ChangeKind::RemoveNode, node: 3 },
            Change { kind: ChangeKind::AddNode, node: 4 },
        ],
        context: Payload::EMPTY,
    };
    cluster.raw(1).propose_conf_change(&replace).unwrap();
    // Node 4 starts without a configuration, and gets one with a snapshot.
    let conf_state = ConfState {
        voters: vec![1, 2, 4],
        voters_outgoing: vec![1, 2, 3],
        auto_leave: true,
        ..ConfState::default()
    };
    cluster.lose(MessageKind::Append);
    cluster.settle();
    cluster.heal();
    cluster.heartbeat(1);
    for _ in 0..1_000 {
        let applied = cluster.raw(1).applied_index();
        let _ = cluster.raw(1).storage_mut().memory.create_snapshot(applied, conf_state.clone(), b"");
        if !cluster.deliver_one() {
            break;
        }
    }
    assert_eq!(cluster.raw(1).configuration().voters.incoming.voters(), [1, 2, 4]);
    assert!(!cluster.raw(1).configuration().is_joint());
    let term = cluster.raw(3).term();
    cluster.raw(3).campaign();
    assert!(cluster.raw(3).configuration().voters.contains(3) || cluster.raw(3).term() == term);
}

#[test]
fn a_learner_receives_the_log_and_does_not_count() {
    let mut cluster = Cluster::new(2, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose_conf_change(&change(ChangeKind::AddLearner, 3)).unwrap();
    cluster.settle();
    let mut memory = MemoryStorage::with_voters([1, 2]);
    memory.set_conf_state(ConfState { voters: vec![1, 2], learners: vec![3], ..ConfState::default() });
    cluster.nodes.insert(3, Node::new(Config::new(3), memory));
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    cluster.raw(3).campaign();
    assert_eq!(cluster.raw(3).role(), Role::Follower);
    let commit = cluster.raw(1).commit_index();
    cluster.isolate(2);
    cluster.propose(1, "data");
    cluster.settle();
    assert_eq!(cluster.raw(1).commit_index(), commit, "the learner's acknowledgement does not count");
}

#[test]
fn a_second_configuration_change_is_replaced_while_the_first_is_on_its_way() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose_conf_change(&change(ChangeKind::AddLearner, 7)).unwrap();
    cluster.raw(1).propose_conf_change(&change(ChangeKind::AddLearner, 8)).unwrap();
    cluster.settle();
    assert_eq!(cluster.raw(1).configuration().learners, [7]);
    assert_eq!(cluster.raw(1).entry_at(3), Some(Entry { term: 1, index: 3, ..Entry::default() }));
}

#[test]
fn uncommitted_proposals_are_limited_and_the_first_one_always_passes() {
    let mut cluster = Cluster::new(3, |id| Config { uncommitted_size_max_bytes: 10, ..Config::new(id) });
    cluster.elect(1);
    cluster.isolate(1);
    cluster.propose(1, "longer than the limit");
    assert_eq!(cluster.raw(1).propose("x"), Err(StepError::ProposalDropped));
    assert_eq!(cluster.raw(1).propose(""), Ok(()), "empty proposals pass");
    cluster.heal();
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.raw(1).uncommitted_size_bytes(), 0);
    assert_eq!(cluster.raw(1).propose("x"), Ok(()));
}

#[test]
fn a_follower_forwards_proposals_unless_it_must_not() {
    for disable_proposal_forwarding in [false, true] {
        let mut cluster = Cluster::new(3, |id| Config { disable_proposal_forwarding, ..Config::new(id) });
        cluster.elect(1);
        let proposed = cluster.raw(2).propose("data");
        cluster.settle();
        assert_eq!(proposed.is_err(), disable_proposal_forwarding);
        assert_eq!(cluster.raw(1).last_index(), if disable_proposal_forwarding { 1 } else { 2 });
    }
}

#[test]
fn bytes_in_flight_are_limited() {
    let config = |id| Config { inflight_size_max_bytes: 100, message_size_max_bytes: 50, ..Config::new(id) };
    let mut cluster = Cluster::new(2, config);
    cluster.elect(1);
    cluster.isolate(2);
    (0..9).for_each(|_| cluster.propose(1, &"x".repeat(40)));
    assert_eq!(cluster.node(1).peer(2).inflights.count(), 3);
    cluster.heal();
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.raw(2).last_index(), cluster.raw(1).last_index());
}

#[test]
fn a_page_of_committed_entries_respects_the_limit_and_loses_nothing() {
    for limit in [1, 30, u64::MAX] {
        let mut cluster = Cluster::new(1, |id| Config { committed_size_max_bytes: limit, ..Config::new(id) });
        cluster.elect(1);
        (0..20).for_each(|at| cluster.raw(1).propose(format!("{at}")).unwrap());
        cluster.settle();
        let applied: Vec<u64> = cluster.node(1).applied.iter().map(|entry| entry.index).collect();
        assert_eq!(applied, Vec::from_iter(1..=21), "limit {limit}");
    }
}

#[test]
fn a_higher_priority_refuses_a_lower_one_with_a_log_of_the_same_length() {
    let mut cluster = Cluster::new(3, |id| Config { priority: id as i64, ..Config::new(id) });
    cluster.raw(1).campaign();
    cluster.settle();
    assert_eq!(cluster.raw(1).role(), Role::Follower, "both others are worth more");
    cluster.raw(3).campaign();
    cluster.settle();
    assert_eq!(cluster.raw(3).role(), Role::Leader);
}

#[test]
fn a_follower_may_ask_for_a_snapshot() {
    let mut cluster = Cluster::new(3, |id| Config { follower_snapshots: true, ..Config::new(id) });
    assert_eq!(cluster.raw(2).request_snapshot(), Err(StepError::SnapshotRequestDropped), "no leader");
    cluster.elect(1);
    (0..3).for_each(|_| cluster.propose(1, "data"));
    cluster.settle();
    assert_eq!(cluster.raw(2).request_snapshot(), Ok(()));
    assert_eq!(cluster.raw(2).request_snapshot(), Err(StepError::SnapshotRequestDropped), "asked already");
    cluster.settle();
    cluster.propose(1, "one more, so that a snapshot can be newer than the follower");
    cluster.settle();
    let conf_state = ConfState { voters: vec![1, 2, 3], ..ConfState::default() };
    let applied = cluster.raw(1).applied_index();
    cluster.raw(1).storage_mut().memory.create_snapshot(applied, conf_state, b"state").unwrap();
    for _ in 0..3 {
        cluster.heartbeat(1);
        cluster.settle();
    }
    let (first, last) = (cluster.raw(2).first_index(), cluster.raw(2).last_index());
    assert_eq!((first, last), (applied + 1, applied), "the snapshot replaced the log");
    assert_eq!(cluster.node(1).peer(2).state, ProgressState::Replicate);
    let mut off = Cluster::new(3, Config::new);
    off.elect(1);
    assert_eq!(off.raw(2).request_snapshot(), Err(StepError::SnapshotRequestDropped));
}

#[test]
fn a_node_restarts_where_it_left_off() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.propose(1, "data");
    cluster.settle();
    cluster.heartbeat(1);
    cluster.settle();
    let before = cluster.raw(2).hard_state();
    cluster.restart(2, Config::new(2));
    assert_eq!((cluster.raw(2).hard_state(), cluster.raw(2).role()), (before, Role::Follower));
    cluster.drain();
    assert_eq!(cluster.node(2).applied.len(), 2, "everything committed is applied again");
    let applied = cluster.raw(2).applied_index();
    cluster.restart(2, Config { applied, ..Config::new(2) });
    cluster.drain();
    assert!(cluster.node(2).applied.is_empty(), "unless the application has it");
}

#[test]
fn a_storage_that_cannot_read_delays_a_node_and_does_not_break_it() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.isolate(3);
    (0..5).for_each(|_| cluster.propose(1, "data"));
    cluster.settle();
    cluster.heal();
    cluster.raw(1).storage_mut().broken.set(Some("read failed"));
    for _ in 0..3 {
        cluster.heartbeat(1);
        cluster.settle();
    }
    assert_eq!(cluster.raw(3).last_index(), 1);
    cluster.raw(1).storage_mut().broken.set(None);
    cluster.heartbeat(1);
    cluster.settle();
    assert_eq!(cluster.raw(3).last_index(), cluster.raw(1).last_index());
    assert_eq!(cluster.node(1).applied.len(), 6);
}

#[test]
fn a_node_does_not_start_on_a_storage_that_contradicts_itself() {
    let start = |memory| RawNode::new(Config::new(1), FlakyStorage::new(memory)).map(|_| ()).unwrap_err();
    let mut memory = MemoryStorage::with_voters([1]);
    memory.set_hard_state(whitewater_raft::HardState { term: 1, vote: 0, commit: 5 });
    assert!(start(memory).to_string().contains("stored commit 5"));
    let twice = MemoryStorage::with_voters([1, 1]);
    assert!(start(twice).to_string().contains("stored membership"));
    let config = Config { applied: 7, ..Config::new(1) };
    let error = RawNode::new(config, MemoryStorage::with_voters([1])).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("applied"));
    let storage = FlakyStorage::default();
    storage.broken.set(Some("no disk"));
    let error = RawNode::new(Config::new(1), storage).map(|_| ()).unwrap_err();
    assert_eq!(error, whitewater_raft::ConfigError::Storage(StorageError::Other("no disk")));
}

#[test]
fn late_answers_to_a_pre_election_do_not_count_in_the_election() {
    let mut node = Node::new(Config { pre_vote: true, ..Config::new(1) }, MemoryStorage::with_voters(1..=5));
    node.raw.campaign();
    node.drain();
    let grant = |from| message(MessageKind::PreVoteResponse, from, 1, 1);
    node.raw.step(grant(2)).unwrap();
    node.raw.step(grant(3)).unwrap();
    assert_eq!(kinds(&of_kind(node.drain(), MessageKind::Vote)), [MessageKind::Vote; 4]);
    node.raw.step(grant(4)).unwrap();
    node.raw.step(grant(5)).unwrap();
    assert_eq!(node.raw.role(), Role::Candidate);
}

/// A candidate that asked before could win, forget the term in a crash, and win it once more with other entries.
#[test]
fn requests_for_votes_wait_until_the_term_is_durable() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.raw(1).campaign();
    let ready = cluster.raw(1).ready();
    assert!(ready.must_sync && ready.immediate_messages().is_empty());
    assert!(kinds(ready.promises()).starts_with(&[MessageKind::Vote; 2]), "{:?}", kinds(ready.promises()));
}

#[test]
fn promises_come_behind_what_may_be_sent_at_once() {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose("data").unwrap();
    let ready = cluster.raw(1).ready();
    assert_eq!(kinds(ready.immediate_messages()), [MessageKind::Append; 2]);
    assert!(ready.promises().is_empty() && ready.must_sync);
    let append = ready.messages[0].clone();
    cluster.raw(2).step(append).unwrap();
    let ready = cluster.raw(2).ready();
    assert!(ready.immediate_messages().is_empty());
    assert_eq!(kinds(ready.promises()), [MessageKind::AppendResponse]);
}

#[test]
fn a_message_prints_as_etcd_prints_it() {
    let append = Message {
        log_term: 1,
        index: 11,
        commit: 11,
        entries: vec![Entry { term: 1, index: 12, data: "data1".into(), ..Entry::default() }].into(),
        ..message(MessageKind::Append, 1, 18, 1)
    };
    let expected = r#"1->12 MsgApp Term:1 Log:1/11 Commit:11 Entries:[1/12 EntryNormal "data1"]"#;
    assert_eq!(append.to_string(), expected);
}
