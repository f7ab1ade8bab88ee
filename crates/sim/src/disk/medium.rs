//! What the medium may hold of a file's unsynced changes: for every sector one of its versions, perhaps a torn one.
//!
//! The length of a file and each of its sectors reach the medium on their own, in any order. A sector is written
//! whole, so that the medium has one of the contents it had after some change; only the one that was being written
//! when the power went may be torn: new up to some byte, old from there on.

use super::file::{Change, File};
use crate::draw::Draw;
use std::collections::{BTreeMap, BTreeSet};

/// Everything a crash may leave of one file.
pub(super) struct Unsynced {
    sector_bytes: usize,
    /// The durable bytes.
    base: Vec<u8>,
    /// Lengths the file had, the durable one first.
    lengths: Vec<usize>,
    /// For each sector that was touched the contents it had, the durable one first.
    sectors: BTreeMap<usize, Vec<Vec<u8>>>,
}

/// A run over the changes that collects what each leaves in the sectors it touches.
struct Collector {
    unsynced: Unsynced,
    /// What each touched sector holds after the changes so far.
    now: BTreeMap<usize, Vec<u8>>,
    /// Durable bytes that no truncation has cut off so far.
    uncut: usize,
}

impl Unsynced {
    pub(super) fn new(base: Vec<u8>, changes: &[Change], sector_bytes: usize) -> Unsynced {
        let (uncut, lengths) = (base.len(), vec![base.len()]);
        let unsynced = Unsynced { sector_bytes, base, lengths, sectors: BTreeMap::new() };
        let mut collector = Collector { unsynced, now: BTreeMap::new(), uncut };
        for change in changes {
            match change {
                Change::Write { offset, bytes } => collector.write(*offset, bytes),
                Change::Truncate { length } => collector.truncate(*length),
            }
        }
        collector.unsynced
    }

    /// The bytes if the medium has this length and these contents.
    fn bytes<'a>(&self, length: usize, contents: impl Iterator<Item = (usize, &'a [u8])>) -> Vec<u8> {
        let mut bytes = self.base.clone();
        for (sector, content) in contents {
            let start = sector * self.sector_bytes;
            if bytes.len() < start + content.len() {
                bytes.resize(start + content.len(), 0);
            }
            bytes[start..start + content.len()].copy_from_slice(content);
        }
        bytes.resize(length, 0);
        bytes
    }

    /// One of the states, drawn.
    pub(super) fn draw(&self, draw: &mut Draw) -> Vec<u8> {
        let length = *draw.pick(&self.lengths);
        let mut picked: Vec<(usize, usize)> = Vec::with_capacity(self.sectors.len());
        for (&sector, versions) in &self.sectors {
            picked.push((sector, draw.below(versions.len() as u64) as usize));
        }
        let mut torn = None;
        if !picked.is_empty() && draw.chance(1, 2) {
            let (sector, version) = *draw.pick(&picked);
            let versions = &self.sectors[&sector];
            if let Some(new) = versions.get(version + 1) {
                let cut = draw.below(self.sector_bytes as u64) as usize;
                torn = Some((sector, tear(&versions[version], new, cut)));
            }
        }
        let whole = picked.iter().map(|&(sector, version)| (sector, &self.sectors[&sector][version][..]));
        self.bytes(length, whole.chain(torn.iter().map(|(sector, content)| (*sector, &content[..]))))
    }

    /// Every state there is, each once, in the order of bytes. A torn sector is cut at multiples of `cut_bytes`;
    /// 0 tears none.
    pub(super) fn all(&self, cut_bytes: usize) -> BTreeSet<Vec<u8>> {
        let sectors: Vec<(usize, &Vec<Vec<u8>>)> = self.sectors.iter().map(|(s, v)| (*s, v)).collect();
        let mut picked = vec![0; sectors.len()];
        let first_cut = if cut_bytes == 0 { self.sector_bytes } else { cut_bytes };
        let cuts = (first_cut..self.sector_bytes).step_by(first_cut);
        let mut states = BTreeSet::new();
        loop {
            let whole: Vec<(usize, &[u8])> =
                sectors.iter().zip(&picked).map(|((s, versions), &v)| (*s, &versions[v][..])).collect();
            let add = |torn: Option<(usize, &[u8])>, states: &mut BTreeSet<_>| {
                for &length in &self.lengths {
                    states.insert(self.bytes(length, whole.iter().copied().chain(torn)));
                }
            };
            add(None, &mut states);
            for (&(sector, versions), &version) in sectors.iter().zip(&picked) {
                let Some(new) = versions.get(version + 1) else { continue };
                for cut in cuts.clone() {
                    add(Some((sector, &tear(&versions[version], new, cut))), &mut states);
                }
            }
            if !advance(&mut picked, |at| sectors[at].1.len()) {
                return states;
            }
        }
    }
}

