//! Reading steps: a verb with what it is about, then its clauses in any order, then a note.

use super::read::{Names, Reader, SETTINGS, STEPS, is_target};
use super::words::{Word, Words};
use super::{Line, LineError};
use crate::suggest::nearest;
use whitewater_sim::{Action, Condition, Losing, Span, Step, Target, Time, Trigger, parse_span};

/// First words of what may follow an action.
const CLAUSES: [&str; 5] = ["at", "from", "when", "until", "losing"];

/// What stands behind the action.
#[derive(Default)]
struct Clauses {
    when: Option<Trigger>,
    until: Option<Trigger>,
    losing: Option<Losing>,
    at_call: Option<u32>,
}

impl Reader<'_> {
    /// A setting or a step.
    pub(super) fn line(&mut self) -> Result<Line, LineError> {
        let mut ahead = self.words.clone();
        let Some(first) = ahead.next() else {
            return Err(self.words.wrong_here("the line is empty".to_owned(), "leave it out"));
        };
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
        if let Action::Crash { losing, at_call, .. } = &mut action {
            *losing = clauses.losing.unwrap_or_default();
            *at_call = clauses.at_call.unwrap_or_default();
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
            "partition" => self.partition(),
            "cut" => {
                let link = self.word("a link", "sender and receiver, such as n1->n2")?;
                let (from, to) = self.arrow(&link, |reader, word, text| reader.target_of(word, text))?;
                Ok(Action::Cut { from, to })
            }
            "hold" => Ok(Action::Hold(self.pattern(Names::Both)?)),
            "drop" => Ok(Action::Drop(self.pattern(Names::Messages)?)),
            "delay" => {
                let pattern = self.pattern(Names::Messages)?;
                self.keyword("by", "by how much, such as `delay n1->n2 MsgApp by 30ms`")?;
                Ok(Action::Delay(pattern, self.span()?))
            }
            "duplicate" => {
                let pattern = self.pattern(Names::Messages)?;
                self.keyword("after", "how much later, such as `duplicate n1->n2 MsgApp after 5ms`")?;
                Ok(Action::Duplicate(pattern, self.span()?))
            }
            "lossy" => Ok(Action::Lossy(self.pattern(Names::Messages)?, self.ratio()?)),
            "expect" => self.expectation(&verb),
            _ => Ok(Action::Never(self.condition()?)),
        }
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

    fn partition(&mut self) -> Result<Action, LineError> {
        let mut groups = vec![Vec::new()];
        let mut named: Vec<Target> = Vec::new();
        while let Some(word) = self.words.peek() {
            let group = groups.last_mut().expect("there is a first group");
            if word.is("|") {
                groups.push(Vec::new());
            } else if !group.is_empty() && is_clause(&word) {
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
        match groups.len() >= 2 && groups.iter().all(|group| !group.is_empty()) {
            true => Ok(Action::Partition(groups)),
            false => Err(self.words.wrong_here(
                "a partition has at least two groups, and somebody in each".to_owned(),
                "write the groups with ` | ` between them, such as `partition n1 | n2 n3`",
            )),
        }
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

    /// The time between two rounds of a repeated operation.
    fn pause(&mut self) -> Result<Span, LineError> {
        let word = self.words.peek();
        let pause = self.span()?;
        match word {
            Some(word) if pause == Span::ZERO => {
                let message = "an operation cannot be repeated without a pause".to_owned();
                Err(self.words.wrong(&word, message, "write a length of time, such as `every 10ms`"))
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
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        "what may follow is a time (`at`, `from`, `when`, `until`) or a note behind ` | `"
                            .to_owned()
                    }
                };
                return Err(self.words.wrong(&word, format!("`{}` is not expected here", word.text), mend));
            }
            self.words.next();
            let given = self.clause(&word, action, &mut clauses)?;
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
                let what = self.word("what is lost", "`losing unsynced`, or nothing")?;
                match what.text.as_str() {
                    "unsynced" => Ok(clauses.losing.replace(Losing::Unsynced).is_some()),
                    _ => Err(self.words.wrong(
                        &what,
                        format!("a crash does not lose `{}`", what.text),
                        "write `losing unsynced`, or leave it out: a drawn part is lost then",
                    )),
                }
            }
            "losing" => {
                Err(self.words.wrong(word, "only a crash loses data".to_owned(), "leave `losing` out"))
            }
            _ if is_crash && self.words.eat("storage") => {
                self.keyword("call", "`at storage call 3`")?;
                let call = self.number("the number of the call", 1, u64::from(u32::MAX))? as u32;
                Ok(clauses.at_call.replace(call).is_some())
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

    fn note(&mut self) -> Result<Option<String>, LineError> {
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
    let known = [&STEPS[..], &SETTINGS[..]].concat();
    nearest(&first.text, &known).map(|word| format!("did you mean `{word}`?"))
}
