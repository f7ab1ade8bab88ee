//! Names for what client rules know by number, and who did what when, for messages.

use std::fmt;
use whitewater_sim::{NodeId, Time};

/// A moment for reading: to the hundredth of a millisecond.
pub(crate) fn moment(time: Time) -> String {
    let hundredths = time.nanos().div_ceil(10_000);
    let (millis, rest) = (hundredths / 100, hundredths % 100);
    if rest == 0 { format!("{millis}ms") } else { format!("{millis}.{rest:02}ms") }
}

/// Texts of keys and writes. Asked only where a rule is broken.
pub trait Naming {
    /// A key.
    fn key(&self, key: u64) -> String;
    /// What a write with this token wrote.
    fn value(&self, token: u64) -> String;
}

/// Who was told to do something, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// A client, or a server that is asked itself.
    pub node: NodeId,
    /// When.
    pub at: Time,
}

/// Who answered, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// When.
    pub at: Time,
    /// The server that answered, if it is known.
    pub by: Option<NodeId>,
    /// Up to which entry it had applied its log when it did, if it says so.
    pub index: Option<u64>,
}

/// The server, and up to where it had applied its log.
impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.by, self.index) {
            (Some(by), Some(index)) => write!(f, "{by} at entry {index}"),
            (Some(by), None) => write!(f, "{by}"),
            (None, _) => f.write_str("itself"),
        }
    }
}
