//! The clock of one node: how its own time follows from that of the world, and when an own moment comes in it.
//!
//! A clock has two hands. The steady one counts at the clock's rate and never jumps; timers go by it. What the node
//! reads is the steady hand and a skew, which a step changes.

use crate::fault::Fault;
use crate::time::{LocalTime, Span, Time};

/// A rate as a fraction of 65,536: how much of its own time passes in so much of the world's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u32);

impl Rate {
    /// As fast as the world.
    pub const TRUE: Rate = Rate(65_536);
    /// The fastest there is: 16 times as fast as the world.
    pub const MAX: Rate = Rate(16 * 65_536);

    /// `numerator` of `denominator`, rounded down, at most [`Rate::MAX`]. Panics if `denominator` is zero.
    pub const fn of(numerator: u64, denominator: u64) -> Rate {
        let parts = numerator as u128 * 65_536 / denominator as u128;
        if parts > Rate::MAX.0 as u128 { Rate::MAX } else { Rate(parts as u32) }
    }

    /// Whether it is within so many hundredths of the true rate.
    pub const fn is_within_percent(self, percent: u64) -> bool {
        let apart = self.0.abs_diff(Rate::TRUE.0) as u64;
        apart * 100 <= percent * Rate::TRUE.0 as u64
    }
}

/// What a step of a script does to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// It runs at this rate.
    Rate(Rate),
    /// It stands still.
    Freeze,
    /// It jumps ahead. For good, unless the step has an end.
    Forward(Span),
    /// It is set back. Until faults are over, unless the step has an end.
    Back(Span),
}

/// What clocks show when a run begins: far enough from zero to be set back.
const BEGINNING_NANOS: u64 = 3_600_000_000_000;

/// The clock of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Whether it is as the world's: the usual case, in which nothing is computed.
    plain: bool,
    rate: Rate,
    /// A moment of the world and what the steady hand showed then.
    since: Time,
    steady: u64,
    /// What a node reads beyond the steady hand.
    skew: i64,
    /// It has jumped, and nobody has read it since.
    jump: Option<Fault>,
}

impl Clock {
    pub(crate) const fn new() -> Clock {
        Clock { plain: true, rate: Rate::TRUE, since: Time::ZERO, steady: 0, skew: 0, jump: None }
    }

    /// What the node reads.
    #[inline]
    pub(crate) fn read(&self, now: Time) -> LocalTime {
        let shown = if self.plain {
            now.nanos() + BEGINNING_NANOS
        } else {
            (self.steady(now).nanos() + BEGINNING_NANOS).saturating_add_signed(self.skew)
        };
        LocalTime::from_nanos(shown)
    }

    /// The steady hand, as a time of its own.
    #[inline]
    pub(crate) fn steady(&self, now: Time) -> Time {
        if self.plain {
            return now;
        }
        let passed = (u128::from(now.since(self.since).nanos()) * u128::from(self.rate.0)) >> 16;
        Time::from_nanos(self.steady.saturating_add(passed as u64))
    }

