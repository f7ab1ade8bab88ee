//! Small worlds drawn afresh: what a large plan needed an accident for comes by itself in a world of few servers.
//!
//! Taking away from a plan leads to a small one only by way of plans that all fail. Where the large plan failed by a partition
//! that stood for minutes, each of its smaller ones has that partition too, though two servers and a copy of a vote would do.

use super::element::calm_links;
use super::trials::{Held, Length, Trials, changed};
use std::mem::discriminant;
use whitewater_plan::{Plan, Restrictions, Tuning, generate};
use whitewater_sim::draw::Draw;
use whitewater_sim::{Action, DiskContract, Script, System};

/// How large worlds are: the smallest in which the failure happens at all leaves least to take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Steps at most, operations included.
    steps: u64,
    /// Longest election timeouts until faults end, at most.
    timeouts: u64,
}

/// The extents, the smallest first.
const EXTENTS: [Extent; 3] =
    [Extent { steps: 3, timeouts: 8 }, Extent { steps: 8, timeouts: 12 }, Extent { steps: 20, timeouts: 20 }];

/// Worlds that are tried for one beginning.
const WORLDS: u64 = 1_024;

/// Worlds that are tried behind one that fails, for a shorter one.
const MORE_WORLDS: usize = 512;

/// Servers of a small world at most: a vote that is counted twice is no quorum in fewer than four.
const SERVERS_MAX: u64 = 5;

/// The smallest worlds in which it fails the same way, if it does so in any that is tried.
pub(super) fn smallest_world(trials: &mut Trials<'_>, held: &Held, first: &Plan) -> Option<Held> {
    (0..EXTENTS.len() as u64).find_map(|number| small_world(trials, held, first, number))
}

/// The shortest of some more of the largest of small worlds; others for every number from 1 on.
pub(super) fn another_world(trials: &mut Trials<'_>, held: &Held, first: &Plan, number: u64) -> Option<Held> {
    small_world(trials, held, first, EXTENTS.len() as u64 - 1 + number)
}

/// The shortest of some small worlds that fail the same way; none if none of them does. Numbers that are higher draw larger
/// ones, up to a size. What disturbs them is of the kinds that the `first` plan has.
fn small_world(trials: &mut Trials<'_>, held: &Held, first: &Plan, number: u64) -> Option<Held> {
    let system = trials.system();
    let extent = EXTENTS[(number as usize).min(EXTENTS.len() - 1)];
    let seeds = number * WORLDS..(number + 1) * WORLDS;
    let draw = |seed| world(system, (&held.plan, first), extent, seed);
    let worlds: Vec<Plan> = seeds.filter_map(draw).collect();
    let mut best: Option<Held> = None;
    let (mut next, mut end) = (0, worlds.len());
    while next < end && !trials.is_over() {
        let mut other = best.clone().unwrap_or_else(|| held.clone());
        let shorter = |held: &Held, length: Length| best.is_none() || length < Length::of(&held.outcome);
        let place = trials.first_if(&mut other, worlds[next..end].iter().cloned(), shorter);
        let Some(place) = place else { break };
        next += place + 1;
        end = end.min(next + MORE_WORLDS);
        best = Some(other);
    }
    best
}

/// A small world of the system of a plan, under its options: a few servers, a few steps, and an end soon.
fn world(
    system: &'static dyn System,
    (plan, first): (&Plan, &Plan),
    extent: Extent,
    seed: u64,
) -> Option<Plan> {
    let mut draw = Draw::from_value(plan.script.seed ^ seed);
    let servers = draw.within(2, SERVERS_MAX).min(plan.script.servers as u64);
    let clients = draw.below(2).min(plan.script.clients as u64);
    let given = plan.options.iter().filter(|(name, _)| !name.contains('.'));
    let mut set: Vec<(String, String)> =
        given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    set.push(("clients".to_owned(), clients.to_string()));
    let tuning = Tuning::default()
        .with_range("servers", servers, servers)
        .with_range("operations", 1, extent.steps)
        .with_range("horizon-timeouts", 1, extent.timeouts)
        .with_range("faults", 1, 1)
        .with_range("fault-timeouts", 0, extent.timeouts / 2);
    let restrictions = Restrictions {
        system: Some(plan.system.clone()),
        profile: Some(plan.profile),
        tuning,
        set,
        ..Restrictions::default()
    };
    let drawn = generate(&[system], draw.bits(), &restrictions).ok()?;
    let steps = draw.within(0, extent.steps);
    Some(changed(&drawn, |world| {
        // With the bug that is planted in it, and what single nodes have.
        world.options = plan.options.clone();
        leave_out_other_kinds(&mut world.script, &first.script);
        while world.script.steps.len() as u64 > steps {
            world.script.steps.remove(draw.below(world.script.steps.len() as u64) as usize);
        }
    }))
}

