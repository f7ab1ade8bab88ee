//! CRC-64: the checksum of every frame, and which single flipped bit explains a wrong one.
//!
//! The polynomial is ECMA-182, reflected, as in the xz format. 64 bits make it hopeless that a torn frame looks like a
//! whole one with one bit flipped, which is what [`flipped_bit`] relies on.

const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// `TABLES[k][b]` is the effect of byte `b` followed by `k` zero bytes.
static TABLES: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let shorter = tables[zeros - 1][byte];
            tables[zeros][byte] = tables[0][(shorter & 0xff) as usize] ^ shorter >> 8;
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// The checksum of `parts`, one after the other.
pub(crate) fn checksum(parts: &[&[u8]]) -> u64 {
    !parts.iter().fold(!0, |crc, part| update(crc, part))
}

fn update(mut crc: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = crc ^ u64::from_le_bytes(chunk.try_into().expect("a chunk has eight bytes"));
        crc = 0;
        for (at, table) in TABLES.iter().rev().enumerate() {
            crc ^= table[(word >> (8 * at) & 0xff) as usize];
        }
    }
    chunks.remainder().iter().fold(crc, |crc, &byte| step(crc, byte))
}

#[inline]
fn step(crc: u64, byte: u8) -> u64 {
    TABLES[0][((crc ^ u64::from(byte)) & 0xff) as usize] ^ crc >> 8
}

/// Which one bit of `length` bytes, if it were flipped, would turn a checksum that is off by `difference` right.
///
/// A checksum is linear: flipping a bit changes it by an amount that depends only on how far from the end the bit is.
pub(crate) fn flipped_bit(length: usize, difference: u64) -> Option<usize> {
    let mut effects: [u64; 8] = std::array::from_fn(|bit| step(0, 1 << bit));
    for byte in (0..length).rev() {
        if let Some(bit) = effects.iter().position(|&effect| effect == difference) {
            return Some(byte * 8 + bit);
        }
        effects = effects.map(|effect| step(effect, 0));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(checksum(&[b"123456789"]), 0x995d_c9bb_df19_39fa);
        assert_eq!(checksum(&[b"1234", b"", b"56789"]), 0x995d_c9bb_df19_39fa);
        let long: Vec<u8> = (0..100).collect();
        assert_eq!(!long.iter().fold(!0, |crc, &byte| step(crc, byte)), checksum(&[&long]));
    }

    #[test]
    fn every_single_flipped_bit_is_found_and_no_torn_tail_is_taken_for_one() {
        let bytes: Vec<u8> = (0..60_u8).map(|x| x.wrapping_mul(37) | 1).collect();
        let right = checksum(&[&bytes]);
        for place in 0..bytes.len() * 8 {
            let mut wrong = bytes.clone();
            wrong[place / 8] ^= 1 << (place % 8);
            assert_eq!(flipped_bit(bytes.len(), checksum(&[&wrong]) ^ right), Some(place));
        }
        for whole in 0..bytes.len() - 1 {
            let mut torn = bytes.clone();
            torn[whole..].fill(0);
            assert_eq!(flipped_bit(bytes.len(), checksum(&[&torn]) ^ right), None, "cut at {whole}");
        }
    }
}
