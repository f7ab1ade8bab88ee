//! What is wrong with a file, where, and how to mend it.

use thiserror::Error;

/// An error in a file somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}\n  mend: {mend}")]
pub struct InputError {
    /// Name of the file as it was given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What would be right.
    pub mend: String,
}
