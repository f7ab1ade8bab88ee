//! Simulated time: points and spans in nanoseconds, and the local time a node's own clock shows.

use std::fmt;
use std::ops::{Add, Sub};

/// A point of the world's time, in nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(u64);

/// What the clock of one node shows, in nanoseconds; it may run at another rate than the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalTime(u64);

impl Time {
    /// When every run begins.
    pub const ZERO: Time = Time(0);
    /// Later than anything that can happen.
    pub const MAX: Time = Time(u64::MAX);

    /// The point `nanos` nanoseconds after the beginning.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// The point `millis` milliseconds after the beginning.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// Nanoseconds since the beginning.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The span since `earlier`, or nothing if `earlier` lies ahead.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// Its length in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// `times` as long, at most the longest span there is.
    pub const fn times(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }

    /// The `parts`-th part of it, rounded down. Panics if `parts` is zero.
    pub const fn part(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}

impl LocalTime {
    /// The reading of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> LocalTime {
        LocalTime(nanos)
    }

    /// The reading in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The span since `earlier` by the same clock, or nothing if the clock was set back.
    pub const fn since(self, earlier: LocalTime) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add<Span> for LocalTime {
    type Output = LocalTime;
    fn add(self, span: Span) -> LocalTime {
        LocalTime(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

/// Written in the largest unit that leaves no fraction, so that text and value are one to one.
fn write_exact(nanos: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (unit, name) = match nanos {
        0 => (1_000_000, "ms"),
        n if n % 1_000_000_000 == 0 => (1_000_000_000, "s"),
        n if n % 1_000_000 == 0 => (1_000_000, "ms"),
        n if n % 1_000 == 0 => (1_000, "us"),
        _ => (1, "ns"),
    };
    write!(f, "{}{name}", nanos / unit)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(self.0, f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(self.0, f)
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_in_the_largest_unit_that_leaves_no_fraction() {
        let text = |nanos| Span::from_nanos(nanos).to_string();
        assert_eq!(text(0), "0ms");
        assert_eq!(text(1), "1ns");
        assert_eq!(text(2_000), "2us");
        assert_eq!(text(1_500_000), "1500us");
        assert_eq!(text(200_000_000), "200ms");
        assert_eq!(text(3_000_000_000), "3s");
    }

    #[test]
    fn time_does_not_wrap() {
        assert_eq!(Time::MAX + Span::from_nanos(1), Time::MAX);
        assert_eq!(Time::ZERO.since(Time::from_millis(1)), Span::ZERO);
    }
}
