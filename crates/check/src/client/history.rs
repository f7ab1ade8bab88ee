//! What clients have asked and were told so far, and the names of the rules over it.

use super::naming::{Answered, Asked};
use std::collections::BTreeMap;
use whitewater_sim::{NodeId, OpId, Time, Violation};

/// What an operation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The value of the key.
    Read,
    /// Another value in place of the present one.
    Put,
    /// Another value in place of the present one if that is a certain one. If it is not, the answer is
    /// [`Answer::Refused`].
    Swap,
    /// More at the end of the value.
    Append,
}

/// How an operation ended for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The write took place.
    Done,
    /// The write has not taken place and never will. A write that was sent more than once is only refused if every
    /// sending was; else its end is unknown.
    Refused,
    /// The client does not know and does not wait any longer.
    Unknown,
    /// What was read: tokens in the order in which they stand.
    Value(&'a [u64]),
}

/// Whether a write that its client sends several times takes effect once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// The system says so.
    Claimed,
    /// It does not: a write may stand in a value several times.
    NotClaimed,
}

/// One operation. Moments are numbers of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) key: u64,
    pub(crate) ask: Ask,
    pub(crate) token: u64,
    pub(crate) invoked: u64,
    /// When it was answered with [`Answer::Done`] or [`Answer::Value`]; never as long as it was not.
    pub(crate) done: u64,
    pub(crate) state: State,
    /// By whom and when, for messages.
    node: NodeId,
    asked_at: Time,
    /// The answer, part by part, as there are many operations. It came if it has a moment, and told of an index if it has one.
    answered_by: Option<NodeId>,
    answered_at: Time,
    answered_index: u64,
}

impl Operation {
    /// An operation that begins.
    pub(crate) fn begun((key, ask, token): (u64, Ask, u64), invoked: u64, asked: Asked) -> Operation {
        Operation {
            key,
            ask,
            token,
            invoked,
            done: NEVER,
            state: State::Open,
            node: asked.node,
            asked_at: asked.at,
            answered_by: None,
            answered_at: Time::MAX,
            answered_index: NEVER,
        }
    }

    /// By whom it was asked for, and when.
    pub(crate) fn asked(&self) -> Asked {
        Asked { node: self.node, at: self.asked_at }
    }

    /// It is answered.
    pub(crate) fn answer(&mut self, answered: Answered) {
        self.answered_by = answered.by;
        self.answered_at = answered.at;
        self.answered_index = answered.index.unwrap_or(NEVER);
    }

    /// Its last answer, if it has one.
    pub(crate) fn answered(&self) -> Option<Answered> {
        let Operation { answered_by: by, answered_at: at, answered_index: index, .. } = *self;
        (at != Time::MAX).then_some(Answered { at, by, index: Some(index).filter(|&index| index != NEVER) })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Done,
    Refused,
    Unknown,
}

/// A moment that has not come.
pub(crate) const NEVER: u64 = u64::MAX;

macro_rules! client_rules {
    ($($name:ident = ($number:literal, $text:literal, $claim:literal),)*) => {
        $(pub(crate) const $name: ClientRule = ClientRule { number: $number, name: $text, claim: $claim };)*
        pub(crate) const CLIENT_RULES: &[ClientRule] = &[$($name),*];
    };
}

/// A rule over what clients see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRule {
    pub(crate) number: u8,
    pub(crate) name: &'static str,
    pub(crate) claim: &'static str,
}

client_rules! {
    NO_PHANTOM = (0, "no-phantom-value", "A read returns only what somebody wrote to that key."),
    APPLIED_ONCE = (1, "applied-once", "A write takes effect once, however often its client sends it."),
    WRITES_IN_ORDER =
        (2, "writes-in-order", "A write that was acknowledged before another began stands before it."),
    ACKNOWLEDGED_KEPT =
        (3, "acknowledged-kept", "A read returns every write to its key acknowledged before it began."),
    READS_MONOTONIC =
        (4, "reads-monotonic", "A read returns nothing older than what a read before it returned."),
    FINAL_DURABILITY =
        (5, "final-durability", "In the end, after a power cycle, every acknowledged write is there."),
}

/// Everything that was asked and told.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) once: Once,
    /// Rules that are switched off, a bit each.
    pub(crate) blind: u8,
    /// Number of calls so far.
    pub(crate) now: u64,
    /// By number of the operation.
    pub(crate) operations: Vec<Option<Operation>>,
    /// The last operation of each token.
    pub(crate) writes: BTreeMap<u64, OpId>,
    /// Operations of tokens that were given to others since.
    pub(crate) before: BTreeMap<u64, Vec<OpId>>,
}

impl History {
    pub(crate) fn operation(&self, op: OpId) -> &Operation {
        self.operations[op.0 as usize].as_ref().expect("only operations that began are remembered")
    }

    /// Every operation that a token was given to; hardly ever more than one.
    pub(crate) fn writers(&self, token: u64) -> impl Iterator<Item = &Operation> {
        let before = self.before.get(&token).into_iter().flatten();
        self.writes.get(&token).into_iter().chain(before).map(|&op| self.operation(op))
    }

    /// A violation of `rule` that shows at `node`, unless the rule is switched off.
    pub(crate) fn broken(
        &self,
        rule: ClientRule,
        node: NodeId,
        message: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        if self.blind & 1 << rule.number != 0 {
            return Ok(());
        }
        Err(Violation {
            rule: rule.name,
            claim: rule.claim,
            message: message(),
            node: Some(node),
            peer: None,
        })
    }
}