/// Where links do nothing by themselves, as in a search for some kinds of faults alone, leaves out what disturbs otherwise than the
/// other script: nobody who looks for a failure of crashes wants to read of one that comes of a lost message.
fn leave_out_other_kinds(script: &mut Script, other: &Script) {
    if calm_links(&other.network) != other.network {
        return;
    }
    script.network = calm_links(&script.network);
    let kinds: Vec<_> = other.steps.iter().map(|step| discriminant(&step.action)).collect();
    script.steps.retain(|step| {
        matches!(step.action, Action::Operate { .. }) || kinds.contains(&discriminant(&step.action))
    });
    if other.disk.contract() == DiskContract::Honest {
        script.disk = other.disk;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::BEACON;
    use whitewater_sim::Ratio;

    /// A plan for so many servers, as it is drawn.
    fn plan(servers: usize) -> Plan {
        let set =
            vec![("nodes".to_owned(), servers.to_string()), ("not-ready".to_owned(), "drop".to_owned())];
        let restrictions = Restrictions { set, ..Restrictions::default() };
        generate(&[&BEACON], 1, &restrictions).expect("it can be drawn")
    }

    #[test]
    fn a_world_is_as_small_as_its_extent_says_and_has_the_options_of_the_plan() {
        let large = plan(9);
        let longest = BEACON.timing(&large.options).election_high;
        for extent in EXTENTS {
            let worlds: Vec<Plan> =
                (0..64).filter_map(|seed| world(&BEACON, (&large, &large), extent, seed)).collect();
            assert_eq!(worlds.len(), 64);
            for world in &worlds {
                assert!((2..=SERVERS_MAX as usize).contains(&world.script.servers));
                assert!(world.script.steps.len() as u64 <= extent.steps);
                assert_eq!(world.options.given("not-ready"), Some("drop"));
                assert!(world.script.horizon <= longest.times(extent.timeouts + 1));
            }
            let most = worlds.iter().map(|world| world.script.steps.len() as u64).max();
            assert_eq!(most, Some(extent.steps), "some have as many steps as they may");
        }
    }

    #[test]
    fn nothing_disturbs_a_world_that_does_not_disturb_the_plan() {
        let mut large = plan(9);
        large.script.network = large.script.network.without_chance();
        large.script.steps.retain(|step| matches!(step.action, Action::Crash { .. }));
        assert!(!large.script.steps.is_empty(), "it has crashes");
        for seed in 0..64 {
            let world = world(&BEACON, (&large, &large), EXTENTS[2], seed).expect("it can be drawn");
            let allowed = |action: &Action| matches!(action, Action::Crash { .. } | Action::Operate { .. });
            assert!(world.script.steps.iter().all(|step| allowed(&step.action)));
            assert_eq!(
                (world.script.network.loss, world.script.network.duplicate),
                (Ratio::NEVER, Ratio::NEVER)
            );
        }
    }

    #[test]
    fn a_world_has_no_more_servers_than_the_plan() {
        let lone = plan(1);
        let worlds = (0..32).filter_map(|seed| world(&BEACON, (&lone, &lone), EXTENTS[0], seed));
        assert_eq!(worlds.map(|world| world.script.servers).max(), Some(1));
    }
}