    /// When the steady hand will show `steady`, if it ever does. Never earlier than it does.
    #[inline]
    pub(crate) fn when(&self, steady: Time) -> Option<Time> {
        if self.plain {
            return Some(steady);
        }
        let ahead = u128::from(steady.nanos().saturating_sub(self.steady)) << 16;
        if self.rate.0 == 0 {
            return None;
        }
        let wait = ahead.div_ceil(u128::from(self.rate.0));
        Some(self.since + Span::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)))
    }

    /// The rate it runs at.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Lets it run at another rate from now on; 0 stops it.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: Time) {
        let steady = self.steady(now).nanos();
        (self.steady, self.since, self.rate) = (steady, now, rate);
        self.note_plain();
    }

    /// Sets it ahead, or back if `nanos` is below zero. What it is counted as when it is read next.
    pub(crate) fn shift(&mut self, nanos: i64, counts_as: Fault) {
        self.skew = self.skew.saturating_add(nanos);
        self.jump = (nanos != 0).then_some(counts_as);
        self.note_plain();
    }

    /// The jump that whoever reads it now is the first to see.
    #[inline]
    pub(crate) fn take_jump(&mut self) -> Option<Fault> {
        if self.plain { None } else { self.jump.take() }
    }

    /// Whether it runs at another rate than the true one, and does run.
    #[inline]
    pub(crate) fn runs_false(&self) -> bool {
        !self.plain && self.rate != Rate::TRUE
    }

    /// Faults are over: a clock that was set back shows at least what it would have shown.
    pub(crate) fn heal(&mut self) {
        self.skew = self.skew.max(0);
        self.note_plain();
    }

    fn note_plain(&mut self) {
        let is_true = self.rate == Rate::TRUE && self.skew == 0 && self.steady == self.since.nanos();
        self.plain = is_true && self.jump.is_none();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn a_true_clock_shows_the_time_of_the_world() {
        let clock = Clock::new();
        assert_eq!(clock.steady(ms(7)), ms(7));
        assert_eq!(clock.when(ms(7)), Some(ms(7)));
        assert_eq!(clock.read(ms(7)).since(clock.read(ms(2))), Span::from_millis(5));
    }

    #[test]
    fn a_fast_clock_comes_to_its_moments_sooner_and_a_slow_one_later() {
        let mut clock = Clock::new();
        clock.set_rate(Rate::of(2, 1), ms(10));
        assert_eq!(clock.steady(ms(20)), ms(30));
        assert_eq!(clock.when(ms(30)), Some(ms(20)));
        clock.set_rate(Rate::of(1, 2), ms(20));
        assert_eq!(clock.steady(ms(40)), ms(40));
        assert_eq!(clock.when(ms(41)), Some(ms(42)));
    }

    #[test]
    fn a_moment_has_come_when_it_is_said_to_come() {
        for parts in [1, 3, 1_000, 65_535, 65_537, 99_999, Rate::MAX.0] {
            let mut clock = Clock::new();
            clock.set_rate(Rate(parts), ms(5));
            for ahead in [0, 1, 17, 1_000_003] {
                let moment = ms(5) + Span::from_nanos(ahead);
                let when = clock.when(moment).unwrap();
                assert!(clock.steady(when) >= moment, "{parts} {ahead}");
            }
        }
    }

    #[test]
    fn a_clock_that_stands_still_comes_to_nothing_and_goes_on_from_there() {
        let mut clock = Clock::new();
        clock.set_rate(Rate(0), ms(10));
        assert_eq!((clock.steady(ms(500)), clock.when(ms(11))), (ms(10), None));
        clock.set_rate(Rate::TRUE, ms(500));
        assert_eq!(clock.when(ms(11)), Some(ms(501)));
    }

    #[test]
    fn a_step_moves_what_is_read_and_not_the_steady_hand() {
        let mut clock = Clock::new();
        let before = clock.read(ms(10));
        clock.shift(-5_000_000, Fault::ClockBack);
        assert_eq!(before.since(clock.read(ms(10))), Span::from_millis(5));
        assert_eq!(clock.steady(ms(10)), ms(10));
        clock.heal();
        assert_eq!(clock.read(ms(10)), before);
        clock.shift(3_000_000, Fault::ClockForward);
        clock.heal();
        assert_eq!(clock.read(ms(10)).since(before), Span::from_millis(3), "it is not set back");
    }

    #[test]
    fn rates_are_fractions_and_have_a_limit() {
        assert_eq!(Rate::of(1, 1), Rate::TRUE);
        assert_eq!(Rate::of(1_000, 1), Rate::MAX);
        assert!(Rate::of(6, 5).is_within_percent(20) && !Rate::of(5, 4).is_within_percent(20));
        assert!(Rate::of(4, 5).is_within_percent(21) && !Rate::of(7, 10).is_within_percent(20));
    }
}
