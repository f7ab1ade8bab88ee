//! Reading the parts of a line: times, shares, nodes, targets, patterns and conditions.

use super::LineError;
use super::print::role_verb;
use super::words::{Word, Words, is_plain};
use crate::suggest::listed;
use whitewater_sim::{
    Condition, NodeId, Pattern, Rate, Ratio, Role, Shape, Span, System, Target, parse_span,
};

/// First words of settings.
pub(super) const SETTINGS: [&str; 26] = [
    "seed",
    "servers",
    "clients",
    "delay",
    "loss",
    "duplicate",
    "reorder",
    "corrupt",
    "misdeliver",
    "sync",
    "sync-failures",
    "sectors",
    "busy",
    "stalls",
    "write-failures",
    "read-failures",
    "full",
    "capacity",
    "lies",
    "lost-writes",
    "misdirected",
    "rot",
    "disk-faults",
    "horizon",
    "settle",
    "limits",
];

/// First words of steps that are no operations.
pub(super) const STEPS: [&str; 26] = [
    "crash",
    "roll",
    "rewind",
    "pause",
    "fail-syncs",
    "slow",
    "clock",
    "partition",
    "ring",
    "bridge",
    "chain",
    "one-way",
    "cut",
    "clog",
    "hold",
    "drop",
    "delay",
    "reorder",
    "duplicate",
    "replay",
    "lossy",
    "choke",
    "corrupt",
    "misdeliver",
    "expect",
    "never",
];

/// Words that cannot be names of messages and timers, because something else is meant by them.
const KEYWORDS: [&str; 18] = [
    "at", "from", "when", "until", "after", "by", "term", "losing", "any", "leader", "follower", "arrives",
    "leaves", "fires", "over", "to", "reaches", "within",
];

const ROLES: [Role; 6] =
    [Role::Leader, Role::Follower, Role::Candidate, Role::PreCandidate, Role::Learner, Role::None];

/// Reads one line.
pub(super) struct Reader<'a> {
    pub(super) words: Words<'a>,
    pub(super) system: Option<&'a dyn System>,
    /// The nodes it named, with their columns.
    pub(super) nodes: Vec<(usize, NodeId)>,
}

/// Which names a pattern may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Messages,
    Timers,
    Both,
}

