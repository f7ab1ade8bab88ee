//! `keep`: puts a failure where it is never lost: among the seeds, or as a scenario with notes, variants and snapshots.

use crate::program::{called, program};
use crate::shrinking::{is_unfinished, shown, shrink_on};
use crate::telling::system;
use crate::verb::scenario::{kebab, renew_index, schema_in};
use crate::verb::seeds::is_as_owed;
use crate::{Exit, Screen, Systems, files, meant};
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeSet;
use std::path::Path;
use whitewater_hunt::report::{About, Report};
use whitewater_hunt::{Failure, again, meets, missed, run as run_plan, scenario_text};
use whitewater_plan::{Expect, Plan, Saved, Scenario, Variant, seed_text};
use whitewater_sim::{Options, System, Verdict};

/// Keeps a failure that was found: in `seeds`, or as a named scenario with its snapshots.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// The fingerprint of the failure, or the beginning of one, or its file.
    #[arg(value_name = "FINGERPRINT|FILE")]
    what: String,
    /// Make it a scenario of this name, in small words with hyphens between.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
}

impl Typed {
    /// The bug that is planted in the file, if it is run: a scenario is before it is written.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        if self.name.is_some() { meant::bugs_of([&self.what], systems) } else { BTreeSet::new() }
    }
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let Some(file) = meant::file_of(&typed.what)? else {
        bail!("`{}` is no fingerprint and no file: write one such as F-0123456789", typed.what);
    };
    let text = files::read(&file)?;
    let saved = Saved::parse(&file.display().to_string(), &text, systems)?;
    match &typed.name {
        None => keep_seed(&file, &saved, systems, screen),
        Some(name) => keep_scenario(kebab(name)?, &file, &saved, systems, screen),
    }
}

fn keep_seed(file: &Path, saved: &Saved, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = saved.fingerprint.clone().unwrap_or_else(|| stem.into_owned());
    let kept = files::folder("seeds").join(format!("{name}.json"));
    refuse_to_overwrite(&kept)?;
    refuse_what_is_not_owed(file, saved, system(&saved.plan.system, systems)?)?;
    files::write_whole(&kept, &saved.to_json())?;
    screen.print(&format!(
        "{}: written; it owes `{}`, and `{} seeds verify` asks for it",
        kept.display(),
        saved.owes.word(),
        called()
    ));
    Ok(Exit::Clean)
}

/// What is kept is asked for at once: a file that is wrong already is not put among the others. A planted bug of another
/// build is not built for that.
fn refuse_what_is_not_owed(file: &Path, saved: &Saved, system: &'static dyn System) -> anyhow::Result<()> {
    if saved.plan.options.planted().is_some_and(|bug| !system.bugs().contains(&bug)) {
        return Ok(());
    }
    let again = again(system, saved).map_err(anyhow::Error::msg);
    let again = again.with_context(|| file.display().to_string())?;
    if !is_as_owed(saved, &again) {
        bail!(
            "{}: owes `{}` and does not: {again}\n  mend: write what it owes now, `fails` or `passes`, into the file",
            file.display(),
            saved.owes.word()
        );
    }
    Ok(())
}

fn refuse_to_overwrite(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        bail!("{}: there is one already, and it stays as it is; move it away first", file.display());
    }
    Ok(())
}

fn keep_scenario(
    name: &str,
    from: &Path,
    saved: &Saved,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let folder = files::folder("scenarios");
    let file = folder.join(format!("{name}.json"));
    refuse_to_overwrite(&file)?;
    let system = system(&saved.plan.system, systems)?;
    let mut scenario = scenario(name, saved, system).with_context(|| from.display().to_string())?;
    scenario.schema = schema_in(&folder);
    let mut snapshots = Vec::new();
    for variant in &scenario.variants {
        let (text, _) = scenario_text(system, &scenario, &variant.name).map_err(|wrong| {
            // A plan that was not shrunk to its end may have steps that never have their turn.
            let on = shrink_on(&shown(from, saved.fingerprint.as_deref().unwrap_or_default()));
            let mend = if is_unfinished(saved) { format!("\n  mend: {on}") } else { String::new() };
            anyhow!("{wrong}{mend}")
        })?;
        let snapshot = folder.join("snapshots").join(format!("{name}@{}.snap", variant.name));
        refuse_to_overwrite(&snapshot)?;
        snapshots.push((snapshot, text));
    }
    for (snapshot, text) in &snapshots {
        let source = program().scenario_tests.map_or(String::new(), |file| format!("source: {file}\n"));
        files::write_whole(snapshot, &format!("---\n{source}---\n{}\n", text.trim_end()))?;
        screen.print(&format!("{}: written", snapshot.display()));
    }
    files::write_whole(&file, &scenario.format())?;
    screen.print(&format!("{}: written", file.display()));
    renew_index(systems, screen)?;
    screen.remark(&format!("Put its moral into words, and {}", held_by(&scenario)));
    screen.print(&format!("next: {} scenario run {name}", called()));
    Ok(Exit::Clean)
}

