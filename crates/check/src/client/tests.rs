//! Histories made by hand: each client rule fires on one, is silent beside it, and is missed when it is blind.

use super::{Answer, Answered, Ask, Asked, ClientRules, Naming, Once};
use whitewater_sim::{NodeId, OpId, Time, Violation};

type Going = Result<(), Violation>;

const KEY: u64 = 1;

/// Keys are `k1`, `k2`, ..., the write of operation 3 wrote `v3`.
struct Plain;

impl Naming for Plain {
    fn key(&self, key: u64) -> String {
        format!("k{key}")
    }

    fn value(&self, token: u64) -> String {
        format!("v{token}")
    }
}

/// Operations are asked for one after the other by three clients in turn, a millisecond apart.
fn asked(op: u32) -> Asked {
    Asked { node: NodeId::client(op as usize % 3), at: Time::from_millis(10 + 2 * u64::from(op)) }
}

fn answered(op: u32) -> Answered {
    let at = Time::from_millis(11 + 2 * u64::from(op));
    Answered { at, by: Some(NodeId::server(op as usize % 3)), index: Some(u64::from(op) + 1) }
}

/// A history of operations on one key; the token of a write is the number of its operation.
struct History {
    rules: ClientRules,
    next: u32,
}

impl History {
    fn new(once: Once) -> History {
        History { rules: ClientRules::new(once), next: 0 }
    }

    fn begin(&mut self, ask: Ask) -> u64 {
        let op = self.next;
        self.next += 1;
        self.rules.invoked(OpId(op), asked(op), KEY, ask, op.into());
        op.into()
    }

    fn end(&mut self, op: u64, answer: Answer<'_>) -> Going {
        self.rules.answered(OpId(op as u32), answer, answered(op as u32), &Plain)
    }

    fn write(&mut self, ask: Ask) -> u64 {
        let op = self.begin(ask);
        self.end(op, Answer::Done).expect("an acknowledgement breaks nothing");
        op
    }

    /// A read when everything is over.
    fn ends_with(&mut self, tokens: &[u64]) -> Going {
        self.rules.final_value(KEY, tokens, (asked(self.next), answered(self.next)), &Plain)
    }

    fn read(&mut self, tokens: &[u64]) -> Going {
        let op = self.begin(Ask::Read);
        self.end(op, Answer::Value(tokens))
    }
}

fn broken(run: impl FnOnce(&mut History) -> Going) -> Option<&'static str> {
    run(&mut History::new(Once::Claimed)).err().map(|violation| violation.rule)
}

fn invented(h: &mut History) -> Going {
    h.read(&[77])
}

fn twice(h: &mut History) -> Going {
    let a = h.write(Ask::Append);
    h.read(&[a, a])
}

fn out_of_order(h: &mut History) -> Going {
    let a = h.write(Ask::Append);
    let b = h.write(Ask::Append);
    h.read(&[b, a])
}

fn lost(h: &mut History) -> Going {
    h.write(Ask::Append);
    let b = h.write(Ask::Append);
    h.read(&[b])
}

fn older(h: &mut History) -> Going {
    let a = h.begin(Ask::Append);
    h.read(&[a])?;
    h.read(&[])
}

fn gone_in_the_end(h: &mut History) -> Going {
    h.write(Ask::Append);
    h.ends_with(&[])
}

type Breaking = fn(&mut History) -> Going;

const HISTORIES: &[(&str, Breaking)] = &[
    ("no-phantom-value", invented),
    ("applied-once", twice),
    ("writes-in-order", out_of_order),
    ("acknowledged-kept", lost),
    ("reads-monotonic", older),
    ("final-durability", gone_in_the_end),
];

#[test]
fn every_client_rule_has_a_history_in_the_table() {
    let names: Vec<&str> = ClientRules::rules().into_iter().map(|(name, _)| name).collect();
    assert_eq!(HISTORIES.iter().map(|&(name, _)| name).collect::<Vec<_>>(), names);
}

#[test]
fn a_client_rule_finds_what_is_missed_when_it_alone_is_blind() {
    for &(name, history) in HISTORIES {
        assert_eq!(broken(history), Some(name));
        assert_eq!(
            broken(|h| {
                h.rules.blind(name).unwrap();
                history(h)
            }),
            None,
            "another rule stands in for {name}"
        );
    }
    assert!(ClientRules::new(Once::Claimed).blind("no-rule").is_err());
}

#[test]
fn a_write_that_nobody_acknowledged_may_show_or_not_but_not_once_it_was_refused() {
    assert_eq!(broken(|h| h.read(&[])), None);
    let unknown = |show: bool| {
        broken(|h| {
            let a = h.begin(Ask::Append);
            h.end(a, Answer::Unknown)?;
            h.read(if show { &[0] } else { &[] })
        })
    };
    assert_eq!((unknown(true), unknown(false)), (None, None));
    let refused = broken(|h| {
        let a = h.begin(Ask::Append);
        h.end(a, Answer::Refused)?;
        h.read(&[a])
    });
    assert_eq!(refused, Some("no-phantom-value"));
}

#[test]
fn a_write_to_another_key_is_a_phantom() {
    let other = broken(|h| {
        h.rules.invoked(OpId(0), asked(0), KEY + 1, Ask::Put, 0);
        h.next = 1;
        h.read(&[0])
    });
    assert_eq!(other, Some("no-phantom-value"));
}

#[test]
fn a_repetition_is_lawful_where_nobody_claims_that_there_is_none() {
    assert_eq!(twice(&mut History::new(Once::NotClaimed)), Ok(()));
}

