//! Messages and timers of guests: whatever they say, under the names they gave when they were asked.

use std::fmt;
use std::sync::Arc;
use whitewater_sim::{Digest, Digester, Kind, Message, Timer};

/// A message of a guest.
#[derive(Clone, Debug)]
pub struct Said {
    pub(crate) kind: Kind,
    pub(crate) term: Option<u64>,
    /// The content, as JSON in its one form.
    pub(crate) body: Arc<str>,
}

impl Digest for Said {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(self.kind.code));
        digester.word(self.term.unwrap_or(0));
        digester.bytes(self.body.as_bytes());
    }
}

impl Message for Said {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn key(&self) -> u64 {
        let mut digester = Digester::default();
        self.digest(&mut digester);
        digester.short()
    }

    fn term(&self) -> Option<u64> {
        self.term
    }

    fn size_bytes(&self) -> u32 {
        self.body.len() as u32
    }

    fn duplicate(&self) -> Option<Said> {
        Some(self.clone())
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name)?;
        if let Some(term) = self.term {
            write!(f, " Term:{term}")?;
        }
        write!(f, " {}", self.body)
    }
}

/// A timer of a guest, by its place among those it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alarm {
    pub(crate) code: u32,
    pub(crate) name: &'static str,
}

impl Timer for Alarm {
    fn code(&self) -> u32 {
        self.code
    }

    fn name(&self) -> &'static str {
        self.name
    }
}
