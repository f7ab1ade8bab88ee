//! `replay --around N`: tries the neighbourhood of a failure, so that nobody takes a failure that moved for one mended.

use crate::meant::Meant;
use crate::program::called;
use crate::telling::system;
use crate::{Exit, Screen, Systems, files, interrupt, store};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use whitewater_hunt::{Failure, Fingerprint, Signature, neighbour, run as run_plan};

pub(super) fn run(found: &Meant, count: u64, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let system = system(&found.plan.system, systems)?;
    let interrupted = interrupt::flag();
    let mut failing: BTreeMap<Signature, (u64, u64)> = BTreeMap::new();
    let mut ran = 0;
    for number in 1..=count {
        if interrupted.load(Ordering::SeqCst) || screen.is_closed() {
            break;
        }
        ran += 1;
        // A neighbour that cannot be run, such as one without the step that another names, is none.
        let Ok(outcome) = run_plan(system, &neighbour(&found.plan, number), false) else { continue };
        if let Some(signature) = Signature::of(&outcome) {
            failing.entry(signature).or_insert((0, number)).0 += 1;
        }
    }
    if failing.is_empty() {
        screen.print(&format!("around it: {ran} plans, and none fails"));
    }
    for (signature, (times, first)) in &failing {
        let plan = neighbour(&found.plan, *first);
        let outcome = run_plan(system, &plan, false).map_err(anyhow::Error::msg)?;
        let fingerprint = Fingerprint::around(signature, *first);
        let file = store::file_of(&store::found(), &fingerprint.to_string());
        let command = format!("{} replay {fingerprint}", called());
        let failure =
            Failure::record(system, plan, &outcome, found.seed, command).map_err(anyhow::Error::msg)?;
        if store::smaller(&file, &failure.plan, &failure.outcome, systems).is_none() {
            files::write_whole(&file, &store::saved(&failure, Some(fingerprint), None).to_json())?;
        }
        screen.print(&format!(
            "around it: {times} of {ran} plans break {signature}; the first: {} shrink {fingerprint}",
            called()
        ));
    }
    Ok(match (interrupted.load(Ordering::SeqCst), failing.is_empty()) {
        (true, _) => Exit::Interrupted,
        (_, true) if ran == 0 => Exit::NothingRan,
        (_, true) => Exit::Clean,
        (_, false) => Exit::Found,
    })
}
