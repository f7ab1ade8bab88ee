//! Log terms: the terms in a log never fall, and none is above the term of its node.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// The terms in a log never fall, and none is above the term of its node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogTerms;

impl LogRule for LogTerms {
    const NAME: &'static str = "log-terms";
    const CLAIM: &'static str = "The terms in a log never fall, and none is above the term of its node.";
    const SOURCE: &'static str = "CCF's MonoLogInv";
    const WAKES_ON: Bits = Bits(Bits::LOG_APPENDED.0 | Bits::TERM.0);

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, log) = (change.election.node, &books.node(change.election.node).log);
        let mut previous = log.term_at(change.kept).unwrap_or(0);
        for index in change.kept + 1..=change.after.last_index {
            let term = log.term_at(index).unwrap_or(previous);
            if term < previous {
                let message = format!("{node} has entry {index} of term {term} after one of term {previous}");
                return Self::broken(node, None, message);
            }
            previous = term;
        }
        let (last, term) = (log.last().term, change.election.after.term);
        if last > term {
            let message = format!("{node} is in term {term} and its last entry is of term {last}");
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}
