//! The trace hash: a 128-bit rolling digest over what nodes saw and did, in fixed widths and order.

use crate::draw::fold;
use std::fmt;

/// A 128-bit hash as it is printed and compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceHash(pub u128);

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:032x}", self.0)
    }
}

/// Collects a digest word by word. `usize` has no method here: widths are the same everywhere.
#[derive(Clone, Debug)]
pub struct Digester {
    a: u64,
    b: u64,
}

impl Default for Digester {
    fn default() -> Self {
        Digester { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 }
    }
}

impl Digester {
    /// Adds a word.
    #[inline]
    pub const fn word(&mut self, x: u64) {
        self.a = fold(self.a ^ x, 0xa076_1d64_78bd_642f);
        self.b = fold(self.b.rotate_left(23) ^ x, 0xe703_7ed1_a0b4_28db);
    }

    /// Adds bytes with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// The digest so far, in 64 bits.
    #[inline]
    pub const fn short(&self) -> u64 {
        fold(self.a, self.b | 1)
    }

    /// The digest so far.
    pub const fn hash(&self) -> TraceHash {
        TraceHash((self.a as u128) << 64 | self.b as u128)
    }
}

/// A value that adds itself to a digest; equal values add the same words on every machine.
pub trait Digest {
    /// Adds everything about the value that a run may depend on.
    fn digest(&self, digester: &mut Digester);
}

impl Digest for u64 {
    fn digest(&self, digester: &mut Digester) {
        digester.word(*self);
    }
}

impl Digest for u32 {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(*self));
    }
}

impl Digest for bool {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(*self));
    }
}

impl<T: Digest> Digest for Option<T> {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(self.is_some()));
        self.iter().for_each(|value| value.digest(digester));
    }
}

impl<T: Digest> Digest for Vec<T> {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.len() as u64);
        self.iter().for_each(|value| value.digest(digester));
    }
}

impl Digest for () {
    fn digest(&self, _: &mut Digester) {}
}

impl Digest for String {
    fn digest(&self, digester: &mut Digester) {
        digester.bytes(self.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_known_words_never_changes() {
        let mut digester = Digester::default();
        digester.word(1);
        digester.bytes(b"whitewater");
        assert_eq!(digester.hash().to_string(), "0x27bb8124c2c05da3b33bdb1780bb6ed4");
    }

    #[test]
    fn bytes_are_their_length_and_words_of_eight_of_them_the_last_filled_up_with_zeros() {
        let bytes: Vec<u8> = (1..=19).collect();
        for length in [0, 1, 7, 8, 9, 16, 19] {
            let mut digester = Digester::default();
            digester.bytes(&bytes[..length]);
            let mut by_words = Digester::default();
            by_words.word(length as u64);
            for chunk in bytes[..length].chunks(8) {
                by_words.word(chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
            }
            assert_eq!(digester.hash(), by_words.hash(), "{length} bytes");
        }
    }

    #[test]
    fn order_and_length_matter() {
        let hash = |parts: &[&[u8]]| {
            let mut digester = Digester::default();
            parts.iter().for_each(|p| digester.bytes(p));
            digester.hash()
        };
        assert_ne!(hash(&[b"a", b"b"]), hash(&[b"b", b"a"]));
        assert_ne!(hash(&[b"a", b""]), hash(&[b"a"]));
        assert_ne!(hash(&[b"a\0"]), hash(&[b"a"]));
    }
}
