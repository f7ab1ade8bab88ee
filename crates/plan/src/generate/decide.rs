//! Decisions of a plan: each has a name and a number as its address, so that none shifts another.

use super::weights::SIGNIFICANT_DIGITS;
use crate::tuning::Tuning;
use whitewater_sim::draw::{joined_hash, name_hash};
use whitewater_sim::{Draw, Key, Keys, Site, Span};

/// Every decision a seed makes about its plan.
pub(super) struct Decisions {
    key: Key,
    tuning: Tuning,
}

impl Decisions {
    pub(super) fn new(seed: u64, tuning: &Tuning) -> Decisions {
        Decisions { key: Keys::new(seed).key(Site::PLAN, 0), tuning: tuning.clone() }
    }

    /// What the `number`-th decision of that name is drawn from.
    pub(super) fn draw(&self, name: &str, number: u64) -> Draw {
        self.key.draw(name_hash(name), number)
    }

    /// The same for a name that is made of parts.
    pub(super) fn draw_joined(&self, parts: &[&str], number: u64) -> Draw {
        self.key.draw(joined_hash(parts), number)
    }

    /// Whether a fault family or feature takes part in this run; half of the runs go without it, unless a profile of
    /// somebody's own says otherwise.
    pub(super) fn is_on(&self, feature: &str) -> bool {
        let (part, of) = self.tuning.share(feature).unwrap_or((1, 2));
        self.draw(feature, SWITCH).chance(part, of)
    }

    /// Whether a profile of somebody's own says how often a family is on.
    pub(super) fn has_share(&self, feature: &str) -> bool {
        self.tuning.share(feature).is_some()
    }

    /// A range that is drawn from; a profile of somebody's own may replace it.
    pub(super) fn range(&self, name: &str, usual: (u64, u64)) -> (u64, u64) {
        self.given_range(name).unwrap_or(usual)
    }

    /// A range that a profile of somebody's own gives.
    pub(super) fn given_range(&self, name: &str) -> Option<(u64, u64)> {
        self.tuning.range(name)
    }
}

/// The number of a feature's switch; its other decisions have the numbers below.
const SWITCH: u64 = u64::MAX;

/// A length of time of which every doubling is equally likely, rounded down to what is easily read.
pub(super) fn log_span(draw: &mut Draw, low: Span, high: Span) -> Span {
    let low_nanos = low.nanos().max(1);
    readable(Span::from_nanos(draw.log_uniform(low_nanos, high.nanos().max(low_nanos)))).max(low)
}

/// Rounded down to its first digits, and to whole milliseconds where there are several.
pub(super) fn readable(span: Span) -> Span {
    let keep = 10u64.pow(SIGNIFICANT_DIGITS);
    let mut unit = 1;
    while span.nanos() / unit >= keep {
        unit *= 10;
    }
    if span >= Span::from_millis(10) {
        unit = unit.max(1_000_000);
    }
    Span::from_nanos(span.nanos() / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readable_span_has_three_digits_and_is_not_longer() {
        let text = |nanos| readable(Span::from_nanos(nanos)).to_string();
        assert_eq!(text(0), "0ms");
        assert_eq!(text(999), "999ns");
        assert_eq!(text(9_876_543), "9870us");
        assert_eq!(text(12_345_678), "12ms");
        assert_eq!(text(123_456_789), "123ms");
        assert_eq!(text(1_239_999_999), "1230ms");
    }

    #[test]
    fn a_decision_depends_on_its_name_its_number_and_the_seed_alone() {
        let bits = |seed, name, number| Decisions::new(seed, &Tuning::default()).draw(name, number).bits();
        assert_eq!(bits(1, "servers", 0), bits(1, "servers", 0));
        assert_ne!(bits(1, "servers", 0), bits(1, "servers", 1));
        assert_ne!(bits(1, "servers", 0), bits(1, "clients", 0));
        assert_ne!(bits(1, "servers", 0), bits(2, "servers", 0));
    }
}
