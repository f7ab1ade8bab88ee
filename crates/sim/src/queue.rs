//! The event queue: 16-byte keys in a heap, what they stand for in a pool; equal times keep the order of insertion.

use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Everything that waits for its time.
pub(crate) struct Queue<T> {
    /// Time in the upper 64 bits, then order of insertion, then place in the pool.
    keys: BinaryHeap<Reverse<u128>>,
    pool: Vec<Option<T>>,
    free: Vec<u32>,
    order: u32,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue { keys: BinaryHeap::new(), pool: Vec::new(), free: Vec::new(), order: 0 }
    }

    /// Number of waiting items.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Time, item: T) {
        let place = match self.free.pop() {
            Some(place) => {
                debug_assert!(self.pool[place as usize].is_none(), "a free place is empty");
                self.pool[place as usize] = Some(item);
                place
            }
            None => {
                self.pool.push(Some(item));
                self.pool.len() as u32 - 1
            }
        };
        let key = u128::from(at.nanos()) << 64 | u128::from(self.order) << 32 | u128::from(place);
        self.order = self.order.checked_add(1).expect("a run has fewer than 2^32 events");
        self.keys.push(Reverse(key));
    }

    /// The earliest item that is due by `deadline`, with its time.
    #[inline]
    pub(crate) fn pop_until(&mut self, deadline: Time) -> Option<(Time, T)> {
        let Reverse(key) = *self.keys.peek()?;
        let at = Time::from_nanos((key >> 64) as u64);
        if at > deadline {
            return None;
        }
        self.keys.pop();
        let place = key as u32;
        self.free.push(place);
        let item = self.pool[place as usize].take().expect("every key has an item");
        Some((at, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_by_time_and_equal_times_by_insertion() {
        let mut queue = Queue::new();
        for (at, item) in [(5, 'c'), (1, 'a'), (5, 'd'), (3, 'b')] {
            queue.push(Time::from_nanos(at), item);
        }
        assert_eq!(queue.pop_until(Time::ZERO), None);
        let order: String = std::iter::from_fn(|| queue.pop_until(Time::MAX)).map(|(_, item)| item).collect();
        assert_eq!(order, "abcd");
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn places_are_used_again() {
        let mut queue = Queue::new();
        for round in 0..1_000 {
            queue.push(Time::from_nanos(round), round);
            assert_eq!(queue.pop_until(Time::MAX).unwrap().1, round);
        }
        assert_eq!(queue.pool.len(), 1);
    }
}
