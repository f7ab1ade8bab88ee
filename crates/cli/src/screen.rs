//! Where text goes: results to standard output, remarks to standard error, and a closed pipe is no accident.

use indicatif::ProgressBar;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What results look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people, on standard output.
    #[default]
    Human,
    /// One JSON object per line on standard output; text for people goes to standard error.
    Json,
}

/// The two streams of the process.
pub struct Screen {
    format: Format,
    closed: AtomicBool,
    /// Why standard output could not be written, unless its reader has gone.
    failed: Mutex<Option<io::Error>>,
    bar: Mutex<Option<ProgressBar>>,
}

impl Screen {
    /// A screen whose results have that format.
    pub fn new(format: Format) -> Screen {
        Screen { format, closed: AtomicBool::new(false), failed: Mutex::new(None), bar: Mutex::new(None) }
    }

    /// What results look like.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether whoever read our standard output has gone, so that going on is pointless.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Why standard output could not be written, unless its reader has gone: a full disk must not look like success.
    pub fn failure(&self) -> Option<io::Error> {
        self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    /// Lets a bar step aside whenever something is written; `None` when the bar is gone.
    pub fn set_bar(&self, bar: Option<ProgressBar>) {
        *self.lock_bar() = bar;
    }

    /// A result for people: on standard output, unless that belongs to JSON.
    pub fn print(&self, text: &str) {
        match self.format {
            Format::Human => self.write_out(text),
            Format::Json => self.remark(text),
        }
    }

    /// A result for programs: one object on one line of standard output, in the JSON format only.
    pub fn message(&self, message: &impl Serialize) {
        if self.format == Format::Json {
            self.data(message);
        }
    }

    /// A result that is an object in every format.
    pub fn data(&self, message: &impl Serialize) {
        self.write_out(&serde_json::to_string(message).expect("messages are plain data"));
    }

    /// A remark for people, on standard error.
    pub fn remark(&self, text: &str) {
        self.aside(|| {
            // Nobody is left to be told that nobody listens.
            let _ = writeln!(io::stderr().lock(), "{text}");
        });
    }

    fn write_out(&self, text: &str) {
        if self.is_closed() {
            return;
        }
        self.aside(|| {
            let mut out = io::stdout().lock();
            if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) {
                self.closed.store(true, Ordering::Relaxed);
                if error.kind() != io::ErrorKind::BrokenPipe {
                    let mut failed = self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    failed.get_or_insert(error);
                }
            }
        });
    }

    /// Text printed through a bar is lost when the bar is hidden; `suspend` prints it in any case.
    fn aside(&self, write: impl FnOnce()) {
        match &*self.lock_bar() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn lock_bar(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
