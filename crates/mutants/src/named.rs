//! The list of the bugs that are branches in the code, for builds that have none of them.

use crate::PatchError;
use crate::header::Header;
use std::path::Path;

/// The file with the list, from the top folder of the project: headers like those of patches, an empty line behind each.
const FILE: &str = "crates/mutants/named.txt";

/// A bug that a build with the feature `mutants` can plant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its id, such as `seed-e9`.
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
    /// Why nothing can find it, if that is so.
    pub survives: Option<String>,
}

/// The bugs of the project whose top folder is `root`; none if it has no such list.
///
/// # Errors
/// The list cannot be read, or an entry of it is wrong.
pub fn named(root: &Path) -> Result<Vec<Named>, PatchError> {
    let path = root.join(FILE);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|error| PatchError::new(FILE, error.to_string()))?;
    let mut rest = text.trim_start();
    let mut bugs = Vec::new();
    while !rest.is_empty() {
        let (header, behind) = Header::read(FILE, rest)?;
        bugs.push(Named {
            id: header.text("id"),
            mechanism: header.text("mechanism"),
            property: header.text("property"),
            source: header.text("source"),
            events: header.number("events")?,
            system: header.text("system"),
            survives: header.get("survives"),
        });
        rest = behind.trim_start();
    }
    Ok(bugs)
}
