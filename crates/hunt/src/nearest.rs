//! Of several rules that one cause breaks, the one that is nearest to it.
//!
//! A run ends with the first rule that is broken, and now and then that is a late one: the early one looks away where a
//! disk or a clock is to blame as well, or the accidents of one seed pass it by. While such a failure is shrunk, the early one
//! comes up all the same. So what stands for a failure is what came up nearest to the cause.

use crate::shrink::{Shrunk, Slip};
use crate::signature::Signature;

/// Rules about what one node does and says by itself, the nearest first: a step that no Raft takes, words that go before
/// their deeds, a message that a peer cannot take. All others, which compare nodes or ask clients, see what follows from it.
///
/// These are names of rules of systems, which this crate does not know: `xtask/tests/messages.rs` holds them against those.
pub const BY_ITSELF: [&str; 9] = [
    "abstract-step",
    "grants-durable",
    "responses-durable",
    "acknowledgements-durable",
    "message-terms",
    "appends-fit",
    "snapshot-committed",
    "transfer-ordered",
    "peer-refused",
];

/// How far a rule is from the cause; all that are not about one node are equally far.
fn distance(signature: &Signature) -> usize {
    BY_ITSELF.iter().position(|rule| *rule == signature.rule).unwrap_or(BY_ITSELF.len())
}

/// The failure that came up while another was shrunk and is nearer to the cause; none if none is.
pub(crate) fn nearer(shrunk: &Shrunk) -> Option<&Slip> {
    let own = distance(&shrunk.signature);
    let nearest = shrunk.slips.iter().min_by_key(|slip| distance(&slip.signature))?;
    (distance(&nearest.signature) < own).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shrink::Size;
    use crate::traces::{Sketch, outcome, plan};
    use whitewater_sim::Verdict;

    fn signature(rule: &str) -> Signature {
        Signature { rule: rule.to_owned(), site: "a follower".to_owned() }
    }

    /// A failure by one rule, and those that came up while it was shrunk.
    fn shrunk(own: &str, others: &[&str]) -> Shrunk {
        Shrunk {
            plan: plan(),
            outcome: outcome(Sketch::new().trace(), Verdict::Pass),
            signature: signature(own),
            before: Size::default(),
            after: Size::default(),
            tries: 1,
            minimal: true,
            slips: others.iter().map(|rule| Slip { signature: signature(rule), plan: plan() }).collect(),
        }
    }

    fn named(own: &str, others: &[&str]) -> String {
        let shrunk = shrunk(own, others);
        nearer(&shrunk).map_or(own, |slip| &slip.signature.rule).to_owned()
    }

    #[test]
    fn what_a_node_does_by_itself_stands_for_what_others_see_of_it_later() {
        assert_eq!(named("vote-kept", &["panic", "responses-durable", "grants-durable"]), "grants-durable");
        assert_eq!(named("peer-refused", &["committed-kept", "abstract-step"]), "abstract-step");
    }

    #[test]
    fn what_is_no_nearer_changes_nothing() {
        assert_eq!(named("abstract-step", &["committed-kept", "grants-durable"]), "abstract-step");
        assert_eq!(named("log-matching", &["committed-kept", "leader-completeness"]), "log-matching");
        assert_eq!(named("grants-durable", &[]), "grants-durable");
    }
}
