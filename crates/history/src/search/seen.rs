//! Configurations that a search has been in: a table of 128-bit hashes, each with what had been used of open operations.

/// A hash over a configuration. Two different ones share it with a probability of 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hash(pub(crate) u64, pub(crate) u64);

impl Hash {
    /// The hash of a pair of numbers.
    #[inline]
    pub(crate) fn of(a: u32, b: u32) -> Hash {
        let seed = u64::from(a) << 32 | u64::from(b);
        let first = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        Hash(first, mix(first ^ seed.rotate_left(32) ^ 0xd1b5_4a32_d192_ed03))
    }

    /// Adds or takes away a part.
    #[inline]
    pub(crate) fn toggle(&mut self, part: Hash) {
        self.0 ^= part.0;
        self.1 ^= part.1;
    }
}

/// The finaliser of SplitMix64.
#[inline]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

const FREE: u32 = 0;
const LAST: u32 = u32::MAX;

/// The table. What was used of open operations is a set of `words` times 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    keys: Vec<Hash>,
    /// 0 if the place is free, else one more than the number of its first set.
    heads: Vec<u32>,
    taken: usize,
    words: usize,
    /// For each set the one after it.
    next: Vec<u32>,
    sets: Vec<u64>,
}

impl Seen {
    pub(crate) fn new(words: usize) -> Seen {
        const PLACES: usize = 1 << 8;
        Seen {
            keys: vec![Hash::default(); PLACES],
            heads: vec![FREE; PLACES],
            taken: 0,
            words,
            next: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Configurations it holds.
    pub(crate) fn len(&self) -> usize {
        self.next.len()
    }

    /// Whether the search was at `key` before and had used nothing that is not in `used`.
    #[inline]
    pub(crate) fn covers(&self, key: Hash, used: &[u64]) -> bool {
        let place = self.place(key);
        if self.heads[place] == FREE {
            return false;
        }
        let mut set = self.heads[place] - 1;
        while set != LAST {
            let at = set as usize * self.words;
            if self.sets[at..at + self.words].iter().zip(used).all(|(had, has)| had & !has == 0) {
                return true;
            }
            set = self.next[set as usize];
        }
        false
    }

    /// Remembers that the search was there.
    pub(crate) fn insert(&mut self, key: Hash, used: &[u64]) {
        if self.taken * 2 >= self.keys.len() {
            self.grow();
        }
        let place = self.place(key);
        let first = self.heads[place];
        let number = self.next.len() as u32;
        self.next.push(if first == FREE { LAST } else { first - 1 });
        self.sets.extend_from_slice(used);
        self.taken += usize::from(first == FREE);
        self.keys[place] = key;
        self.heads[place] = number + 1;
    }

    #[inline]
    fn place(&self, key: Hash) -> usize {
        let mask = self.keys.len() - 1;
        let mut place = key.0 as usize & mask;
        while self.heads[place] != FREE && self.keys[place] != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let places = self.keys.len() * 4;
        let keys = std::mem::replace(&mut self.keys, vec![Hash::default(); places]);
        let heads = std::mem::replace(&mut self.heads, vec![FREE; places]);
        for (key, head) in keys.into_iter().zip(heads).filter(|&(_, head)| head != FREE) {
            let place = self.place(key);
            (self.keys[place], self.heads[place]) = (key, head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_used_more_in_the_same_place_is_covered_and_whoever_used_less_is_not() {
        let mut seen = Seen::new(1);
        let key = Hash::of(1, 2);
        seen.insert(key, &[0b0110]);
        seen.insert(key, &[0b1001]);
        assert!(seen.covers(key, &[0b0111]) && seen.covers(key, &[0b1101]));
        assert!(!seen.covers(key, &[0b1010]) && !seen.covers(Hash::of(2, 1), &[0b1111]));
    }

    #[test]
    fn nothing_is_forgotten_when_the_table_grows() {
        let mut seen = Seen::new(0);
        (0..10_000).for_each(|n| seen.insert(Hash::of(n, 7), &[]));
        assert!((0..10_000).all(|n| seen.covers(Hash::of(n, 7), &[])));
        assert!((0..10_000).all(|n| !seen.covers(Hash::of(n, 8), &[])));
        assert_eq!(seen.len(), 10_000);
    }
}
