//! A rule: a claim with its source, checked against each change it is woken by.

use crate::change::{Bits, Change};
use whitewater_sim::{NodeId, Violation};

/// Something that is always true of a Raft.
pub trait Rule {
    /// Its name, in kebab-case.
    fn name(&self) -> &'static str;
    /// What it claims, in one sentence.
    fn claim(&self) -> &'static str;
    /// Where the claim is stated.
    fn source(&self) -> &'static str;
    /// What wakes it.
    fn wakes_on(&self) -> Bits;
    /// Looks at a change that woke it.
    ///
    /// # Errors
    /// The claim does not hold.
    fn observe(&mut self, change: &Change<'_>) -> Result<(), Violation>;

    /// Looks at a change if it wakes the rule.
    ///
    /// # Errors
    /// As [`Rule::observe`].
    #[inline]
    fn wake(&mut self, change: &Change<'_>) -> Result<(), Violation> {
        if change.bits.meets(self.wakes_on()) { self.observe(change) } else { Ok(()) }
    }

    /// A violation of this rule.
    fn violation(&self, message: String, node: NodeId, peer: Option<NodeId>) -> Violation {
        Violation { rule: self.name(), claim: self.claim(), message, node: Some(node), peer }
    }
}

/// A violation of a rule that shows at `node`.
#[cold]
pub(crate) fn broken(
    (rule, claim): (&'static str, &'static str),
    node: NodeId,
    peer: Option<NodeId>,
    message: String,
) -> Result<(), Violation> {
    Err(Violation { rule, claim, message, node: Some(node), peer })
}

/// Switches a rule off in `blind`, which has a place for each of `rules`; says whether it is one of them and was on.
pub(crate) fn switch_off(rules: &[(&'static str, &'static str)], blind: &mut [bool], name: &str) -> bool {
    let place = rules.iter().position(|(rule, _)| *rule == name);
    place.is_some_and(|place| !std::mem::replace(&mut blind[place], true))
}
