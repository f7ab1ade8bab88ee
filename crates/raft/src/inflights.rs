//! The window of appends in flight to one follower, limited by count and by bytes.

use std::collections::VecDeque;

/// Appends that were sent and are not acknowledged, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inflights {
    /// The last index and the payload bytes of each append.
    appends: VecDeque<(u64, u64)>,
    bytes: u64,
    count_max: u32,
    bytes_max: u64,
    /// Set by a planted bug only: the window is never full.
    unlimited: bool,
}

impl Inflights {
    /// A window for `count_max` appends and about `bytes_max` bytes, where 0 bytes means no limit.
    ///
    /// Memory grows with use, not with the limit.
    pub fn new(count_max: u32, bytes_max: u64) -> Inflights {
        Inflights { count_max, bytes_max, ..Inflights::default() }
    }

    pub(crate) fn unlimited(mut self) -> Inflights {
        self.unlimited = true;
        self
    }

    /// How many appends are in flight.
    #[inline]
    pub fn count(&self) -> usize {
        self.appends.len()
    }

    /// How many payload bytes are in flight.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing may be added: the count is reached, or the bytes are reached or passed.
    #[inline]
    pub fn is_full(&self) -> bool {
        !self.unlimited
            && (self.appends.len() >= self.count_max as usize
                || (self.bytes_max != 0 && self.bytes >= self.bytes_max))
    }

    /// Notes an append whose last entry is at `index`. Indexes must not fall.
    ///
    /// # Panics
    ///
    /// If the window is full: the sender has to ask first.
    #[inline]
    pub fn add(&mut self, index: u64, bytes: u64) {
        assert!(!self.is_full(), "an append was sent into a full window");
        assert!(self.appends.back().is_none_or(|&(last, _)| last <= index));
        self.appends.push_back((index, bytes));
        self.bytes += bytes;
    }

    /// Frees every append up to and including the acknowledged `index`.
    #[inline]
    pub fn free_up_to(&mut self, index: u64) {
        while let Some(&(last, bytes)) = self.appends.front()
            && last <= index
        {
            self.appends.pop_front();
            self.bytes -= bytes;
        }
        assert!(!self.appends.is_empty() || self.bytes == 0);
    }

    /// Forgets everything in flight; count and bytes alike.
    pub fn reset(&mut self) {
        self.appends.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_full_when_the_count_is_reached() {
        let mut window = Inflights::new(2, 0);
        window.add(1, 100);
        assert!(!window.is_full());
        window.add(2, 100);
        assert!(window.is_full());
    }

    #[test]
    fn the_window_is_full_when_the_bytes_are_reached_even_by_one_large_append() {
        let mut window = Inflights::new(10, 100);
        window.add(1, 99);
        assert!(!window.is_full());
        window.add(2, 500);
        assert!(window.is_full());
    }

    #[test]
    fn an_acknowledgement_frees_what_it_covers_including_the_newest() {
        let mut window = Inflights::new(3, 0);
        for index in [3, 5, 9] {
            window.add(index, index);
        }
        window.free_up_to(2);
        assert_eq!((window.count(), window.bytes()), (3, 17));
        window.free_up_to(6);
        assert_eq!((window.count(), window.bytes()), (1, 9));
        window.free_up_to(9);
        assert_eq!((window.count(), window.bytes()), (0, 0));
    }

    #[test]
    fn a_reset_frees_the_bytes_too() {
        let mut window = Inflights::new(3, 10);
        window.add(1, 10);
        window.reset();
        assert!(!window.is_full());
        assert_eq!(window.bytes(), 0);
    }

    #[test]
    #[should_panic = "full window"]
    fn adding_to_a_full_window_is_a_broken_promise() {
        let mut window = Inflights::new(1, 0);
        window.add(1, 0);
        window.add(2, 0);
    }
}