/// What has its tests hold a scenario.
fn held_by(scenario: &Scenario) -> String {
    let under = scenario.name.replace('-', "_");
    match program().scenario_tests {
        Some(file) => {
            let variants: Vec<String> =
                scenario.variants.iter().map(|variant| variant.name.replace('-', "_")).collect();
            format!("`{under}: {};` into {file}.", variants.join(", "))
        }
        None => format!(
            "have a test hold it, with the type of your node:\n    #[test]\n    fn {under}() {{\n        \
             whitewater::scenario::<MyNode>(\"scenarios/{}.json\");\n    }}",
            scenario.name
        ),
    }
}

/// The scenario of a failure: what explains it stands in one variant, and in another it is mended.
fn scenario(name: &str, saved: &Saved, system: &'static dyn System) -> anyhow::Result<Scenario> {
    let plan = &saved.plan;
    let outcome = run_plan(system, plan, false).map_err(anyhow::Error::msg)?;
    let rule = match &outcome.verdict {
        Verdict::Pass => {
            bail!("it passes now, and a scenario tells of a failure\n  mend: keep it as a seed, without --as")
        }
        verdict => verdict.rule(),
    };
    let expect = Expect::Violates { rule: rule.to_owned(), node: outcome.verdict.node() };
    let failure = Failure::record(system, plan.clone(), &outcome, saved.seed, String::new());
    let report = Report::of(&failure.map_err(anyhow::Error::msg)?, &About::default());
    let (common, broken, mended) = told_apart(plan, system)?;
    let mut scenario = Scenario::of_plan(name, plan, expect.clone());
    scenario.notes = notes(&report);
    scenario.moral = Some(report.message.clone());
    scenario.theme = Some(rule.replace('-', " "));
    let found = saved.seed.map_or_else(String::new, |seed| format!(", found by seed {}", seed_text(seed)));
    let named = saved.fingerprint.as_deref().unwrap_or("a saved failure");
    scenario.source = Some(format!("{named}{found}"));
    scenario.options = common;
    scenario.variants = vec![Variant { name: broken.0, note: None, options: broken.1, expect }];
    let (fix, options) = mended;
    let fix = Variant { name: fix, note: None, options, expect: Expect::Pass };
    let mended = scenario.plan(&fix);
    let outcome = run_plan(system, &mended, false).context_of("the mended plan")?;
    // What does not mend it explains nothing.
    if fix.name != scenario.variants[0].name
        && meets(&fix.expect, &outcome).is_ok()
        && missed(&mended, &outcome).is_empty()
    {
        scenario.variants.push(fix);
    }
    Ok(scenario)
}

/// A refusal as an error with its place.
trait Placed<T> {
    fn context_of(self, place: &'static str) -> anyhow::Result<T>;
}

impl<T> Placed<T> for Result<T, String> {
    fn context_of(self, place: &'static str) -> anyhow::Result<T> {
        self.map_err(anyhow::Error::msg).context(place)
    }
}

type Named = (String, Options);

/// The options that variants share; those of the broken one, by name; and those of the mended one.
///
/// A planted bug explains a failure, and so does an option with a value that no plan draws by itself.
fn told_apart(plan: &Plan, system: &dyn System) -> anyhow::Result<(Options, Named, Named)> {
    let specs = system.options();
    let (mut common, mut broken, mut mended) = (Options::new(), Options::new(), Options::new());
    let mut names = ("found".to_owned(), "found".to_owned());
    for (name, value) in plan.options.iter() {
        let base = name.split('.').next().unwrap_or_default();
        let spec = specs.iter().find(|spec| spec.name == base && !spec.drawn && spec.default != value);
        let set =
            |options: &mut Options, value: &str| options.set(specs, name, value).map_err(anyhow::Error::msg);
        match spec {
            Some(spec) if plan.options.planted().is_none() => {
                set(&mut broken, value)?;
                set(&mut mended, spec.default)?;
                names = (variant_name(value), variant_name(spec.default));
            }
            _ => set(&mut common, value)?,
        }
    }
    if let Some(bug) = plan.options.planted() {
        broken.name_bug(bug);
        names = ("bug".to_owned(), "fix".to_owned());
    }
    Ok((common, (names.0, broken), (names.1, mended)))
}

fn variant_name(value: &str) -> String {
    value.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// What happens, from the causal chain of the failure, the earliest first.
fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![report.message.clone()];
    let words = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    notes.extend(report.why.iter().rev().map(words).filter(|line| !line.contains("VIOLATION")));
    notes
}