#[test]
fn writes_that_overlap_may_stand_in_any_order() {
    let overlapping = broken(|h| {
        let (a, b) = (h.begin(Ask::Append), h.begin(Ask::Append));
        h.end(a, Answer::Done)?;
        h.end(b, Answer::Done)?;
        h.read(&[b, a])
    });
    assert_eq!(overlapping, None);
}

#[test]
fn a_write_that_was_acknowledged_after_the_read_began_may_be_missing() {
    let late = broken(|h| {
        let read = h.begin(Ask::Read);
        h.write(Ask::Append);
        h.end(read, Answer::Value(&[]))
    });
    assert_eq!(late, None);
}

#[test]
fn a_value_may_be_replaced_by_a_write_that_was_not_over_before() {
    let replaced = broken(|h| {
        let a = h.write(Ask::Append);
        h.read(&[a])?;
        let p = h.write(Ask::Put);
        h.read(&[p])?;
        let s = h.begin(Ask::Swap);
        h.read(&[s])?;
        h.ends_with(&[s])
    });
    assert_eq!(replaced, None);
    let put_back = broken(|h| {
        let p = h.write(Ask::Put);
        h.write(Ask::Append);
        h.read(&[p])
    });
    assert_eq!(put_back, Some("acknowledged-kept"));
}

#[test]
fn a_read_that_overlaps_a_newer_one_may_return_less() {
    let overlapping = broken(|h| {
        let a = h.begin(Ask::Append);
        let old = h.begin(Ask::Read);
        h.read(&[a])?;
        h.end(old, Answer::Value(&[]))?;
        h.read(&[a])
    });
    assert_eq!(overlapping, None);
    let later = broken(|h| {
        let a = h.begin(Ask::Append);
        let old = h.begin(Ask::Read);
        h.read(&[a])?;
        h.end(old, Answer::Value(&[]))?;
        h.read(&[])
    });
    assert_eq!(later, Some("reads-monotonic"));
}

#[test]
fn two_writes_of_one_token_are_not_missed() {
    let shared = broken(|h| {
        h.rules.invoked(OpId(0), asked(0), KEY, Ask::Append, 5);
        h.rules.invoked(OpId(1), asked(1), KEY, Ask::Append, 5);
        h.next = 2;
        h.end(0, Answer::Done)?;
        h.end(1, Answer::Done)?;
        h.read(&[])
    });
    assert_eq!(shared, None);
}

#[test]
fn a_token_of_two_writes_may_be_from_either() {
    let shared = |other: u64, answers: [Answer<'static>; 2]| {
        broken(|h| {
            h.rules.invoked(OpId(0), asked(0), KEY, Ask::Append, 5);
            h.rules.invoked(OpId(1), asked(1), other, Ask::Append, 5);
            h.next = 2;
            for (op, answer) in (0..).zip(answers) {
                h.end(op, answer)?;
            }
            h.read(&[5])
        })
    };
    assert_eq!(shared(KEY, [Answer::Done, Answer::Refused]), None);
    assert_eq!(shared(KEY + 1, [Answer::Done, Answer::Done]), None);
    assert_eq!(shared(KEY, [Answer::Refused, Answer::Refused]), Some("no-phantom-value"));
    assert_eq!(shared(KEY + 1, [Answer::Refused, Answer::Done]), Some("no-phantom-value"));
}

#[test]
fn what_is_open_and_what_was_acknowledged_is_counted() {
    let mut h = History::new(Once::Claimed);
    let a = h.begin(Ask::Append);
    h.write(Ask::Put);
    h.begin(Ask::Read);
    assert_eq!((h.rules.open(), h.rules.acknowledged()), (2, 1));
    h.end(a, Answer::Unknown).unwrap();
    assert_eq!((h.rules.open(), h.rules.acknowledged()), (1, 1));
    h.end(a, Answer::Done).unwrap();
    assert_eq!((h.rules.open(), h.rules.acknowledged()), (1, 2));
    assert_eq!(h.rules.keys().collect::<Vec<_>>(), [KEY]);
}

/// A history that breaks each rule, for the list of all messages.
pub(crate) fn samples() -> Vec<Violation> {
    let broken =
        |&(name, history): &(&str, Breaking)| history(&mut History::new(Once::Claimed)).expect_err(name);
    HISTORIES.iter().map(broken).collect()
}

/// What those rules that say several things say besides.
const FURTHER: &[(&str, Breaking)] = &[
    ("no-phantom-value", |h| {
        h.rules.invoked(OpId(0), asked(0), KEY + 1, Ask::Put, 0);
        h.next = 1;
        h.read(&[0])
    }),
    ("no-phantom-value", |h| {
        let a = h.begin(Ask::Append);
        h.end(a, Answer::Refused)?;
        h.read(&[a])
    }),
    ("no-phantom-value", |h| {
        let (a, p) = (h.begin(Ask::Append), h.begin(Ask::Put));
        h.read(&[a, p])
    }),
    ("acknowledged-kept", |h| {
        let writes: Vec<u64> = (0..30).map(|_| h.write(Ask::Append)).collect();
        h.read(&writes[1..])
    }),
];

/// The sentence of each.
pub(crate) fn further() -> impl Iterator<Item = Violation> {
    FURTHER.iter().map(|(name, history)| {
        let violation = history(&mut History::new(Once::Claimed)).expect_err(name);
        assert_eq!(violation.rule, *name, "{}", violation.message);
        violation
    })
}
