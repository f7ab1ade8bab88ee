//! A search may be asked to meet everything that a system marks.

use whitewater::hunt_in;
use whitewater_kv::KV;

#[test]
fn a_search_that_is_to_meet_everything_and_does_not_is_no_pass() {
    let hunt = || hunt_in(&KV).deliveries(2_000).jobs(1);
    hunt().assert_clean();
    let told = std::panic::catch_unwind(|| hunt().reaching_everything().assert_clean()).unwrap_err();
    let told = told.downcast_ref::<String>().expect("a text");
    assert!(told.starts_with("kv: nothing found, but ") && told.contains("have never reached "), "{told}");
    assert!(told.contains("joint-left"), "{told}");
}
