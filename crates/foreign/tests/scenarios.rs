//! What was found in Rafts that somebody else wrote, told as scenarios and held by snapshots.

use whitewater_noraft::{NORAFT, NORAFT_04, NORAFT_MIXED};
use whitewater_tikv::TIKV;

#[test]
fn longer_log_wins() {
    whitewater::scenario_in(&NORAFT_MIXED, "scenarios/longer-log-wins.json");
}

#[test]
fn vote_for_who_leads_already() {
    whitewater::scenario_in(&NORAFT_MIXED, "scenarios/vote-for-who-leads-already.json");
}

#[test]
fn lease_read_after_transfer() {
    whitewater::scenario_in(&TIKV, "scenarios/lease-read-after-transfer.json");
}

#[test]
fn lease_read_while_another_leads() {
    whitewater::scenario_in(&TIKV, "scenarios/lease-read-while-another-leads.json");
}

#[test]
fn snapshot_asked_for_too_early() {
    whitewater::scenario_in(&TIKV, "scenarios/snapshot-asked-for-too-early.json");
}

#[test]
fn snapshot_asked_for_before_an_election() {
    whitewater::scenario_in(&TIKV, "scenarios/snapshot-asked-for-before-an-election.json");
}

#[test]
fn learner_of_a_later_term() {
    whitewater::scenario_in(&TIKV, "scenarios/learner-of-a-later-term.json");
}

#[test]
fn snapshot_in_place_of_a_longer_log() {
    whitewater::scenario_in(&TIKV, "scenarios/snapshot-in-place-of-a-longer-log.json");
}

#[test]
fn snapshot_that_a_crash_leaves() {
    whitewater::scenario_in(&TIKV, "scenarios/snapshot-that-a-crash-leaves.json");
}

#[test]
fn acknowledged_while_a_snapshot_comes() {
    whitewater::scenario_in(&NORAFT, "scenarios/acknowledged-while-a-snapshot-comes.json");
}

#[test]
fn sole_voter_forgets_its_term() {
    whitewater::scenario_in(&TIKV, "scenarios/sole-voter-forgets-its-term.json");
}

#[test]
fn elected_without_a_vote() {
    whitewater::scenario_in(&TIKV, "scenarios/elected-without-a-vote.json");
}

#[test]
fn sole_voter_stands_unstored() {
    whitewater::scenario_in(&TIKV, "scenarios/sole-voter-stands-unstored.json");
}

#[test]
fn sole_voter_speaks_unstored() {
    whitewater::scenario_in(&TIKV, "scenarios/sole-voter-speaks-unstored.json");
}

#[test]
fn sole_voter_leads_again() {
    whitewater::scenario_in(&TIKV, "scenarios/sole-voter-leads-again.json");
}

#[test]
fn request_again_after_a_restart() {
    whitewater::scenario_in(&NORAFT, "scenarios/request-again-after-a-restart.json");
}

#[test]
fn the_release_that_compares_lengths_loses_a_committed_entry_within_a_moment() {
    let report = whitewater::hunt_in(&NORAFT_04).jobs(1).deliveries(5_000_000).run().unwrap_err();
    assert!(report.contains("leader-completeness") || report.contains("committed"), "{report}");
}

#[test]
fn the_raft_of_tikv_survives() {
    whitewater::hunt_in(&TIKV).jobs(1).deliveries(100_000).assert_clean();
}

#[test]
fn the_raft_of_tikv_survives_a_calm_network_and_a_bad_one() {
    for profile in [whitewater::plan::Profile::Calm, whitewater::plan::Profile::Network] {
        whitewater::hunt_in(&TIKV).profile(profile).jobs(1).deliveries(50_000).assert_clean();
    }
}

#[test]
fn the_current_release_survives_a_calm_network() {
    whitewater::hunt_in(&NORAFT)
        .profile(whitewater::plan::Profile::Calm)
        .jobs(1)
        .deliveries(50_000)
        .assert_clean();
}
