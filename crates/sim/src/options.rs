//! Options of a system as data: what there is, what is allowed, what was given.

use crate::id::NodeId;
use crate::time::Span;
use std::fmt;

/// One option of a system.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, in kebab-case.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
    /// Which values there are.
    pub values: Values,
    /// The value if none is given, in text form.
    pub default: &'static str,
    /// Whether it may be given for one node: `name.n2`.
    pub per_node: bool,
    /// Whether swarm plans draw it.
    pub drawn: bool,
}

/// Which values an option has.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number in this range.
    Number {
        /// Lowest.
        low: u64,
        /// Highest.
        high: u64,
    },
    /// A length of time such as `20ms`, in this range.
    Time {
        /// Shortest.
        low: Span,
        /// Longest.
        high: Span,
    },
}

/// Values given for options; those left out have their defaults. Sorted by name. With them the bug that is planted, if
/// any: bugs exist only in builds with the feature `mutants`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: Vec<(String, String)>,
    planted: Option<String>,
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Words(words) => f.write_str(&words.join(" | ")),
            Values::Number { low, high } => write!(f, "{low} to {high}"),
            Values::Time { low, high } => write!(f, "{low} to {high}"),
        }
    }
}

impl Options {
    /// No values given.
    pub fn new() -> Options {
        Options::default()
    }

    /// Gives a value, replacing one given before.
    ///
    /// # Errors
    /// Names the option or value that does not exist and lists those that do.
    pub fn set(&mut self, specs: &[OptionSpec], name: &str, value: &str) -> Result<(), String> {
        let (base, node) = match name.split_once('.') {
            Some((base, node)) => (base, Some(node)),
            None => (name, None),
        };
        let spec = specs.iter().find(|s| s.name == base).ok_or_else(|| {
            let names: Vec<&str> = specs.iter().map(|s| s.name).collect();
            format!("there is no option `{base}`; there are {}", names.join(", "))
        })?;
        if let Some(node) = node {
            if !spec.per_node {
                return Err(format!("`{base}` is the same for all nodes: write `{base}={value}`"));
            }
            let node: NodeId = node.parse()?;
            if !node.is_server() {
                return Err(format!("`{base}` is an option of servers, and {node} is a client"));
            }
        }
        spec.values.check(value).map_err(|wrong| format!("`{base}`: {wrong}"))?;
        match self.values.binary_search_by(|(n, _)| n.as_str().cmp(name)) {
            Ok(at) => self.values[at].1 = value.to_owned(),
            Err(at) => self.values.insert(at, (name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Plants a bug, one of those in `bugs`.
    ///
    /// # Errors
    /// Says that there is no such bug and lists those there are, or that this build has none.
    pub fn plant(&mut self, bugs: &[&str], id: &str) -> Result<(), String> {
        if bugs.contains(&id) {
            self.planted = Some(id.to_owned());
            return Ok(());
        }
        Err(match bugs {
            [] => format!("`{id}` cannot be planted: this build has no bugs in it"),
            _ => format!("there is no bug `{id}` in this system; there are {}", bugs.join(", ")),
        })
    }

    /// Names a bug that this build may not have, as a file does that was written by a build that has it. Nothing may run
    /// with these options before somebody has looked whether the system has that bug.
    pub fn name_bug(&mut self, id: &str) {
        self.planted = Some(id.to_owned());
    }

    /// The same with other names for options; what has no name is left out.
    pub fn renamed(&self, name: impl Fn(&str) -> Option<String>) -> Options {
        let named = self.values.iter().filter_map(|(old, value)| Some((name(old)?, value.clone())));
        let mut values: Vec<_> = named.collect();
        values.sort();
        Options { values, planted: self.planted.clone() }
    }

    /// The bug that is planted.
    pub fn planted(&self) -> Option<&str> {
        self.planted.as_deref()
    }

    /// These values with those of `others` in their places, and its bug if it has one.
    #[must_use]
    pub fn with(&self, others: &Options) -> Options {
        let kept = self.values.iter().filter(|(name, _)| others.given(name).is_none());
        let mut values: Vec<_> = kept.chain(&others.values).cloned().collect();
        values.sort_unstable();
        let planted = others.planted.as_ref().or(self.planted.as_ref()).cloned();
        Options { values, planted }
    }

    /// The given values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// The value given for `name`, if any.
    pub fn given(&self, name: &str) -> Option<&str> {
        let at = self.values.binary_search_by(|(n, _)| n.as_str().cmp(name)).ok()?;
        Some(&self.values[at].1)
    }

    /// The value of an option, given or default. Panics if the system has no such option.
    pub fn text<'a>(&'a self, specs: &[OptionSpec], name: &str) -> &'a str {
        let spec = specs.iter().find(|s| s.name == name).expect("a system asks for its own options");
        self.given(name).unwrap_or(spec.default)
    }

    /// The value of an option at one node.
    pub fn text_at<'a>(&'a self, specs: &[OptionSpec], name: &str, node: NodeId) -> &'a str {
        self.given(&format!("{name}.{node}")).unwrap_or_else(|| self.text(specs, name))
    }

