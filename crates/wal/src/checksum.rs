//! The checksum of every frame, and which single flipped bit explains a wrong one.
//!
//! A state of 64 bits takes in word after word and after each goes one step of Marsaglia's xorshift (13, 7, 17). A step is
//! linear, so that what a flipped bit changes depends only on where it is; and it comes round only after 2^64 - 1 steps, so
//! that no two bits change the same. 64 bits make it hopeless that a torn frame looks like a whole one with one bit
//! flipped, which is what [`flipped_bit`] relies on. A table-driven CRC has the same virtues at several times the cost.

/// Bytes of a word.
const WORD_BYTES: usize = 8;

/// The checksum of `bytes` behind a number, such as their length; a last word that is not full is filled up with zeros.
pub(crate) fn checksum(number: u32, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<WORD_BYTES>();
    let begun = step(!u64::from(number));
    let state = words.iter().fold(begun, |state, word| step(state ^ u64::from_le_bytes(*word)));
    if rest.is_empty() {
        return state;
    }
    let mut last = [0; WORD_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    step(state ^ u64::from_le_bytes(last))
}

#[inline]
const fn step(state: u64) -> u64 {
    let state = state ^ state << 13;
    let state = state ^ state >> 7;
    state ^ state << 17
}

/// Which one bit of `length` bytes, if it were flipped, would turn a checksum that is off by `difference` right.
pub(crate) fn flipped_bit(length: usize, difference: u64) -> Option<usize> {
    let mut effects: [u64; 64] = std::array::from_fn(|bit| step(1 << bit));
    for word in (0..length.div_ceil(WORD_BYTES)).rev() {
        let bit = effects.iter().position(|&effect| effect == difference);
        // Beyond the end there are no bits to flip, only zeros that were filled up.
        if let Some(bit) = bit.map(|bit| word * 64 + bit).filter(|&bit| bit < length * 8) {
            return Some(bit);
        }
        effects = effects.map(step);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_never_changes() {
        let long: Vec<u8> = (0..100).collect();
        let sums = [checksum(0, b""), checksum(9, b"123456789"), checksum(100, &long)];
        assert_eq!(sums, [0x3f801fc0, 0x826ad6b813f30f5d, 0xd0b93cd365b10d18]);
    }

    #[test]
    fn a_step_can_be_taken_back_so_that_no_difference_is_lost() {
        // Each of the three parts is a unit triangular matrix; so is no sum of two different steps zero.
        let effects: Vec<u64> = (0..64).map(|bit| step(1 << bit)).collect();
        let mut basis: Vec<u64> = Vec::new();
        for effect in effects {
            let reduced = basis.iter().fold(effect, |left, &other| left.min(left ^ other));
            assert_ne!(reduced, 0, "the effects of single bits are independent");
            basis.push(reduced);
        }
    }

    #[test]
    fn every_single_flipped_bit_is_found_and_no_torn_tail_is_taken_for_one() {
        for length in [60, 64, 61, 7, 1_003] {
            let bytes: Vec<u8> = (0..length).map(|x| (x as u8).wrapping_mul(37) | 1).collect();
            let right = checksum(7, &bytes);
            for place in (0..bytes.len() * 8).step_by(if length > 100 { 13 } else { 1 }) {
                let mut wrong = bytes.clone();
                wrong[place / 8] ^= 1 << (place % 8);
                assert_eq!(flipped_bit(bytes.len(), checksum(7, &wrong) ^ right), Some(place));
            }
            for whole in 0..bytes.len() {
                let mut torn = bytes.clone();
                torn[whole..].fill(0);
                let lost: u32 = bytes[whole..].iter().map(|byte| byte.count_ones()).sum();
                let found = flipped_bit(bytes.len(), checksum(7, &torn) ^ right);
                assert!(lost == 1 || found.is_none(), "{length} bytes cut at {whole}");
            }
        }
    }

    #[test]
    fn the_number_before_the_bytes_counts_and_so_does_every_zero_at_their_end() {
        assert_ne!(checksum(1, b"a"), checksum(2, b"a"));
        assert_ne!(checksum(1, b"a\0\0\0\0\0\0\0"), checksum(8, b"a\0\0\0\0\0\0\0"));
        assert_ne!(checksum(8, &[0; 8]), checksum(8, &[0; 16]));
    }
}
