//! Measures what each kind of fault is needed for: by scenarios without it, and by searches with nothing but it.

use super::Typed;
use crate::program::called;
use crate::{Exit, Screen, Systems, files, interrupt};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use whitewater_mutants::{Found, NEEDS, Need, needs};
use whitewater_plan::{Expect, Profile, Restrictions, Scenario, generate};
use whitewater_sim::{Fault, FaultSet, Script, System, Verdict};

/// A search without the fault delivers at least so many times what the search with it took, and at least
/// [`WITHOUT_DELIVERIES`], before a bug counts as not found.
const WITHOUT_TIMES: u64 = 10;
/// See [`WITHOUT_TIMES`].
const WITHOUT_DELIVERIES: u64 = 1_000_000;
/// A bug that is found within so many deliveries without a fault is no candidate for it.
const AT_ONCE_DELIVERIES: u64 = 20_000;
/// Plans looked at for each one that has the fault, before a search gives up.
const PLANS_MAX: u64 = 100_000;
/// The first search for each bug is this part of the budget: what is found soon is found soon for every fault.
const FIRST_PART: u64 = 8;

/// The rules over what a script claims.
const CLAIMS: [&str; 2] = ["expected", "never"];

/// What a system may have for a bug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Flaw {
    Planted(&'static str),
    /// An option that makes it worse.
    Set(&'static str, &'static str),
}

impl Flaw {
    fn name(&self) -> String {
        match self {
            Flaw::Planted(id) => (*id).to_owned(),
            Flaw::Set(name, value) => format!("{name}={value}"),
        }
    }
}

/// Measures, and writes down what was found.
pub(super) fn measure(
    typed: &Typed,
    systems: Systems,
    scenarios: &[Scenario],
    root: &Path,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let faults: Vec<Fault> = match typed.fault.is_empty() {
        true => Fault::ALL.to_vec(),
        false => typed.fault.clone(),
    };
    let mut known = needs(root)?;
    let (without, stop) = (BTreeMap::new(), interrupt::flag());
    let mut search = Search { systems, without, budget: typed.deliveries, stop, screen };
    let mut is_open = false;
    for fault in faults {
        let found = match of_scenarios(fault, scenarios, systems)? {
            Some(need) => Some(need),
            None => search.need(fault)?,
        };
        if search.is_stopped() {
            return Ok(Exit::Interrupted);
        }
        screen.remark(&found.as_ref().map_or_else(|| format!("{}: open", fault.name()), Need::line));
        is_open |= found.is_none();
        known.retain(|need| need.fault != fault.name());
        known.extend(found);
        write(&known, typed, root)?;
    }
    Ok(if is_open { Exit::Unknown } else { Exit::Clean })
}

/// Writes the file anew, in the order of faults.
fn write(known: &[Need], typed: &Typed, root: &Path) -> anyhow::Result<()> {
    let mut lines = vec![
        "# What each kind of fault is needed for. A line names the fault, the system, and either a variant of a scenario that"
            .to_owned(),
        "# breaks its rule no more without it, with the bug planted there, or the bug that a search finds, the kinds of faults"
            .to_owned(),
        "# that were in its plans as well, the messages delivered until it was found, and those delivered in vain without it."
            .to_owned(),
        format!("# Made by `{} faults --measure-needs --deliveries {}`, fault by fault.", called(), typed.deliveries),
        String::new(),
    ];
    let of = |fault: Fault| known.iter().filter(move |need| need.fault == fault.name());
    lines.extend(Fault::ALL.into_iter().flat_map(of).map(Need::line));
    files::write_whole(&root.join(NEEDS), &(lines.join("\n") + "\n"))
}

