//! What clients asked and were told, and whether some order of it explains everything once a run is over.

use super::book::{Deed, Ended, Word};
use super::naming::moment;
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use whitewater_history::{
    Ask, Budget, CounterExample, History, Model, NEVER, Operation as Told, Options, Outcome, Symbol, Verdict,
    certify, check, claimed_order, write,
};
use whitewater_sim::{ClientOperation, NodeId, OpId, Time, Violation};

/// Name and claim of the rule.
pub const LINEARIZABLE: (&str, &str) = (
    "linearizable",
    "Some order of all operations, each at a moment between its beginning and its end, explains every answer.",
);

/// How much a search over one key may do: a tenth of a second at most.
const BUDGET: Budget = Budget { configurations: 100_000, steps: 4_000_000 };

/// An operation as its client saw it.
#[derive(Clone, Debug)]
struct Seen<T> {
    node: NodeId,
    key: T,
    deed: Deed<T>,
    ended: Option<Ended<T>>,
    /// Moments of its beginning, once it has begun, and its end.
    invoked: Option<NonZeroU64>,
    returned: u64,
    /// Where the server says it stands in the order of all operations, if it says so.
    place: Option<u64>,
}

/// All operations of a run.
#[derive(Clone, Debug)]
pub(super) struct Record<T> {
    /// By number of the operation.
    seen: Vec<Option<Seen<T>>>,
    /// Keys of which somebody was told, or asks for, something that depends on what others have done.
    observed: BTreeSet<T>,
    /// When each moment was.
    moments: Vec<Time>,
    /// Reads may return what was there earlier: nothing orders them after what was acknowledged before they began.
    reads_may_be_old: bool,
    /// How much a search over one key may do.
    budget: Budget,
    /// Keys whose search was given up.
    undecided: u64,
    /// Keys that the servers' own order explains.
    certified: u64,
}

impl<T: Word> Record<T> {
    /// A record of a run in which reads may return what was there earlier, if `reads_may_be_old`.
    pub(super) fn new(reads_may_be_old: bool) -> Record<T> {
        Record {
            seen: Vec::new(),
            observed: BTreeSet::new(),
            moments: Vec::new(),
            reads_may_be_old,
            budget: BUDGET,
            undecided: 0,
            certified: 0,
        }
    }

    /// Gives a search over one key so many steps.
    pub(super) fn search_within(&mut self, steps: u64) {
        self.budget.steps = steps;
    }

    /// A node is told to do something; `begins` if it does so at once.
    pub(super) fn asked(&mut self, node: NodeId, op: OpId, (key, deed): (&T, Deed<T>), begins: Option<Time>) {
        let swaps = matches!(deed, Deed::Swap(..));
        let seen =
            Seen { node, key: key.clone(), deed, ended: None, invoked: None, returned: NEVER, place: None };
        let number = op.0 as usize;
        if self.seen.len() <= number {
            self.seen.resize(number + 1, None);
        }
        self.seen[number].get_or_insert(seen);
        if swaps {
            self.observes(key);
        }
        if let Some(now) = begins {
            self.begun(op, now);
        }
    }

    /// An operation that a client was told of earlier, or now, has begun.
    pub(super) fn begun(&mut self, op: OpId, now: Time) {
        let moment = self.moments.len() as u64 + 1;
        let Some(seen) = self.of(op).filter(|seen| seen.invoked.is_none()) else { return };
        seen.invoked = NonZeroU64::new(moment);
        self.moments.push(now);
    }

    /// An operation has ended. `place` is where its server says it stands in the order of all.
    pub(super) fn told(&mut self, op: OpId, ended: &Ended<T>, now: Time, place: Option<u64>) {
        let moment = self.moments.len() as u64 + 1;
        let Some(seen) = self.of(op).filter(|seen| seen.ended.is_none()) else { return };
        (seen.ended, seen.returned) = (Some(ended.clone()), moment);
        seen.place = place.filter(|_| !matches!(ended, Ended::Refused | Ended::Unknown));
        let tells = matches!(ended, Ended::Value(_) | Ended::Differs);
        let key = tells.then(|| seen.key.clone());
        self.moments.push(now);
        if let Some(key) = key {
            self.observes(&key);
        }
    }

    fn observes(&mut self, key: &T) {
        if !self.observed.contains::<T>(key) {
            self.observed.insert(key.clone());
        }
    }

    fn of(&mut self, op: OpId) -> Option<&mut Seen<T>> {
        self.seen.get_mut(op.0 as usize)?.as_mut()
    }

