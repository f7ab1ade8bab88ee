//! Puts results that arrive in any order back in line.

use std::collections::BTreeMap;

/// A line of numbered results; a result waits until all lower numbers were taken.
#[derive(Debug)]
pub(crate) struct Line<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> Line<T> {
    /// An empty line that begins at 0.
    pub(crate) fn new() -> Line<T> {
        Line { next: 0, waiting: BTreeMap::new() }
    }

    /// The number that is taken next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Puts a result in line. Panics if its number was used before.
    pub(crate) fn put(&mut self, number: u64, result: T) {
        assert!(number >= self.next, "number {number} was taken before");
        assert!(self.waiting.insert(number, result).is_none(), "number {number} came twice");
    }

    /// The next result, if it is there.
    pub(crate) fn take(&mut self) -> Option<T> {
        let result = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_out_in_order_whatever_the_order_they_came_in() {
        for arrival in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let mut line = Line::new();
            let mut out = Vec::new();
            for number in arrival {
                line.put(number, number * 10);
                out.extend(std::iter::from_fn(|| line.take()));
            }
            assert_eq!(out, [0, 10, 20, 30]);
        }
    }

    #[test]
    fn a_gap_holds_back_what_comes_after_it() {
        let mut line = Line::new();
        line.put(1, "later");
        assert_eq!(line.take(), None);
        assert_eq!(line.next(), 0);
    }

    #[test]
    #[should_panic(expected = "came twice")]
    fn a_number_comes_once() {
        let mut line = Line::new();
        line.put(5, ());
        line.put(5, ());
    }
}
