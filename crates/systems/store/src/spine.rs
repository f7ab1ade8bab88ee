//! What is shown of a log: term and hash of every entry, and which of them change the members.

use crate::core::{Core, Entry};
use crate::request::word_of;
use whitewater_check::{ChainLog, Linked, link};

/// Terms and hashes of a log, durable or not.
#[derive(Debug)]
pub(crate) struct Spine {
    pub(crate) chain: ChainLog,
    /// Indexes of entries that change the members, in order.
    pub(crate) changes: Vec<u64>,
}

impl Spine {
    /// An empty log.
    pub(crate) fn new() -> Spine {
        Spine { chain: ChainLog::new(), changes: Vec::new() }
    }

    /// A log that begins behind an entry of that index.
    pub(crate) fn behind(index: u64, linked: Linked) -> Spine {
        Spine { chain: ChainLog::starting_after(index, linked), changes: Vec::new() }
    }

    /// Adds an entry, cutting off what stood there and beyond.
    pub(crate) fn grow<C: Core>(&mut self, entry: &Entry) {
        self.cut_to((entry.index - 1).min(self.chain.last_index()));
        let content = word_of(&entry.payload) ^ u64::from(entry.kind);
        let chained = link(self.chain.last().chain, entry.term, content);
        self.chain.push(Linked { term: entry.term, chain: chained });
        if entry.kind != crate::REQUEST && C::change_in(entry).is_some() {
            self.changes.push(entry.index);
        }
    }

    /// Cuts off everything behind that index.
    pub(crate) fn cut_to(&mut self, last: u64) {
        self.chain.truncate(last);
        while self.changes.pop_if(|index| *index > last).is_some() {}
    }

    /// Gives up everything up to that index.
    pub(crate) fn compact(&mut self, index: u64) {
        self.chain.compact(index.max(self.chain.base()));
        self.changes.retain(|change| *change > index);
    }
}
