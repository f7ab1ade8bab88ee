//! A relay's place in the log of its node: which row it sends next, and from where it starts again.

use crate::row::Row;
use crate::vclock::Vclock;
use whitewater_sim::NodeId;

/// Most rows of one message.
const ROWS_MAX: usize = 8;

/// A place in a log with what the subscriber is taken to have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    position: usize,
    sent: Vclock,
}

impl Cursor {
    /// At the first row that `vclock` does not have.
    pub fn after(vclock: Vclock) -> Cursor {
        Cursor { position: 0, sent: vclock }
    }

    /// The next rows for `subscriber`, without its own and without what it is taken to have, up to one that may not be sent
    /// yet. Empty there and at the end of the log.
    pub fn take(&mut self, log: &[Row], subscriber: NodeId, may_send: impl Fn(&Row) -> bool) -> Vec<Row> {
        let mut rows = Vec::new();
        while let Some(row) = log.get(self.position).filter(|row| rows.len() < ROWS_MAX && may_send(row)) {
            self.position += 1;
            if row.origin != subscriber && row.lsn > self.sent.get(row.origin) {
                self.sent.follow(row.origin, row.lsn);
                rows.push(row.clone());
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(rows: &[(usize, u32)]) -> Vec<Row> {
        rows.iter().map(|&(p, lsn)| Row { origin: NodeId::server(p), lsn, text: "x".into() }).collect()
    }

    fn taken(cursor: &mut Cursor, log: &[Row]) -> Vec<(usize, u32)> {
        cursor.take(log, NodeId::server(2), |_| true).iter().map(|r| (r.origin.position(), r.lsn)).collect()
    }

    #[test]
    fn rows_go_out_once_and_not_to_their_origin() {
        let log = log(&[(0, 1), (2, 1), (0, 2)]);
        let mut cursor = Cursor::after(Vclock::default());
        assert_eq!(taken(&mut cursor, &log), [(0, 1), (0, 2)]);
        assert_eq!(taken(&mut cursor, &log), []);
    }

    #[test]
    fn a_cursor_that_starts_again_leaves_out_what_was_acknowledged() {
        let log = log(&[(0, 1), (1, 1), (0, 2)]);
        let mut acknowledged = Vclock::default();
        acknowledged.follow(NodeId::server(0), 1);
        assert_eq!(taken(&mut Cursor::after(acknowledged), &log), [(1, 1), (0, 2)]);
    }

    #[test]
    fn a_message_holds_a_bounded_number_of_rows() {
        let log: Vec<Row> = (1..=20).flat_map(|lsn| log(&[(0, lsn)])).collect();
        let mut cursor = Cursor::after(Vclock::default());
        assert_eq!(taken(&mut cursor, &log).len(), ROWS_MAX);
        assert_eq!(taken(&mut cursor, &log).len(), ROWS_MAX);
        assert_eq!(taken(&mut cursor, &log).len(), 20 - 2 * ROWS_MAX);
    }
}
