//! What a word on the command line means that names a run: a seed, a saved failure, a plan or a variant of a scenario.

use crate::program::called;
use crate::{Systems, files, store};
use anyhow::{anyhow, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use whitewater_hunt::print_command;
use whitewater_plan::{InputFile, Plan, Restrictions, Saved, Scenario, generate, parse_seed};

/// Something that can be run.
pub(crate) struct Meant {
    /// What is run.
    pub(crate) plan: Plan,
    /// The seed it was drawn from, if it was.
    pub(crate) seed: Option<u64>,
    /// The command that shows it again.
    pub(crate) command: String,
    /// What it did when it was saved.
    pub(crate) saved: Option<Saved>,
    /// The file it stands in.
    pub(crate) file: Option<PathBuf>,
}

/// The file a word names, by its path or as a fingerprint; none if it can only be a seed.
///
/// # Errors
/// It is the fingerprint of no or several failures, or the path of no file.
pub(crate) fn file_of(word: &str) -> anyhow::Result<Option<PathBuf>> {
    let path = Path::new(word);
    if path.is_file() {
        return Ok(Some(path.to_path_buf()));
    }
    if store::is_fingerprint(word) {
        return store::by_fingerprint(word).map(Some);
    }
    match word.contains(['/', '\\']) || word.ends_with(".json") {
        true => bail!("{word}: there is no such file; `fuzz` says where it saves what it finds"),
        false => Ok(None),
    }
}

/// The bugs that are planted in a file; of one that cannot be read there are none, and whoever runs it says what is wrong.
pub(crate) fn bugs_in(file: &Path, systems: Systems) -> BTreeSet<String> {
    let read = || {
        let json = files::read(file).ok()?;
        let options = match InputFile::parse(&file.display().to_string(), &json, systems).ok()? {
            InputFile::Saved(saved) => vec![saved.plan.options],
            InputFile::Plan(plan) => vec![plan.options],
            InputFile::Scenario(scenario) => {
                let of_variants = scenario.variants.into_iter().map(|variant| variant.options);
                of_variants.chain([scenario.options]).collect()
            }
        };
        Some(options.iter().filter_map(|options| options.planted().map(str::to_owned)).collect())
    };
    read().unwrap_or_default()
}

/// The bugs that are planted in the files that these words name.
pub(crate) fn bugs_of<'a>(words: impl IntoIterator<Item = &'a String>, systems: Systems) -> BTreeSet<String> {
    let files = words.into_iter().filter_map(|word| place_of(word).ok()?.0);
    files.flat_map(|file| bugs_in(&file, systems)).collect()
}

/// `FILE@variant` in two parts.
fn split(word: &str) -> (&str, Option<&str>) {
    match word.rsplit_once('@') {
        Some((file, variant)) if !Path::new(word).exists() => (file, Some(variant)),
        _ => (word, None),
    }
}

/// The file a word names and the variant in it: `FILE@variant`, `NAME@variant` for a scenario of this project, or what
/// [`file_of`] takes.
///
/// # Errors
/// As [`file_of`].
pub(crate) fn place_of(word: &str) -> anyhow::Result<(Option<PathBuf>, Option<&str>)> {
    let (name, variant) = split(word);
    let scenario = files::folder("scenarios").join(format!("{name}.json"));
    match variant.is_some() && !name.contains(['/', '\\']) && scenario.is_file() {
        true => Ok((Some(scenario), variant)),
        false => Ok((file_of(name)?, variant)),
    }
}

/// What a word means; seeds are drawn under the restrictions.
///
/// # Errors
/// It names nothing that can be run; says why.
pub(crate) fn meant(word: &str, restrictions: &Restrictions, systems: Systems) -> anyhow::Result<Meant> {
    let (file, variant) = place_of(word)?;
    let Some(file) = file else {
        let seed = parse_seed(word)
            .map_err(|why| anyhow!("{why}, or the name of a file, or a fingerprint such as F-0123456789"))?;
        let plan = generate(systems, seed, restrictions).map_err(anyhow::Error::msg)?;
        let command = print_command(called(), restrictions, seed);
        return Ok(Meant { plan, seed: Some(seed), command, saved: None, file: None });
    };
    let command = format!("{} replay {word}", called());
    let text = files::read(&file)?;
    let input = InputFile::parse(&file.display().to_string(), &text, systems)?;
    let (plan, seed, saved) = match input {
        InputFile::Saved(saved) => (saved.plan.clone(), saved.seed, Some(saved)),
        InputFile::Plan(plan) => (plan, None, None),
        InputFile::Scenario(scenario) => (of_variant(&scenario, variant, &file)?, None, None),
    };
    Ok(Meant { plan, seed, command, saved, file: Some(file) })
}

fn of_variant(scenario: &Scenario, variant: Option<&str>, file: &Path) -> anyhow::Result<Plan> {
    let names = || scenario.variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>().join(", ");
    let file = file.display();
    let found = match (variant, &scenario.variants[..]) {
        (Some(name), _) => scenario.variant(name),
        (None, [only]) => Some(only),
        (None, _) => bail!("{file}: it has several variants, {}: write `{file}@VARIANT`", names()),
    };
    match found {
        Some(variant) => Ok(scenario.plan(variant)),
        None => bail!("{file}: it has no variant `{}`; there are {}", variant.unwrap_or_default(), names()),
    }
}
