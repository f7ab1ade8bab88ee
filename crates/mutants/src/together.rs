//! Bugs that take a crash and a cut together, as it was measured: a line for each in a file.

use crate::PatchError;
use std::path::Path;

/// The file with the lines, from the top folder of the project.
const FILE: &str = "crates/mutants/together.txt";

/// That a bug is found where servers crash and are cut off, and not where they do one of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The id of the bug.
    pub bug: String,
    /// Options that were given instead of drawn, in all three searches.
    pub set: Vec<(String, String)>,
    /// Messages delivered until it was found with crashes and cuts, and nothing else that disturbs.
    pub found_after: u64,
    /// Messages delivered without finding it with every fault there is but crashes, and what ends a process like one.
    pub not_without_crashes: u64,
    /// Messages delivered without finding it with crashes alone.
    pub not_without_cuts: u64,
}

impl Together {
    /// One line of the file.
    pub fn line(&self) -> String {
        let Together { bug, set, found_after, not_without_crashes, not_without_cuts } = self;
        let set: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let set = if set.is_empty() { "-".to_owned() } else { set.join(" ") };
        format!("{bug} | {set} | {found_after} | {not_without_crashes} | {not_without_cuts}")
    }

    fn read(line: &str) -> Option<Together> {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [bug, set, found_after, not_without_crashes, not_without_cuts] = parts[..] else { return None };
        let setting =
            |word: &str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set = if set == "-" { Some(Vec::new()) } else { set.split(' ').map(setting).collect() };
        Some(Together {
            bug: bug.to_owned(),
            set: set?,
            found_after: found_after.parse().ok()?,
            not_without_crashes: not_without_crashes.parse().ok()?,
            not_without_cuts: not_without_cuts.parse().ok()?,
        })
    }
}

/// The bugs of the project whose top folder is `root` that take a crash and a cut together.
///
/// # Errors
/// The file cannot be read, or a line of it is wrong.
pub fn together(root: &Path) -> Result<Vec<Together>, PatchError> {
    let text = std::fs::read_to_string(root.join(FILE));
    let text = text.map_err(|error| PatchError::new(FILE, error.to_string()))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let wrong = || PatchError::new(FILE, format!("`{line}` is no measurement: make it anew"));
            Together::read(line).ok_or_else(wrong)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_reads_back_from_its_line() {
        let set = vec![("nodes".to_owned(), "3".to_owned()), ("lease".to_owned(), "off".to_owned())];
        for set in [Vec::new(), set] {
            let bug = "E09".to_owned();
            let one = Together { bug, set, found_after: 7, not_without_crashes: 900, not_without_cuts: 800 };
            assert_eq!(Together::read(&one.line()), Some(one));
        }
        for wrong in ["E09 | - | 7 | 900", "E09 | nodes | 7 | 900 | 800", "E09 | - | soon | 900 | 800"] {
            assert_eq!(Together::read(wrong), None, "{wrong}");
        }
    }
}
