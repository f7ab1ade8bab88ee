//! A scenario shaken: what its script leaves open comes out otherwise, what it tells stays.
//!
//! The seed changes, and with it every draw. Times that are the same for everything, such as `delay 2ms`, are spread by a
//! quarter to both sides: the script says how long things take, not that they take equally long.

use crate::Plan;
use whitewater_sim::Span;

/// The plan as it is for 0, and shaken in another way for every other number.
pub fn around(plan: &Plan, number: u64) -> Plan {
    let mut shaken = plan.clone();
    if number == 0 {
        return shaken;
    }
    let script = &mut shaken.script;
    // An odd factor, so that no two numbers give the same seed.
    script.seed ^= number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    spread(&mut script.network.delay_low, &mut script.network.delay_high);
    spread(&mut script.disk.low, &mut script.disk.high);
    shaken
}

fn spread(low: &mut Span, high: &mut Span) {
    if low == high {
        let quarter = low.part(4);
        (*low, *high) = (*low - quarter, *high + quarter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SYSTEMS;

    fn plan() -> Plan {
        let text = r#"{ "plan": 1, "system": "pond", "profile": "calm", "options": {},
            "script": ["seed 0x5", "delay 2ms", "sync 1ms..3ms", "crash n1 at 5ms"] }"#;
        Plan::parse("p.json", text, &SYSTEMS).unwrap()
    }

    #[test]
    fn what_is_told_stays_and_what_is_open_changes() {
        let (plan, shaken) = (plan(), around(&plan(), 7));
        assert_eq!(shaken.script.steps, plan.script.steps);
        assert_eq!(shaken.script.disk, plan.script.disk, "a range is open already");
        let delay = (shaken.script.network.delay_low, shaken.script.network.delay_high);
        assert_eq!(delay, (Span::from_micros(1_500), Span::from_micros(2_500)));
        assert_ne!(shaken.script.seed, plan.script.seed);
    }

    #[test]
    fn the_first_is_the_plan_itself_and_every_number_is_another_one() {
        assert_eq!(around(&plan(), 0), plan());
        let seeds: std::collections::BTreeSet<u64> =
            (0..1_000).map(|number| around(&plan(), number).script.seed).collect();
        assert_eq!(seeds.len(), 1_000);
    }
}
