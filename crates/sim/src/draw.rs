//! Addressed randomness: a value is a function of key and address, so no draw shifts another.
//!
//! ChaCha8 expands the seed into one 128-bit key per site and entity ([`Keys`]). A single draw mixes key and address
//! with a frozen 64-bit mixer: stateless, random access, about two nanoseconds. Sampling is integer-only and our
//! own. Golden tests hold all of it: whoever changes a value here changes the meaning of every seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A purpose randomness is drawn for; sites never share values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site(u32);

impl Site {
    /// Everything a plan is made of.
    pub const PLAN: Site = Site(1);
    /// Fate of packets, by sender.
    pub const LINK: Site = Site(2);
    /// Lengths of timers, by node.
    pub const TIMER: Site = Site(3);
    /// What a node draws for itself.
    pub const NODE: Site = Site(4);
    /// Disk latency and what a crash keeps, by node.
    pub const DISK: Site = Site(5);
    /// Choices of the script that the script leaves open.
    pub const SCRIPT: Site = Site(6);
}

/// A 128-bit key: the randomness of one site at one entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    a: u64,
    b: u64,
}

const PRIME_1: u64 = 0x9e37_79b9_7f4a_7c15;
const PRIME_2: u64 = 0xe703_7ed1_a0b4_28db;

/// Multiplies to 128 bits and folds the halves together; the one nonlinear step of mixer and digest.
#[inline(always)]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Key {
    /// The value at an address of two words.
    #[inline(always)]
    pub const fn at(self, x: u64, y: u64) -> u64 {
        let h = fold(x ^ self.a ^ PRIME_1, y ^ self.b ^ PRIME_2);
        fold(h ^ self.b, self.a.rotate_left(32) ^ y.wrapping_add(PRIME_1) | 1)
    }

    /// A stream of values at an address.
    #[inline]
    pub const fn draw(self, x: u64, y: u64) -> Draw {
        Draw { base: self.at(x, y), count: 0 }
    }
}

/// The keys of one run.
#[derive(Clone, Debug)]
pub struct Keys {
    seed: u64,
}

impl Keys {
    /// The keys that `seed` stands for.
    pub const fn new(seed: u64) -> Keys {
        Keys { seed }
    }

    /// The key of a site at an entity, such as a node's index.
    pub fn key(&self, site: Site, entity: u32) -> Key {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(bytes);
        stream.set_stream(u64::from(site.0) << 32 | u64::from(entity));
        Key { a: stream.next_u64(), b: stream.next_u64() }
    }
}

/// A short stream of values at one address.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    base: u64,
    count: u64,
}

impl Draw {
    /// The stream that starts from an arbitrary 64-bit value.
    pub const fn from_value(value: u64) -> Draw {
        Draw { base: value, count: 0 }
    }

    /// The next 64 bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        let x = fold(self.base ^ PRIME_2, self.count.wrapping_mul(PRIME_1) | 1);
        fold(x ^ self.count, self.base | 1)
    }

    /// A number below `bound`. Panics if `bound` is zero.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing lies below zero");
        scale(self.bits(), bound)
    }

    /// A number from `low` to `high`, both included. Panics if `low > high`.
    #[inline]
    pub const fn within(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "an empty range");
        spread(self.bits(), low, high)
    }

    /// True in `numerator` of `denominator` cases. Panics if `denominator` is zero.
    pub const fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// One of `items`. Panics if there is none.
    pub const fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// An index into `weights`, in proportion to them. Panics if they add up to zero.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
        let mut rest = self.below(total);
        for (index, &weight) in weights.iter().enumerate() {
            if rest < u64::from(weight) {
                return index;
            }
            rest -= u64::from(weight);
        }
        unreachable!("the rest is below the total")
    }

    /// A number from `low` to `high` of which every doubling is equally likely. Panics if `low` is zero or above `high`.
    pub fn log_uniform(&mut self, low: u64, high: u64) -> u64 {
        assert!(0 < low && low <= high, "a logarithmic range starts above zero");
        // Integer only: draw the octave in proportion to its share, then a place within it.
        let octaves = u64::from((high / low).ilog2()) + 1;
        let octave = self.below(octaves);
        let from = low << octave;
        let to = if octave + 1 == octaves { high } else { (low << (octave + 1)) - 1 };
        self.within(from, to.max(from))
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// Scales 64 random bits to a number below `bound`.
#[inline(always)]
pub(crate) const fn scale(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// Scales 64 random bits to a number from `low` to `high`.
#[inline(always)]
pub(crate) const fn spread(bits: u64, low: u64, high: u64) -> u64 {
    let width = high - low;
    if width == u64::MAX { bits } else { low + scale(bits, width + 1) }
}

/// A frozen hash of a name, for addresses.
pub const fn name_hash(name: &str) -> u64 {
    joined_hash(&[name])
}

/// The hash of a name that is made of parts, without joining them.
pub const fn joined_hash(parts: &[&str]) -> u64 {
    let (mut hash, mut length, mut part) = (PRIME_2, 0, 0);
    while part < parts.len() {
        let (bytes, mut i) = (parts[part].as_bytes(), 0);
        while i < bytes.len() {
            hash = fold(hash ^ bytes[i] as u64, PRIME_1);
            i += 1;
        }
        length += bytes.len() as u64;
        part += 1;
    }
    fold(hash ^ length, PRIME_2)
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
