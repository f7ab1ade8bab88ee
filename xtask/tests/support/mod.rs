//! What the tests share: the project's folder, its files, and a way to run the command line.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// The project's top folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the top folder")
}

/// Every file of the project relative to the top folder, without what is built or ignored.
pub(crate) fn tracked() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root().to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project can be read") {
            let path = entry.expect("an entry can be read").path();
            let relative = path.strip_prefix(root()).expect("we walk the project").to_path_buf();
            if relative == Path::new("target") || relative == Path::new(".git") {
                continue;
            }
            if path.is_dir() { open.push(path) } else { files.push(relative) }
        }
    }
    files.sort();
    files
}

/// Files with their text.
pub(crate) fn read(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, String)> {
    let text = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).expect("a file of the project is text");
        (path, text)
    };
    paths.into_iter().map(text).collect()
}

/// Every Rust file of the project with its text.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let sources = read(tracked().into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")));
    assert!(sources.len() > 10, "the sources are found");
    sources
}
