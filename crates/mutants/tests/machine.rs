//! The only test that bugs chosen by a machine are held against: a campaign over the store, and nothing else.

use whitewater::hunt_in;
use whitewater_kv::KV;

#[test]
#[ignore = "it takes a minute; `cargo xtask mutants --machine` runs it against each bug"]
fn twenty_million_deliveries_break_no_rule_and_meet_everything() {
    hunt_in(&KV).deliveries(20_000_000).reaching_everything().assert_clean();
}
