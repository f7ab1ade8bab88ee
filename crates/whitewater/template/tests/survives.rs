//! The protocol survives a search, its bug does not, and the race between them is kept as a scenario.

use primary_backup::Server;

#[test]
fn survives() {
    whitewater::hunt::<Server>().deliveries(200_000).assert_clean();
}

#[test]
fn a_lease_that_counts_from_its_arrival_is_held_twice() {
    let found = whitewater::hunt::<Server>().set("lease-from", "arrival").deliveries(2_000_000).run();
    assert!(found.unwrap_err().contains("one-primary"));
}

#[test]
fn the_late_lease_is_told_as_a_story() {
    whitewater::scenario::<Server>("scenarios/late-lease.json");
}
