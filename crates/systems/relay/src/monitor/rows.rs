//! Rows: of each origin every node has an unbroken beginning of what that origin wrote, and loses none.

use super::claims;
use crate::vclock::Vclock;
use whitewater_sim::{NodeId, SERVERS_MAX, SLOTS, Violation};

/// A node has of each origin an unbroken beginning of what that origin wrote.
///
/// Hashes over all rows up to a number are compared with the first one seen for that number; the origin's own is seen
/// first, as it makes its rows durable before it sends them.
#[derive(Debug)]
pub struct RowsInOrder {
    /// For each origin and row number the hash over the rows up to it, 0 if nobody has stopped there yet.
    gold: Vec<Vec<u64>>,
    seen: Vec<Vclock>,
}

impl Default for RowsInOrder {
    fn default() -> Self {
        RowsInOrder { gold: vec![Vec::new(); SERVERS_MAX], seen: vec![Vclock::default(); SLOTS] }
    }
}

impl RowsInOrder {
    /// What a node had on disk as of its last event.
    pub fn of(&self, node: NodeId) -> &Vclock {
        &self.seen[node.index()]
    }

    /// Looks at the rows that a node has after an event; `chain` is the hash over all it has of an origin.
    ///
    /// # Errors
    /// It has a row that its origin did not write, or one is missing in between.
    #[inline]
    pub fn observe(
        &mut self,
        node: NodeId,
        vclock: &Vclock,
        chain: impl Fn(NodeId) -> u64,
    ) -> Result<(), Violation> {
        if self.seen[node.index()] == *vclock {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.seen[node.index()], *vclock);
        for origin in (0..SERVERS_MAX).map(NodeId::server) {
            let lsn = vclock.get(origin);
            if lsn != before.get(origin) && lsn > 0 {
                self.compare(node, origin, lsn, chain(origin))?;
            }
        }
        Ok(())
    }

    fn compare(&mut self, node: NodeId, origin: NodeId, lsn: u32, chain: u64) -> Result<(), Violation> {
        let gold = &mut self.gold[origin.index()];
        let wrong = |what: String| Violation {
            rule: claims::ROWS_IN_ORDER.0,
            claim: claims::ROWS_IN_ORDER.1,
            message: what,
            node: Some(node),
            peer: Some(origin),
        };
        if gold.len() < lsn as usize {
            if node != origin {
                return Err(wrong(format!(
                    "{node} has row {lsn} of {origin}, which {origin} has not written"
                )));
            }
            gold.resize(lsn as usize, 0);
        }
        let known = &mut gold[lsn as usize - 1];
        if *known == 0 {
            *known = chain;
        }
        if *known == chain {
            return Ok(());
        }
        Err(wrong(format!(
            "the rows of {origin} up to {lsn} that {node} has are not those that {origin} wrote"
        )))
    }
}

/// A row that is durable on a node stays there.
#[derive(Debug)]
pub struct RowsKept {
    durable: Vec<Vclock>,
}

impl Default for RowsKept {
    fn default() -> Self {
        RowsKept { durable: vec![Vclock::default(); SLOTS] }
    }
}

impl RowsKept {
    /// Looks at the rows that a node has after an event; `fresh` if it started with it.
    ///
    /// # Errors
    /// It had rows that it has no more.
    #[inline]
    pub fn observe(&mut self, node: NodeId, vclock: &Vclock, fresh: bool) -> Result<(), Violation> {
        let before = &mut self.durable[node.index()];
        if fresh && !vclock.covers(before) {
            let message = format!("{node} starts with rows {vclock}, and had rows {before}");
            let (rule, claim) = claims::ROWS_KEPT;
            return Err(Violation { rule, claim, message, node: Some(node), peer: None });
        }
        *before = *vclock;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RowsInOrder {
        /// The hash over the rows of `origin` up to one where somebody has stopped.
        pub(in crate::monitor) fn chain(&self, origin: NodeId, lsn: u32) -> u64 {
            self.gold[origin.index()][lsn as usize - 1]
        }
    }

    impl RowsKept {
        /// What a node must not lose.
        pub(in crate::monitor) fn of(&self, node: NodeId) -> &Vclock {
            &self.durable[node.index()]
        }
    }

    const ORIGIN: NodeId = NodeId::server(0);
    const OTHER: NodeId = NodeId::server(1);

    #[test]
    fn rows_that_differ_from_those_of_the_origin_are_found() {
        let mut rule = RowsInOrder::default();
        rule.compare(ORIGIN, ORIGIN, 1, 11).unwrap();
        rule.compare(ORIGIN, ORIGIN, 2, 22).unwrap();
        rule.compare(OTHER, ORIGIN, 2, 22).unwrap();
        let violation = rule.compare(OTHER, ORIGIN, 2, 33).unwrap_err();
        assert_eq!(violation.rule, "rows-in-order");
    }

    #[test]
    fn a_row_that_nobody_wrote_is_found() {
        let mut rule = RowsInOrder::default();
        rule.compare(ORIGIN, ORIGIN, 1, 11).unwrap();
        assert!(rule.compare(OTHER, ORIGIN, 2, 22).unwrap_err().message.contains("has not written"));
    }

    #[test]
    fn only_what_a_node_has_newly_is_looked_at() {
        let mut rule = RowsInOrder::default();
        let mut rows = Vclock::default();
        rows.follow(ORIGIN, 1);
        rule.observe(ORIGIN, &rows, |_| 11).unwrap();
        rule.observe(ORIGIN, &rows, |_| unreachable!("it has what it had")).unwrap();
        assert_eq!(rule.observe(OTHER, &rows, |_| 22).unwrap_err().rule, "rows-in-order");
    }

    #[test]
    fn only_a_start_may_show_that_rows_were_lost() {
        let mut rule = RowsKept::default();
        let (mut one, mut two) = (Vclock::default(), Vclock::default());
        one.follow(ORIGIN, 1);
        (1..=2).for_each(|lsn| two.follow(ORIGIN, lsn));
        rule.observe(OTHER, &two, false).unwrap();
        rule.observe(OTHER, &two, true).unwrap();
        assert_eq!(rule.observe(OTHER, &one, true).unwrap_err().rule, "rows-kept");
        rule.observe(ORIGIN, &one, true).unwrap();
    }

    #[test]
    fn a_follower_that_stops_between_two_stops_of_the_origin_is_lawful() {
        let mut rule = RowsInOrder::default();
        rule.compare(ORIGIN, ORIGIN, 3, 33).unwrap();
        rule.compare(OTHER, ORIGIN, 2, 22).unwrap();
        rule.compare(OTHER, ORIGIN, 3, 33).unwrap();
    }
}
