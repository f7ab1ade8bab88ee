//! Monotonic terms: a node's term never goes back, and a restart keeps what was durable.

use crate::change::{Bits, Change};
use crate::rule::Rule;
use whitewater_sim::Violation;

/// A node's term never goes back while it runs, and a start finds at least the term that was durable.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicTerms;

impl Rule for MonotonicTerms {
    fn name(&self) -> &'static str {
        "monotonic-terms"
    }

    fn claim(&self) -> &'static str {
        "A node's term never goes back, restarts included."
    }

    fn source(&self) -> &'static str {
        "CCF's MonotonicTermProp, SandTable's MonotonicCurrentTerm"
    }

    fn wakes_on(&self) -> Bits {
        Bits::TERM | Bits::DURABLE_TERM
    }

    fn observe(&mut self, change: &Change<'_>) -> Result<(), Violation> {
        let (node, before, after) = (change.node, change.before, change.after);
        let booted = change.bits.meets(Bits::BOOT);
        let floor = if booted { before.durable_term } else { before.term };
        if after.term < floor {
            let how = if booted { "starts with" } else { "goes back to" };
            let message = format!("{node} {how} term {}, and had reached term {floor}", after.term);
            return Err(self.violation(message, node, None));
        }
        if after.durable_term < before.durable_term {
            let message = format!(
                "{node} has made term {} durable and now only has term {} on disk",
                before.durable_term, after.durable_term
            );
            return Err(self.violation(message, node, None));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Shadows, Standing};
    use whitewater_sim::NodeId;

    fn passes(steps: &[(u64, u64, bool)]) -> bool {
        let mut shadows = Shadows::default();
        steps.iter().all(|&(term, durable_term, booted)| {
            let after = Standing { term, durable_term, ..Standing::default() };
            MonotonicTerms.wake(&shadows.change(NodeId::server(0), after, booted, &[])).is_ok()
        })
    }

    #[test]
    fn a_term_that_goes_back_in_one_life_is_found() {
        assert!(passes(&[(0, 0, true), (3, 2, false), (3, 3, false)]));
        assert!(!passes(&[(0, 0, true), (3, 2, false), (2, 2, false)]));
    }

    #[test]
    fn a_restart_may_lose_a_term_that_was_not_durable_and_no_other() {
        assert!(passes(&[(3, 2, false), (2, 2, true)]));
        assert!(!passes(&[(3, 3, false), (2, 2, true)]));
    }

    #[test]
    fn a_disk_that_forgets_is_found_though_the_node_remembers() {
        assert!(!passes(&[(3, 3, false), (3, 2, false)]));
    }
}
