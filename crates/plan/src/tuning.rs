//! A profile of one's own: a file that says how often each fault family is on and which ranges are drawn from.
//!
//! ```json
//! {
//!   "base": "network",
//!   "shares": { "isolate": "1/1", "loss": "0/1" },
//!   "ranges": { "faults": [1, 3], "servers": [5, 9] }
//! }
//! ```
//!
//! What it leaves out is as in its base, which is `swarm` if it names none.

use crate::file::{Entries, Source};
use crate::suggest::listed;
use crate::{InputError, Profile};
use serde::Deserialize;

/// How plans are drawn, where it differs from the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// The file it comes from, as it was given; part of the command that shows a run again.
    pub file: Option<String>,
    shares: Vec<(String, (u64, u64))>,
    ranges: Vec<(String, (u64, u64))>,
}

/// Fault families and features that are on or off as a whole, by the names that a file may give a share.
pub(crate) const FAMILIES: &[&str] = &[
    "loss",
    "duplicate",
    "reorder",
    "shape",
    "corrupt",
    "misdeliver",
    "isolate",
    "split",
    "cut",
    "one-way",
    "flap",
    "straddle",
    "bridge",
    "ring",
    "chain",
    "lossy",
    "slow",
    "jitter",
    "reorder-link",
    "duplicate-link",
    "misdeliver-link",
    "clog",
    "choke",
    "corrupt-link",
    "replay",
    "hold-message",
    "hold-timer",
    "drop-one",
    "repeat-one",
    "misdeliver-one",
    "clock-offset",
    "clock-forward",
    "clock-back",
    "clock-rate",
    "clock-freeze",
    "crash",
    "crash-leader",
    "crash-follower",
    "crash-at-send",
    "crash-at-reply",
    "lose-unsynced",
    "crash-at-call",
    "roll",
    "pause",
    "slow-node",
    "wiped-disk",
    "older-disk",
    "lasting",
    "slow-member",
    "sync-latency",
    "stalls",
    "busy",
    "sectors",
    "sync-failures",
    "write-failures",
    "read-failures",
    "full",
    "capacity",
    "lies",
];

/// More of them: those of disks that may not be trusted.
pub(crate) const UNSEEN_FAMILIES: [&str; 4] = ["lost-writes", "misdirected", "rot", "disk-faults"];

/// Ranges that a file may give: name, meaning, lowest and highest value that may be given.
pub(crate) const RANGES: [(&str, &str, u64, u64); 10] = [
    ("servers", "their number", 1, 9),
    ("operations", "their number", 1, 10_000),
    ("horizon-timeouts", "time before faults end, in longest election timeouts", 1, 1_000),
    ("faults", "faults of a family that is on", 1, 100),
    (
        "fault-timeouts",
        "longest duration of a fault in longest election timeouts; the first number is not used",
        0,
        1_000,
    ),
    ("loss", "lost messages, in thousandths", 1, 999),
    ("duplicate", "messages delivered twice, in thousandths", 1, 999),
    ("reorder", "messages that others overtake, in thousandths", 1, 999),
    ("corrupt", "messages found damaged, in thousandths", 1, 999),
    ("misdeliver", "messages that go to another server, in thousandths", 1, 999),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TuningFile {
    /// For people.
    #[serde(default, rename = "about")]
    _about: Option<String>,
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    shares: Entries<String>,
    #[serde(default)]
    ranges: Entries<(u64, u64)>,
}

impl Tuning {
    /// Every family that a file may give a share.
    pub fn families() -> impl Iterator<Item = &'static str> {
        FAMILIES.iter().copied().chain(UNSEEN_FAMILIES)
    }

    /// Reads a profile of one's own: its base, and what differs from it.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(file_name: &str, json: &str) -> Result<(Profile, Tuning), InputError> {
        let source = Source::new(file_name, json);
        let TuningFile { base, shares, ranges, .. } = source.parse()?;
        let base = match base {
            None => Profile::Swarm,
            Some(name) => name.parse().map_err(|wrong: String| {
                let (message, mend) =
                    wrong.split_once("; ").expect("the profiles there are stand behind a semicolon");
                source.wrong(&["base"], message.to_owned(), mend)
            })?,
        };
        let mut tuning = Tuning { file: Some(file_name.to_owned()), ..Tuning::default() };
        for (name, text) in shares.0 {
            if !is_family(&name) {
                let known: Vec<&str> = Tuning::families().collect();
                let message = format!("there is no fault family `{name}`");
                return Err(source.wrong_key(&["shares", &name], message, listed(&name, &known)));
            }
            let share = share_of(&text).ok_or_else(|| {
                let message = format!("`{text}` is no share");
                source.wrong(&["shares", &name], message, "write a fraction up to 1/1, such as 1/4")
            })?;
            tuning.shares.push((name, share));
        }
        for (name, (low, high)) in ranges.0 {
            let Some((.., lowest, highest)) = RANGES.iter().find(|(known, ..)| *known == name) else {
                let message = format!("there is no range `{name}`");
                let mend = listed(&name, &RANGES.map(|(known, ..)| known));
                return Err(source.wrong_key(&["ranges", &name], message, mend));
            };
            if low > high || low < *lowest || high > *highest {
                let message = format!("{low} to {high} is no range of `{name}`");
                let mend = format!("write two numbers from {lowest} to {highest}, the lower one first");
                return Err(source.wrong(&["ranges", &name], message, mend));
            }
            tuning.ranges.push((name, (low, high)));
        }
        Ok((base, tuning))
    }

    /// With another range for something that is drawn, such as `servers` or `faults`.
    ///
    /// # Panics
    /// Nothing that is drawn has that name, or the range has nothing in it.
    pub fn with_range(mut self, name: &str, low: u64, high: u64) -> Tuning {
        assert!(RANGES.iter().any(|(known, ..)| *known == name), "`{name}` is in no list");
        assert!(low <= high, "{low} to {high} has nothing in it");
        self.ranges.retain(|(known, _)| known != name);
        self.ranges.push((name.to_owned(), (low, high)));
        self
    }

    /// In how many of how many runs a family is on, if the file says so.
    pub(crate) fn share(&self, family: &str) -> Option<(u64, u64)> {
        assert!(is_family(family) || family.starts_with("option "), "`{family}` is in no list");
        self.shares.iter().find(|(name, _)| name == family).map(|(_, share)| *share)
    }

    /// The range the file gives.
    pub(crate) fn range(&self, name: &str) -> Option<(u64, u64)> {
        assert!(RANGES.iter().any(|(known, ..)| *known == name), "`{name}` is in no list");
        self.ranges.iter().find(|(known, _)| known == name).map(|(_, range)| *range)
    }
}

