//! A row: one write of one origin, with a hash by which prefixes are compared.

use std::fmt;
use std::rc::Rc;
use whitewater_sim::{Digester, NodeId};

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who wrote it first.
    pub origin: NodeId,
    /// Its number among the rows of its origin, from 1.
    pub lsn: u32,
    /// What was written, for example `x=1`.
    pub text: Rc<str>,
}

impl Row {
    /// Continues a hash over the rows of one origin with this row.
    pub fn chain(&self, before: u64) -> u64 {
        let mut digester = Digester::default();
        digester.word(before);
        digester.word((self.origin.index() as u64) << 32 | u64::from(self.lsn));
        digester.bytes(self.text.as_bytes());
        digester.short()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}", self.origin.position() + 1, self.lsn, self.text)
    }
}
