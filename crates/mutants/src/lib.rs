//! Planted bugs that live outside of the code: one patch file each, with a header that says what it breaks.
//!
//! A bug whose guard deserves a comment, or that a scenario tells of, is a branch in the code behind the feature `mutants`.
//! All others are here, so that the code stays readable: [`Patch::apply`] plants one in a copy of the sources, which is
//! then built like any other. See `README.md` in this folder for the format and the results.

mod header;
mod named;
mod needs;
mod patch;
mod together;

pub use named::{Named, named};
pub use needs::{Found, NEEDS, Need, needs};
pub use patch::{Patch, PatchError};
pub use together::{Together, together};

use std::path::{Path, PathBuf};

/// The folder with the patches, from the top folder of the project.
pub const FOLDER: &str = "crates/mutants/patches";

/// Every patch of the project whose top folder is `root`, in the order of their ids. None if the project has no such folder.
///
/// # Errors
/// A file cannot be read, is no patch, or is not named after its id.
pub fn all(root: &Path) -> Result<Vec<Patch>, PatchError> {
    all_in(root, FOLDER)
}

/// The same of another folder of patches, such as that of changes that saved failures have to outlive.
///
/// # Errors
/// A file cannot be read, is no patch, or is not named after its id.
pub fn all_in(root: &Path, folder_name: &str) -> Result<Vec<Patch>, PatchError> {
    let folder = root.join(folder_name);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| PatchError::new(folder_name, error.to_string());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            files.push(path);
        }
    }
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Patch, PatchError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).map_err(|error| PatchError::new(&name, error.to_string()))?;
    let patch = Patch::parse(&name, &text)?;
    if name != format!("{}.patch", patch.id) {
        return Err(PatchError::new(
            &name,
            format!("the file of the bug `{0}` is called `{0}.patch`", patch.id),
        ));
    }
    Ok(patch)
}