impl<'a> Reader<'a> {
    pub(super) fn new(line: &'a str, system: Option<&'a dyn System>) -> Reader<'a> {
        Reader { words: Words::new(line), system, nodes: Vec::new() }
    }

    /// The next word; there must be one.
    pub(super) fn word(&mut self, wanted: &str, example: &str) -> Result<Word, LineError> {
        match self.words.next() {
            Some(word) => Ok(word),
            None => Err(self.words.wrong_here(format!("{wanted} is missing"), format!("write {example}"))),
        }
    }

    /// A fixed word.
    pub(super) fn keyword(&mut self, keyword: &str, example: &str) -> Result<(), LineError> {
        let word = self.word(&format!("`{keyword}`"), example)?;
        match word.is(keyword) {
            true => Ok(()),
            false => Err(self.words.wrong(
                &word,
                format!("`{}` stands where `{keyword}` is due", word.text),
                format!("write {example}"),
            )),
        }
    }

    /// Nothing may be left.
    pub(super) fn end(&mut self, example: &str) -> Result<(), LineError> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => {
                let message = format!("`{}` is not expected here", word.text);
                Err(self.words.wrong(&word, message, format!("write {example}")))
            }
        }
    }

    pub(super) fn span(&mut self) -> Result<Span, LineError> {
        let word = self.word("a time", "a whole number with ns, us, ms or s, such as 20ms")?;
        self.span_of(&word, &word.text)
    }

    pub(super) fn span_of(&self, word: &Word, text: &str) -> Result<Span, LineError> {
        parse_span(text).ok_or_else(|| {
            let message = format!("`{text}` is no time");
            self.words.wrong(
                word,
                message,
                "write a whole number with ns, us, ms or s, such as 20ms or 1500ms",
            )
        })
    }

    /// `1ms..10ms`, or `10ms` for both.
    pub(super) fn range(&mut self) -> Result<(Span, Span), LineError> {
        let word = self.word("a range of times", "the shortest and the longest, such as 1ms..10ms")?;
        let (low, high) = word.text.split_once("..").unwrap_or((&word.text, &word.text));
        let (low, high) = (self.span_of(&word, low)?, self.span_of(&word, high)?);
        if low > high {
            let message = format!("{low} is longer than {high}");
            return Err(self.words.wrong(&word, message, format!("write {high}..{low}")));
        }
        Ok((low, high))
    }

    /// The shape of delays, if one is said.
    pub(super) fn shape(&mut self) -> Shape {
        Shape::ALL.into_iter().find(|shape| self.words.eat(shape.name())).unwrap_or_default()
    }

    /// The rate of a clock.
    pub(super) fn rate(&mut self) -> Result<Rate, LineError> {
        let example = "a fraction of whole numbers up to 16/1, such as 11/10";
        let word = self.word("a rate", example)?;
        match fraction(&word.text) {
            Some((numerator, denominator)) if numerator <= 16 * denominator => {
                Ok(Rate::of(numerator, denominator))
            }
            _ => {
                let message = format!("`{}` is no rate", word.text);
                Err(self.words.wrong(&word, message, format!("write {example}")))
            }
        }
    }

    pub(super) fn ratio(&mut self) -> Result<Ratio, LineError> {
        let example = "a fraction of whole numbers, such as 3/100";
        let word = self.word("a share", example)?;
        let (numerator, denominator) = match fraction(&word.text) {
            Some((numerator, denominator)) if numerator <= denominator => (numerator, denominator),
            _ => {
                let message = format!("`{}` is no share", word.text);
                return Err(self.words.wrong(&word, message, format!("write {example}")));
            }
        };
        match Ratio::of(numerator, denominator) {
            Ratio::NEVER if numerator > 0 => {
                let message = format!("{} is less than 1/65536, the smallest share there is", word.text);
                Err(self.words.wrong(&word, message, "write a larger share, or leave the line out"))
            }
            ratio => Ok(ratio),
        }
    }

    /// A whole number without sign in a range.
    pub(super) fn number(&mut self, what: &str, low: u64, high: u64) -> Result<u64, LineError> {
        let word = self.word(what, &format!("a whole number from {low} to {high}"))?;
        self.number_of(&word, &word.text, low, high)
    }

    fn number_of(&self, word: &Word, text: &str, low: u64, high: u64) -> Result<u64, LineError> {
        match digits(text) {
            Some(number) if (low..=high).contains(&number) => Ok(number),
            _ => Err(self.words.wrong(
                word,
                format!("`{text}` is no whole number from {low} to {high}"),
                "write the number in digits".to_owned(),
            )),
        }
    }

    pub(super) fn node_of(&mut self, word: &Word, text: &str) -> Result<NodeId, LineError> {
        match text.parse::<NodeId>() {
            Ok(node) => {
                self.nodes.push((self.words.column(word), node));
                Ok(node)
            }
            Err(_) => Err(self.words.wrong(
                word,
                format!("there is no node `{text}`"),
                "write a server n1 to n16 or a client c1 to c8",
            )),
        }
    }

    /// Whom an action is about.
    pub(super) fn target(&mut self) -> Result<Target, LineError> {
        let word = self.word("a node", "n1, leader or follower")?;
        self.target_of(&word, &word.text)
    }

    pub(super) fn target_of(&mut self, word: &Word, text: &str) -> Result<Target, LineError> {
        if looks_like_a_node(text) {
            return self.node_of(word, text).map(Target::Node);
        }
        target_word(text).ok_or_else(|| {
            let known = ["n1", "leader", "follower", "follower-2"];
            let mend = match text {
                "any" => "write n1, leader or follower; `any` stands in conditions only".to_owned(),
                _ => listed(text, &known),
            };
            let message = match text {
                "any" => "it has to say which node".to_owned(),
                _ => format!("`{text}` is no node"),
            };
            self.words.wrong(word, message, mend)
        })
    }

    /// `n1->n2` with something on both sides.
    pub(super) fn arrow<T>(
        &mut self,
        word: &Word,
        mut side: impl FnMut(&mut Self, &Word, &str) -> Result<T, LineError>,
    ) -> Result<(T, T), LineError> {
        match word.text.split_once("->") {
            Some((from, to)) => Ok((side(self, word, from)?, side(self, word, to)?)),
            None => {
                let message = format!("`{}` is no link", word.text);
                Err(self.words.wrong(word, message, "write sender and receiver, such as n1->n2"))
            }
        }
    }

    /// Which messages or timers are meant.
    pub(super) fn pattern(&mut self, names: Names) -> Result<Pattern, LineError> {
        let mut pattern = Pattern::default();
        let mut has_link = false;
        let mut is_empty = true;
        while let Some(word) = self.words.peek() {
            let text = word.text.as_str();
            let twice = |given: bool, what: &str| match given {
                false => Ok(()),
                true => {
                    let message = format!("`{text}` is a second {what}");
                    let mend = "leave one of the two out, or write two lines; a pattern may say a link, a name, `term 2` and `#3`";
                    Err(self.words.wrong(&word, message, mend))
                }
            };
            if word.quoted || is_name(text) {
                twice(pattern.name.is_some(), "name")?;
                self.check_name(&word, names)?;
                pattern.name = Some(word.text.clone());
                self.words.next();
            } else if text.contains("->") {
                twice(has_link, "link")?;
                let any_or_node = |reader: &mut Self, word: &Word, text: &str| match text {
                    "any" => Ok(None),
                    text => reader.target_of(word, text).map(Some),
                };
                (pattern.from, pattern.to) = self.arrow(&word, any_or_node)?;
                has_link = true;
                self.words.next();
            } else if is_target(text) {
                twice(has_link, "link")?;
                pattern.from = Some(self.target_of(&word, text)?);
                has_link = true;
                self.words.next();
            } else if text == "term" {
                twice(pattern.term.is_some(), "term")?;
                self.words.next();
                pattern.term = Some(self.number("the term", 0, u64::MAX)?);
            } else if let Some(number) = text.strip_prefix('#') {
                twice(pattern.number.is_some(), "number")?;
                pattern.number = Some(self.number_of(&word, number, 1, u64::from(u32::MAX))? as u32);
                self.words.next();
            } else if ["any", "all", "every", "everything"].contains(&text) {
                let message = format!("`{text}` names no message");
                let mend =
                    "leave it out: what a pattern does not say matches everything; any->any is every link";
                return Err(self.words.wrong(&word, message, mend));
            } else {
                break;
            }
            is_empty = false;
        }
        match is_empty {
            false => Ok(pattern),
            true => Err(self.words.wrong_here(
                "it does not say which messages or timers are meant".to_owned(),
                "write a link and a name, such as n1->n2 MsgApp, or any->any for all",
            )),
        }
    }

    fn check_name(&self, word: &Word, names: Names) -> Result<(), LineError> {
        let Some(system) = self.system else { return Ok(()) };
        let (messages, timers) = system.names();
        let (what, known) = match names {
            Names::Messages => ("message", messages.to_vec()),
            Names::Timers => ("timer", timers.to_vec()),
            Names::Both => ("message or timer", [messages, timers].concat()),
        };
        match known.contains(&word.text.as_str()) {
            true => Ok(()),
            false => Err(self.words.wrong(
                word,
                format!("{} has no {what} `{}`", system.name(), word.text),
                listed(&word.text, &known),
            )),
        }
    }

    /// Something that happens, and how long after it: `n1 leads after 5ms`.
    pub(super) fn moment(&mut self) -> Result<(Condition, Span), LineError> {
        let condition = self.condition()?;
        let after = match self.words.eat("after") {
            true => self.span()?,
            false => Span::ZERO,
        };
        Ok((condition, after))
    }

    pub(super) fn condition(&mut self) -> Result<Condition, LineError> {
        let mut ahead = self.words.clone();
        let verb = loop {
            match ahead.next() {
                Some(word) if word.quoted => {}
                Some(word) if is_verb(&word.text) => break word.text,
                Some(word) if !ends_condition(&word.text) => {}
                _ => return Err(self.no_condition()),
            }
        };
        let condition = match verb.as_str() {
            "fires" => Condition::Fires(self.pattern(Names::Timers)?),
            "arrives" => Condition::Arrives(self.pattern(Names::Messages)?),
            "leaves" => Condition::Leaves(self.pattern(Names::Messages)?),
            "reaches" => return self.reaches(),
            verb => {
                let role = ROLES.into_iter().find(|role| role_verb(*role) == verb).expect("a verb of a role");
                let target = match self.words.eat("any") {
                    true => Target::Any,
                    false => self.target()?,
                };
                Condition::Takes(target, role)
            }
        };
        self.keyword(&verb, "one condition, such as `n1 leads` or `n1->n2 MsgApp arrives`")?;
        Ok(condition)
    }

    /// `n2 reaches commit 5`.
    fn reaches(&mut self) -> Result<Condition, LineError> {
        let target = match self.words.eat("any") {
            true => Target::Any,
            false => self.target()?,
        };
        self.keyword("reaches", "one condition, such as `n2 reaches commit 5`")?;
        let word = self.word("what it reaches", "a figure and a number, such as `commit 5`")?;
        if let Some(system) = self.system {
            let known = system.figures();
            if !known.contains(&word.text.as_str()) {
                let mend = match known.is_empty() {
                    true => "wait for a message, a timer or a role instead".to_owned(),
                    false => listed(&word.text, known),
                };
                let message = format!("{} has no figure `{}`", system.name(), word.text);
                return Err(self.words.wrong(&word, message, mend));
            }
        }
        Ok(Condition::Reaches(target, word.text, self.number("the number it reaches", 0, u64::MAX)?))
    }

    fn no_condition(&self) -> LineError {
        let verbs: Vec<&str> =
            ROLES.into_iter().map(role_verb).chain(["fires", "arrives", "leaves", "reaches"]).collect();
        let mut ahead = self.words.clone();
        let last = std::iter::from_fn(|| ahead.next()).take_while(|word| !ends_condition(&word.text)).last();
        match last {
            Some(word) => self.words.wrong(
                &word,
                format!("`{}` is nothing that can happen", word.text),
                format!(
                    "{}; write `n1 leads`, `n1->n2 MsgApp arrives` or a timer with `fires`",
                    listed(&word.text, &verbs)
                ),
            ),
            None => self.words.wrong_here(
                "a condition is missing".to_owned(),
                "write what happens, such as `n1 leads` or `n1->n2 MsgApp arrives`",
            ),
        }
    }
}

