//! What a node goes on with while its storage refuses what a Ready wants stored.

mod common;

use common::{Cluster, of_kind};
use whitewater_raft::{Config, MessageKind, Ready, Role};

/// Three nodes, the first of which leads and has taken a Ready with one entry that its storage refuses.
fn refused() -> (Cluster, Ready) {
    let mut cluster = Cluster::new(3, Config::new);
    cluster.elect(1);
    cluster.raw(1).propose(b"refused".as_slice()).expect("a leader takes proposals");
    let ready = cluster.raw(1).ready();
    assert_eq!(ready.entries.len(), 1);
    (cluster, ready)
}

/// Delivers what node 1 may send without its storage, and the answers of the others.
fn exchange(cluster: &mut Cluster, messages: Vec<whitewater_raft::Message>) {
    for message in messages {
        let to = message.to;
        cluster.raw(to).step(message).expect("a leader says nothing wrong");
        for answer in cluster.node(to).drain() {
            if answer.to == 1 {
                cluster.raw(1).step(answer).expect("a follower says nothing wrong");
            }
        }
    }
}

fn meanwhile(cluster: &mut Cluster) -> Ready {
    let mut ready = Ready::default();
    cluster.raw(1).ready_without_storage_into(&mut ready);
    ready
}

#[test]
fn a_leader_confirms_reads_while_nothing_can_be_stored() {
    let (mut cluster, _) = refused();
    cluster.raw(1).read_index(b"r".as_slice());
    let asked = meanwhile(&mut cluster);
    assert_eq!(of_kind(asked.messages.clone(), MessageKind::Heartbeat).len(), 2);
    exchange(&mut cluster, asked.messages);
    let answered = meanwhile(&mut cluster);
    assert_eq!(answered.read_states.len(), 1);
    assert!(answered.entries.is_empty() && answered.hard_state.is_none(), "nothing is to be stored");
}

#[test]
fn what_a_majority_has_without_the_leader_is_applied_once() {
    let (mut cluster, ready) = refused();
    let index = ready.entries[0].index;
    exchange(&mut cluster, ready.immediate_messages().to_vec());
    assert_eq!(cluster.raw(1).commit_index(), index, "two of three have it");
    let now = meanwhile(&mut cluster);
    assert_eq!(now.committed_entries.iter().map(|entry| entry.index).collect::<Vec<_>>(), [index]);
    assert_eq!(meanwhile(&mut cluster).committed_entries, []);
    cluster.node(1).persist(&ready);
    cluster.raw(1).advance();
    assert_eq!(cluster.raw(1).applied_index(), index);
    let next = cluster.raw(1).ready();
    assert_eq!(next.committed_entries, [], "it was handed out before");
}

#[test]
fn nothing_is_handed_out_while_a_term_is_not_durable() {
    let (mut cluster, _) = refused();
    cluster.raw(2).campaign();
    for request in cluster.node(2).drain().into_iter().filter(|message| message.to == 1) {
        cluster.raw(1).step(request).expect("a candidate says nothing wrong");
    }
    assert_eq!(cluster.raw(1).role(), Role::Follower);
    assert!(!cluster.raw(1).may_go_on_without_storage(), "the new term would be forgotten in a crash");
    assert_eq!(meanwhile(&mut cluster), Ready::default());
}

#[test]
#[should_panic(expected = "a second Ready was taken before the first was dealt with")]
fn the_refused_ready_still_has_to_be_dealt_with() {
    let (mut cluster, _) = refused();
    meanwhile(&mut cluster);
    cluster.raw(1).ready();
}