/// The scenario with the fewest other faults of which a variant breaks its rule, and does not without the fault.
///
/// Of a fault that only follows from others, a scenario in which it bites, and which breaks its rule without none of them.
fn of_scenarios(fault: Fault, scenarios: &[Scenario], systems: Systems) -> anyhow::Result<Option<Need>> {
    let removed = match follows(fault) {
        true => company(fault).iter().collect(),
        false => vec![fault],
    };
    let has = |scenario: &&Scenario| removed.iter().all(|&fault| scenario.script.faults().has(fault));
    let mut candidates: Vec<&Scenario> = scenarios.iter().filter(has).collect();
    candidates.sort_by_key(|scenario| scenario.script.faults().iter().count());
    for scenario in candidates {
        let Some(system) = systems.iter().find(|system| system.name() == scenario.system) else { continue };
        for variant in &scenario.variants {
            if !matches!(variant.expect, Expect::Violates { .. }) {
                continue;
            }
            let plan = scenario.plan(variant);
            let broken = |script: &Script| -> anyhow::Result<(&'static str, u64)> {
                let outcome = system.run(script, &plan.options, false).map_err(anyhow::Error::msg)?;
                Ok((outcome.verdict.rule(), outcome.counters.bites[fault]))
            };
            let (rule, bites) = broken(&plan.script)?;
            if rule == Verdict::Pass.rule() || follows(fault) && bites == 0 {
                continue;
            }
            let needs = |&fault: &Fault| -> anyhow::Result<bool> {
                let mut without = plan.script.clone();
                without.drop_faults(FaultSet::NONE.with(fault));
                let (rest, _) = broken(&without)?;
                // What a script expects of its course may also fail because the fault is not there.
                Ok(rest == Verdict::Pass.rule() || !CLAIMS.contains(&rule) && rest != rule)
            };
            if removed.iter().map(needs).collect::<anyhow::Result<Vec<bool>>>()?.contains(&false) {
                continue;
            }
            let bug = plan.options.planted().map(str::to_owned);
            let (scenario, variant) = (scenario.name.clone(), variant.name.clone());
            let found = Found::Scenario { scenario, variant, bug };
            let (fault, system) = (fault.name().to_owned(), system.name().to_owned());
            return Ok(Some(Need { fault, system, found }));
        }
    }
    Ok(None)
}

fn all_but(set: FaultSet, fault: Fault) -> FaultSet {
    set.iter().filter(|&other| other != fault).fold(FaultSet::NONE, FaultSet::with)
}

/// Kinds without which one has nothing to bite on, or which bring it about.
fn company(fault: Fault) -> FaultSet {
    let with = |faults: &[Fault]| faults.iter().fold(FaultSet::NONE, |set, &fault| set.with(fault));
    match fault {
        Fault::UnsyncedLost => with(&[Fault::Crash, Fault::SlowSync]),
        Fault::Undeliverable => with(&[Fault::Crash]),
        Fault::ReplayOverRestart => with(&[Fault::Replay, Fault::Crash]),
        Fault::Lie | Fault::Astray | Fault::Rot => with(&[Fault::Crash]),
        Fault::Stall | Fault::SyncFailed => with(&[Fault::SlowSync]),
        _ => FaultSet::NONE,
    }
}

/// Kinds that no plan has, since they follow from those in their company.
const fn follows(fault: Fault) -> bool {
    matches!(fault, Fault::UnsyncedLost | Fault::Undeliverable | Fault::ReplayOverRestart)
}

/// The profile whose plans have the fault at all.
const fn profile(fault: Fault) -> Profile {
    match fault {
        Fault::Lie | Fault::Astray | Fault::WipedDisk | Fault::OlderDisk => Profile::Lying,
        Fault::Rot => Profile::Rotten,
        _ => Profile::Swarm,
    }
}

/// Where a flaw is looked for: system, profile and the faults that are left.
type Lookout = (&'static str, Flaw, Profile, Vec<Fault>);

/// Searches for flaws, remembering what was not found without a fault.
struct Search<'a> {
    systems: Systems,
    /// Whether it was found where it was looked for without a fault, and in how many messages at most.
    without: BTreeMap<Lookout, (bool, u64)>,
    budget: u64,
    /// Raised when the search is to end.
    stop: Arc<AtomicBool>,
    screen: &'a Screen,
}

