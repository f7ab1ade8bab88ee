//! Objects on which every write leaves a mark of its own: whether an order exists is then read off, without a search.
//!
//! A value read tells which writes it shows, and in which order. The write that replaced everything, what was appended to
//! it as far as a read shows it, and the reads between form a block, whose inner order is known. Blocks follow one after
//! the other, and a write that no read shows is a block by itself. A block must stand before another if one of its
//! operations ended before one of the other's began; an order of blocks exists if and only if no two must stand before
//! each other. This is the argument of Gibbons and Korach (1997) for registers, carried over to values that grow.

use crate::operation::{Ask, NEVER, Operation, Outcome, Symbol, Symbols};
use std::collections::BTreeMap;

/// Whether an order explains operations on one object; `None` if not every write leaves a mark of its own.
pub(crate) fn decide(operations: &[Operation], symbols: &Symbols) -> Option<bool> {
    let marks = Marks::of(operations, symbols).filter(|marks| marks.are_unique)?;
    let mut blocks: BTreeMap<Option<u32>, Block> = BTreeMap::new();
    let mut unshown: Vec<bool> = operations.iter().map(|op| op.ask != Ask::Read).collect();
    blocks.entry(None).or_default();
    for (number, op) in operations.iter().enumerate() {
        let Outcome::Value(value) = op.outcome else { continue };
        let shown = match marks.shown(symbols.text(value)) {
            Shown::Unclear => return None,
            Shown::Nothing => return Some(false),
            Shown::Writes(shown) => shown,
        };
        let replaces = |write: u32| matches!(operations[write as usize].ask, Ask::Write(_));
        let first = shown.first().copied().filter(|&write| replaces(write));
        let block = blocks.entry(first).or_default();
        let common = block.writes.len().min(shown.len());
        if block.writes[..common] != shown[..common] {
            return Some(false);
        }
        block.reads.push((shown.len(), number as u32));
        if shown.len() > block.writes.len() {
            block.writes = shown;
        }
    }
    for &write in blocks.values().flat_map(|block| &block.writes) {
        if !std::mem::replace(&mut unshown[write as usize], false) {
            // Two blocks show it.
            return Some(false);
        }
    }
    let mut zones = Vec::with_capacity(blocks.len());
    for (first, block) in &mut blocks {
        let Some(mut zone) = block.zone(operations) else { return Some(false) };
        if first.is_none() {
            zone.ends = 0;
        }
        zones.push(zone);
    }
    let alone = (0..operations.len()).filter(|&n| unshown[n] && operations[n].returned != NEVER);
    zones.extend(alone.map(|n| Zone { ends: operations[n].returned, begins: operations[n].invoked }));
    Some(!clash(zones))
}

/// The writes and reads that share a beginning.
#[derive(Clone, Debug, Default)]
struct Block {
    writes: Vec<u32>,
    /// How many writes each shows, and its number.
    reads: Vec<(usize, u32)>,
}

/// When the first operation of a block ended, and when the last one began.
#[derive(Clone, Copy, Debug)]
struct Zone {
    ends: u64,
    begins: u64,
}

impl Block {
    /// Its zone, unless its inner order is against time.
    fn zone(&mut self, operations: &[Operation]) -> Option<Zone> {
        self.reads.sort_unstable();
        let mut zone = Zone { ends: NEVER, begins: 0 };
        let mut reads = self.reads.iter().peekable();
        for shown in 0..=self.writes.len() {
            if let Some(write) = shown.checked_sub(1) {
                zone.add(&[self.writes[write]], operations)?;
            }
            let mut group = Vec::new();
            while let Some(&(_, read)) = reads.next_if(|read| read.0 == shown) {
                group.push(read);
            }
            zone.add(&group, operations)?;
        }
        Some(zone)
    }
}

impl Zone {
    /// Adds operations behind what it has, in any order among themselves; `None` if one ended before it may.
    fn add(&mut self, group: &[u32], operations: &[Operation]) -> Option<()> {
        let of = |&number: &u32| &operations[number as usize];
        if group.iter().any(|number| of(number).returned < self.begins) {
            return None;
        }
        for op in group.iter().map(of) {
            self.ends = self.ends.min(op.returned);
            self.begins = self.begins.max(op.invoked);
        }
        Some(())
    }
}

/// Whether two blocks must each stand before the other.
fn clash(zones: Vec<Zone>) -> bool {
    let (mut forward, backward): (Vec<Zone>, Vec<Zone>) =
        zones.into_iter().partition(|zone| zone.ends < zone.begins);
    forward.sort_by_key(|zone| zone.ends);
    if forward.windows(2).any(|pair| pair[1].ends < pair[0].begins) {
        return true;
    }
    // A block of which each operation overlaps all others fits wherever it does not lie within one that takes longer.
    backward.iter().any(|zone| {
        let before = forward.partition_point(|other| other.ends < zone.begins);
        before > 0 && zone.ends < forward[before - 1].begins
    })
}

/// Which writes a value shows.
enum Shown {
    Writes(Vec<u32>),
    /// None that could have made it.
    Nothing,
    /// It can be read in several ways.
    Unclear,
}

/// The marks that writes leave.
struct Marks<'a> {
    writes: BTreeMap<&'a str, u32>,
    is_first: Vec<bool>,
    /// Lengths of marks, in bytes.
    lengths: Vec<usize>,
    grows: bool,
    /// Commas stand between marks.
    separated: bool,
    /// No two writes leave the same.
    are_unique: bool,
}