/// A fraction of two numbers of 32 bits, the second above zero.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (numerator, denominator) = text.split_once('/')?;
    let (numerator, denominator) = (digits::<u32>(numerator)?, digits::<u32>(denominator)?);
    (denominator > 0).then_some((u64::from(numerator), u64::from(denominator)))
}

/// A target other than a node by its name.
fn target_word(text: &str) -> Option<Target> {
    match text {
        "leader" => Some(Target::Leader),
        "follower" => Some(Target::Follower(0)),
        _ => {
            let number = digits::<u16>(text.strip_prefix("follower-")?)?;
            number.checked_sub(1)?.try_into().ok().map(Target::Follower)
        }
    }
}

/// Whether a word names somebody an operation can be given to.
pub(super) fn is_target(text: &str) -> bool {
    looks_like_a_node(text) || target_word(text).is_some()
}

/// Whether a word is meant to be a node, even if there is no such node.
pub(super) fn looks_like_a_node(text: &str) -> bool {
    let number = text.strip_prefix(['n', 'c']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether a word can stand as the name of a message or timer without quotes.
pub(super) fn is_name(text: &str) -> bool {
    is_word(text)
        && !KEYWORDS.contains(&text)
        && !is_verb(text)
        && !looks_like_a_node(text)
        && target_word(text).is_none()
}

/// Whether a word can stand without quotes where only one thing is expected.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
}

/// Whether the text of an operation would be taken for something else without quotes.
pub(super) fn needs_quotes(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    !is_plain(text)
        || first == super::pin::PIN
        || SETTINGS.contains(&first)
        || STEPS.contains(&first)
        || text.split_whitespace().any(|word| word == "at" || word == "|")
}

fn is_verb(text: &str) -> bool {
    matches!(text, "fires" | "arrives" | "leaves" | "reaches")
        || ROLES.into_iter().any(|role| role_verb(role) == text)
}

fn ends_condition(text: &str) -> bool {
    matches!(text, "|" | "at" | "from" | "when" | "until" | "after" | "within" | "losing")
}

/// A number of digits only: no sign, no space.
pub(super) fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
