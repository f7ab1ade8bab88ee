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

/// Who speaks, as it is at the end of the step in which it does.
pub(crate) struct Speaker {
    pub(crate) node: NodeId,
    pub(crate) term: u64,
    /// Whether it leads that term.
    pub(crate) leads: bool,
    pub(crate) commit: u64,
    /// Where it appends: the term of the entry before in its own log, if that is there and not compacted.
    pub(crate) named_term: Option<u64>,
    pub(crate) durable_term: u64,
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
