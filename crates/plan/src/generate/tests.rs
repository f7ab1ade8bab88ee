//! Properties of generated plans: valid, printable, independent decisions, faults in about half of the runs.

use super::weights as w;
use super::*;
use crate::testing::{LAKE, POND, SYSTEMS};
use crate::text::{parse_script, print_step, script_lines};
use std::collections::{BTreeMap, BTreeSet};
use whitewater_sim::{Action, Fault, NodeId, Script, Settle, Span, Step, Target, Time, Trigger};

const SEEDS: std::ops::Range<u64> = 0..400;

fn pond(set: &[(&str, &str)]) -> Restrictions {
    Restrictions {
        system: Some("pond".to_owned()),
        profile: None,
        bug: None,
        set: set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        ..Restrictions::default()
    }
}

fn plan(seed: u64, restrictions: &Restrictions) -> Plan {
    generate(&SYSTEMS, seed, restrictions).unwrap()
}

fn faults(script: &Script) -> impl Iterator<Item = &Step> {
    script.steps.iter().filter(|step| !matches!(step.action, Action::Operate { .. }))
}

#[test]
fn the_same_seed_gives_the_same_plan_and_another_seed_another() {
    assert_eq!(plan(7, &pond(&[])), plan(7, &pond(&[])));
    assert_ne!(plan(7, &pond(&[])).script, plan(8, &pond(&[])).script);
}

#[test]
fn every_plan_is_valid_and_reads_back_as_it_was_printed() {
    for seed in SEEDS {
        let Plan { script, .. } = plan(seed, &pond(&[]));
        assert_eq!(script.validate(), Ok(()), "seed {seed}");
        let lines = script_lines(&script);
        assert_eq!(parse_script(&lines, Some(&POND)), Ok(script), "seed {seed}: {lines:#?}");
    }
}

#[test]
fn a_seed_alone_decides_the_system() {
    let systems: BTreeSet<String> = SEEDS.map(|seed| plan(seed, &Restrictions::default()).system).collect();
    assert_eq!(systems, BTreeSet::from(["lake".to_owned(), "pond".to_owned()]));
}

#[test]
fn a_system_without_names_is_planned_for_as_well() {
    let lake = Restrictions { system: Some("lake".to_owned()), ..Restrictions::default() };
    for seed in SEEDS {
        let Plan { script, .. } = plan(seed, &lake);
        // It does not say that it stands disks which are slow or fail.
        assert_eq!((script.disk.high, script.disk.failures), (Span::ZERO, 0), "seed {seed}");
        assert_eq!(parse_script(&script_lines(&script), Some(&LAKE)), Ok(script), "seed {seed}");
    }
}

#[test]
fn what_does_not_exist_is_refused_with_a_list_of_what_does() {
    let refusal = |restrictions: &Restrictions| generate(&SYSTEMS, 1, restrictions).unwrap_err();
    let unknown = Restrictions { system: Some("ponds".to_owned()), ..Restrictions::default() };
    assert_eq!(refusal(&unknown), "there is no system `ponds`; did you mean `pond`? there are pond, lake");
    assert_eq!(
        refusal(&pond(&[("annonce", "drop")])),
        "pond: there is no option `annonce`; there are announce, mode, election, window"
    );
    assert_eq!(
        refusal(&pond(&[("announce", "lose")])),
        "pond: `announce`: `lose` is not one of its values: drop | latch | mailbox"
    );
    let bug = Restrictions { bug: Some("e9".to_owned()), ..pond(&[]) };
    assert_eq!(refusal(&bug), "pond: there is no bug `e9` in this system; there are leaky, lazy");
    let anywhere = Restrictions { bug: Some("lasy".to_owned()), ..Restrictions::default() };
    assert_eq!(refusal(&anywhere), "there is no bug `lasy`; did you mean `lazy`? there are lazy, leaky");
    assert_eq!("calm".parse(), Ok(Profile::Calm));
    assert_eq!(
        "swam".parse::<Profile>(),
        Err("there is no profile `swam`; did you mean `swarm`? there are calm, swarm, network, disk, clock, membership, honest, lossy, lying, \
              rotten, unlimited"
            .to_owned())
    );
}

