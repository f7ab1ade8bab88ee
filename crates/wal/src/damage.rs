//! Telling damage from an unfinished write.
//!
//! A frame that is not right at the end of a log is either one that was never durable, so that a crash could keep any
//! part of it, or one that was durable and has decayed. Two things tell: a later frame that knew of a durable one in
//! its place; and that it would be right but for a single bit, which no torn write brings about.

use crate::checksum::flipped_bit;
use crate::format::{Body, HEAD_BYTES, Head, MAGIC, frame_checksum, read_frame, read_head};

/// What is wrong with a frame.
pub(crate) struct Flaw {
    pub(crate) what: &'static str,
    /// The bit, counted from the start of the frame, that was flipped if everything else is right.
    pub(crate) bit: Option<usize>,
}

/// Every frame in `bytes`, wherever it begins, that is right in itself.
pub(crate) fn frames(bytes: &[u8]) -> impl Iterator<Item = (usize, Head, Body)> {
    let starts = bytes.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
    starts.filter_map(|(at, _)| read_frame(&bytes[at..]).map(|(head, body)| (at, head, body)))
}

/// Whether anything in `bytes` proves that a frame later than number `last` was durable.
pub(crate) fn proof_of_durability(bytes: &[u8], last: u64) -> bool {
    frames(bytes).any(|(_, head, _)| head.synced > last)
}

/// Looks into a frame that does not count. It must follow a frame with checksum `chain`, unless it is the first.
pub(crate) fn flaw(bytes: &[u8], chain: u64, first: bool) -> Flaw {
    let head = read_head(bytes);
    let what = match &head {
        None if bytes.len() < HEAD_BYTES => "it ends within the head of a frame",
        None if bytes[..4] != MAGIC => "no frame begins there",
        None => "the frame is longer than the file",
        Some(head) if frame_checksum(bytes, head.length) != head.checksum => {
            "the checksum of the frame is wrong"
        }
        Some(_) => "the frame does not follow the one before it",
    };
    let mut mended = bytes.to_vec();
    let mut follows = |bit: usize| {
        mended[bit / 8] ^= 1 << (bit % 8);
        let follows = read_frame(&mended).is_some_and(|(head, _)| first || head.previous == chain);
        mended[bit / 8] ^= 1 << (bit % 8);
        follows
    };
    Flaw { what, bit: candidates(bytes, head).into_iter().find(|&bit| follows(bit)) }
}

/// Bits that may be the one: anywhere in magic and length, which say what a frame is, and behind them where the
/// checksum says.
fn candidates(bytes: &[u8], head: Option<Head>) -> Vec<usize> {
    if bytes.len() < HEAD_BYTES {
        return Vec::new();
    }
    let mut bits: Vec<usize> = (0..8 * 8).collect();
    if let Some(head) = head {
        let difference = frame_checksum(bytes, head.length) ^ head.checksum;
        if difference.count_ones() == 1 {
            bits.push(8 * 8 + difference.trailing_zeros() as usize);
        }
        let covered = HEAD_BYTES + head.length - 16;
        bits.extend(flipped_bit(covered, difference).map(|bit| 16 * 8 + bit));
    }
    bits
}
