//! Reading steps: a verb with what it is about, then its clauses in any order, then a note.

use super::pin::PIN;
use super::print::{countable_word, topology_word};
use super::read::{Names, Reader, SETTINGS, STEPS, is_target};
use super::words::{Word, Words};
use super::{Line, LineError};
use crate::suggest::nearest;
use whitewater_sim::{
    Action, ClockChange, Condition, Countable, Losing, Options, Span, Step, Target, Time, Topology, Trigger,
    parse_span,
};

/// First words of what may follow an action.
const CLAUSES: [&str; 5] = ["at", "from", "when", "until", "losing"];

/// What stands behind the action.
#[derive(Default)]
struct Clauses {
    when: Option<Trigger>,
    until: Option<Trigger>,
    losing: Option<Losing>,
    point: Option<Point>,
}

/// Where in a step a crash comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Call(u32),
    Effect(Countable, u32),
}

impl Reader<'_> {
    /// A setting or a step.
    pub(super) fn line(&mut self) -> Result<Line, LineError> {
        let mut ahead = self.words.clone();
        let Some(first) = ahead.next() else {
            return Err(self.words.wrong_here("the line is empty".to_owned(), "leave it out"));
        };
        if first.is(PIN) {
            return self.pin().map(Line::Pin);
        }
        // `delay 1ms..10ms` is about all links, `delay n1->n2 MsgApp by 5ms` is a step; `duplicate` likewise.
        let is_amount = |word: Word| !word.quoted && word.text.starts_with(|c: char| c.is_ascii_digit());
        let is_about_all = || ahead.peek().is_none_or(is_amount);
        let is_setting = !first.quoted
            && SETTINGS.contains(&first.text.as_str())
            && (!STEPS.contains(&first.text.as_str()) || is_about_all());
        match is_setting {
            true => self.setting().map(Line::Setting),
            false => self.step().map(Line::Step),
        }
    }

    /// A step with its note.
    pub(super) fn step(&mut self) -> Result<Step, LineError> {
        let mut action = self.action()?;
        let clauses = self.clauses(&action)?;
        if let Action::Crash { node, .. } = action {
            let losing = clauses.losing.unwrap_or_default();
            action = match clauses.point {
                Some(Point::Effect(effect, number)) => Action::CrashAfter { node, losing, effect, number },
                Some(Point::Call(at_call)) => Action::Crash { node, losing, at_call },
                None => Action::Crash { node, losing, at_call: 0 },
            };
        }
        let note = self.note()?;
        Ok(Step { when: clauses.when.unwrap_or(Trigger::At(Time::ZERO)), action, until: clauses.until, note })
    }

    fn action(&mut self) -> Result<Action, LineError> {
        let Some(verb) = self.words.peek() else {
            return Err(self.words.wrong_here("the line is empty".to_owned(), "leave it out"));
        };
        if verb.quoted || !STEPS.contains(&verb.text.as_str()) {
            return self.operation(&verb);
        }
        self.words.next();
        match verb.text.as_str() {
            "crash" => Ok(Action::Crash { node: self.target()?, losing: Losing::Some, at_call: 0 }),
            "roll" => self.roll(),
            "rewind" => Ok(Action::Rewind(self.target()?)),
            "pause" => Ok(Action::Pause(self.target()?)),
            "fail-syncs" => Ok(Action::FailSyncs(self.target()?)),
            "slow" => {
                let node = self.target()?;
                self.keyword("by", "how long each input takes, such as `slow n1 by 1ms..5ms`")?;
                let (low, high) = self.range()?;
                Ok(Action::Slow { node, low, high })
            }
            "clock" => {
                let node = self.target()?;
                Ok(Action::Clock { node, change: self.clock_change()? })
            }
            "cut" | "clog" => {
                let link = self.word("a link", "sender and receiver, such as n1->n2")?;
                let (from, to) = self.arrow(&link, |reader, word, text| reader.target_of(word, text))?;
                Ok(if verb.is("cut") { Action::Cut { from, to } } else { Action::Clog { from, to } })
            }
            "hold" => Ok(Action::Hold(self.pattern(Names::Both)?)),
            "drop" => Ok(Action::Drop(self.pattern(Names::Messages)?)),
            "delay" => {
                let pattern = self.pattern(Names::Messages)?;
                self.keyword("by", "by how much, such as `delay n1->n2 MsgApp by 30ms`")?;
                if self.words.peek().is_some_and(|word| word.text.contains("..")) {
                    let (low, high) = self.range()?;
                    return Ok(Action::Jitter { pattern, low, high, shape: self.shape() });
                }
                Ok(Action::Delay(pattern, self.span()?))
            }
            "duplicate" => {
                let pattern = self.pattern(Names::Messages)?;
                let share = self.has_share().then(|| self.ratio()).transpose()?;
                self.keyword("after", "how much later, such as `duplicate n1->n2 MsgApp after 5ms`")?;
                let after = self.span()?;
                Ok(match share {
                    None => Action::Duplicate(pattern, after),
                    Some(share) => Action::DuplicateSome { pattern, share, after },
                })
            }
            "reorder" => {
                let (pattern, share) = (self.pattern(Names::Messages)?, self.ratio()?);
                Ok(Action::Reorder { pattern, share, window: self.up_to()? })
            }
            "replay" => {
                let pattern = self.pattern(Names::Messages)?;
                let example = "after how many elections, such as `replay n1->n2 MsgApp after 2 elections`";
                self.keyword("after", example)?;
                let elections = self.number("a number of elections", 0, u64::from(u32::MAX))? as u32;
                self.keyword("elections", example)?;
                Ok(Action::Replay(pattern, elections))
            }
            "choke" => {
                let pattern = self.pattern(Names::Messages)?;
                let example = "which size still passes, such as `choke n1->n2 over 100 bytes`";
                self.keyword("over", example)?;
                let bytes = self.number("a size in bytes", 0, u64::from(u32::MAX))? as u32;
                self.keyword("bytes", example)?;
                Ok(Action::Choke(pattern, bytes))
            }
            "corrupt" => Ok(Action::Corrupt(self.pattern(Names::Messages)?, self.ratio()?)),
            "misdeliver" => {
                let pattern = self.pattern(Names::Messages)?;
                if self.has_share() {
                    return Ok(Action::MisdeliverSome(pattern, self.ratio()?));
                }
                self.keyword("to", "who gets it instead, such as `misdeliver n1->n2 MsgApp to n3`")?;
                let to = self.word("a node", "who gets it instead, such as n3")?;
                Ok(Action::Misdeliver(pattern, self.node_of(&to, &to.text)?))
            }
            "lossy" => Ok(Action::Lossy(self.pattern(Names::Messages)?, self.ratio()?)),
            "expect" => self.expectation(&verb),
            "never" => Ok(Action::Never(self.condition()?)),
            word => {
                let topology = Topology::ALL.into_iter().find(|&topology| topology_word(topology) == word);
                self.cut_apart(topology.expect("every other step is a cut of some shape"))
            }
        }
    }

    /// Whether a share of messages is said next.
    fn has_share(&self) -> bool {
        self.words
            .peek()
            .is_some_and(|word| !word.quoted && word.text.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// A condition, and how long it may take to come true.
    fn expectation(&mut self, verb: &Word) -> Result<Action, LineError> {
        let condition = self.condition()?;
        if self.words.eat("within") {
            return Ok(Action::Expect(condition, Some(self.span()?)));
        }
        match condition {
            Condition::Takes(..) | Condition::Reaches(..) => Ok(Action::Expect(condition, None)),
            _ => Err(self.words.wrong(
                verb,
                "it does not say how long this may take".to_owned(),
                "write `within` and a time behind the condition, such as `within 50ms`",
            )),
        }
    }

    /// A server, and the value an option has when it comes back.
    fn roll(&mut self) -> Result<Action, LineError> {
        let node = self.target()?;
        let example = "an option and its value, such as `roll n1 pre-vote=off`";
        let word = self.word("an option", example)?;
        let Some((option, value)) = word.text.split_once('=') else {
            let message = format!("`{}` gives no option a value", word.text);
            return Err(self.words.wrong(&word, message, format!("write {example}")));
        };
        if let Some(system) = self.system {
            let wrong = |message: String| {
                self.words.wrong(
                    &word,
                    message,
                    format!("write {example}; there roll {}", system.rolls().join(", ")),
                )
            };
            if !system.rolls().contains(&option) {
                return Err(wrong(format!("servers of {} do not differ in `{option}`", system.name())));
            }
            Options::new().set(system.options(), option, value).map_err(wrong)?;
        }
        Ok(Action::Roll { node, option: option.to_owned(), value: value.to_owned() })
    }

    fn clock_change(&mut self) -> Result<ClockChange, LineError> {
        let example = "`rate 11/10`, `freeze`, `forward 5s` or `back 5s`";
        let word = self.word("what becomes of the clock", example)?;
        match word.text.as_str() {
            "rate" => Ok(ClockChange::Rate(self.rate()?)),
            "freeze" => Ok(ClockChange::Freeze),
            "forward" => Ok(ClockChange::Forward(self.span()?)),
            "back" => Ok(ClockChange::Back(self.span()?)),
            other => {
                let message = format!("a clock does not `{other}`");
                Err(self.words.wrong(&word, message, format!("write {example}")))
            }
        }
    }

    /// Groups of nodes, cut apart in this shape.
    fn cut_apart(&mut self, topology: Topology) -> Result<Action, LineError> {
        let mut groups = vec![Vec::new()];
        let mut named: Vec<Target> = Vec::new();
        while let Some(word) = self.words.peek() {
            let group = groups.last_mut().expect("there is a first group");
            if word.is("|") && topology.is_row() {
                break; // a note
            } else if word.is("|") {
                groups.push(Vec::new());
            } else if !group.is_empty() && (is_clause(&word) || word.is("flapping")) {
                break;
            } else {
                let target = self.target_of(&word, &word.text).map_err(|wrong| LineError {
                    mend: "write nodes, with ` | ` between the groups; a note follows only after `from` or `until`".to_owned(),
                    ..wrong
                })?;
                if named.contains(&target) {
                    let message = format!("{} stands in it twice", word.text);
                    return Err(self.words.wrong(&word, message, "name every node once"));
                }
                named.push(target);
                group.push(target);
            }
            self.words.next();
        }
        if topology.is_row() && groups[0].is_empty() {
            let message = format!("it does not say who stands in the {}", topology_word(topology));
            return Err(self
                .words
                .wrong_here(message, "write the nodes in their order, such as n1 n2 n3 n4"));
        }
        if !topology.is_row() && (groups.len() < 2 || groups.iter().any(Vec::is_empty)) {
            return Err(self.words.wrong_here(
                "a partition has at least two groups, and somebody in each".to_owned(),
                "write the groups with ` | ` between them, such as `partition n1 | n2 n3`",
            ));
        }
        let flapping = match self.words.eat("flapping") {
            true => Some(self.pause()?),
            false => None,
        };
        Ok(match (topology, flapping) {
            (Topology::Groups, None) => Action::Partition(groups),
            _ => Action::Topology { topology, groups, flapping },
        })
    }

    /// A command of the system, then ` at ` and whom it is given to.
    fn operation(&mut self, first: &Word) -> Result<Action, LineError> {
        let (text, target_word) = if first.quoted {
            self.words.next();
            self.keyword("at", "to whom it is given, such as `at leader`")?;
            (first.text.clone(), self.words.next())
        } else {
            let at = self.words.skip_to(|word, behind| {
                word == "|" || word == "at" && behind.peek().is_some_and(|next| is_target(&next.text))
            });
            match at {
                Some(at) if at.is("at") => (self.words.before(&at).to_owned(), self.words.next()),
                _ => return Err(self.not_an_operation(first)),
            }
        };
        let Some(target_word) = target_word else {
            return Err(self
                .words
                .wrong_here("whom it is given to is missing".to_owned(), "write n1 or leader"));
        };
        let target = self.target_of(&target_word, &target_word.text)?;
        if let Some(system) = self.system
            && let Err(right) = system.check_operation(&text)
        {
            let message = format!("{} has no command `{text}`", system.name());
            return Err(self.words.wrong(first, message, verb_meant(first).unwrap_or(right)));
        }
        let every = match self.words.eat("every") {
            true => Some(self.pause()?),
            false => None,
        };
        Ok(Action::Operate { target, text, every })
    }

    /// The time between two rounds of what is repeated.
    fn pause(&mut self) -> Result<Span, LineError> {
        let word = self.words.peek();
        let pause = self.span()?;
        match word {
            Some(word) if pause == Span::ZERO => {
                let message = "nothing can be repeated without a pause".to_owned();
                Err(self.words.wrong(&word, message, "write a length of time, such as 10ms"))
            }
            _ => Ok(pause),
        }
    }

    /// A line that begins with no verb and is no operation either.
    fn not_an_operation(&self, first: &Word) -> LineError {
        let line = self.words.before_note();
        let text = words_until_clause(line);
        let is_command = self.system.is_some_and(|system| system.check_operation(&text).is_ok());
        let mut ahead = Words::new(line);
        let at = ahead.skip_to(|word, _| word == "at");
        match (verb_meant(first), at.and_then(|_| ahead.next())) {
            (Some(mend), _) => self.words.wrong(first, format!("`{}` is no step", first.text), mend),
            (None, Some(word)) if parse_span(&word.text).is_some() => self.words.wrong(
                &word,
                "it does not say to whom the operation is given".to_owned(),
                format!("write `at leader at {}`, or the node", word.text),
            ),
            (None, Some(word)) => self.words.wrong(
                &word,
                format!("`{}` is no node", word.text),
                "write `at n1`, `at leader` or `at follower`",
            ),
            (None, None) if is_command => self.words.wrong(
                first,
                "it does not say to whom the operation is given".to_owned(),
                format!("write `{text} at leader`, or the node"),
            ),
            (None, None) => self.words.wrong(
                first,
                format!("`{}` is no step, and an operation would say at which node", first.text),
                format!(
                    "steps are {}; operations are written `propose x=1 at leader`; settings are {}",
                    STEPS.join(", "),
                    SETTINGS.join(", ")
                ),
            ),
        }
    }

    fn clauses(&mut self, action: &Action) -> Result<Clauses, LineError> {
        let mut clauses = Clauses::default();
        while let Some(word) = self.words.peek().filter(|word| !word.is("|")) {
            if word.quoted || !is_clause(&word) {
                let mend = match nearest(&word.text, &CLAUSES) {
                    _ if word.is("within") => {
                        "only what is expected has `within`; what must not happen lasts to an end, such as `until 2s`".to_owned()
                    }
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "what may follow is a time (`at`, `from`, `when`, `until`) or a note behind ` | `"
                            .to_owned()
                    }
                };
                return Err(self.words.wrong(&word, format!("`{}` is not expected here", word.text), mend));
            }
            self.words.next();
            let begun = clauses.when.is_some();
            let given = self.clause(&word, action, &mut clauses)?;
            if given && begun && clauses.when.is_some() && is_beginning(&word) {
                let message = "a step begins once, and this is its second beginning".to_owned();
                let mend = "keep one of the two; `when CONDITION after 5ms` waits after a condition, which may come true at any time of the run";
                return Err(self.words.wrong(&word, message, mend));
            }
            if given {
                let message = format!("`{}` comes a second time", word.text);
                return Err(self.words.wrong(&word, message, "keep one of the two"));
            }
        }
        Ok(clauses)
    }

    /// Reads the clause that `word` begins. Says whether there was one before.
    fn clause(&mut self, word: &Word, action: &Action, clauses: &mut Clauses) -> Result<bool, LineError> {
        let is_crash = matches!(action, Action::Crash { .. });
        let is_expected = matches!(action, Action::Expect(..));
        match word.text.as_str() {
            "until" if is_expected => Err(self.words.wrong(
                word,
                "what is expected has no end".to_owned(),
                "write `within` and a time behind the condition, or `never` for what must not happen until then",
            )),
            "at" if matches!(action, Action::Expect(_, None)) && self.words.eat("end") => {
                Ok(clauses.when.replace(Trigger::End).is_some())
            }
            "until" => Ok(clauses.until.replace(self.until()?).is_some()),
            "when" => {
                let (condition, after) = self.moment()?;
                Ok(clauses.when.replace(Trigger::When(condition, after)).is_some())
            }
            "losing" if is_crash => {
                let what = self.word("what is lost", "`losing unsynced`, `losing everything`, or nothing")?;
                match what.text.as_str() {
                    "unsynced" => Ok(clauses.losing.replace(Losing::Unsynced).is_some()),
                    "everything" => Ok(clauses.losing.replace(Losing::Everything).is_some()),
                    _ => Err(self.words.wrong(
                        &what,
                        format!("a crash does not lose `{}`", what.text),
                        "write `losing unsynced` or `losing everything`, or leave it out: a drawn part is lost then",
                    )),
                }
            }
            "losing" => {
                Err(self.words.wrong(word, "only a crash loses data".to_owned(), "leave `losing` out"))
            }
            _ if is_crash && self.words.eat("storage") => {
                self.keyword("call", "`at storage call 3`")?;
                let call = self.number("the number of the call", 1, u64::from(u32::MAX))? as u32;
                Ok(clauses.point.replace(Point::Call(call)).is_some())
            }
            _ if is_crash && self.words.peek().is_some_and(|word| countable(&word).is_some()) => {
                let effect = self.words.next().and_then(|word| countable(&word)).expect("it was looked at");
                let number = self.number("how many of them", 1, u64::from(u32::MAX))? as u32;
                Ok(clauses.point.replace(Point::Effect(effect, number)).is_some())
            }
            _ => {
                let time = self.word("a time", "a whole number with ns, us, ms or s, such as 20ms")?;
                if time.text.starts_with('+') {
                    let message = "only an end is counted from the beginning of the step".to_owned();
                    return Err(self.words.wrong(&time, message, "write a time of the run, such as 200ms"));
                }
                let span = self.span_of(&time, &time.text)?;
                Ok(clauses.when.replace(Trigger::At(Time::ZERO + span)).is_some())
            }
        }
    }

    fn until(&mut self) -> Result<Trigger, LineError> {
        let Some(word) = self.words.peek() else {
            return Err(self.words.wrong_here(
                "an end is missing".to_owned(),
                "write a time, `+` and a length, `end`, or a condition such as `n1 leads`",
            ));
        };
        if word.quoted {
            self.moment().map(|(condition, after)| Trigger::When(condition, after))
        } else if word.is("end") {
            self.words.next();
            Ok(Trigger::End)
        } else if let Some(length) = word.text.strip_prefix('+') {
            self.words.next();
            self.span_of(&word, length).map(Trigger::After)
        } else if word.text.starts_with(|first: char| first.is_ascii_digit()) {
            Ok(Trigger::At(Time::ZERO + self.span()?))
        } else {
            self.moment().map(|(condition, after)| Trigger::When(condition, after))
        }
    }

    pub(super) fn note(&mut self) -> Result<Option<String>, LineError> {
        if !self.words.eat("|") {
            return Ok(None);
        }
        match self.words.peek().filter(|word| word.quoted) {
            Some(word) => {
                self.words.next();
                self.end("the whole note in quotes, or none of it")?;
                Ok(Some(word.text))
            }
            None => match self.words.rest() {
                "" => Err(self.words.wrong_here("the note is empty".to_owned(), "leave the bar out")),
                note => Ok(Some(note.to_owned())),
            },
        }
    }
}

/// Whether a clause says when a step begins.
fn is_beginning(word: &Word) -> bool {
    ["at", "from", "when"].iter().any(|clause| word.is(clause))
}

/// The effect of a node that a crash is placed after.
fn countable(word: &Word) -> Option<Countable> {
    [Countable::Sends, Countable::Replies].into_iter().find(|&effect| word.is(countable_word(effect)))
}

fn is_clause(word: &Word) -> bool {
    !word.quoted && CLAUSES.contains(&word.text.as_str())
}

/// The words of a line up to its first clause.
fn words_until_clause(line: &str) -> String {
    let words = line.split_whitespace().take_while(|word| !CLAUSES.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The step or setting that a wrong first word was meant to be.
fn verb_meant(first: &Word) -> Option<String> {
    if ["eventually", "assert", "check", "wait"].contains(&first.text.as_str()) {
        return Some("write `expect n1 leads within 500ms`, or `never n1 leads until 2s`".to_owned());
    }
    let known = [&STEPS[..], &SETTINGS[..], &[PIN]].concat();
    nearest(&first.text, &known).map(|word| format!("did you mean `{word}`? steps are {}", STEPS.join(", ")))
}
