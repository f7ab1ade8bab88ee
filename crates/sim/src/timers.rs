//! The timers of one node: setting one replaces it, it goes off once, a crash forgets it.
//!
//! Times are those of the steady hand of the node's clock; its owner turns them into times of the world.
//!
//! A timer has at most one live entry in the queue. Setting it to a later time leaves that entry where it is; when it
//! comes up early it is put back, so that a timer set again with every heartbeat does not fill the queue.

use crate::draw::{Key, spread};
use crate::names::Windowed;
use crate::node::Timer;
use crate::time::{Span, Time};

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    timer: T,
    code: u32,
    deadline: Time,
    armed: bool,
    queued: Option<Time>,
    generation: u32,
    seen: Windowed,
}

/// All timers of one node.
#[derive(Clone, Debug)]
pub(crate) struct Timers<T> {
    key: Key,
    entries: Vec<Entry<T>>,
}

/// What became of an entry that came up in the queue.
pub(crate) enum Due<T> {
    /// The timer goes off.
    Fires(T),
    /// It was set to a later time: put the entry back.
    Later(Time),
    /// It was replaced or taken back.
    Stale,
}

impl<T: Timer> Timers<T> {
    pub(crate) fn new(key: Key) -> Self {
        Timers { key, entries: Vec::new() }
    }

    /// Sets a timer to the span that is drawn, or what `decide` makes of it. If an entry must be put into the queue,
    /// gives its time, place and generation.
    #[inline]
    pub(crate) fn set(
        &mut self,
        timer: T,
        now: Time,
        window: u32,
        low: Span,
        high: Span,
        decide: impl FnOnce(Span) -> Span,
    ) -> Option<(Time, u32, u32)> {
        let code = timer.code();
        let place = match self.entries.iter().position(|e| e.code == code) {
            Some(place) => place,
            None => {
                let seen = Windowed::default();
                let entry =
                    Entry { timer, code, deadline: now, armed: false, queued: None, generation: 0, seen };
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[place];
        let bits = self.key.at(u64::from(code), entry.seen.next(window));
        entry.timer = timer;
        entry.deadline = now + decide(Span::from_nanos(spread(bits, low.nanos(), high.nanos())));
        entry.armed = true;
        if entry.queued.is_some_and(|at| at <= entry.deadline) {
            return None;
        }
        entry.generation += 1;
        entry.queued = Some(entry.deadline);
        Some((entry.deadline, place as u32, entry.generation))
    }

    pub(crate) fn cancel(&mut self, timer: T) {
        let code = timer.code();
        if let Some(entry) = self.entries.iter_mut().find(|e| e.code == code) {
            entry.armed = false;
        }
    }

    /// Whether a timer is set.
    pub(crate) fn is_set(&self, timer: T) -> bool {
        self.entries.iter().any(|e| e.armed && e.code == timer.code())
    }

    /// An entry came up in the queue.
    #[inline]
    pub(crate) fn due(&mut self, place: u32, generation: u32, now: Time) -> Due<T> {
        let Some(entry) = self.entries.get_mut(place as usize) else { return Due::Stale };
        if entry.generation != generation {
            return Due::Stale;
        }
        if !entry.armed {
            entry.queued = None;
            return Due::Stale;
        }
        if entry.deadline > now {
            entry.queued = Some(entry.deadline);
            return Due::Later(entry.deadline);
        }
        entry.armed = false;
        entry.queued = None;
        Due::Fires(entry.timer)
    }

    /// The entry of a timer is not in the queue, because its clock stands still.
    pub(crate) fn unqueue(&mut self, place: u32) {
        self.entries[place as usize].queued = None;
    }

    /// The clock has changed: `push` puts a new entry into the queue for every timer that is set, given place, generation
    /// and deadline, or says that there is no such moment.
    pub(crate) fn requeue(&mut self, mut push: impl FnMut(u32, u32, Time) -> Option<()>) {
        for (place, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| entry.armed) {
            entry.generation += 1;
            entry.queued = push(place as u32, entry.generation, entry.deadline).map(|()| entry.deadline);
        }
    }

    /// A crash: no timer is set any more. What the entries have counted stays, so that no draw is used twice.
    pub(crate) fn forget(&mut self) {
        for entry in &mut self.entries {
            entry.armed = false;
            entry.queued = None;
            entry.generation += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Election;

    impl Timer for Election {
        fn code(&self) -> u32 {
            1
        }
        fn name(&self) -> &'static str {
            "election"
        }
    }

    fn set(timers: &mut Timers<Election>, now: Time, nanos: u64) -> Option<(Time, u32, u32)> {
        let span = Span::from_nanos(nanos);
        timers.set(Election, now, 0, span, span, |drawn| drawn)
    }

    #[test]
    fn a_timer_set_again_goes_off_once_at_the_later_time() {
        let mut timers = Timers::new(Key::default());
        let (at, place, generation) = set(&mut timers, Time::ZERO, 10).unwrap();
        assert_eq!(at, Time::from_nanos(10));
        assert!(set(&mut timers, Time::from_nanos(5), 10).is_none());
        let Due::Later(at) = timers.due(place, generation, at) else { panic!("it was set again") };
        assert_eq!(at, Time::from_nanos(15));
        assert!(matches!(timers.due(place, generation, at), Due::Fires(Election)));
        assert!(matches!(timers.due(place, generation, at), Due::Stale));
    }

    #[test]
    fn a_timer_set_to_an_earlier_time_leaves_its_old_entry_stale() {
        let mut timers = Timers::new(Key::default());
        let (late, place, old) = set(&mut timers, Time::ZERO, 100).unwrap();
        let (soon, _, new) = set(&mut timers, Time::ZERO, 5).unwrap();
        assert!(matches!(timers.due(place, new, soon), Due::Fires(Election)));
        assert!(matches!(timers.due(place, old, late), Due::Stale));
    }

    #[test]
    fn a_timer_that_was_taken_back_or_forgotten_stays_silent() {
        let mut timers = Timers::new(Key::default());
        let (at, place, generation) = set(&mut timers, Time::ZERO, 5).unwrap();
        timers.cancel(Election);
        assert!(matches!(timers.due(place, generation, at), Due::Stale));
        let (at, place, generation) = set(&mut timers, Time::ZERO, 5).unwrap();
        timers.forget();
        assert!(matches!(timers.due(place, generation, at), Due::Stale));
    }
}