    /// Keys whose search was given up in [`Record::check`].
    pub(super) fn undecided(&self) -> u64 {
        self.undecided
    }

    /// The operations of a key, or of all keys. Those that were refused never took place.
    fn history(&self, of: Option<&T>) -> History {
        let mut history = History::default();
        for seen in self.seen.iter().flatten() {
            if of.is_some_and(|key| seen.key != *key) {
                continue;
            }
            let outcome = match &seen.ended {
                Some(Ended::Value(value)) => {
                    Outcome::Value(value.as_ref().map_or(Symbol::NIL, |value| symbol(&mut history, value)))
                }
                Some(Ended::Differs) => Outcome::Differs,
                Some(Ended::Done) => Outcome::Done,
                Some(Ended::Refused) => continue,
                Some(Ended::Unknown) | None => Outcome::Unknown,
            };
            let Some(invoked) = seen.invoked.map(NonZeroU64::get) else { continue };
            let mut of = |text: &T| symbol(&mut history, text);
            let ask = match &seen.deed {
                Deed::Read => Ask::Read,
                Deed::Put(value) => Ask::Write(of(value)),
                Deed::Append(value) => Ask::Push(of(value)),
                Deed::Swap(old, new) => Ask::Swap(of(old), of(new)),
            };
            let key = of(&seen.key);
            let returned = if outcome == Outcome::Unknown { NEVER } else { seen.returned };
            let process = seen.node.index() as u64;
            let told =
                Told { process, key, ask, outcome, invoked, returned, place: seen.place, lines: [0, 0] };
            history.operations.push(told);
        }
        history.operations.sort_by_key(|op| op.invoked);
        history
    }

    /// Every operation, as JSON lines.
    pub(super) fn to_lines(&self) -> String {
        write(&self.history(None), |moment| self.time(moment).map(Time::nanos))
    }

    fn time(&self, moment: u64) -> Option<Time> {
        self.moments.get((moment as usize).checked_sub(1)?).copied()
    }

    /// Whether some order explains the operations on each key. Without an answer that depends on others, any does.
    ///
    /// The order in which servers say that things took place is tried first: it is a certificate if it explains what clients
    /// saw, and nothing but that counts. Every fourth key with a certificate is searched as well, lest a certificate hides
    /// something, and every key without one. A search that is given up says nothing: only a certificate makes that good.
    ///
    /// # Errors
    /// The operations that none explains.
    pub(super) fn check(&mut self) -> Result<(), Violation> {
        let (mut undecided, mut certified) = (0, 0);
        for key in &self.observed {
            let history = self.to_explain(key);
            let certificate = claimed_order(&history).and_then(|order| certify(&history, &order));
            let is_certified = certificate.is_ok();
            certified += u64::from(is_certified);
            if is_certified && !is_in_sample(&history) {
                continue;
            }
            match self.search(&history) {
                Verdict::Linearizable => {}
                Verdict::Unknown => undecided += u64::from(!is_certified),
                Verdict::Violation(counter_example) => return Err(self.violation(key, &counter_example)),
            }
        }
        (self.undecided, self.certified) = (undecided, certified);
        Ok(())
    }

    /// The operations on a key as some order has to explain them: with reads that began at any time, if they may be old.
    fn to_explain(&self, key: &T) -> History {
        let mut history = self.history(Some(key));
        if self.reads_may_be_old {
            let old = history.operations.iter_mut().filter(|op| op.ask == Ask::Read);
            old.for_each(|op| op.invoked = 0);
        }
        history
    }

    /// Looks for an order that explains operations on one key.
    fn search(&self, history: &History) -> Verdict {
        check(history, Options { model: Model::Kv, split: true, budget: self.budget })
    }

    /// The fewest operations that no order explains, of the first key that has such; none if every key is explained.
    pub(super) fn evidence(&self) -> Vec<ClientOperation> {
        let unexplained = self.observed.iter().find_map(|key| match self.search(&self.to_explain(key)) {
            Verdict::Violation(counter_example) => Some(counter_example),
            Verdict::Linearizable | Verdict::Unknown => None,
        });
        let Some(counter_example) = unexplained else { return Vec::new() };
        let shown = |op: &Told| ClientOperation {
            client: NodeId::from_index(op.process as usize),
            text: deed(op, &counter_example.history),
            began: self.time(op.invoked),
            ended: self.time(op.returned),
        };
        needed(&counter_example).map(shown).collect()
    }