/// The next combination of numbers below their bounds; false after the last.
fn advance(picked: &mut [usize], bound: impl Fn(usize) -> usize) -> bool {
    for (at, number) in picked.iter_mut().enumerate() {
        *number += 1;
        if *number < bound(at) {
            return true;
        }
        *number = 0;
    }
    false
}

/// A sector that is new up to `cut`.
fn tear(old: &[u8], new: &[u8], cut: usize) -> Vec<u8> {
    [&new[..cut], &old[cut..]].concat()
}

impl Collector {
    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let size = self.unsynced.sector_bytes;
        let end = offset + bytes.len();
        for sector in offset / size..end.div_ceil(size) {
            let start = sector * size;
            let (from, to) = (offset.max(start), end.min(start + size));
            let mut content = self.content(sector);
            content[from - start..to - start].copy_from_slice(&bytes[from - offset..to - offset]);
            self.touch(sector, content);
        }
        let length = *self.unsynced.lengths.last().expect("there is a durable length");
        self.lengthen(length.max(end));
    }

    fn truncate(&mut self, length: usize) {
        let size = self.unsynced.sector_bytes;
        let (sector, rest) = (length / size, length % size);
        if rest > 0 {
            let mut content = self.content(sector);
            content[rest..].fill(0);
            self.touch(sector, content);
        }
        self.uncut = self.uncut.min(length);
        self.now.retain(|&sector, _| sector * size < length);
        self.lengthen(length);
    }

    fn lengthen(&mut self, length: usize) {
        if self.unsynced.lengths.last() != Some(&length) {
            self.unsynced.lengths.push(length);
        }
    }

    /// What a sector holds after the changes so far, filled up with zeros.
    fn content(&self, sector: usize) -> Vec<u8> {
        self.now.get(&sector).cloned().unwrap_or_else(|| self.durable(sector, self.uncut))
    }

    fn durable(&self, sector: usize, uncut: usize) -> Vec<u8> {
        let size = self.unsynced.sector_bytes;
        let mut content = vec![0; size];
        let bytes = &self.unsynced.base[..uncut];
        let bytes = bytes.get(sector * size..).unwrap_or_default();
        let length = bytes.len().min(size);
        content[..length].copy_from_slice(&bytes[..length]);
        content
    }

    fn touch(&mut self, sector: usize, content: Vec<u8>) {
        let durable = self.durable(sector, self.unsynced.base.len());
        let versions = self.unsynced.sectors.entry(sector).or_insert_with(|| vec![durable]);
        if versions.last() != Some(&content) {
            versions.push(content.clone());
        }
        self.now.insert(sector, content);
    }
}

/// What a crash leaves of a file with unsynced changes: often a prefix of them, often of the rest some sectors.
pub(super) fn crash(file: &mut File, sector_bytes: usize, draw: &mut Draw) -> super::CrashLoss {
    let before = file.bytes.clone();
    let dirty = file.dirty() as u64;
    let in_order = draw.below(dirty + 1);
    if draw.chance(1, 2) {
        file.undo_to(in_order as usize);
    } else {
        let mut changes = file.take_changes();
        let rest = changes.split_off(in_order as usize);
        changes.into_iter().for_each(|change| match change {
            Change::Write { offset, bytes } => file.write_at(offset, &bytes),
            Change::Truncate { length } => file.truncate(length),
        });
        let base = std::mem::take(&mut file.bytes);
        file.bytes = Unsynced::new(base, &rest, sector_bytes).draw(draw);
    }
    file.settled();
    if file.bytes == before {
        return super::CrashLoss::default();
    }
    let differ = before.iter().zip(&file.bytes).filter(|(a, b)| a != b).count();
    let bytes = (differ + before.len().abs_diff(file.bytes.len())) as u64;
    super::CrashLoss { bytes, changes: (dirty - in_order).max(1) }
}

/// Every state a crash may leave of a file.
pub(super) fn all(file: &File, sector_bytes: usize, cut_bytes: usize) -> Vec<Vec<u8>> {
    let mut file = file.clone();
    if sector_bytes == 0 {
        let mut states = BTreeSet::new();
        for keep in (0..=file.dirty()).rev() {
            file.undo_to(keep);
            states.insert(file.bytes.clone());
        }
        return states.into_iter().collect();
    }
    let changes = file.take_changes();
    Unsynced::new(std::mem::take(&mut file.bytes), &changes, sector_bytes)
        .all(cut_bytes)
        .into_iter()
        .collect()
}
