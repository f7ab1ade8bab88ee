//! Names of occurrences: which of several equal things this is, so that each has an address of its own.
//!
//! The first message with some content on a link is named by its content alone; a repetition is named by the window of
//! time it falls in and its number there. So a message more in the beginning renames what equals it in the same
//! window, and nothing else.

use crate::draw::fold;

/// Length of a window as a power of two in nanoseconds: about 67 ms.
pub(crate) const WINDOW_LOG2: u32 = 26;

const SETS: usize = 512;

/// Counts how often something occurred in the present window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Windowed {
    window: u32,
    count: u32,
}

impl Windowed {
    /// The address of the next occurrence.
    #[inline]
    pub(crate) fn next(&mut self, window: u32) -> u64 {
        if self.window != window {
            *self = Windowed { window, count: 0 };
        }
        self.count += 1;
        u64::from(window) << 32 | u64::from(self.count)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    name: u64,
    seen: Windowed,
}

/// The names one sender has used lately: a two-way cache, so that memory stays bounded in a run of any length.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    sets: Vec<[Entry; 2]>,
    /// Sets that forgot a name: what is new to them may be a repetition.
    forgetful: Vec<bool>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names { sets: vec![[Entry::default(); 2]; SETS], forgetful: vec![false; SETS] }
    }

    /// The occurrence number of `name`: 0 the first time, later an address within the window.
    #[inline]
    pub(crate) fn occurrence(&mut self, name: u64, window: u32) -> u64 {
        // Zero marks a free entry.
        let name = name | 1;
        let place = (fold(name, 0x9e37_79b9_7f4a_7c15) as usize) & (SETS - 1);
        let set = &mut self.sets[place];
        if set[0].name == name {
            return set[0].seen.next(window);
        }
        if set[1].name == name {
            set.swap(0, 1);
            return set[0].seen.next(window);
        }
        self.forgetful[place] |= set[1].name != 0;
        set[1] = set[0];
        set[0] = Entry { name, seen: Windowed::default() };
        if self.forgetful[place] { set[0].seen.next(window) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_name_goes_by_content_and_a_repetition_by_window_and_number() {
        let mut names = Names::new();
        assert_eq!(names.occurrence(11, 5), 0);
        assert_eq!(names.occurrence(11, 5), 5 << 32 | 1);
        assert_eq!(names.occurrence(11, 5), 5 << 32 | 2);
        assert_eq!(names.occurrence(11, 9), 9 << 32 | 1);
        assert_eq!(names.occurrence(13, 9), 0);
    }

    #[test]
    fn a_name_that_was_forgotten_is_not_taken_for_new() {
        let mut names = Names::new();
        for name in 0..10_000u64 {
            names.occurrence(name << 1, 1);
        }
        let as_new = (0..10_000u64).filter(|name| names.occurrence(name << 1, 2) == 0).count();
        assert_eq!(as_new, 0);
    }
}