    fn violation(&self, key: &T, counter_example: &CounterExample) -> Violation {
        let (rule, claim) = LINEARIZABLE;
        let operations = &counter_example.history.operations;
        let sentences: Vec<String> =
            needed(counter_example).map(|op| self.sentence(op, &counter_example.history)).collect();
        let whatever = if counter_example.from_anything { ", whatever the value was before" } else { "" };
        let message = format!(
            "no order explains these of the {} operations on {}{whatever}: {}",
            counter_example.of,
            key.text(),
            sentences.join("; ")
        );
        let last = operations.iter().filter(|op| op.returned != NEVER).max_by_key(|op| op.returned);
        let node = last.map(|op| NodeId::from_index(op.process as usize));
        Violation { rule, claim, message, node, peer: None }
    }

    /// What a client saw of an operation, and when.
    fn sentence(&self, op: &Told, history: &History) -> String {
        let (node, what) = (NodeId::from_index(op.process as usize), deed(op, history));
        match (self.time(op.invoked).map(moment), self.time(op.returned).map(moment)) {
            (Some(began), Some(ended)) => format!("{node} {what} between {began} and {ended}"),
            (Some(began), None) => format!("{node} {what} after {began}, perhaps"),
            (None, Some(ended)) => format!("{node} {what} at any time up to {ended}"),
            (None, None) => format!("{node} {what} at any time, perhaps"),
        }
    }
}

/// The operations of a counter-example without those that might explain the others, and do not.
fn needed(counter_example: &CounterExample) -> impl Iterator<Item = &Told> {
    let operations = (0..).zip(&counter_example.history.operations);
    operations.filter(|(place, _)| !counter_example.in_vain.contains(place)).map(|(_, op)| op)
}

/// What a client did and saw.
fn deed(op: &Told, history: &History) -> String {
    let text = |symbol: Symbol| match symbol {
        Symbol::NIL => "no value",
        symbol => history.symbols.text(symbol),
    };
    match (op.ask, op.outcome) {
        (Ask::Read, Outcome::Value(value)) => format!("reads {}", text(value)),
        (Ask::Read | Ask::Add(_), _) => "reads".to_owned(),
        (Ask::Write(value), _) => format!("puts {}", text(value)),
        (Ask::Append(value) | Ask::Push(value), _) => format!("appends {}", text(value)),
        (Ask::Swap(old, new), Outcome::Differs) => {
            format!("does not put {} as there is something else than {}", text(new), text(old))
        }
        (Ask::Swap(old, new), _) => format!("puts {} in place of {}", text(new), text(old)),
    }
}

/// Whether a history is searched although it has a certificate.
fn is_in_sample(history: &History) -> bool {
    let answered = history.operations.iter().filter(|op| op.returned != NEVER);
    answered.map(|op| op.returned).max().unwrap_or(0) % 4 == 0
}

