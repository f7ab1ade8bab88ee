//! Which commit of the project is checked out, so that a failure can say where it was found.

use std::process::Command;
use std::sync::OnceLock;

/// A commit, and whether files differ from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    id: String,
    changed: bool,
}

/// The checked-out commit; none outside of a repository.
pub(crate) fn current() -> Option<&'static Commit> {
    static CURRENT: OnceLock<Option<Commit>> = OnceLock::new();
    let ask = || {
        let id = git(&["rev-parse", "HEAD"])?;
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
        Some(Commit { id, changed: !changes.is_empty() })
    };
    CURRENT.get_or_init(ask).as_ref()
}

impl Commit {
    /// Its name in a file: all digits.
    pub(crate) fn whole(&self) -> String {
        self.named(&self.id)
    }

    /// Its name for people: the first digits.
    pub(crate) fn short(&self) -> String {
        self.named(self.id.get(..9).unwrap_or(&self.id))
    }

    fn named(&self, id: &str) -> String {
        if self.changed { format!("{id} with changes") } else { id.to_owned() }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_is_not_what_was_run_says_so() {
        let commit = |changed| Commit { id: "0123456789abcdef".to_owned(), changed };
        assert_eq!(commit(false).short(), "012345678");
        assert_eq!(commit(true).whole(), "0123456789abcdef with changes");
    }
}
