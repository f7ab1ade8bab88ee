//! How links behave: delays and their shapes, and the shares of messages that something happens to.

use crate::draw::{fold, scale, spread};
use crate::ratio::Ratio;
use crate::time::Span;

/// How links behave unless a step says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Shortest one-way delay.
    pub delay_low: Span,
    /// Longest one-way delay.
    pub delay_high: Span,
    /// How delays are spread between the two.
    pub shape: Shape,
    /// Share of messages that are lost.
    pub loss: Ratio,
    /// Share of deliveries that are followed by a second one.
    pub duplicate: Ratio,
    /// Share of messages that are delayed by up to [`Network::reorder_window`] more.
    pub reorder: Ratio,
    /// Longest additional delay of a reordered message.
    pub reorder_window: Span,
    /// Share of deliveries at which the message is found damaged.
    pub corrupt: Ratio,
    /// Share of deliveries between servers that go to another server.
    pub misdeliver: Ratio,
}

/// How delays are spread over their range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Every delay is as likely as another.
    #[default]
    Uniform,
    /// Most are short: half of them lie in the lowest sixteenth of the range, one in 16 in its upper fifth.
    LongTail,
    /// One in eight takes the slow way, which takes the upper eighth of the range; the others take the lowest eighth.
    Bimodal,
}

impl Shape {
    /// Every one there is.
    pub const ALL: [Shape; 3] = [Shape::Uniform, Shape::LongTail, Shape::Bimodal];

    /// Its name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Uniform => "uniform",
            Shape::LongTail => "long-tail",
            Shape::Bimodal => "bimodal",
        }
    }

    /// A delay from `low` to `high` in nanoseconds, made of 64 random bits, and whether it is one of the slow ones that
    /// give the shape its name.
    #[inline]
    pub(crate) fn delay(self, bits: u64, low: u64, high: u64) -> (u64, bool) {
        match self {
            Shape::Uniform => (spread(bits, low, high), false),
            other => other.shaped(bits, low, high),
        }
    }

    fn shaped(self, bits: u64, low: u64, high: u64) -> (u64, bool) {
        let width = high - low;
        if self == Shape::LongTail {
            // The fourth power of an even draw.
            let square = fold_high(bits, bits);
            let delay = scale(fold_high(square, square), width.saturating_add(1));
            return (low + delay, delay > width - width / 5);
        }
        // The draw that decides the way is not the one that decides the place on it.
        let slow = fold(bits, 0xd6e8_feb8_6659_fd93) & 7 == 0;
        let part = scale(bits, width / 8 + 1);
        (if slow { high - part } else { low + part }, slow)
    }
}

/// The product of two fractions of 2^64.
const fn fold_high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

impl Network {
    /// The same with nothing left to chance: as fast as it can be, and every message arrives once and where it should.
    pub fn without_chance(self) -> Network {
        Network {
            delay_low: self.delay_low,
            delay_high: self.delay_low,
            ..Network {
                loss: Ratio::NEVER,
                duplicate: Ratio::NEVER,
                reorder: Ratio::NEVER,
                ..Network::default()
            }
        }
    }
}

impl Default for Network {
    fn default() -> Network {
        Network {
            delay_low: Span::from_millis(1),
            delay_high: Span::from_millis(10),
            shape: Shape::Uniform,
            loss: Ratio::NEVER,
            duplicate: Ratio::NEVER,
            reorder: Ratio::NEVER,
            reorder_window: Span::ZERO,
            corrupt: Ratio::NEVER,
            misdeliver: Ratio::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    fn delays(shape: Shape) -> Vec<(u64, bool)> {
        let mut draw = Draw::from_value(7);
        (0..8_000).map(|_| shape.delay(draw.bits(), 1_000, 11_000)).collect()
    }

    #[test]
    fn every_shape_keeps_to_its_range() {
        for shape in Shape::ALL {
            assert!(delays(shape).iter().all(|(delay, _)| (1_000..=11_000).contains(delay)), "{shape:?}");
            for bits in [0, 1, u64::MAX] {
                assert_eq!(shape.delay(bits, 5, 5).0, 5);
            }
        }
    }

    #[test]
    fn a_long_tail_is_mostly_short_and_sometimes_long() {
        let delays = delays(Shape::LongTail);
        let short = delays.iter().filter(|(delay, _)| *delay < 1_000 + 10_000 / 16).count();
        let long = delays.iter().filter(|(_, is_long)| *is_long).count();
        assert!((3_600..4_400).contains(&short), "{short}");
        assert!((300..600).contains(&long), "{long}");
    }

    #[test]
    fn of_two_ways_one_in_eight_messages_takes_the_slow_one_and_none_a_third() {
        let delays = delays(Shape::Bimodal);
        let slow = delays.iter().filter(|(delay, _)| *delay >= 9_750).count();
        let fast = delays.iter().filter(|(delay, _)| *delay <= 2_250).count();
        assert_eq!(slow + fast, 8_000);
        assert_eq!(slow, delays.iter().filter(|(_, is_slow)| *is_slow).count());
        assert!((900..1_100).contains(&slow), "{slow}");
    }
}
