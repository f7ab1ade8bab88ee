//! The event queue: the earliest item first, equal times in the order of insertion.
//!
//! A calendar. What is due within the next quarter of a second lies in one of 2,048 short lists, one for each slice of time,
//! and a bit for each list says whether anything is in it: neither putting an item in nor taking one out depends on how
//! many there are. What is due later, or comes into a crowded list, has a key in a heap instead. The earliest of both is
//! next, so that it never matters where an item is.

use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Everything that waits for its time.
pub(crate) struct Queue<T> {
    /// For each slice of the calendar the place of its earliest item.
    first: Vec<u32>,
    /// A bit for each slice in which there is something.
    filled: [u64; WORDS],
    /// A bit for each word of `filled` that has one.
    filled_words: u32,
    /// The slice of the newest item that is out, counted from the beginning of time. All items of the calendar are in this
    /// slice or in the `SLICES - 1` behind it.
    present: u64,
    /// Items in the calendar.
    near: usize,
    /// Keys of all other items: the time in the upper 64 bits, then the order of insertion, then the place in the pool.
    far: BinaryHeap<Reverse<u128>>,
    pool: Vec<Slot<T>>,
    /// The first of the free slots.
    free: u32,
    order: u32,
}

/// A place in the pool.
struct Slot<T> {
    at: Time,
    order: u32,
    /// The next one of the same slice, or the next that is free.
    next: u32,
    /// None if it is free.
    item: Option<T>,
}

/// Length of a slice as a power of two in nanoseconds: about 131 us.
const SLICE_LOG2: u32 = 17;
const SLICES: usize = 2_048;
const WORDS: usize = SLICES / 64;
/// Most items of a slice that are looked at for the place of another one.
const CROWD: usize = 32;
/// No place.
const NOWHERE: u32 = u32::MAX;

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Queue {
            first: vec![NOWHERE; SLICES],
            filled: [0; WORDS],
            filled_words: 0,
            present: 0,
            near: 0,
            far: BinaryHeap::new(),
            pool: Vec::new(),
            free: NOWHERE,
            order: 0,
        }
    }

    /// Number of waiting items.
    pub(crate) fn len(&self) -> usize {
        self.near + self.far.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Time, item: T) {
        let order = self.order;
        self.order = order.checked_add(1).expect("a run has fewer than 2^32 events");
        let place = self.store(at, order, item);
        // What lies before the present is far away, too.
        let is_near = slice_of(at).wrapping_sub(self.present) < SLICES as u64;
        if !is_near || !self.enlist(at, place) {
            let key = u128::from(at.nanos()) << 64 | u128::from(order) << 32 | u128::from(place);
            self.far.push(Reverse(key));
        }
    }

    /// Puts an item into the pool.
    #[inline]
    fn store(&mut self, at: Time, order: u32, item: T) -> u32 {
        let place = self.free;
        let next = NOWHERE;
        match self.pool.get_mut(place as usize) {
            Some(slot) => {
                assert!(slot.item.is_none(), "a free place is empty");
                self.free = slot.next;
                (slot.at, slot.order, slot.next, slot.item) = (at, order, next, Some(item));
                place
            }
            None => {
                self.pool.push(Slot { at, order, next, item: Some(item) });
                self.pool.len() as u32 - 1
            }
        }
    }

    /// Puts an item into the list of its slice, behind all of the same time. False if there are too many.
    #[inline]
    fn enlist(&mut self, at: Time, place: u32) -> bool {
        let slice = slice_of(at) as usize % SLICES;
        let (mut before, mut after) = (NOWHERE, self.first[slice]);
        let mut looked_at = 0;
        while after != NOWHERE && self.pool[after as usize].at <= at {
            if looked_at == CROWD {
                return false;
            }
            looked_at += 1;
            (before, after) = (after, self.pool[after as usize].next);
        }
        self.pool[place as usize].next = after;
        match before {
            NOWHERE => self.first[slice] = place,
            _ => self.pool[before as usize].next = place,
        }
        self.filled[slice / 64] |= 1 << (slice % 64);
        self.filled_words |= 1 << (slice / 64);
        self.near += 1;
        true
    }

    /// The earliest item that is due by `deadline`, with its time.
    #[inline]
    pub(crate) fn pop_until(&mut self, deadline: Time) -> Option<(Time, T)> {
        let slice = self.first_slice();
        let near = slice.map(|slice| &self.pool[self.first[slice] as usize]);
        let key = near.map(|slot| u128::from(slot.at.nanos()) << 64 | u128::from(slot.order) << 32);
        let far = self.far.peek().map(|&Reverse(key)| key);
        let (at, place) = match (slice, far) {
            (_, Some(far)) if key.is_none_or(|key| far < key) => {
                let at = Time::from_nanos((far >> 64) as u64);
                if at > deadline {
                    return None;
                }
                self.far.pop();
                (at, far as u32)
            }
            (Some(slice), _) => {
                let place = self.first[slice];
                let at = self.pool[place as usize].at;
                if at > deadline {
                    return None;
                }
                self.strike(slice);
                (at, place)
            }
            (None, _) => return None,
        };
        self.present = self.present.max(slice_of(at));
        let slot = &mut self.pool[place as usize];
        slot.next = self.free;
        self.free = place;
        Some((at, slot.item.take().expect("every place that is named has an item")))
    }

    /// Takes the first item of a slice out of its list.
    #[inline]
    fn strike(&mut self, slice: usize) {
        self.near -= 1;
        let next = self.pool[self.first[slice] as usize].next;
        self.first[slice] = next;
        if next == NOWHERE {
            self.filled[slice / 64] &= !(1 << (slice % 64));
            if self.filled[slice / 64] == 0 {
                self.filled_words &= !(1 << (slice / 64));
            }
        }
    }

    /// The first slice from the present one on in which there is something, going round once.
    #[inline]
    fn first_slice(&self) -> Option<usize> {
        let from = self.present as usize % SLICES;
        let word = from / 64;
        let here = self.filled[word] & (!0 << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // The same word comes last, with what stands before the present slice in it.
        let round = self.filled_words.rotate_right(word as u32 + 1);
        if round == 0 {
            return None;
        }
        let word = (word + 1 + round.trailing_zeros() as usize) % WORDS;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }
}

#[inline]
const fn slice_of(at: Time) -> u64 {
    at.nanos() >> SLICE_LOG2
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
            // All in one slice, all over the calendar, or mostly behind it.
            let longest_wait = [1_000, 200_000_000, 5_000_000_000][seed as usize % 3];
            for round in 0..4_000 {
                // It grows and shrinks, with many equal times, and with items that are earlier than all others.
                for _ in 0..draw.below(if round / 1_000 % 2 == 0 { 5 } else { 2 }) {
                    let at = now + draw.log_uniform(1, longest_wait) - 1;
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
            assert!(longest > 10 * CROWD, "{longest} items are few");
        }
    }
}
