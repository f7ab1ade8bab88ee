//! Files: found from any folder of the project, written whole or not at all.

use anyhow::{Context, anyhow, bail};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of that name in this folder or the nearest one above that has it; else the one it would be here.
pub(crate) fn folder(name: &str) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().map(|above| above.join(name)).find(|path| path.is_dir());
    let found = found.unwrap_or_else(|| here.join(name));
    // Shorter, and the same on every machine.
    found.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(found)
}

/// The JSON files of a folder by name; none if there is no such folder.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn json_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}: cannot be read", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The text of a file, without the mark that some editors put at its beginning.
///
/// # Errors
/// It cannot be read, or is no text.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|wrong| {
        let (path, before) = (path.display(), &wrong.as_bytes()[..wrong.utf8_error().valid_up_to()]);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        anyhow!("{path}:{line}: is no text in UTF-8\n  mend: take the file from where it came once more, or remove it")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Writes a text behind a marker that stands in the file, in place of what stood there; the marker and the text if there is no
/// file yet.
///
/// # Errors
/// The file cannot be read or written, or says something else than what a marker would stand behind.
pub(crate) fn write_behind(path: &Path, marker: &str, text: &str) -> anyhow::Result<()> {
    let old = if path.exists() { read(path)? } else { String::new() };
    let head = match old.split_once(marker) {
        Some((head, _)) => head,
        None if old.trim().is_empty() => "",
        None => bail!(
            "{}: has no line `{}`; add it where the text is to stand, as all behind it is replaced",
            path.display(),
            marker.trim_end()
        ),
    };
    write_whole(path, &format!("{head}{marker}{text}"))
}

/// Writes a file under another name and then gives it its own, so that nobody ever meets half of it.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same with bytes that are no text.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        bail!("{}: is no name for a file", path.display());
    };
    let beside = folder.join(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let write = || -> std::io::Result<()> {
        if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write()
        .inspect_err(|_| drop(fs::remove_file(&beside)))
        .with_context(|| format!("{}: cannot be written", path.display()))
}
