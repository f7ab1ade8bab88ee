//! Shares: how many of so many.

/// A share as a fraction of 65,536, so that it is exact and needs no float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u16);

impl Ratio {
    /// Never.
    pub const NEVER: Ratio = Ratio(0);

    /// `numerator` of `denominator`, rounded down; at most 65,535 of 65,536. Panics if `denominator` is zero.
    pub const fn of(numerator: u64, denominator: u64) -> Ratio {
        let parts = numerator * 65_536 / denominator;
        Ratio(if parts > 65_535 { 65_535 } else { parts as u16 })
    }
}
