//! A value that was read, held against the writes that are known.

use super::history::{
    ACKNOWLEDGED_KEPT, APPLIED_ONCE, Ask, FINAL_DURABILITY, History, NO_PHANTOM, Once, Operation,
    READS_MONOTONIC, State, WRITES_IN_ORDER,
};
use whitewater_sim::{OpId, Violation};

/// What is known of one key.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyBook {
    /// Its acknowledged writes in order of acknowledgement.
    pub(crate) acknowledged: Vec<OpId>,
    /// Tokens that more than one write has.
    pub(crate) shared_tokens: Vec<u64>,
    /// The value that the newest read returned, and when.
    newest: Vec<u64>,
    newest_done: u64,
    /// Tokens of the value that is being checked, sorted, with room kept for the next.
    sorted: Vec<u64>,
}

/// A value that was read.
pub(crate) struct Value<'a> {
    pub(crate) key: u64,
    pub(crate) tokens: &'a [u64],
    /// When the read began.
    pub(crate) invoked: u64,
    /// Whether it is what a server holds in the end.
    pub(crate) is_final: bool,
}

impl Value<'_> {
    pub(crate) fn check(&self, history: &History, book: &mut KeyBook) -> Result<(), Violation> {
        self.check_phantoms(history)?;
        book.sorted.clear();
        book.sorted.extend_from_slice(self.tokens);
        book.sorted.sort_unstable();
        let repeated = book.sorted.windows(2).any(|pair| pair[0] == pair[1]);
        if repeated && history.once == Once::Claimed && book.shared_tokens.is_empty() {
            history.broken(APPLIED_ONCE, || format!("{self} holds a write more than once"))?;
        }
        // Where a write may take effect again later, one that replaces the value leaves no order behind it.
        let ordered = history.once == Once::Claimed || self.replacement(history).is_none();
        if ordered && book.shared_tokens.is_empty() {
            if !repeated {
                self.check_order(history)?;
            }
            self.check_monotonic(history, book)?;
        }
        self.check_kept(history, book)
    }

    fn write<'r>(&self, history: &'r History, token: u64) -> Option<(OpId, &'r Operation)> {
        let op = *history.writes.get(&token)?;
        Some((op, history.operation(op)))
    }

    /// The write that replaced what was there before, if the value shows one.
    fn replacement<'r>(&self, history: &'r History) -> Option<&'r Operation> {
        let (_, write) = self.tokens.first().and_then(|&token| self.write(history, token))?;
        (write.ask != Ask::Append).then_some(write)
    }

    /// Nothing was invented: each part was written to this key, and only the first may have replaced what was there.
    fn check_phantoms(&self, history: &History) -> Result<(), Violation> {
        for (place, &token) in self.tokens.iter().enumerate() {
            let message = match self.write(history, token) {
                None => format!("{self} holds {token} at place {place}, which nobody wrote"),
                Some((op, write)) if write.key != self.key => {
                    format!("{self} holds what {op} wrote to another key")
                }
                Some((op, write)) if write.state == State::Refused => {
                    format!("{self} holds what {op} wrote, and that was refused")
                }
                Some((op, write)) if place > 0 && write.ask != Ask::Append => {
                    format!(
                        "{self} holds something before what {op} wrote, and that replaced the whole value"
                    )
                }
                Some(_) => continue,
            };
            history.broken(NO_PHANTOM, || message)?;
        }
        Ok(())
    }

    /// No write stands before one that was acknowledged before it began.
    fn check_order(&self, history: &History) -> Result<(), Violation> {
        let mut latest = 0;
        for &token in self.tokens {
            let Some((op, write)) = self.write(history, token) else { continue };
            if write.done < latest {
                return history.broken(WRITES_IN_ORDER, || {
                    format!("{self} holds what {op} wrote behind a write that began only after {op} was done")
                });
            }
            latest = latest.max(write.invoked);
        }
        Ok(())
    }

    /// Every write that was acknowledged before the read began is there, or what replaced it is.
    fn check_kept(&self, history: &History, book: &KeyBook) -> Result<(), Violation> {
        let replacement = self.replacement(history);
        for &op in &book.acknowledged {
            let write = history.operation(op);
            if write.done >= self.invoked {
                break;
            }
            let replaced =
                replacement.is_some_and(|by| history.once == Once::NotClaimed || by.done > write.invoked);
            let there = replaced || book.sorted.binary_search(&write.token).is_ok();
            if !there && !book.shared_tokens.contains(&write.token) {
                let rule = if self.is_final { FINAL_DURABILITY } else { ACKNOWLEDGED_KEPT };
                return history.broken(rule, || {
                    format!("{self} does not hold what {op} wrote, and {op} was acknowledged")
                });
            }
        }
        Ok(())
    }

    /// What reads returned before this one began is there, or what replaced it is.
    fn check_monotonic(&self, history: &History, book: &mut KeyBook) -> Result<(), Violation> {
        let grown = self.tokens.starts_with(&book.newest);
        if !grown && book.newest_done < self.invoked {
            let replaced = self.tokens.first() != book.newest.first()
                && self.replacement(history).is_some_and(|by| by.done > book.newest_invoked(history));
            if !replaced {
                return history.broken(READS_MONOTONIC, || {
                    format!("{self} is older than what a read returned that was done before this one began")
                });
            }
        }
        if grown || book.newest_done < self.invoked {
            book.newest.clear();
            book.newest.extend_from_slice(self.tokens);
            book.newest_done = history.now;
        }
        Ok(())
    }
}

impl KeyBook {
    /// When the latest of the writes began that the newest read showed.
    fn newest_invoked(&self, history: &History) -> u64 {
        let begun = |token| history.writes.get(token).map_or(0, |&op| history.operation(op).invoked);
        self.newest.iter().map(begun).max().unwrap_or(0)
    }
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.is_final { "the final value" } else { "a value read" };
        write!(f, "{what} of {} writes", self.tokens.len())
    }
}
