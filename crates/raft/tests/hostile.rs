//! No sequence of messages makes a node panic, whatever state it is in.
//!
//! A longer run: `cargo run --profile fuzz -p whitewater-raft --example hostile -- --steps 10000000`.

#[path = "../examples/hostile/torment.rs"]
mod torment;

use proptest::prelude::*;
use torment::Torment;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_messages_do_not_make_a_node_panic(seed: u64) {
        let mut torment = Torment::new(seed);
        (0..1_000).for_each(|_| torment.step());
        torment.check();
    }
}

/// A torment that every message bounces off would prove little.
#[test]
fn the_torment_reaches_every_role_and_every_kind_of_refusal() {
    let mut seen = torment::Seen::default();
    for seed in 0..300 {
        let mut torment = Torment::new(seed);
        (0..500).for_each(|_| torment.step());
        seen.merge(&torment.seen);
    }
    assert_eq!(seen.roles.len(), 4, "{:?}", seen.roles);
    for refusal in [
        "ProposalDropped",
        "PeerNotFound",
        "LocalMessage",
        "MissingSender",
        "PositionTooLarge",
        "EmptyProposal",
        "MalformedConfChange",
        "MalformedRead",
        "MalformedAppend",
        "MalformedSnapshot",
        "CommitBeyondLog",
        "AckBeyondLog",
        "AppliedBeyondCommit",
    ] {
        assert!(seen.refusals.contains(refusal), "never refused: {refusal}");
    }
    assert!(seen.committed && seen.joint && seen.snapshots);
}
