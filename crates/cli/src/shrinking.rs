//! Shrinks a failure, saves what is left under its fingerprint, and knows the commands that go on from there.

use crate::commit::{self, Commit};
use crate::program::{Program, called, program};
use crate::telling::system;
use crate::{Screen, Systems, files, store};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use whitewater_hunt::report::About;
use whitewater_hunt::{
    Failure, Fingerprint, ShrinkBudget, ShrinkProgress, Shrinking, Shrunk, ShrunkLine, Signature, Size, Slip,
    run, shrink,
};
use whitewater_plan::{Plan, Saved, seed_text};

/// How failures are shrunk, and where what is left goes.
pub(crate) struct Shrinker<'a> {
    pub(crate) time: Duration,
    /// Threads; as many as there are cores if it is not said.
    pub(crate) jobs: Option<usize>,
    pub(crate) folder: PathBuf,
    pub(crate) systems: Systems,
    pub(crate) screen: &'a Screen,
}

/// A failure that was shrunk and saved.
pub(crate) struct Small {
    pub(crate) failure: Failure,
    pub(crate) shrunk: Shrunk,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) file: PathBuf,
    /// The size of what the file holds, if that was found before and is smaller.
    pub(crate) smaller: Option<Size>,
    /// The files of other failures that came up.
    pub(crate) slips: Vec<(Signature, PathBuf)>,
}

impl Shrinker<'_> {
    /// Shrinks a plan; `seed` is the one it was drawn from.
    ///
    /// # Errors
    /// The plan does not fail, or what is left cannot be saved.
    pub(crate) fn shrink(&self, plan: &Plan, seed: Option<u64>) -> anyhow::Result<Small> {
        let system = system(&plan.system, self.systems)?;
        let begun = Instant::now();
        let over = || begun.elapsed() >= self.time || self.screen.is_closed();
        let watch = |_: &ShrinkProgress| {};
        let jobs = self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let shrinking = Shrinking { system, budget: ShrinkBudget::Until(&over), jobs, watch: &watch };
        let shrunk = shrink(&shrinking, plan).map_err(anyhow::Error::msg)?;
        let fingerprint = Fingerprint::fine(system, &shrunk).map_err(anyhow::Error::msg)?;
        let file = store::file_of(&self.folder, &fingerprint.to_string());
        let command = format!("{} replay {}", called(), shown(&file, &fingerprint.to_string()));
        let failure = Failure::record(system, shrunk.plan.clone(), &shrunk.outcome, seed, command);
        let mut failure = failure.map_err(anyhow::Error::msg)?;
        failure.examine(system);
        let smaller = store::smaller(&file, &shrunk.plan, &shrunk.outcome, self.systems);
        if smaller.is_none() {
            let saved = store::saved(&failure, Some(fingerprint), Some(&shrunk));
            files::write_whole(&file, &saved.to_json())?;
        }
        let slips = shrunk.slips.iter().map(|slip| self.keep_slip(slip, seed));
        let slips = slips.collect::<anyhow::Result<_>>()?;
        Ok(Small { failure, fingerprint, file, smaller, slips, shrunk })
    }

    /// Saves a failure that came up on the way, as it came.
    fn keep_slip(&self, slip: &Slip, seed: Option<u64>) -> anyhow::Result<(Signature, PathBuf)> {
        let system = system(&slip.plan.system, self.systems)?;
        let outcome = run(system, &slip.plan, false).map_err(anyhow::Error::msg)?;
        let fingerprint = Fingerprint::coarse(&slip.plan.system, &slip.signature);
        let file = store::file_of(&self.folder, &fingerprint.to_string());
        let command = format!("{} replay {}", called(), shown(&file, &fingerprint.to_string()));
        let failure = Failure::record(system, slip.plan.clone(), &outcome, seed, command);
        let failure = failure.map_err(anyhow::Error::msg)?;
        if store::smaller(&file, &slip.plan, &outcome, self.systems).is_none() {
            files::write_whole(&file, &store::saved(&failure, Some(fingerprint), None).to_json())?;
        }
        Ok((slip.signature.clone(), file))
    }
}

