//! One planted bug: what it breaks, and the change of the sources that plants it.

use crate::header::Header;
use std::path::{Path, PathBuf};

/// A patch file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct PatchError {
    /// The file, with a line where one can be told.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}

impl PatchError {
    pub(crate) fn new(place: &str, what: impl Into<String>) -> PatchError {
        PatchError { place: place.to_owned(), what: what.into() }
    }
}

/// A bug that can be planted in a copy of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The id in the catalogue of bugs, such as `E08`.
    pub id: String,
    /// What the code does with the bug, in a sentence.
    pub mechanism: String,
    /// The property it breaks.
    pub property: String,
    /// Who had it.
    pub source: String,
    /// How many rare events must meet before it shows: 1 is trivial, 6 is extreme.
    pub events: u32,
    /// The system that shows it.
    pub system: String,
    /// How many nodes it takes, where that matters.
    pub nodes: Option<String>,
    /// Why nothing can find it, if that is so; a bug that survives for a reason is not held against anybody.
    pub survives: Option<String>,
    /// The changed files, each with its own unified diff.
    changes: Vec<(PathBuf, String)>,
}

impl Patch {
    /// Reads a patch file: a header, an empty line, unified diffs.
    ///
    /// # Errors
    /// The header is wrong, or there is no change below it.
    pub fn parse(file: &str, text: &str) -> Result<Patch, PatchError> {
        let (header, body) = Header::read(file, text)?;
        let changes = changes(file, body)?;
        Ok(Patch {
            id: header.text("id"),
            mechanism: header.text("mechanism"),
            property: header.text("property"),
            source: header.text("source"),
            events: header.number("events")?,
            system: header.text("system"),
            nodes: header.get("nodes"),
            survives: header.get("survives"),
            changes,
        })
    }

    /// The files that it changes, from the top folder of the project.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.changes.iter().map(|(path, _)| path.as_path())
    }

    /// What the changed files hold once the bug is planted, read from the project below `root`. Writes nothing.
    ///
    /// # Errors
    /// A file cannot be read, or has changed so much that the patch does not apply any more.
    pub fn apply(&self, root: &Path) -> Result<Vec<(PathBuf, String)>, PatchError> {
        self.changes.iter().map(|(path, diff)| Ok((path.clone(), self.changed(root, path, diff)?))).collect()
    }

    fn changed(&self, root: &Path, path: &Path, diff: &str) -> Result<String, PatchError> {
        let wrong = |what: String| PatchError::new(&format!("{}.patch", self.id), what);
        let old = std::fs::read_to_string(root.join(path))
            .map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())))?;
        let patch = diffy::Patch::from_str(diff).map_err(|error| wrong(error.to_string()))?;
        let new = diffy::apply(&old, &patch)
            .map_err(|error| wrong(format!("does not apply to {} any more: {error}", path.display())))?;
        if new == old {
            return Err(wrong(format!("changes nothing in {}", path.display())));
        }
        Ok(new)
    }
}

/// The diff of each file.
fn changes(file: &str, body: &str) -> Result<Vec<(PathBuf, String)>, PatchError> {
    const OLD: &str = "--- a/";
    let mut changes: Vec<(PathBuf, String)> = Vec::new();
    for line in body.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix(OLD) {
            changes.push((PathBuf::from(path.trim_end()), String::new()));
        }
        match changes.last_mut() {
            Some((_, diff)) => diff.push_str(line),
            None if line.trim().is_empty() => {}
            None => {
                return Err(PatchError::new(
                    file,
                    format!("`{}` comes before the first `{OLD}...`", line.trim_end()),
                ));
            }
        }
    }
    if changes.is_empty() {
        return Err(PatchError::new(file, "there is no change below the header"));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "id: X1\nmechanism: m\nproperty: p\nsource: s\nevents: 2\nsystem: kv\n\n--- a/one.txt\n+++ b/one.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n";

    fn folder(name: &str, text: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("whitewater-mutants-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("one.txt"), text).unwrap();
        folder
    }

    #[test]
    fn a_patch_applies_where_its_lines_have_moved_to() {
        let patch = Patch::parse("X1.patch", GOOD).unwrap();
        let folder = folder("moved", "new\nlines\na\nb\nd\n");
        let changed = patch.apply(&folder).unwrap();
        assert_eq!(changed, [(PathBuf::from("one.txt"), "new\nlines\na\nc\nd\n".to_owned())]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_patch_whose_lines_are_gone_says_so() {
        let patch = Patch::parse("X1.patch", GOOD).unwrap();
        let folder = folder("gone", "a\nx\nd\n");
        let error = patch.apply(&folder).unwrap_err().to_string();
        assert!(error.starts_with("X1.patch: does not apply to one.txt any more"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_header_is_complete_and_knows_its_keys() {
        let error = |text: &str| Patch::parse("X1.patch", text).unwrap_err().to_string();
        assert_eq!(error(&GOOD.replace("source: s\n", "")), "X1.patch: the header lacks `source: ...`");
        let unknown = error(&GOOD.replace("source", "origin"));
        assert!(unknown.starts_with("X1.patch:4: there is no key `origin`; there are id,"), "{unknown}");
        assert_eq!(error(&GOOD.replace("events: 2", "events: few")), "X1.patch: `events: few` is no number");
        assert_eq!(error("id: X1"), "X1.patch: an empty line is missing behind the header");
    }
}