#[test]
fn restricting_one_decision_leaves_every_other_as_it_was() {
    for seed in SEEDS {
        let free = plan(seed, &pond(&[]));
        let set = plan(seed, &pond(&[("announce", "drop")]));
        assert_eq!(set.script, free.script, "seed {seed}");
        assert_eq!(set.options.given("announce"), Some("drop"));
        let others = |plan: &Plan| {
            let all = plan.options.iter().filter(|(name, _)| *name != "announce");
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(others(&set), others(&free), "seed {seed}");
        let bugged = plan(seed, &Restrictions { bug: Some("lazy".to_owned()), ..pond(&[]) });
        assert_eq!((bugged.script, bugged.options.planted()), (free.script.clone(), Some("lazy")));
        // Without a system and its restriction the script of the same seed is the same again.
        let alone = plan(seed, &Restrictions::default());
        if alone.system == "pond" {
            assert_eq!(alone, free, "seed {seed}");
        }
    }
}

#[test]
fn an_option_without_a_system_is_given_to_those_that_have_it() {
    let set = |name: &str| Restrictions { system: None, ..pond(&[(name, "off")]) };
    for name in ["mode", "mode.n1"] {
        for seed in SEEDS {
            let drawn = plan(seed, &set(name));
            assert_eq!(drawn.options.given(name), Some("off"), "{name}, seed {seed}");
            assert_eq!(drawn, plan(seed, &pond(&[(name, "off")])), "{name}, seed {seed}");
        }
    }
    assert_eq!(
        generate(&SYSTEMS, 1, &set("mood")).unwrap_err(),
        "there is no option `mood`; pond has announce, mode, election, window; lake has none; every system has nodes, clients"
    );
}

#[test]
fn a_cluster_of_the_size_that_is_demanded_has_faults_that_fit_it() {
    let mut crashes = 0;
    for seed in SEEDS {
        let free = plan(seed, &pond(&[]));
        let one = plan(seed, &pond(&[("nodes", "1"), ("clients", "2")]));
        assert_eq!((one.script.servers, one.script.clients), (1, 2), "seed {seed}");
        assert_eq!(one.script.validate(), Ok(()), "seed {seed}");
        assert_eq!(one.script.horizon, free.script.horizon, "seed {seed}");
        crashes += one.script.steps.iter().filter(|step| matches!(step.action, Action::Crash { .. })).count();
        assert_eq!(plan(seed, &pond(&[("nodes", "9")])).script.servers, 9, "seed {seed}");
    }
    assert!(crashes > 0);
}

#[test]
fn a_bug_without_a_system_is_planted_in_one_that_has_it() {
    let lazy = Restrictions { bug: Some("lazy".to_owned()), ..Restrictions::default() };
    assert!(SEEDS.map(|seed| plan(seed, &lazy)).all(|plan| plan.system == "pond"));
}

#[test]
fn the_calm_profile_is_the_swarm_without_its_faults() {
    for seed in SEEDS {
        // The option that times follow is held, so that they are the same times.
        let swarm = plan(seed, &pond(&[("election", "150ms")]));
        let restrictions = Restrictions { profile: Some(Profile::Calm), ..pond(&[("election", "150ms")]) };
        let calm = plan(seed, &restrictions);
        assert_eq!(faults(&calm.script).count(), 0);
        assert_eq!(calm.script.network.loss, whitewater_sim::Ratio::NEVER);
        assert_eq!(calm.options.iter().count(), 1);
        let operations = |plan: &Plan| {
            let all = plan.script.steps.iter().filter(|step| matches!(step.action, Action::Operate { .. }));
            all.map(print_step).collect::<Vec<_>>()
        };
        assert_eq!(operations(&calm), operations(&swarm), "seed {seed}");
        let frame = |plan: &Plan| {
            let Script { servers, clients, horizon, settle, network, .. } = plan.script;
            // Links settle the quicker the slower the disks are.
            let settle = Settle { delay_high: Span::ZERO, ..settle };
            (servers, clients, horizon, settle, network.delay_low, network.delay_high)
        };
        assert_eq!(frame(&calm), frame(&swarm), "seed {seed}");
        let elsewhere = swarm.script.disk.high + swarm.script.lasting_slowness();
        let settling = |plan: &Plan| plan.script.settle.delay_high;
        assert!(settling(&swarm) <= settling(&calm), "seed {seed}");
        assert!(elsewhere > Span::ZERO || settling(&swarm) == settling(&calm), "seed {seed}");
    }
}

#[test]
fn a_value_demanded_of_all_nodes_overrules_what_was_drawn_for_one() {
    for seed in SEEDS {
        let plan = plan(seed, &pond(&[("mode", "voter")]));
        let modes: Vec<_> = plan.options.iter().filter(|(name, _)| name.starts_with("mode")).collect();
        assert_eq!(modes, [("mode", "voter")], "seed {seed}");
    }
    let differs = SEEDS.filter(|&seed| {
        let plan = plan(seed, &pond(&[]));
        plan.options.iter().any(|(name, _)| name.starts_with("mode."))
    });
    let differs = differs.count();
    assert_about_half("mode", differs);
}

fn assert_about_half(what: &str, count: usize) {
    let runs = SEEDS.count();
    assert!((runs * 2 / 5..=runs * 3 / 5).contains(&count), "{what} is on in {count} of {runs} runs");
}

/// Plans of five servers for a system that stands and survives everything, drawn with some shares of families.
fn tuned(seed: u64, shares: &[(&str, &str)]) -> Script {
    let shares: Vec<String> = shares.iter().map(|(name, share)| format!("\"{name}\": \"{share}\"")).collect();
    let json =
        format!("{{ \"shares\": {{ {} }}, \"ranges\": {{ \"servers\": [5, 5] }} }}", shares.join(", "));
    let (profile, tuning) = Tuning::parse("test.json", &json).unwrap();
    let restrictions = Restrictions {
        profile: Some(profile),
        tuning,
        set: vec![("election".into(), "100ms".into())],
        ..pond(&[])
    };
    let restrictions = Restrictions { system: Some("ocean".to_owned()), ..restrictions };
    generate(&[&crate::testing::OCEAN], seed, &restrictions).unwrap().script
}

#[test]
fn each_fault_family_is_on_in_about_half_of_the_runs() {
    let mut counts: BTreeMap<Fault, usize> = BTreeMap::new();
    for seed in SEEDS {
        for fault in tuned(seed, &[]).faults().iter() {
            *counts.entry(fault).or_default() += 1;
        }
    }
    // Families of which one part makes the fault, of which two make it, or which only some runs may have.
    use Fault as F;
    let sooner = [
        F::Crash,
        F::CutLeader,
        F::Isolate,
        F::CallFailed,
        F::Full,
        F::Corrupt,
        F::Misdeliver,
        F::Duplicate,
        F::Reorder,
    ];
    let later = [
        F::LongTail,
        F::Bimodal,
        F::CrashAtCall,
        F::CrashLeader,
        F::Lie,
        F::Astray,
        F::Rot,
        F::WipedDisk,
        F::OlderDisk,
        F::ClockOffset,
        F::Split,
    ];
    // These follow from others and are in no plan.
    let never = [F::UnsyncedLost, F::Undeliverable, F::ReplayOverRestart];
    for fault in Fault::ALL {
        let count = counts.get(&fault).copied().unwrap_or_default();
        let name = fault.name();
        match fault {
            _ if never.contains(&fault) => assert_eq!(count, 0, "{name}"),
            _ if sooner.contains(&fault) => assert!(count * 2 > SEEDS.count() * 9 / 10, "{name}: {count}"),
            _ if later.contains(&fault) => assert!(count * 25 > SEEDS.count(), "{name}: {count}"),
            // Faults that outlast settling are in half of the runs, and may be of the same kind.
            F::Pause | F::SlowNode | F::OneWay | F::Bridge | F::Flap => {
                assert!((2..=4).contains(&(count * 5 / SEEDS.count())), "{name}: {count}");
            }
            _ => assert_about_half(name, count),
        }
    }
}

#[test]
fn a_family_that_is_always_on_is_in_every_plan_and_one_that_is_off_in_none() {
    let all = [crate::tuning::FAMILIES, &crate::tuning::UNSEEN_FAMILIES].concat();
    let off: Vec<(&str, &str)> = all.iter().map(|&name| (name, "0/1")).collect();
    // Part of another family, of the disks that no plan is honest without, or of whoever they strike.
    let parts =
        ["lose-unsynced", "crash-at-call", "lies", "lost-writes", "misdirected", "rot", "disk-faults"];
    let needs = ["wiped-disk", "older-disk", "slow-member", "lasting", "clock-offset"];
    for seed in 0..12 {
        let quiet = tuned(seed, &off);
        let families = all.iter().filter(|name| !parts.contains(name) && !needs.contains(name));
        for &family in families {
            let on = off.iter().map(|&(name, share)| (name, if name == family { "1/1" } else { share }));
            let script = tuned(seed, &on.collect::<Vec<_>>());
            assert_ne!(script, quiet, "{family} does nothing, seed {seed}");
        }
        let faults =
            quiet.faults().iter().filter(|fault| !matches!(fault, Fault::Lie | Fault::Astray | Fault::Rot));
        assert_eq!(faults.count(), 0, "seed {seed}: {:?}", script_lines(&quiet));
    }
}

#[test]
fn times_fit_the_system() {
    let mut shortest = Span::from_nanos(u64::MAX);
    let mut longest = Span::ZERO;
    for seed in SEEDS {
        let Plan { script, options, .. } = plan(seed, &pond(&[]));
        let timing = whitewater_sim::System::timing(&POND, &options);
        let Script { network, settle, horizon, .. } = &script;
        assert!(network.delay_low <= network.delay_high);
        assert!(network.delay_high.times(4) <= timing.election_low, "seed {seed}: nobody would be elected");
        let one_way = settle.delay_high + script.disk.high + script.lasting_slowness();
        assert!(one_way.times(2).times(4) <= timing.election_low, "seed {seed}: no progress would be owed");
        assert!(settle.delay_high <= network.delay_high);
        let least = network.delay_high.min(timing.election_low.part(50));
        assert!(settle.delay_high >= least, "seed {seed}: settling is not worth its name");
        assert_eq!(settle.limit, timing.election_high.times(w::SETTLE_TIMEOUTS));
        assert!(*horizon <= timing.election_high.times(w::HORIZON_TIMEOUTS.1));
        assert!(horizon.times(100) >= timing.election_high.times(w::HORIZON_TIMEOUTS.0 * 99));
        for step in &script.steps {
            if let Trigger::At(time) = step.when {
                assert!(time < Time::ZERO + *horizon, "seed {seed}: {}", print_step(step));
            }
            if let Some(Trigger::After(span)) = step.until {
                assert!(span >= network.delay_low && span <= timing.election_high.times(w::FAULT_TIMEOUTS));
                shortest = shortest.min(span);
                longest = longest.max(span);
            }
        }
    }
    assert!(shortest < Span::from_millis(1), "no short fault: {shortest}");
    assert!(longest > Span::from_millis(5_000), "no long fault: {longest}");
}

/// Faults that outlast settling break a minority only, with all links between the others whole.
#[test]
fn a_majority_stays_healthy_and_connected_to_the_end() {
    let mut lasting_runs = 0;
    for seed in SEEDS {
        let script = plan(seed, &pond(&[])).script;
        let mut broken: BTreeSet<NodeId> = BTreeSet::new();
        let lasting: Vec<&Step> =
            script.steps.iter().filter(|step| step.until == Some(Trigger::End)).collect();
        for step in &lasting {
            let node = |target: Target| match target {
                Target::Node(node) => node,
                _ => panic!("seed {seed}: `{}` may hit anybody", print_step(step)),
            };
            let named: Vec<NodeId> = step.action.targets().into_iter().map(node).collect();
            match &step.action {
                // A member that is slow stays one.
                Action::Slow { high, .. } => assert!(*high < Span::from_millis(1), "seed {seed}: {high}"),
                Action::Crash { .. } | Action::Pause(_) => broken.extend(named),
                // One group of a cut is the node that is broken, and the others are at most joined to it.
                Action::Partition(groups) | Action::Topology { groups, .. } => {
                    let alone = groups.iter().find(|group| group.len() == 1).expect("one is cut off");
                    let Target::Node(node) = alone[0] else { unreachable!("roles were looked at") };
                    broken.insert(node);
                }
                other => panic!("seed {seed}: {other:?} lasts"),
            }
        }
        lasting_runs += usize::from(!lasting.is_empty());
        let healthy = script.servers - broken.len();
        assert!(healthy * 2 > script.servers, "seed {seed}: {healthy} of {}", script.servers);
    }
    let share = lasting_runs * 100 / SEEDS.count();
    assert!((35..=60).contains(&share), "lasting faults are in {share} % of the runs");
}

#[test]
fn operations_are_in_order_and_their_number_is_within_its_range() {
    for seed in SEEDS {
        let script = plan(seed, &pond(&[])).script;
        let times: Vec<Time> = script
            .steps
            .iter()
            .filter(|step| matches!(step.action, Action::Operate { .. }))
            .map(|step| match step.when {
                Trigger::At(time) => time,
                _ => panic!("operations have times"),
            })
            .collect();
        assert!((w::OPERATIONS.0..=w::OPERATIONS.1).contains(&(times.len() as u64)));
        assert!(times.is_sorted());
    }
}

/// Whatever names a role or a moment: the leader, somebody who has just won or stands, one message, one timer.
#[test]
fn faults_are_aimed_by_role_and_moment() {
    let lines: Vec<String> = SEEDS
        .flat_map(|seed| faults(&plan(seed, &pond(&[])).script).map(print_step).collect::<Vec<_>>())
        .collect();
    for aim in [
        "crash leader",
        "partition leader |",
        "cut leader->follower",
        "cut follower->leader",
        "when any leads",
        "campaigns after",
        "arrives",
        "leaves",
        "fires",
        "at storage call",
        "losing unsynced",
        "hold relay-ready",
        "leads until",
        "until any campaigns",
        "until any leads after",
        "until n1 leads",
    ] {
        let hits = lines.iter().filter(|line| line.contains(aim)).count();
        assert!(hits > 10, "`{aim}` comes only {hits} times");
    }
}
