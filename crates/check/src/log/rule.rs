//! Rules over logs and over what nodes say: a claim with its source, dispatched statically.

use super::books::Books;
use super::change::LogChange;
use crate::change::Bits;
use crate::log_view::Spoken;
use whitewater_sim::{NodeId, Violation};

/// Something that is always true of a Raft with a log.
pub(crate) trait LogRule {
    /// Its name, in kebab-case.
    const NAME: &'static str;
    /// What it claims, in one sentence.
    const CLAIM: &'static str;
    /// Where the claim is stated.
    const SOURCE: &'static str;
    /// What wakes it.
    const WAKES_ON: Bits;

    /// Looks at a change that woke it. The books show the node as it is now, but for its standing.
    ///
    /// # Errors
    /// The claim does not hold.
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation>;

    /// A violation of this rule.
    #[cold]
    fn broken(node: NodeId, peer: Option<NodeId>, message: String) -> Result<(), Violation> {
        Err(Violation { rule: Self::NAME, claim: Self::CLAIM, message, node: Some(node), peer })
    }
}

/// Adds what a rule found, if it found anything.
#[inline]
pub(super) fn note(result: Result<(), Violation>, broken: &mut Vec<Violation>) {
    if let Err(violation) = result {
        broken.push(violation);
    }
}

/// Which rules wake on which bit of a change, a bit each: whoever sleeps through a change costs no more than a look at its bit.
pub(crate) struct Alarm([u64; 32]);

impl Alarm {
    /// For rules that wake on these bits; the first has the bit `first`, and each that follows the next.
    pub(crate) const fn of(first: u64, rules: &[Bits]) -> Alarm {
        let mut by_bit = [0; 32];
        let mut rule = 0;
        while rule < rules.len() {
            let mut bit = 0;
            while bit < by_bit.len() {
                if rules[rule].0 >> bit & 1 == 1 {
                    by_bit[bit] |= first << rule;
                }
                bit += 1;
            }
            rule += 1;
        }
        Alarm(by_bit)
    }

    /// The rules that a change wakes.
    #[inline]
    pub(crate) fn wakes(&self, Bits(mut changed): Bits) -> u64 {
        let mut awake = 0;
        while changed != 0 {
            awake |= self.0[changed.trailing_zeros() as usize];
            changed &= changed - 1;
        }
        awake
    }
}

/// Who speaks, as it is at the end of the step in which it does.
#[derive(Clone, Copy)]
pub(crate) struct Speaker {
    pub(crate) node: NodeId,
    pub(crate) term: u64,
    /// Whether it leads that term.
    pub(crate) leads: bool,
    pub(crate) commit: u64,
    /// Where it appends: the term of the entry before in its own log, if that is there and not compacted.
    pub(crate) named_term: Option<u64>,
    pub(crate) durable_term: u64,
    /// Where it is no append or acknowledgement that it sends: its vote on the disk.
    pub(crate) durable_vote: Option<NodeId>,
    pub(crate) durable_index: u64,
    /// Where it asks for votes as if it was told to take over: whether it was.
    pub(crate) was_ordered: bool,
    /// Who has refused an append in a message that this step answers to.
    pub(crate) refused_by: Option<NodeId>,
    /// The last entry before this step.
    pub(crate) last_before: u64,
    /// Whether nothing is claimed about what is durable.
    pub(crate) forgiven: bool,
}

/// Something that is always true of what a node says to others. It looks at every message.
pub(crate) trait SpeechRule {
    /// As [`LogRule::NAME`].
    const NAME: &'static str;
    /// As [`LogRule::CLAIM`].
    const CLAIM: &'static str;
    /// As [`LogRule::SOURCE`].
    const SOURCE: &'static str;

    /// Looks at a message.
    ///
    /// # Errors
    /// The claim does not hold.
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation>;

    /// A violation of this rule.
    #[cold]
    fn broken(speaker: &Speaker, peer: Option<NodeId>, message: String) -> Result<(), Violation> {
        let node = Some(speaker.node);
        Err(Violation { rule: Self::NAME, claim: Self::CLAIM, message, node, peer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_wakes_those_who_look_at_any_of_its_bits() {
        let alarm = Alarm::of(0b100, &[Bits::TERM, Bits(Bits::TERM.0 | Bits::MATCH.0), Bits::MATCH]);
        assert_eq!(alarm.wakes(Bits::NONE), 0);
        assert_eq!(alarm.wakes(Bits::TERM), 0b01100);
        assert_eq!(alarm.wakes(Bits::MATCH), 0b11000);
        assert_eq!(alarm.wakes(Bits::TERM | Bits::MATCH | Bits::COMMIT), 0b11100);
    }
}
