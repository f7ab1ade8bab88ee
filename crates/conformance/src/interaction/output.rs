//! What commands print: silenced by a level, indented below headers.

/// The levels of `log-level`, from the most talkative to silence.
const LEVELS: [&str; 6] = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL", "NONE"];

/// Printed text. The core has no log of its own, so of the levels only silence matters.
#[derive(Debug, Default)]
pub(crate) struct Output {
    text: String,
    level: usize,
}

impl Output {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
    }

    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.level == LEVELS.len() - 1
    }

    /// The number of a level, whatever its case.
    pub(crate) fn level_named(name: &str) -> Result<usize, String> {
        let position = LEVELS.iter().position(|level| level.eq_ignore_ascii_case(name));
        position.ok_or_else(|| format!("log levels must be either of {LEVELS:?}"))
    }

    /// Sets the level and returns the one before.
    pub(crate) fn set_level(&mut self, level: usize) -> usize {
        std::mem::replace(&mut self.level, level)
    }

    pub(crate) fn write(&mut self, text: &str) {
        if !self.is_quiet() {
            self.text += text;
        }
    }

    pub(crate) fn line(&mut self, line: impl std::fmt::Display) {
        self.write(&format!("{line}\n"));
    }

    /// The length of what is printed: where something to be indented starts.
    pub(crate) fn mark(&self) -> usize {
        self.text.len()
    }

    /// Indents every line that was printed since the mark.
    pub(crate) fn indent_since(&mut self, mark: usize) {
        let tail = self.text.split_off(mark);
        for line in tail.lines() {
            self.text += "  ";
            self.text += line;
            self.text += "\n";
        }
    }
}
