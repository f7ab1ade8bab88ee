//! What each kind of fault is needed for, as it was measured: a line for each in a file.

use crate::PatchError;
use std::path::Path;

/// The file with the lines, from the top folder of the project.
pub const NEEDS: &str = "crates/mutants/needs.txt";

/// That something is not found without a kind of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The name of the kind.
    pub fault: String,
    /// The name of the system.
    pub system: String,
    /// Who is not found without it.
    pub found: Found,
}

/// What is found with a kind of fault and not without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A variant of a scenario stops breaking its rule when the steps and settings of that kind are taken out.
    Scenario {
        /// Its name.
        scenario: String,
        /// The name of the variant.
        variant: String,
        /// The bug planted in it.
        bug: Option<String>,
    },
    /// A bug is found in plans of the swarm out of which every other kind was taken.
    Search {
        /// The bug, or an option with the value that stands for it.
        bug: String,
        /// Other kinds that were left in as well, by their names.
        with: Vec<String>,
        /// Messages delivered until it was found.
        found_after: u64,
        /// Messages delivered without finding it once this kind was taken out as well.
        not_in: u64,
    },
}

impl Need {
    /// One line of the file.
    pub fn line(&self) -> String {
        let Need { fault, system, found } = self;
        match found {
            Found::Scenario { scenario, variant, bug } => {
                let bug = bug.as_deref().unwrap_or("-");
                format!("{fault} | {system} | scenario | {scenario} | {variant} | {bug}")
            }
            Found::Search { bug, with, found_after, not_in } => {
                let with = if with.is_empty() { "-".to_owned() } else { with.join(" ") };
                format!("{fault} | {system} | search | {bug} | {with} | {found_after} | {not_in}")
            }
        }
    }

    fn read(line: &str) -> Option<Need> {
        let parts: Vec<&str> = line.split(" | ").collect();
        let said = |part: &str| (part != "-").then(|| part.to_owned());
        let found = match parts[..] {
            [_, _, "scenario", scenario, variant, bug] => {
                Found::Scenario { scenario: scenario.to_owned(), variant: variant.to_owned(), bug: said(bug) }
            }
            [_, _, "search", bug, with, found_after, not_in] => Found::Search {
                bug: bug.to_owned(),
                with: said(with).map_or_else(Vec::new, |with| with.split(' ').map(str::to_owned).collect()),
                found_after: found_after.parse().ok()?,
                not_in: not_in.parse().ok()?,
            },
            _ => return None,
        };
        Some(Need { fault: parts[0].to_owned(), system: parts[1].to_owned(), found })
    }
}

/// The needs of the project whose top folder is `root`; none if it has no such file.
///
/// # Errors
/// The file cannot be read, or a line of it is none.
pub fn needs(root: &Path) -> Result<Vec<Need>, PatchError> {
    let path = root.join(NEEDS);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|error| PatchError::new(NEEDS, error.to_string()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let wrong = || PatchError::new(NEEDS, format!("`{line}` is no need: measure them anew"));
            Need::read(line).ok_or_else(wrong)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_reads_back_from_its_line() {
        let found = [
            Found::Scenario { scenario: "a-race".into(), variant: "lost".into(), bug: None },
            Found::Scenario { scenario: "a-race".into(), variant: "lost".into(), bug: Some("R05".into()) },
            Found::Search { bug: "R05".into(), with: vec![], found_after: 7, not_in: 900 },
            Found::Search {
                bug: "R05".into(),
                with: vec!["crash".into(), "lie".into()],
                found_after: 7,
                not_in: 900,
            },
        ];
        for found in found {
            let need = Need { fault: "loss".into(), system: "kv".into(), found };
            assert_eq!(Need::read(&need.line()), Some(need));
        }
        assert_eq!(Need::read("loss | kv | search | R05 | - | soon | 900"), None);
        assert_eq!(Need::read("loss | kv | guess | R05"), None);
    }

    #[test]
    fn the_needs_of_the_project_can_be_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let needs = needs(&root).unwrap();
        assert!(!needs.is_empty());
    }
}