fn is_family(name: &str) -> bool {
    FAMILIES.contains(&name) || UNSEEN_FAMILIES.contains(&name)
}

/// A fraction up to one.
fn share_of(text: &str) -> Option<(u64, u64)> {
    let (part, of) = text.split_once('/')?;
    let (part, of) = (part.parse::<u32>().ok()?, of.parse::<u32>().ok()?);
    (of > 0 && part <= of).then_some((u64::from(part), u64::from(of)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(json: &str) -> String {
        Tuning::parse("mine.json", json).unwrap_err().to_string()
    }

    #[test]
    fn a_profile_of_ones_own_says_what_differs_from_its_base() {
        let json = r#"{ "about": "storms", "base": "network", "shares": { "isolate": "1/1", "loss": "0/1" },
                        "ranges": { "faults": [2, 3] } }"#;
        let (base, tuning) = Tuning::parse("mine.json", json).unwrap();
        assert_eq!(base, Profile::Network);
        assert_eq!(
            (tuning.share("isolate"), tuning.share("loss"), tuning.share("cut")),
            (Some((1, 1)), Some((0, 1)), None)
        );
        assert_eq!((tuning.range("faults"), tuning.range("servers")), (Some((2, 3)), None));
        assert_eq!(tuning.file.as_deref(), Some("mine.json"));
        assert_eq!(Tuning::parse("empty.json", "{}").unwrap().0, Profile::Swarm);
    }

    #[test]
    fn what_is_wrong_in_it_is_told_with_a_mend() {
        assert!(wrong(r#"{ "base": "netwrk" }"#).contains("did you mean `network`?"));
        assert!(wrong(r#"{ "shares": { "isolat": "1/2" } }"#).contains("did you mean `isolate`?"));
        assert!(wrong(r#"{ "shares": { "isolate": "3/2" } }"#).contains("write a fraction up to 1/1"));
        assert!(wrong(r#"{ "ranges": { "server": [1, 2] } }"#).contains("did you mean `servers`?"));
        assert!(wrong(r#"{ "ranges": { "servers": [5, 12] } }"#).contains("two numbers from 1 to 9"));
        assert!(wrong(r#"{ "weights": {} }"#).starts_with("mine.json:1:3: there is no field `weights` here"));
    }

    #[test]
    fn a_range_that_is_given_twice_is_the_later_one() {
        let once = Tuning::default().with_range("servers", 2, 3);
        assert_eq!((once.range("servers"), once.range("faults")), (Some((2, 3)), None));
        assert_eq!(once.with_range("servers", 5, 5).range("servers"), Some((5, 5)));
    }

    #[test]
    fn no_name_is_listed_twice() {
        let mut names = [FAMILIES, &UNSEEN_FAMILIES].concat();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
