//! A value that was read, held against the writes that are known.

use super::history::{
    ACKNOWLEDGED_KEPT, APPLIED_ONCE, Ask, ClientRule, FINAL_DURABILITY, History, NO_PHANTOM, Once, Operation,
    READS_MONOTONIC, State, WRITES_IN_ORDER,
};
use super::naming::{Answered, Asked, Naming, moment};
use whitewater_sim::{OpId, Violation};

/// Most writes of a value that a message lists.
const LISTED_MAX: usize = 8;

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
    newest_read: Option<Reading>,
    /// Tokens of the value that is being checked, sorted, with room kept for the next.
    sorted: Vec<u64>,
}

/// Who read, and who answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) asked: Asked,
    pub(crate) answered: Answered,
}

/// A value that was read.
pub(crate) struct Value<'a> {
    pub(crate) key: u64,
    pub(crate) tokens: &'a [u64],
    /// When the read began.
    pub(crate) invoked: u64,
    pub(crate) reading: Reading,
    pub(crate) naming: &'a dyn Naming,
    /// Whether it is what a server holds in the end.
    pub(crate) is_final: bool,
}

impl Value<'_> {
    pub(crate) fn check(&self, history: &History, book: &mut KeyBook) -> Result<(), Violation> {
        self.check_phantoms(history)?;
        book.sorted.clear();
        book.sorted.extend_from_slice(self.tokens);
        book.sorted.sort_unstable();
        let repeated = book.sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        if let Some(token) = repeated
            && history.once == Once::Claimed
            && book.shared_tokens.is_empty()
        {
            self.broken(history, APPLIED_ONCE, || {
                let times = self.tokens.iter().filter(|&&other| other == token).count();
                format!("it holds {times} times {}", self.wrote(history, token))
            })?;
        }
        // Where a write may take effect again later, one that replaces the value leaves no order behind it.
        let ordered = history.once == Once::Claimed || self.replacement(history).is_none();
        if ordered && book.shared_tokens.is_empty() {
            if repeated.is_none() {
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
            let wrote = || self.wrote(history, token);
            let may_show = |write: &Operation| {
                write.key == self.key
                    && write.state != State::Refused
                    && (place == 0 || write.ask == Ask::Append)
            };
            if history.writers(token).any(may_show) {
                continue;
            }
            let message = match self.write(history, token) {
                None => format!("at place {} it holds something that nobody wrote", place + 1),
                Some((_, write)) if write.key != self.key => {
                    format!("it holds {} under another key, {}", wrote(), self.naming.key(write.key))
                }
                Some((_, write)) if write.state == State::Refused => {
                    format!("it holds {}, a write that was refused", wrote())
                }
                Some(_) => format!("it holds something before {} in place of everything", wrote()),
            };
            self.broken(history, NO_PHANTOM, || message)?;
        }
        Ok(())
    }

    /// No write stands before one that was acknowledged before it began.
    fn check_order(&self, history: &History) -> Result<(), Violation> {
        let (mut latest, mut before) = (0, 0);
        for &token in self.tokens {
            let Some((_, write)) = self.write(history, token) else { continue };
            if write.done < latest {
                return self.broken(history, WRITES_IN_ORDER, || {
                    let (early, late) = (self.wrote(history, token), self.wrote(history, before));
                    format!("{early} stands behind {late}, who began later")
                });
            }
            if write.invoked > latest {
                (latest, before) = (write.invoked, token);
            }
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
                return self
                    .broken(history, rule, || format!("it lacks {}", self.wrote(history, write.token)));
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
                return self.broken(history, READS_MONOTONIC, || {
                    let newer = book.newest_read.map_or(String::new(), |Reading { asked, answered }| {
                        format!(", which {} was told by {answered} at {}", asked.node, moment(answered.at))
                    });
                    format!("it is older than {}{newer}", self.listed(&book.newest))
                });
            }
        }
        if grown || book.newest_done < self.invoked {
            book.newest.clear();
            book.newest.extend_from_slice(self.tokens);
            book.newest_done = history.now;
            book.newest_read = Some(self.reading);
        }
        Ok(())
    }

    fn broken(
        &self,
        history: &History,
        rule: ClientRule,
        what: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        let Reading { asked: Asked { node, at }, answered } = self.reading;
        history.broken(rule, node, || {
            format!(
                "{node} reads {} from {} to {}{}, is told {} by {answered}, and {}",
                self.naming.key(self.key),
                moment(at),
                moment(answered.at),
                if self.is_final { ", when everything is over" } else { "" },
                self.listed(self.tokens),
                what()
            )
        })
    }

    /// Whose write a token is, and when it was: `x, which c1 put (op3, from 1ms to 2ms, acknowledged by n1)`.
    fn wrote(&self, history: &History, token: u64) -> String {
        let Some((op, write)) = self.write(history, token) else { return "nobody wrote".to_owned() };
        let verb = match write.ask {
            Ask::Append => "appended",
            Ask::Put | Ask::Swap | Ask::Read => "put",
        };
        let value = self.naming.value(token);
        let Asked { node, at } = write.asked();
        let at = moment(at);
        match write.answered().filter(|_| write.state == State::Done) {
            Some(answered) => {
                let ended = moment(answered.at);
                format!(
                    "{value}, which {node} {verb} ({op}, from {at} to {ended}, acknowledged by {answered})"
                )
            }
            None => format!("{value}, which {node} {verb} ({op}, from {at} on, not acknowledged)"),
        }
    }

    /// Writes, as somebody reads them.
    fn listed(&self, tokens: &[u64]) -> String {
        let names = |tokens: &[u64]| {
            tokens.iter().map(|&token| self.naming.value(token)).collect::<Vec<_>>().join(",")
        };
        match tokens {
            [] => "no value".to_owned(),
            few if few.len() <= LISTED_MAX => names(few),
            many => {
                let half = LISTED_MAX / 2;
                let (start, end) = (&many[..half], &many[many.len() - half..]);
                format!("{},...,{} ({} writes)", names(start), names(end), many.len())
            }
        }
    }
}

impl KeyBook {
    /// A token has more than one write.
    pub(crate) fn shares(&mut self, token: u64) {
        if self.shared_tokens.last() != Some(&token) {
            self.shared_tokens.push(token);
        }
    }

    /// When the latest of the writes began that the newest read showed.
    fn newest_invoked(&self, history: &History) -> u64 {
        let begun = |token| history.writes.get(token).map_or(0, |&op| history.operation(op).invoked);
        self.newest.iter().map(begun).max().unwrap_or(0)
    }
}