fn symbol<T: Word>(history: &mut History, text: &T) -> Symbol {
    history.symbols.of(&text.text())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const C1: NodeId = NodeId::client(0);
    const C2: NodeId = NodeId::client(1);

    type Text = std::sync::Arc<str>;

    fn text(text: &str) -> Text {
        text.into()
    }

    /// Two clients; the second one reads after the first one has written.
    fn read_back(reads_may_be_old: bool, value: Option<&str>) -> Record<Text> {
        let mut record = Record::new(reads_may_be_old);
        let key = text("a");
        record.asked(C1, OpId(0), (&key, Deed::Put(text("x"))), Some(Time::from_millis(1)));
        record.told(OpId(0), &Ended::Done, Time::from_millis(2), None);
        record.asked(C2, OpId(1), (&key, Deed::Read), None);
        record.begun(OpId(1), Time::from_millis(3));
        record.told(OpId(1), &Ended::Value(value.map(text)), Time::from_millis(4), None);
        record
    }

    #[test]
    fn an_old_value_is_found_unless_reads_may_be_old_and_one_that_nobody_wrote_in_any_case() {
        let broken = |old, value| read_back(old, value).check().err();
        assert_eq!(broken(false, Some("x")), None);
        assert_eq!(broken(true, None), None);
        assert!(broken(true, Some("y")).is_some());
        let stale = broken(false, None).expect("the write was acknowledged before the read began");
        assert_eq!(
            stale.message,
            "no order explains these of the 2 operations on a: c1 puts x between 1ms and 2ms; c2 reads no value between \
             3ms and 4ms"
        );
        assert_eq!((stale.rule, stale.node), ("linearizable", Some(C2)));
    }

    #[test]
    fn the_evidence_is_what_no_order_explains_with_its_times_and_nothing_where_some_order_does() {
        let operation = |client, text: &str, began, ended| ClientOperation {
            client,
            text: text.to_owned(),
            began: Some(Time::from_millis(began)),
            ended: Some(Time::from_millis(ended)),
        };
        let stale = [operation(C1, "puts x", 1, 2), operation(C2, "reads no value", 3, 4)];
        assert_eq!(read_back(false, None).evidence(), stale);
        assert_eq!(read_back(false, Some("x")).evidence(), []);
        let never_written = read_back(true, Some("y")).evidence();
        assert_eq!(never_written.iter().map(|op| (op.client, op.began)).collect::<Vec<_>>(), [(C2, None)]);
    }

    #[test]
    fn the_order_of_the_servers_is_a_certificate_if_it_explains_what_clients_saw_and_else_it_counts_for_nothing()
     {
        let certified = |write_at, read_at, value: Option<&str>| {
            let mut record = read_back(false, value);
            for (op, place) in [(OpId(0), write_at), (OpId(1), read_at)] {
                record.of(op).expect("it was asked").place = Some(place);
            }
            (record.check().is_ok(), record.certified)
        };
        assert_eq!(certified(1, 1, Some("x")), (true, 1));
        assert_eq!(
            certified(2, 1, Some("x")),
            (true, 0),
            "swapped: refused, and the search finds the right order"
        );
        assert_eq!(
            certified(2, 1, None),
            (false, 0),
            "an order that explains an old value is no excuse for it"
        );
    }

    #[test]
    fn the_lines_of_a_record_are_a_history_with_the_same_verdict() {
        let lines = read_back(false, None).to_lines();
        let history = whitewater_history::read(&lines, Model::Kv).unwrap();
        assert!(matches!(check(&history, Options::new(Model::Kv)), Verdict::Violation(_)), "{lines}");
        assert!(lines.contains(r#""time":3000000"#), "{lines}");
    }

    #[test]
    fn what_was_refused_never_took_place_and_what_was_not_answered_may_have() {
        let read_x = |ended: Option<Ended<Text>>| {
            let mut record = read_back(false, Some("x"));
            record.of(OpId(0)).expect("it was asked").ended = ended;
            record.check().is_err()
        };
        assert_eq!(
            (read_x(Some(Ended::Refused)), read_x(Some(Ended::Unknown)), read_x(None)),
            (true, false, false)
        );
    }

    /// A run that breaks the rule, for the list of all messages.
    pub(crate) fn sample() -> Violation {
        read_back(false, None).check().expect_err("the write was acknowledged before the read began")
    }

    /// What the rule says of operations of other kinds, of those without an end, and where any value may have been before.
    pub(crate) fn further() -> [Violation; 4] {
        let at = Time::from_millis;
        let several = |ended: Ended<Text>| {
            let mut record = Record::new(false);
            let key = text("a");
            let swap = || Deed::Swap(text("x"), text("y"));
            record.asked(C1, OpId(0), (&key, Deed::Put(text("x"))), Some(at(1)));
            record.told(OpId(0), &Ended::Done, at(2), None);
            record.asked(C1, OpId(1), (&key, swap()), Some(at(3)));
            record.told(OpId(1), &ended, at(4), None);
            record.asked(C2, OpId(2), (&key, Deed::Append(text("z"))), Some(at(5)));
            record.told(OpId(2), &Ended::Done, at(6), None);
            record.asked(C2, OpId(3), (&key, Deed::Read), Some(at(7)));
            record.told(OpId(3), &Ended::Value(Some(text("x"))), at(8), None);
            record.check().expect_err("what was appended before is missing")
        };
        let old = read_back(true, Some("y")).check().expect_err("nobody wrote it");
        let flips = || {
            let mut record = Record::new(false);
            let key = text("a");
            for (op, client, value) in [(0, C1, "x"), (1, C2, "y")] {
                record.asked(client, OpId(op), (&key, Deed::Put(text(value))), Some(at(1)));
                record.told(OpId(op), &Ended::Done, at(2), None);
            }
            for (op, value, began) in [(2, "x", 3), (3, "y", 5), (4, "x", 7)] {
                record.asked(C2, OpId(op), (&key, Deed::Read), Some(at(began)));
                record.told(OpId(op), &Ended::Value(Some(text(value))), at(began + 1), None);
            }
            record.check().expect_err("nobody wrote in between")
        };
        [several(Ended::Done), several(Ended::Differs), old, flips()]
    }
}
