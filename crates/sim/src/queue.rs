//! The event queue: 16-byte keys in order, what they stand for in a pool; equal times keep the order of insertion.
//!
//! A queue is mostly short, and then nothing is faster than keys that stand in order: the earliest is there at once, and
//! a new one shifts a few that are later. Of a long queue only the earliest keys stand so, the others lie in a heap.

use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Everything that waits for its time.
pub(crate) struct Queue<T> {
    /// The earliest keys, in order, behind `taken` old ones. Empty only if nothing waits.
    ///
    /// A key has the time in its upper 64 bits, then the order of insertion, then the place in the pool.
    near: Vec<u128>,
    /// Keys at the beginning of `near` that are out already.
    taken: usize,
    /// All other keys, later than those in `near`.
    far: BinaryHeap<Reverse<u128>>,
    pool: Vec<Option<T>>,
    free: Vec<u32>,
    order: u32,
}

/// Most keys that stand in order: with more of them shifting costs more than a heap.
const NEAR_MAX: usize = 256;
/// Old keys that are worth a shift of all others.
const TAKEN_MAX: usize = 128;

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue {
            near: Vec::with_capacity(NEAR_MAX + TAKEN_MAX + 1),
            taken: 0,
            far: BinaryHeap::new(),
            pool: Vec::new(),
            free: Vec::new(),
            order: 0,
        }
    }

    /// Number of waiting items.
    pub(crate) fn len(&self) -> usize {
        self.near.len() - self.taken + self.far.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Time, item: T) {
        let place = match self.free.pop() {
            Some(place) => {
                assert!(self.pool[place as usize].is_none(), "a free place is empty");
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
        if self.far.peek().is_some_and(|&Reverse(first)| first < key) {
            self.far.push(Reverse(key));
            return;
        }
        // Of those with the same time it comes last, so that the time alone tells its place.
        let is_before = |&other: &u128| (other >> 64) as u64 <= at.nanos();
        let position = self.taken + self.near[self.taken..].partition_point(is_before);
        if self.taken > 0 && position - self.taken < self.near.len() - position {
            // Those before it are fewer, and there is room in front of them.
            self.near.copy_within(self.taken..position, self.taken - 1);
            self.taken -= 1;
            self.near[position - 1] = key;
        } else {
            self.near.insert(position, key);
        }
        if self.near.len() - self.taken > NEAR_MAX {
            let later = self.near.drain(self.taken + NEAR_MAX / 2..);
            self.far.extend(later.map(Reverse));
        }
    }

    /// The earliest item that is due by `deadline`, with its time.
    #[inline]
    pub(crate) fn pop_until(&mut self, deadline: Time) -> Option<(Time, T)> {
        let key = *self.near.get(self.taken)?;
        let at = Time::from_nanos((key >> 64) as u64);
        if at > deadline {
            return None;
        }
        self.taken += 1;
        if self.taken == self.near.len() || self.taken == TAKEN_MAX {
            self.tidy();
        }
        let place = key as u32;
        self.free.push(place);
        let item = self.pool[place as usize].take().expect("every key has an item");
        Some((at, item))
    }

    /// Takes out old keys, and brings the earliest of the heap if there are no others.
    fn tidy(&mut self) {
        self.near.drain(..self.taken);
        self.taken = 0;
        if self.near.is_empty() {
            let earliest = std::iter::from_fn(|| self.far.pop()).take(NEAR_MAX / 2);
            self.near.extend(earliest.map(|Reverse(key)| key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use std::collections::BTreeMap;

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

    #[test]
    fn a_queue_of_any_length_gives_what_a_sorted_map_gives() {
        for seed in 0..60u64 {
            let mut draw = Draw::from_value(seed);
            let (mut queue, mut model) = (Queue::new(), BTreeMap::new());
            let (mut now, mut pushed, mut longest) = (0, 0u32, 0);
            for round in 0..4_000 {
                // It grows and shrinks, with many equal times, and with items that are earlier than all others.
                for _ in 0..draw.below(if round / 1_000 % 2 == 0 { 5 } else { 2 }) {
                    let at = now + draw.log_uniform(1, 1_000) - 1;
                    queue.push(Time::from_nanos(at), pushed);
                    model.insert((at, pushed), pushed);
                    pushed += 1;
                }
                longest = longest.max(queue.len());
                assert_eq!(queue.len(), model.len());
                let popped = queue.pop_until(Time::MAX).map(|(at, item)| (at.nanos(), item));
                assert_eq!(popped, model.pop_first().map(|((at, _), item)| (at, item)));
                now = popped.map_or(now, |(at, _)| at);
            }
            assert!(longest > 2 * NEAR_MAX, "{longest} items are few");
        }
    }
}
