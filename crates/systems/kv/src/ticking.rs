//! When a server's ticks fall, and when its tick timer has to go off next.

use whitewater_sim::{LocalTime, Span};

/// Counts ticks by the clock, so that time in which the core has nothing to do costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Ticking {
    tick: Span,
    /// Ticks that are counted at once, at most.
    most: u32,
    /// Ticks counted since the process began to wait for its disk.
    waited: u32,
    /// When the next tick falls.
    next: LocalTime,
    /// When the timer goes off, if it is set.
    armed: Option<LocalTime>,
}

impl Ticking {
    /// Ticks from `now` on, the first one after `phase`. At most `most` of them are counted at once.
    pub(crate) fn new(tick: Span, most: u32, now: LocalTime, phase: Span) -> Ticking {
        Ticking { tick, most, waited: 0, next: now + phase, armed: None }
    }

    /// The ticks that have fallen by `now` and were not counted yet. What a process missed while it was stopped, or while
    /// its clock jumped, it does not make up for, as with any ticker: it would send the heartbeats of hours at once. One that
    /// waits for its disk sends nothing either, and is given no more ticks than that until the disk is done.
    #[inline]
    pub(crate) fn count(&mut self, now: LocalTime, waits_for_disk: bool) -> u32 {
        if !waits_for_disk {
            self.waited = 0;
        }
        if now < self.next {
            return 0;
        }
        let ticks = now.since(self.next).nanos() / self.tick.nanos() + 1;
        self.next = self.next + self.tick.times(ticks);
        let ticks = u32::try_from(ticks).unwrap_or(u32::MAX).min(self.most - self.waited);
        if waits_for_disk {
            self.waited += ticks;
        }
        ticks
    }

    /// The timer went off.
    pub(crate) fn fired(&mut self) {
        self.armed = None;
    }

    /// How long the timer is to be set for, so that the `due`-th tick from now finds it going off. `None` if it goes off
    /// by then already: a timer that goes off too soon is set again, which is rarer than a tick that moves on.
    #[inline]
    pub(crate) fn arm(&mut self, now: LocalTime, due: u32) -> Option<Span> {
        let at = self.next + self.tick.times(u64::from(due.saturating_sub(1)));
        if self.armed.is_some_and(|armed| armed <= at) {
            return None;
        }
        self.armed = Some(at);
        Some(at.since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_nanos(millis * 1_000_000)
    }

    fn ticking() -> Ticking {
        Ticking::new(Span::from_millis(10), 40, at(100), Span::from_millis(3))
    }

    #[test]
    fn every_tick_is_counted_once_however_late_one_looks() {
        let mut ticking = ticking();
        assert_eq!(ticking.count(at(102), false), 0);
        assert_eq!(ticking.count(at(103), false), 1);
        assert_eq!(ticking.count(at(112), false), 0);
        assert_eq!(ticking.count(at(133), false), 3);
        assert_eq!(ticking.count(at(133), false), 0);
    }

    #[test]
    fn the_timer_goes_off_with_the_tick_that_is_due() {
        let mut ticking = ticking();
        assert_eq!(ticking.arm(at(100), 1), Some(Span::from_millis(3)));
        ticking.fired();
        ticking.count(at(103), false);
        assert_eq!(ticking.arm(at(103), 5), Some(Span::from_millis(50)));
    }

    #[test]
    fn the_timer_is_set_again_only_if_something_is_due_sooner() {
        let mut ticking = ticking();
        ticking.arm(at(100), 5);
        assert_eq!(ticking.arm(at(101), 9), None);
        assert_eq!(ticking.arm(at(101), 2), Some(Span::from_millis(12)));
    }

    #[test]
    fn ticks_that_were_missed_by_far_are_not_made_up_for() {
        let mut ticking = ticking();
        assert_eq!(ticking.count(at(100 + 3_600_000), false), 40);
        assert_eq!(ticking.count(at(100 + 3_600_009), false), 1, "the next one falls where it would have");
    }

    #[test]
    fn a_disk_that_stands_still_for_long_leaves_no_heap_of_heartbeats_behind() {
        let mut ticking = ticking();
        let counted: u32 = (1..=1_000).map(|tick| ticking.count(at(100 + 10 * tick), true)).sum();
        assert_eq!(counted, 40);
        assert_eq!(ticking.count(at(10_110), false), 1, "the disk is done, and time goes on as before");
    }
}
