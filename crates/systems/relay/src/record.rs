//! Records of the log file: term and vote, or a row, each with its length and a checksum.

use crate::row::Row;
use whitewater_sim::{Digester, NodeId, SERVERS_MAX};

/// What one record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The election state from here on.
    Election {
        /// The term.
        term: u64,
        /// The vote in it.
        vote: Option<NodeId>,
    },
    /// A row.
    Row(Row),
}

const HEAD_BYTES: usize = 12;
const ELECTION: u8 = 1;
const ROW: u8 = 2;

fn checksum(payload: &[u8]) -> u64 {
    let mut digester = Digester::default();
    digester.bytes(payload);
    digester.short()
}

impl Record {
    /// Adds the record to `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; HEAD_BYTES]);
        match self {
            Record::Election { term, vote } => {
                bytes.push(ELECTION);
                bytes.extend_from_slice(&term.to_le_bytes());
                bytes.push(vote.map_or(0, |vote| 1 + vote.index() as u8));
            }
            Record::Row(row) => {
                bytes.push(ROW);
                bytes.push(row.origin.index() as u8);
                bytes.extend_from_slice(&row.lsn.to_le_bytes());
                bytes.extend_from_slice(row.text.as_bytes());
            }
        }
        let payload = bytes.len() - start - HEAD_BYTES;
        let sum = checksum(&bytes[start + HEAD_BYTES..]);
        bytes[start..start + 4].copy_from_slice(&(payload as u32).to_le_bytes());
        bytes[start + 4..start + HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    }

    /// The first record of `bytes` and what follows it; `None` at the end and at a record that is not whole.
    pub fn decode(bytes: &[u8]) -> Option<(Record, &[u8])> {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let sum = u64::from_le_bytes(bytes.get(4..HEAD_BYTES)?.try_into().ok()?);
        let payload = bytes.get(HEAD_BYTES..HEAD_BYTES.checked_add(length)?)?;
        if checksum(payload) != sum {
            return None;
        }
        let (&tag, fields) = payload.split_first()?;
        let record = match tag {
            ELECTION => {
                let (term, vote) = fields.split_at_checked(8)?;
                let vote = usize::from(*vote.first()?);
                Record::Election {
                    term: u64::from_le_bytes(term.try_into().ok()?),
                    vote: (1..=SERVERS_MAX).contains(&vote).then(|| NodeId::server(vote - 1)),
                }
            }
            ROW => {
                let (&origin, fields) = fields.split_first()?;
                let (lsn, text) = fields.split_at_checked(4)?;
                Record::Row(Row {
                    origin: NodeId::from_index(usize::from(origin)),
                    lsn: u32::from_le_bytes(lsn.try_into().ok()?),
                    text: std::str::from_utf8(text).ok()?.into(),
                })
            }
            _ => return None,
        };
        Some((record, &bytes[HEAD_BYTES + length..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> [Record; 3] {
        let origin = NodeId::server(1);
        [
            Record::Election { term: 3, vote: None },
            Record::Row(Row { origin, lsn: 7, text: "x=1".into() }),
            Record::Election { term: 4, vote: Some(origin) },
        ]
    }

    #[test]
    fn records_read_back_as_they_were_written() {
        let mut bytes = Vec::new();
        records().iter().for_each(|record| record.encode(&mut bytes));
        let mut rest = bytes.as_slice();
        for record in records() {
            let (read, after) = Record::decode(rest).unwrap();
            assert_eq!(read, record);
            rest = after;
        }
        assert_eq!(Record::decode(rest), None);
    }

    #[test]
    fn a_record_that_was_cut_short_or_damaged_is_the_end() {
        let mut bytes = Vec::new();
        records()[1].encode(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Record::decode(&bytes[..length]), None);
        }
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(Record::decode(&bytes), None);
    }
}