impl<'a> Marks<'a> {
    fn of(operations: &[Operation], symbols: &'a Symbols) -> Option<Marks<'a>> {
        let mut marks = Marks {
            writes: BTreeMap::new(),
            is_first: vec![false; operations.len()],
            lengths: Vec::new(),
            grows: false,
            separated: false,
            are_unique: true,
        };
        let mut appends = false;
        for (number, op) in operations.iter().enumerate() {
            let text = match op.ask {
                Ask::Read => continue,
                Ask::Swap(..) | Ask::Add(_) => return None,
                Ask::Write(text) => {
                    marks.is_first[number] = true;
                    text
                }
                Ask::Append(text) => {
                    appends = true;
                    text
                }
                Ask::Push(text) => {
                    marks.separated = true;
                    text
                }
            };
            let text = symbols.text(text);
            if text == symbols.text(Symbol::NIL) {
                return None;
            }
            marks.are_unique &= !marks.writes.contains_key(text);
            marks.writes.entry(text).or_insert(number as u32);
            marks.lengths.push(text.len());
        }
        marks.grows = appends || marks.separated;
        if marks.separated && (appends || marks.writes.keys().any(|text| text.contains(','))) {
            return None;
        }
        marks.lengths.sort_unstable();
        marks.lengths.dedup();
        Some(marks)
    }

    fn shown(&self, value: &str) -> Shown {
        if value.is_empty() {
            return Shown::Writes(Vec::new());
        }
        if !self.grows || self.separated {
            let parts: Vec<&str> = if self.separated { value.split(',').collect() } else { vec![value] };
            let shown: Option<Vec<u32>> = parts.iter().map(|part| self.writes.get(part).copied()).collect();
            let fits = |shown: &Vec<u32>| !shown[1..].iter().any(|&write| self.is_first[write as usize]);
            return shown
                .filter(fits)
                .filter(|shown| all_different(shown))
                .map_or(Shown::Nothing, Shown::Writes);
        }
        self.read_growing(value)
    }

    /// Reads a value that marks follow each other in without anything between them.
    fn read_growing(&self, value: &str) -> Shown {
        // For each place how a beginning that ends there can be read: not at all, in one way with this last mark, in several.
        const NO: u32 = u32::MAX;
        const SEVERAL: u32 = u32::MAX - 1;
        let mut last = vec![NO; value.len() + 1];
        for start in 0..value.len() {
            if start > 0 && last[start] == NO {
                continue;
            }
            for &length in &self.lengths {
                let Some(mark) = value.get(start..start + length) else { continue };
                let Some(&write) = self.writes.get(mark) else { continue };
                if start > 0 && self.is_first[write as usize] {
                    continue;
                }
                let several = last[start] == SEVERAL || last[start + length] != NO;
                last[start + length] = if several { SEVERAL } else { write };
            }
        }
        let mut shown = Vec::new();
        let mut end = value.len();
        while end > 0 {
            match last[end] {
                NO => return Shown::Nothing,
                SEVERAL => return Shown::Unclear,
                write => {
                    shown.push(write);
                    end -= self.length_of(write, &value[..end]);
                }
            }
        }
        shown.reverse();
        if all_different(&shown) { Shown::Writes(shown) } else { Shown::Nothing }
    }

    /// The pieces of a value that no writes can have made.
    fn pieces(&self, value: &str) -> Vec<Piece> {
        if !self.grows || self.separated {
            let parts: Vec<&str> = if self.separated { value.split(',').collect() } else { vec![value] };
            let piece = |&part: &&str| match self.writes.get(part) {
                Some(&write) => Piece::Mark(write),
                None => Piece::Foreign(part.to_owned()),
            };
            return parts.iter().map(piece).collect();
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut rest = value;
        while let Some(next) = rest.chars().next() {
            let marks = self.lengths.iter().rev().filter_map(|&length| rest.get(..length));
            let mut known = marks.filter_map(|mark| self.writes.get(mark).map(|&write| (write, mark.len())));
            let (piece, length) = match known.next() {
                Some((write, length)) => (Piece::Mark(write), length),
                None => (Piece::Foreign(next.to_string()), next.len_utf8()),
            };
            rest = &rest[length..];
            match (pieces.last_mut(), &piece) {
                (Some(Piece::Foreign(text)), Piece::Foreign(more)) => text.push_str(more),
                _ => pieces.push(piece),
            }
        }
        pieces
    }

    fn length_of(&self, write: u32, value: &str) -> usize {
        let is = |&&length: &&usize| {
            value
                .len()
                .checked_sub(length)
                .and_then(|start| value.get(start..))
                .and_then(|mark| self.writes.get(mark))
                == Some(&write)
        };
        *self.lengths.iter().find(is).expect("the mark stands at the end")
    }
}

/// Whether no write is shown twice.
fn all_different(shown: &[u32]) -> bool {
    let mut sorted = shown.to_owned();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// A piece of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The mark of the first write that leaves it, by its place.
    Mark(u32),
    /// What nobody wrote.
    Foreign(String),
}

/// For each operation the pieces of its value; `None` if not every write leaves a mark, or a value can be read in several
/// ways. Of a value that no writes can have made, the longest marks are taken first.
pub(crate) fn readings(operations: &[Operation], symbols: &Symbols) -> Option<Vec<Vec<Piece>>> {
    let marks = Marks::of(operations, symbols)?;
    let reading = |op: &Operation| match op.outcome {
        Outcome::Value(value) => match marks.shown(symbols.text(value)) {
            Shown::Writes(shown) => Some(shown.into_iter().map(Piece::Mark).collect()),
            Shown::Nothing => Some(marks.pieces(symbols.text(value))),
            Shown::Unclear => None,
        },
        _ => Some(Vec::new()),
    };
    operations.iter().map(reading).collect()
}