    /// The value of a number option. Panics if it is none.
    pub fn number(&self, specs: &[OptionSpec], name: &str) -> u64 {
        self.text(specs, name).parse().expect("values are checked when they are given")
    }

    /// The value of a time option. Panics if it is none.
    pub fn span(&self, specs: &[OptionSpec], name: &str) -> Span {
        parse_span(self.text(specs, name)).expect("values are checked when they are given")
    }
}

impl Values {
    fn check(&self, value: &str) -> Result<(), String> {
        let wrong = || format!("`{value}` is not one of its values: {self}");
        let right = match self {
            Values::Words(words) => words.contains(&value),
            Values::Number { low, high } => value.parse().is_ok_and(|n: u64| (*low..=*high).contains(&n)),
            Values::Time { low, high } => parse_span(value).is_some_and(|s| (*low..=*high).contains(&s)),
        };
        if right { Ok(()) } else { Err(wrong()) }
    }
}

/// Reads a length of time: a whole number with `ns`, `us`, `ms` or `s`.
pub fn parse_span(text: &str) -> Option<Span> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).map(Span::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[OptionSpec] = &[
        OptionSpec {
            name: "mode",
            about: "A word.",
            values: Values::Words(&["off", "voter"]),
            default: "voter",
            per_node: true,
            drawn: true,
        },
        OptionSpec {
            name: "pause",
            about: "A time.",
            values: Values::Time { low: Span::from_millis(1), high: Span::from_millis(50) },
            default: "20ms",
            per_node: false,
            drawn: true,
        },
    ];

    #[test]
    fn a_value_given_for_a_node_goes_before_the_general_one() {
        let mut options = Options::new();
        options.set(SPECS, "mode.n2", "off").unwrap();
        assert_eq!(options.text_at(SPECS, "mode", NodeId::server(0)), "voter");
        assert_eq!(options.text_at(SPECS, "mode", NodeId::server(1)), "off");
        assert_eq!(options.span(SPECS, "pause"), Span::from_millis(20));
    }

    #[test]
    fn values_given_later_go_before_earlier_ones() {
        let given = |pairs: &[(&str, &str)]| {
            let mut options = Options::new();
            pairs.iter().for_each(|(name, value)| options.set(SPECS, name, value).unwrap());
            options
        };
        let both = given(&[("pause", "5ms"), ("mode", "off")])
            .with(&given(&[("mode", "voter"), ("mode.n1", "off")]));
        assert_eq!(both, given(&[("mode", "voter"), ("mode.n1", "off"), ("pause", "5ms")]));
    }

    #[test]
    fn what_does_not_exist_is_refused_with_a_list_of_what_does() {
        let mut options = Options::new();
        let mut refusal = |name, value| options.set(SPECS, name, value).unwrap_err();
        assert!(refusal("colour", "red").contains("there are mode, pause"));
        assert!(refusal("mode", "on").contains("off | voter"));
        assert!(refusal("pause", "51ms").contains("1ms to 50ms"));
        assert!(refusal("pause.n1", "5ms").contains("same for all nodes"));
        assert!(refusal("mode.n99", "off").contains("n99"));
    }

    #[test]
    fn only_a_bug_that_is_there_can_be_planted() {
        let mut options = Options::new();
        assert!(options.plant(&[], "seed-e9").unwrap_err().contains("no bugs in it"));
        assert!(options.plant(&["seed-e1"], "seed-e9").unwrap_err().contains("there are seed-e1"));
        assert_eq!(options.planted(), None);
        options.plant(&["seed-e9"], "seed-e9").unwrap();
        assert_eq!(options.planted(), Some("seed-e9"));
    }

    #[test]
    fn a_bug_that_this_build_does_not_have_can_be_named_but_not_planted() {
        let mut options = Options::new();
        options.name_bug("seed-e9");
        assert_eq!(options.planted(), Some("seed-e9"));
        let id = options.planted().unwrap().to_owned();
        assert!(options.plant(&[], &id).is_err(), "whoever runs it finds out this way");
    }

    #[test]
    fn a_span_reads_back_as_it_is_written() {
        for text in ["0ms", "1ns", "1500us", "7s"] {
            assert_eq!(parse_span(text).unwrap().to_string(), text);
        }
        for text in ["", "5", "ms", "1.5s", "-1ms", "1h", "99999999999999s"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }
}
