//! What profiles allow, what systems stand, and that neither shifts what else a seed means.

use super::*;
use crate::testing::{LAKE, OCEAN, POND, SEA};
use crate::text::{print_step, script_lines};
use std::collections::BTreeMap;
use whitewater_sim::{Action, DiskContract, DiskTiming, DiskTrouble, Network, Script, Trigger};

/// Enough of them to count shares.
const SEEDS: std::ops::Range<u64> = 0..400;
/// Enough of them for what holds in every plan.
const FEW_SEEDS: std::ops::Range<u64> = 0..60;

fn plan(system: &'static dyn System, seed: u64, profile: Profile) -> Plan {
    let restrictions = Restrictions { profile: Some(profile), ..Restrictions::default() };
    generate(&[system], seed, &restrictions).unwrap()
}

/// A script without what its disks say.
fn beside_disks(script: Script) -> Script {
    Script { disk: DiskTiming::default(), ..script }
}

fn refusal(systems: &[&'static dyn System], system: Option<&str>, profile: Profile) -> String {
    let system = system.map(str::to_owned);
    let restrictions = Restrictions { system, profile: Some(profile), ..Restrictions::default() };
    generate(systems, 1, &restrictions).unwrap_err()
}

/// What a seed means may change only on purpose: campaigns that are under way count on it.
#[test]
fn the_plans_of_a_system_that_stands_no_more_than_before_are_those_of_before() {
    let mut digester = whitewater_sim::Digester::default();
    for seed in SEEDS {
        for line in script_lines(&plan(&POND, seed, Profile::Swarm).script) {
            digester.bytes(line.as_bytes());
        }
    }
    assert_eq!(digester.hash(), whitewater_sim::TraceHash(0x4184_d69a_4b19_3d2b_e192_ac52_437d_15f2));
}

#[test]
fn a_system_that_stands_more_gets_more_trouble_with_disks_and_the_same_plan_otherwise() {
    for seed in FEW_SEEDS {
        let few = plan(&POND, seed, Profile::Swarm);
        let all = plan(&SEA, seed, Profile::Swarm);
        assert_eq!(all.options, few.options);
        let DiskTiming { high, failures, .. } = all.script.disk;
        assert_eq!(few.script.disk, DiskTiming { high, failures, ..DiskTiming::default() }, "seed {seed}");
        assert_eq!(beside_disks(all.script), beside_disks(few.script), "seed {seed}");
    }
}

#[test]
fn no_plan_has_a_trouble_that_its_system_does_not_stand() {
    let systems: [&'static dyn System; 3] = [&LAKE, &POND, &SEA];
    for system in systems {
        for profile in Profile::ALL.into_iter().filter(|profile| profile.suits(system)) {
            for seed in FEW_SEEDS {
                let disk = plan(system, seed, profile).script.disk;
                let had = DiskTrouble::ALL.into_iter().filter(|&trouble| disk.has(trouble));
                let excess: Vec<DiskTrouble> = had.filter(|&trouble| !system.stands(trouble)).collect();
                assert_eq!(excess, [], "{} in profile {profile}, seed {seed}", system.name());
            }
        }
    }
}

#[test]
fn each_profile_named_after_a_contract_keeps_it_in_every_plan() {
    for seed in FEW_SEEDS {
        let contract = |profile| plan(&SEA, seed, profile).script.disk.contract();
        assert_eq!(contract(Profile::Honest), DiskContract::Honest);
        assert_eq!(contract(Profile::Lossy), DiskContract::Lossy);
        assert_eq!(contract(Profile::Lying), DiskContract::Lying);
        assert_eq!(contract(Profile::Rotten), DiskContract::Rotten);
        assert_eq!(contract(Profile::Unlimited), DiskContract::Unlimited);
        assert!(contract(Profile::Disk) <= DiskContract::Lossy);
        assert_eq!(plan(&POND, seed, Profile::Lossy).script.disk.contract(), DiskContract::Lossy);
        for profile in [Profile::Calm, Profile::Network] {
            assert_eq!(plan(&SEA, seed, profile).script.disk, DiskTiming::default());
        }
    }
}

#[test]
fn contract_profiles_are_the_swarm_on_other_disks() {
    for seed in FEW_SEEDS {
        let swarm = plan(&SEA, seed, Profile::Swarm);
        let profiles = [Profile::Honest, Profile::Lossy, Profile::Lying, Profile::Rotten, Profile::Unlimited];
        for profile in profiles {
            let plan = plan(&SEA, seed, profile);
            assert_eq!(plan.options, swarm.options);
            assert_eq!(beside_disks(plan.script), beside_disks(swarm.script.clone()), "seed {seed}");
        }
    }
}

#[test]
fn the_swarm_trusts_most_disks_and_few_lie_or_rot() {
    let mut counts: BTreeMap<DiskContract, usize> = BTreeMap::new();
    for seed in SEEDS {
        *counts.entry(plan(&SEA, seed, Profile::Swarm).script.disk.contract()).or_default() += 1;
    }
    let share = |contract| counts.get(&contract).copied().unwrap_or_default() * 100 / SEEDS.count();
    assert!((8..=18).contains(&share(DiskContract::Lying)), "{counts:?}");
    assert!((8..=18).contains(&share(DiskContract::Rotten)), "{counts:?}");
    assert!(!counts.contains_key(&DiskContract::Unlimited), "{counts:?}");
}

#[test]
fn each_trouble_is_on_in_about_half_of_the_plans_that_may_have_it() {
    let share = |profile, trouble| {
        let has = |&seed: &u64| plan(&SEA, seed, profile).script.disk.has(trouble);
        SEEDS.filter(has).count() * 100 / SEEDS.count()
    };
    for trouble in DiskTrouble::ALL.into_iter().filter(|t| t.contract() <= DiskContract::Lossy) {
        let share = share(Profile::Disk, trouble);
        assert!((40..=60).contains(&share), "{trouble:?} is on in {share} % of the plans");
    }
    for trouble in DiskTrouble::of(DiskContract::Lying) {
        // One of three is on in any case, so each is on more often than in half of the plans.
        let share = share(Profile::Lying, trouble);
        assert!((45..=65).contains(&share), "{trouble:?} is on in {share} % of the plans");
    }
}

/// What the swarm has, less what the profile leaves out: nothing is added, moved or changed.
#[test]
fn the_profiles_network_and_disk_leave_parts_of_the_swarm_out() {
    let is_operation = |line: &str| line.contains("x=") || line.starts_with("campaign");
    let mut lines_of: BTreeMap<Profile, Vec<String>> = BTreeMap::new();
    for seed in FEW_SEEDS {
        let swarm = plan(&POND, seed, Profile::Swarm);
        for profile in [Profile::Network, Profile::Disk] {
            let part = plan(&POND, seed, profile);
            assert_eq!(part.options, swarm.options);
            let lines: Vec<String> = part.script.steps.iter().map(print_step).collect();
            let mut all = swarm.script.steps.iter().map(print_step);
            assert!(lines.iter().all(|line| all.any(|other| other == *line)), "seed {seed}: {lines:#?}");
            let operations = |script: &Script| {
                let is = |step: &&whitewater_sim::Step| matches!(step.action, Action::Operate { .. });
                script.steps.iter().filter(is).count()
            };
            assert_eq!(operations(&part.script), operations(&swarm.script));
            lines_of.entry(profile).or_default().extend(lines.into_iter().filter(|line| !is_operation(line)));
            match profile {
                Profile::Network => assert_eq!(part.script.network, swarm.script.network),
                _ => {
                    let Network { loss, duplicate, reorder, .. } = part.script.network;
                    assert_eq!((loss.0, duplicate.0, reorder.0), (0, 0, 0));
                    assert_eq!(part.script.disk, swarm.script.disk);
                }
            }
        }
    }
    let verbs = |profile: Profile| {
        let verb = |line: &String| line.split(' ').next().unwrap().to_owned();
        lines_of[&profile].iter().map(verb).collect::<std::collections::BTreeSet<_>>()
    };
    let expected = [
        "bridge",
        "chain",
        "choke",
        "clog",
        "corrupt",
        "cut",
        "delay",
        "drop",
        "duplicate",
        "hold",
        "lossy",
        "one-way",
        "partition",
        "reorder",
        "ring",
    ];
    assert_eq!(verbs(Profile::Network), expected.map(str::to_owned).into());
    assert_eq!(verbs(Profile::Disk), ["crash", "roll"].map(str::to_owned).into());
    let timers = ["hold election", "hold relay-ready"];
    let holds_timer = |line: &String| timers.iter().any(|timer| line.starts_with(timer));
    assert!(!lines_of[&Profile::Network].iter().any(holds_timer), "timers are no links");
}

#[test]
fn lasting_faults_of_the_profile_network_are_those_of_links() {
    let lasting = |profile| {
        let steps = SEEDS.flat_map(move |seed| plan(&POND, seed, profile).script.steps);
        steps.filter(|step| step.until == Some(Trigger::End)).map(|step| print_step(&step))
    };
    assert!(lasting(Profile::Network).all(|line| !line.starts_with("crash")));
    assert!(lasting(Profile::Network).count() > 20);
    assert!(lasting(Profile::Disk).all(|line| line.starts_with("crash")));
}

#[test]
fn the_profile_membership_is_for_systems_whose_membership_changes_and_it_does() {
    assert!(!Profile::Membership.suits(&SEA));
    for seed in FEW_SEEDS {
        assert_eq!(plan(&OCEAN, seed, Profile::Membership).options.given("membership"), Some("changing"));
        let set = vec![("membership".to_owned(), "fixed".to_owned())];
        let restrictions =
            Restrictions { profile: Some(Profile::Membership), set, ..Restrictions::default() };
        let plan = generate(&[&OCEAN], seed, &restrictions).unwrap();
        assert_eq!(plan.options.given("membership"), Some("fixed"), "what is typed goes before");
    }
}

#[test]
fn the_profile_clock_is_what_clocks_and_processes_do() {
    let verbs: std::collections::BTreeSet<String> = SEEDS
        .flat_map(|seed| plan(&OCEAN, seed, Profile::Clock).script.steps)
        .filter(|step| !matches!(step.action, Action::Operate { .. }))
        .map(|step| print_step(&step).split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(verbs, ["clock", "hold", "pause", "slow"].map(str::to_owned).into());
}

#[test]
fn a_profile_that_a_system_does_not_stand_is_refused_with_those_it_does() {
    let systems: [&'static dyn System; 3] = [&LAKE, &POND, &SEA];
    assert_eq!(
        refusal(&systems, Some("pond"), Profile::Lying),
        "pond does not stand what profile `lying` has; pond stands calm, swarm, network, disk, honest, lossy"
    );
    assert_eq!(
        refusal(&systems[..2], None, Profile::Unlimited),
        "no system stands what profile `unlimited` has; lake stands calm, swarm, network, honest; pond stands \
         calm, swarm, network, disk, honest, lossy"
    );
    assert!(Profile::ALL.into_iter().all(|profile| profile.suits(&OCEAN)));
}

#[test]
fn without_a_system_the_profile_draws_among_those_that_stand_it() {
    let systems: [&'static dyn System; 3] = [&LAKE, &POND, &SEA];
    let drawn = |profile| {
        let restrictions = Restrictions { profile: Some(profile), ..Restrictions::default() };
        let all = FEW_SEEDS.map(|seed| generate(&systems, seed, &restrictions).unwrap().system);
        all.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(drawn(Profile::Swarm), ["lake", "pond", "sea"]);
    assert_eq!(drawn(Profile::Lossy), ["pond", "sea"]);
    assert_eq!(drawn(Profile::Rotten), ["sea"]);
}

#[test]
fn every_profile_reads_back_from_its_name_and_its_plans_from_their_lines() {
    for profile in Profile::ALL {
        assert_eq!(profile.name().parse(), Ok(profile));
        for seed in FEW_SEEDS {
            let script = plan(&OCEAN, seed, profile).script;
            assert_eq!(script.validate(), Ok(()), "profile {profile}, seed {seed}");
            let lines = script_lines(&script);
            assert_eq!(crate::text::parse_script(&lines, Some(&SEA)), Ok(script), "{lines:#?}");
        }
    }
}
