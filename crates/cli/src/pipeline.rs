//! What a pipeline on GitHub shows of a search: an annotation for each kind of failure, and the reports in its summary.

use crate::Screen;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use whitewater_hunt::report::{self, About};
use whitewater_hunt::{Failure, Fingerprint};

/// Annotations at most: more than ten of a step are not shown.
const ANNOTATIONS_MAX: usize = 5;

/// Bytes of the summary of a step at most; a longer one is thrown away whole.
const SUMMARY_BYTES_MAX: u64 = 1 << 20;

/// The pipeline this process runs in, if it is one that shows anything.
pub(crate) struct Pipeline {
    annotated: Vec<Fingerprint>,
    summary: Option<PathBuf>,
}

impl Pipeline {
    /// The pipeline that the environment speaks of.
    pub(crate) fn from_environment() -> Option<Pipeline> {
        let runs = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        runs.then_some(Pipeline { annotated: Vec::new(), summary })
    }

    /// Shows a failure: one annotation for each fingerprint, and its report in the summary.
    pub(crate) fn show(
        &mut self,
        failure: &Failure,
        fingerprint: Fingerprint,
        about: &About,
        screen: &Screen,
    ) {
        if self.annotated.contains(&fingerprint) {
            return;
        }
        self.annotated.push(fingerprint);
        if self.annotated.len() <= ANNOTATIONS_MAX {
            screen.remark(&annotation(failure, fingerprint));
        }
        if let Some(why) = self.summarise(&report::markdown(failure, about)) {
            screen.remark(&format!("not in the summary of this step: {why}"));
        }
    }

    /// Puts a text into the summary of the step; says why not if it cannot be.
    fn summarise(&self, text: &str) -> Option<String> {
        let file = self.summary.as_ref()?;
        let length = std::fs::metadata(file).map_or(0, |there| there.len());
        if length + text.len() as u64 + 1 > SUMMARY_BYTES_MAX {
            return Some(String::from("it is full"));
        }
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.and_then(|mut summary| writeln!(summary, "{text}")).err().map(|why| why.to_string())
    }
}

fn annotation(failure: &Failure, fingerprint: Fingerprint) -> String {
    let title = format!("{} {fingerprint}", failure.rule());
    let message = format!("{}\n{}", failure.message(), failure.command);
    format!("::error title={}::{}", property(&title), data(&message))
}

/// Text of a command for the pipeline: what would end it is written otherwise.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text of a property of such a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_written_otherwise() {
        assert_eq!(data("100 %\r\nn1: a,b"), "100 %25%0D%0An1: a,b");
        assert_eq!(property("panic: a,b"), "panic%3A a%2Cb");
    }
}