impl Small {
    /// What is left, in a few lines, with the commands that go on from here.
    pub(crate) fn summary(&self) -> String {
        let about = self.about();
        let head = format!("Shrunk {}: {}", self.fingerprint, self.sentence());
        let replay = ("Replay".to_owned(), self.failure.command.clone());
        let commands = about.commands.into_iter().map(|(what, command)| (what.to_owned(), command));
        let lines =
            [replay].into_iter().chain(commands).map(|(what, command)| format!("  {what:<14} {command}"));
        [head].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// What it was shrunk from and to, and whether something smaller was there already.
    fn sentence(&self) -> String {
        let sentence = self.shrunk.sentence();
        let Some(Size { nodes, steps, deliveries, .. }) = self.smaller else { return sentence };
        format!(
            "{sentence}; one of {nodes} nodes, {steps} steps and {deliveries} deliveries was found before, and is kept"
        )
    }

    /// What is left, for programs.
    pub(crate) fn line(&self) -> ShrunkLine {
        ShrunkLine {
            fingerprint: self.fingerprint.to_string(),
            seed: self.failure.seed.map(seed_text),
            system: self.failure.plan.system.clone(),
            rule: self.failure.rule().to_owned(),
            message: self.failure.message(),
            nodes: self.shrunk.after.nodes as u64,
            steps: self.shrunk.after.steps as u64,
            pins: self.shrunk.after.pins as u64,
            deliveries: self.shrunk.after.deliveries,
            minimal: self.shrunk.minimal,
            file: self.file.display().to_string(),
            command: self.failure.command.clone(),
        }
    }

    /// What the report says besides.
    pub(crate) fn about(&self) -> About {
        let fingerprint = self.fingerprint.to_string();
        About {
            commit: commit::current().map(Commit::short),
            commands: ways_on(&self.failure, &self.file, &fingerprint, self.shrunk.minimal),
            fingerprint: Some(fingerprint),
            shrunk: Some(self.sentence()),
        }
    }
}

/// What a report says of a failure that lies in a file.
pub(crate) fn about_saved(failure: &Failure, saved: &Saved, file: &Path) -> About {
    let fingerprint = saved.fingerprint.clone();
    About {
        commit: saved.commit.clone(),
        commands: ways_on(failure, file, fingerprint.as_deref().unwrap_or_default(), !is_unfinished(saved)),
        fingerprint,
        shrunk: saved.shrunk.clone(),
    }
}

/// Whether there was no time to shrink it to its end.
pub(crate) fn is_unfinished(saved: &Saved) -> bool {
    saved.shrunk.as_ref().is_some_and(|sentence| sentence.contains(Shrunk::UNFINISHED))
}

/// What goes on shrinking a failure that is named so.
pub(crate) fn shrink_on(name: &str) -> String {
    format!("{} shrink {name} --for 60s", called())
}

/// The commands that go on from a failure in a file.
fn ways_on(
    failure: &Failure,
    file: &Path,
    fingerprint: &str,
    is_minimal: bool,
) -> Vec<(&'static str, String)> {
    let (name, Program { called, built, .. }) = (shown(file, fingerprint), program());
    let mut commands = vec![
        ("Step through", format!("{called} replay {name} --step")),
        ("Why", format!("{called} trace why {name}")),
        ("Keep", format!("{called} keep {name}")),
        ("As a scenario", format!("{called} keep {name} --as {}", scenario_name(failure))),
    ];
    if !is_minimal {
        commands.insert(0, ("Shrink on", shrink_on(&name)));
    }
    // A planted bug is in no commit.
    if failure.plan.options.planted().is_none() {
        let build = format!("{built} || exit 125");
        let ask = format!("{called} replay {} --bisect", file.display());
        // A program that a signal has ended, or that knows no such word yet, says nothing about its commit.
        let told = "code=$?; [ $code -le 1 ] || code=125; exit $code";
        commands.push(("Bisect", format!("git bisect run sh -c '{build}; {ask}; {told}'")));
    }
    commands
}

/// How commands name a saved failure: by its fingerprint if it lies where they look, by its file otherwise.
pub(crate) fn shown(file: &Path, fingerprint: &str) -> String {
    let is_named = file.file_stem().is_some_and(|stem| stem == fingerprint);
    let looks_there =
        file.parent() == Some(&store::found()) || file.parent() == Some(&files::folder("seeds"));
    if is_named && looks_there { fingerprint.to_owned() } else { file.display().to_string() }
}

/// A name for the scenario of a failure.
fn scenario_name(failure: &Failure) -> String {
    let words = failure.rule().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let by = failure.plan.options.planted().map_or(String::new(), |bug| format!("{}-", bug.to_lowercase()));
    format!("{by}{}", words.join("-"))
}

/// Says which other failures came up.
pub(crate) fn tell_slips(small: &Small, screen: &Screen) {
    for (signature, file) in &small.slips {
        let file = file.display();
        screen.remark(&format!("On the way another rule was broken: {signature}; kept in {file}"));
    }
}