impl Search<'_> {
    /// A flaw that plans find which have this fault alone, in its company, and that its company does not find.
    fn need(&mut self, fault: Fault) -> anyhow::Result<Option<Need>> {
        let company = company(fault);
        let only = if follows(fault) { company } else { company.with(fault) };
        for budget in [self.budget / FIRST_PART, self.budget] {
            for &system in self.systems {
                if !profile(fault).suits(system) {
                    continue;
                }
                for flaw in flaws(system) {
                    // What is found without it at once is not looked for with it.
                    let profile = profile(fault);
                    if self.is_found_without(fault, system, &flaw, AT_ONCE_DELIVERIES)? {
                        continue;
                    }
                    let Some(found_after) = self.hunt(system, &flaw, profile, only, budget)? else {
                        continue;
                    };
                    let not_in = (WITHOUT_TIMES * found_after).max(WITHOUT_DELIVERIES);
                    if self.is_stopped() {
                        return Ok(None);
                    }
                    self.screen.remark(&format!("{}: {} found", fault.name(), flaw.name()));
                    if self.is_found_without(fault, system, &flaw, not_in)? {
                        continue;
                    }
                    let with = company.iter().map(|other| other.name().to_owned()).collect();
                    let found = Found::Search { bug: flaw.name(), with, found_after, not_in };
                    let (fault, system) = (fault.name().to_owned(), system.name().to_owned());
                    return Ok(Some(Need { fault, system, found }));
                }
            }
        }
        Ok(None)
    }

    /// Whether the flaw is found by the fault's company; for one that follows from that, by any part of it.
    fn is_found_without(
        &mut self,
        fault: Fault,
        system: &'static dyn System,
        flaw: &Flaw,
        budget: u64,
    ) -> anyhow::Result<bool> {
        let company = company(fault);
        let sets: Vec<FaultSet> = match follows(fault) {
            false => vec![company],
            true => company.iter().map(|one| all_but(company, one)).collect(),
        };
        for set in sets {
            let key = (system.name(), flaw.clone(), profile(fault), set.iter().collect());
            let (mut found, mut spent) = self.without.get(&key).copied().unwrap_or_default();
            if !found && spent < budget {
                found = self.hunt(system, flaw, profile(fault), set, budget)?.is_some();
                spent = budget;
                self.without.insert(key, (found, spent));
            }
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Messages delivered until plans of which only these faults are left break a rule; `None` if the budget was spent before.
    ///
    /// Plans that do not have all of them are left out; a plan that also fails without the flaw proves nothing.
    fn hunt(
        &self,
        system: &'static dyn System,
        flaw: &Flaw,
        profile: Profile,
        only: FaultSet,
        budget: u64,
    ) -> anyhow::Result<Option<u64>> {
        let sound = Restrictions {
            system: Some(system.name().to_owned()),
            profile: Some(profile),
            ..Restrictions::default()
        };
        let mut flawed = sound.clone();
        match *flaw {
            Flaw::Planted(id) => flawed.bug = Some(id.to_owned()),
            Flaw::Set(name, value) => flawed.set.push((name.to_owned(), value.to_owned())),
        }
        let wrong = anyhow::Error::msg;
        let (mut delivered, mut idle) = (0, 0);
        for seed in 0.. {
            if delivered >= budget || idle >= PLANS_MAX || self.is_stopped() {
                return Ok(None);
            }
            let mut plan = generate(self.systems, seed, &flawed).map_err(wrong)?;
            let had = plan.script.faults();
            plan.script.keep_faults(only);
            let left = plan.script.faults();
            if !only.iter().all(|fault| had.has(fault) && left.has(fault)) {
                idle += 1;
                continue;
            }
            idle = 0;
            let outcome = system.run(&plan.script, &plan.options, false).map_err(wrong)?;
            delivered += outcome.counters.deliveries;
            if outcome.verdict.is_pass() {
                continue;
            }
            let options = generate(self.systems, seed, &sound).map_err(wrong)?.options;
            if system.run(&plan.script, &options, false).map_err(wrong)?.verdict.is_pass() {
                return Ok(Some(delivered));
            }
        }
        Ok(None)
    }
}

/// What may be wrong with a system.
fn flaws(system: &'static dyn System) -> Vec<Flaw> {
    let planted = system.bugs().iter().map(|id| Flaw::Planted(id));
    let set = system.canary().into_iter().flat_map(|canary| canary.set);
    planted.chain(set.map(|&(name, value)| Flaw::Set(name, value))).collect()
}
