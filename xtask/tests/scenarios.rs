//! Every scenario and variant does what is expected of it, and its trace is the one in `scenarios/snapshots`.
//!
//! A trace holds no hash, time of day or path: it changes when behaviour does, and the difference is the review.

mod support;

use std::fs;
use std::time::Instant;
use support::root;
use whitewater_hunt::{meets, scenario_text};
use whitewater_kv::KV;
use whitewater_plan::{Expect, Scenario};
use whitewater_relay::RELAY;
use whitewater_sim::System;

static SYSTEMS: &[&dyn System] = &[&RELAY, &KV];

/// One test per scenario and variant; a file or variant that is not listed fails the last test.
macro_rules! scenarios {
    ($($scenario:ident: $($(#[$attribute:meta])* $variant:ident),+;)+) => {
        $(mod $scenario {
            $(#[test]
            $(#[$attribute])*
            fn $variant() {
                super::holds(stringify!($scenario), stringify!($variant));
            })+
        })+
        const LISTED: &[(&str, &[&str])] = &[$((stringify!($scenario), &[$(stringify!($variant)),+])),+];
    };
}

scenarios! {
    acknowledged_before_durable:
        durable_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        reply_first;
    acknowledgement_from_a_later_term:
        term_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        count_first;
    announcement_at_teardown: latch, mailbox;
    answer_from_a_later_term:
        steps_down,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        goes_on;
    append_found_damaged:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_from_nowhere:
        snapshot,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        empty_append;
    append_in_the_long_tail:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_late_by_chance:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_lost_on_one_link:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_lost_with_others:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_of_a_former_time:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_of_an_old_leader:
        too_late,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        taken;
    append_on_the_slower_way:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_overtaken_by_an_election:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_stuck_on_its_way:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_that_comes_a_second_time:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    append_that_fits_by_length:
        index_and_term,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        index_only;
    append_too_large_for_its_link:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    claim_behind_unwritten_rows:
        behind_them,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        before_them;
    claim_overtakes_its_term:
        term_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        rows_first;
    commit_from_nowhere:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    confirmation_of_replaced_entries:
        by_index_and_term,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        by_index;
    confirmed_twice:
        known_already,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        split_brain;
    crash_between_two_writes:
        one_write,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        two_writes;
    crash_between_write_and_sync:
        durable_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        vote_first;
    cut_off_while_confirming:
        noticed,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        missed;
    disk_of_a_moment_ago: excused, not_excused;
    disruptive_server: pre_vote_and_check_quorum, pre_vote_alone, check_quorum_alone, neither;
    disturbed_for_good: both, neither;
    figure_7_followers_of_every_shape:
        index_and_term,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        index_only;
    figure_8_commit_by_counting:
        own_term_only,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        any_term;
    follower_behind_a_bridge:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    follower_that_comes_and_goes:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    follower_that_hears_nothing:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    forgetful_voter:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    full_disks_still_answer: core_waits, thread_waits;
    given_up_and_claimed_again:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    half_is_no_majority:
        majority,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        half;
    hears_nobody_but_is_heard: voters_stand_by_their_leader, pre_vote_alone, neither;
    heartbeat_tells_too_much:
        what_is_known,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        everything;
    heartbeats_of_the_dead:
        relays_look_back,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        relays_go_on;
    joint_membership_left_half_way:
        left_by_the_next,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        never_left;
    last_witness_out_of_reach:
        quorum_needed,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        quorum_ignored;
    last_words_of_a_follower:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    last_words_of_a_leader:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    leader_announce_before_relay_ready: drop, latch, mailbox;
    leader_behind_a_wall: fenced, not_fenced;
    leader_cut_off: check_quorum, no_check_quorum;
    leader_in_a_ring:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    leader_in_a_row:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    leader_on_the_smaller_side:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    leader_that_cannot_write:
        starts_again,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        leads_on;
    leader_that_hears_nobody: check_quorum, no_check_quorum;
    leader_whose_disk_stands_still:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    leadership_moves_for_nothing: voters_stand_by_their_leader, pre_vote_alone;
    learner_that_must_vote:
        votes,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        abstains;
    lease_and_a_clock_that_is_set_back: as_it_is, as_it_was;
    lease_and_a_clock_that_stands_still: as_it_is, as_it_was;
    lease_and_a_slow_clock: read_index, lease;
    lease_and_clocks_that_jump_ahead: as_it_is, as_it_was;
    lease_outlives_its_transfer:
        lease_ends,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        lease_goes_on;
    longer_log_wins:
        last_term_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        length_only;
    majority_comes_back_empty: outside_the_contract, within_it;
    mode_changes_during_a_write:
        taken_in,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        asserted;
    newer_but_shorter_log:
        term_before_length,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        both;
    nobody_can_be_elected: nothing_is_owed;
    nobody_can_be_elected_for_good: asking_before, not_asking;
    old_snapshot_removed_early:
        removed_late,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        removed_early;
    only_the_hub_for_good: both;
    only_the_hub_reaches_everybody: check_quorum, no_check_quorum;
    only_the_leader_applies:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_clients_saw_it;
    overwritten_entries_stay_in_memory:
        cut_with_the_log,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        not_cut;
    read_by_an_old_leader:
        confirmed,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        unconfirmed;
    refused_but_told:
        term_told,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        term_kept;
    removed_and_back_without_its_log:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    reordered_append_cuts_the_log:
        cut_at_a_conflict,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        cut_always;
    replaced_and_back_without_its_log:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    resignation_during_a_write:
        taken_in,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        asserted;
    rolled_back_row_stays_away:
        rolled_back,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        left_waiting;
    row_of_an_old_owner:
        counts_for_nothing,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        waits;
    seed_e10_heartbeat_interval:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e11_one_probe_at_a_time:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e12_proposal_without_leader:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e1_campaign_while_leading:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e2_snapshot_not_ready:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e3_compaction_races_append:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e4_window_of_appends:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e5_entry_above_the_limit:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e6_append_from_before_the_commit:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e7_snapshot_report_ignored:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e8_appends_that_wait:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    seed_e9_append_before_session_ready:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    slow_server_deposes_its_leader: both, neither;
    snapshot_name_not_durable:
        folder_synced,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        folder_not_synced;
    snapshot_named_before_durable:
        durable_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        named_first;
    snapshot_takes_the_term_back:
        term_stays,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        term_of_the_snapshot;
    snapshot_without_its_log:
        one_frame,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        two_frames;
    split_vote: noticed, not_noticed;
    split_vote_too_soon:
        open,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        split;
    stale_announcement: latch, mailbox;
    sync_that_failed:
        starts_again,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        tries_again;
    sync_that_fails_now_and_then:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    transfer_to_a_process_that_stands_still:
        given_up,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        never_given_up;
    transfer_that_fails:
        given_up,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        never_given_up;
    two_changes_in_one_breath:
        one_at_a_time,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        both_at_once;
    two_promotions_at_once:
        once,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        for_ever;
    unacknowledged_and_gone: lost;
    vote_for_any_log:
        recent_logs_only,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        any_log;
    vote_while_a_row_is_written:
        judged_twice,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        judged_once;
    window_that_was_made_smaller:
        as_it_is,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        as_it_was;
    witness_stops_a_candidate:
        waits,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        stops;
    witness_without_eyes:
        says_no,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        says_yes;
    write_before_the_claim:
        claim_first,
        #[cfg_attr(not(feature = "mutants"), ignore = "a bug is planted in it")]
        write_first;
}

fn holds(scenario: &str, variant: &str) {
    let (scenario, variant) = (kebab(scenario), kebab(variant));
    let scenario = read(&scenario);
    let system = SYSTEMS.iter().find(|s| s.name() == scenario.system).expect("the system is one of ours");
    let begun = Instant::now();
    let (text, outcome) = scenario_text(*system, &scenario, &variant).expect("the scenario runs");
    // Seen with `-- --show-output`.
    println!("{} @{variant}: {} us", scenario.name, begun.elapsed().as_micros());
    let expected = scenario.variants.iter().find(|v| v.name == variant).expect("the variant runs");
    if let Err(why) = meets(&expected.expect, &outcome) {
        panic!("{} @{variant}: {why}", scenario.name);
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("scenarios/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_suffix(&variant);
    settings.bind(|| insta::assert_snapshot!(scenario.name.as_str(), text));
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

fn read(name: &str) -> Scenario {
    let file = format!("scenarios/{name}.json");
    let json = fs::read_to_string(root().join(&file)).expect("a listed scenario has its file");
    Scenario::parse(&file, &json, SYSTEMS).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_scenario_and_every_variant_has_its_test() {
    let mut listed: Vec<(String, Vec<String>)> = LISTED
        .iter()
        .map(|(name, variants)| (kebab(name), variants.iter().map(|v| kebab(v)).collect()))
        .collect();
    let mut there: Vec<(String, Vec<String>)> = support::tracked()
        .into_iter()
        .filter(|path| path.parent() == Some("scenarios".as_ref()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
        .map(|name| {
            let variants = read(&name).variants.into_iter().map(|variant| variant.name).collect();
            (name, variants)
        })
        .collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there, "add what is missing to `scenarios!` in this file");
}

/// Lines a snapshot has at most.
const SNAPSHOT_LINES_MAX: usize = 120;

#[test]
fn every_scenario_has_a_theme_a_moral_a_source_and_notes_and_its_snapshots_can_be_read() {
    for (name, variants) in LISTED {
        let scenario = read(&kebab(name));
        assert!(scenario.theme.is_some() && scenario.moral.is_some(), "{name}: say what is learned from it");
        assert!(!scenario.notes.is_empty(), "{name}: say what happens");
        assert!(scenario.source.is_some(), "{name}: say who has had it, or where it is written of");
        for variant in *variants {
            let file = format!("scenarios/snapshots/{}@{}.snap", kebab(name), kebab(variant));
            let text = fs::read_to_string(root().join(&file)).expect("every variant has its snapshot");
            let lines = text.lines().count();
            assert!(lines <= SNAPSHOT_LINES_MAX, "{file}: {lines} lines; tell a shorter story");
        }
    }
}

#[test]
fn what_a_scenario_violates_it_violates_at_a_node() {
    for (name, _) in LISTED {
        for variant in read(&kebab(name)).variants {
            let is_nowhere = matches!(variant.expect, Expect::Violates { node: None, .. });
            assert!(!is_nowhere, "{name} @{}: tell it such that it shows at a node", variant.name);
        }
    }
}

#[test]
fn schema_and_index_are_those_of_what_there_is() {
    for what in ["schema", "index"] {
        let ended = support::run(&format!("scenario {what} --check"));
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    }
}

#[test]
fn every_snapshot_belongs_to_a_variant() {
    let snapshots =
        support::tracked().into_iter().filter(|path| path.extension().is_some_and(|e| e == "snap"));
    for path in snapshots.filter(|path| path.starts_with("scenarios/snapshots")) {
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let known = LISTED.iter().any(|(name, variants)| {
            variants.iter().any(|variant| stem == format!("{}@{}", kebab(name), kebab(variant)))
        });
        assert!(known, "{}: no scenario and variant has this snapshot any more; remove it", path.display());
    }
}
