//! The book of pins: what a world asks before it draws, and what it writes down of what it drew.

use super::tape::Tape;
use super::{Decision, DrawSite, Fate, Pin, Rest};
use crate::disk::Pinned;
use crate::draw::{fold, name_hash};
use crate::id::NodeId;
use crate::time::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Kinds of decisions, as parts of their names.
const MESSAGE: u64 = 1;
const TIMER: u64 = 2;
const DRAW: u64 = 3;
const CRASH: u64 = 4;

/// The pins of a run, by name. A world has one only if there are pins, if nothing is drawn, or if a trace is recorded.
#[derive(Debug)]
pub(crate) struct PinBook {
    pins: Vec<Pin>,
    rest: Rest,
    servers: usize,
    /// Pins by the hash of their whole names.
    by_name: BTreeMap<u64, usize>,
    /// Names, without their numbers, of which a pin exists.
    pinned: BTreeSet<u64>,
    /// How often a name, without its number, has come up.
    seen: BTreeMap<u64, u32>,
    met: Vec<bool>,
    pub(crate) tape: Option<Tape>,
}

/// What is decided about a message at its sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    pub(crate) lost: bool,
    pub(crate) delay: Span,
    /// What happens where it arrives; `None` leaves it to the draw.
    pub(crate) more: Option<Onward>,
}

/// What happens to a message where it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Onward {
    /// A second copy comes so much later.
    pub(crate) again: Option<Span>,
    /// It is delivered to this node instead.
    pub(crate) at: Option<NodeId>,
}

/// From which bit on a packed [`Onward`] has the node; times below it last two years.
const NODE_BITS: u32 = 56;

impl Onward {
    /// In 64 bits, 0 if nothing happens.
    pub(crate) fn packed(self) -> u64 {
        let again = self.again.map_or(0, |after| after.nanos().min((1 << NODE_BITS) - 2) + 1);
        let at = self.at.map_or(0, |node| node.index() as u64 + 1);
        again | at << NODE_BITS
    }

    /// What was packed.
    pub(crate) fn unpacked(bits: u64) -> Onward {
        let (again, at) = (bits & ((1 << NODE_BITS) - 1), bits >> NODE_BITS);
        Onward {
            again: again.checked_sub(1).map(Span::from_nanos),
            at: at.checked_sub(1).map(|index| NodeId::from_index(index as usize)),
        }
    }
}

/// A name without its number.
fn base(class: u64, a: u64, b: u64, key: u64, start: u32) -> u64 {
    fold(fold(a ^ class << 56, b ^ 0x452f_8a15_0e1d_37c9), key ^ u64::from(start).rotate_left(32) | 1)
}

fn with_number(base: u64, number: u32) -> u64 {
    fold(base, u64::from(number) << 1 | 1)
}

fn pair(a: NodeId, b: NodeId) -> u64 {
    (a.index() as u64) << 8 | b.index() as u64
}

/// The hash of a site's name as a pin writes it.
fn site_hash(site: &str) -> u64 {
    let number = site.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.unwrap_or_else(|| name_hash(site))
}

/// Name and number of what a pin decides; disks keep their own pins.
fn name_of(decision: &Decision) -> Option<(u64, u32)> {
    Some(match decision {
        Decision::Message { from, to, name, key, start, number, .. } => {
            (base(MESSAGE, pair(*from, *to), name_hash(name), *key, *start), *number)
        }
        Decision::Timer { node, name, peer, start, number, .. } => {
            (base(TIMER, pair(*node, peer.unwrap_or(*node)), name_hash(name), 0, *start), *number)
        }
        Decision::Draw { node, site, start, number, .. } => {
            (base(DRAW, pair(*node, *node), site_hash(site), 0, *start), *number)
        }
        Decision::Crash { node, number, .. } => (base(CRASH, pair(*node, *node), 0, 0, 0), *number),
        Decision::Disk { .. } => return None,
    })
}

impl PinBook {
    /// The book of a script; `record` keeps a tape.
    pub(crate) fn new(pins: &[Pin], rest: Rest, servers: usize, record: bool) -> PinBook {
        let mut book = PinBook {
            met: vec![false; pins.len()],
            pins: pins.to_vec(),
            rest,
            servers,
            by_name: BTreeMap::new(),
            pinned: BTreeSet::new(),
            seen: BTreeMap::new(),
            tape: record.then(Tape::default),
        };
        for (at, pin) in pins.iter().enumerate() {
            if let Some((name, number)) = name_of(&pin.decision) {
                book.pinned.insert(name);
                book.by_name.insert(with_number(name, number), at);
            }
        }
        book
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.rest == Rest::Fixed
    }

    /// Counts a decision that has come up; gives its number and the pin that decides it.
    fn meet(&mut self, name: u64) -> (u32, Option<&Decision>) {
        if self.tape.is_none() && !self.pinned.contains(&name) {
            return (0, None);
        }
        let number = self.seen.entry(name).or_default();
        *number += 1;
        let number = *number;
        let Some(&at) = self.by_name.get(&with_number(name, number)) else { return (number, None) };
        self.met[at] = true;
        (number, Some(&self.pins[at].decision))
    }

    /// What becomes of a message. `drawn` is what the seed says, `shortest` the least delay there is.
    pub(crate) fn message(
        &mut self,
        (from, to): (NodeId, NodeId),
        (kind, key): (&'static str, u64),
        text: &impl Display,
        incarnation: u32,
        drawn: Decided,
        shortest: Span,
    ) -> Decided {
        let start = incarnation + 1;
        let fixed = self.is_fixed();
        let (number, pin) = self.meet(base(MESSAGE, pair(from, to), name_hash(kind), key, start));
        let decided = match pin {
            Some(Decision::Message { fate: Fate::Lost, .. }) => {
                Decided { lost: true, delay: shortest, more: Some(Onward::default()) }
            }
            Some(Decision::Message { fate: Fate::Arrives { after, again, at }, .. }) => {
                Decided { lost: false, delay: *after, more: Some(Onward { again: *again, at: *at }) }
            }
            _ if fixed => Decided { lost: false, delay: shortest, more: Some(Onward::default()) },
            _ => drawn,
        };
        if let Some(tape) = &mut self.tape {
            let fate = match decided.lost {
                true => Fate::Lost,
                false => {
                    let Onward { again, at } = decided.more.unwrap_or_default();
                    Fate::Arrives { after: decided.delay, again, at }
                }
            };
            let name = kind.to_owned();
            tape.message(Decision::Message { from, to, name, key, start, number, fate }, text, shortest);
        }
        decided
    }

    /// Says which event a message was sent by; its copy is written down under it.
    pub(crate) fn sent(&mut self, event: u32) {
        if let Some(tape) = &mut self.tape {
            tape.sent(event);
        }
    }

    /// The newest message is lost or delayed by chance by steps of the script.
    pub(crate) fn bent(&mut self, lost: bool, jitter: Span) {
        let Some(tape) = &mut self.tape else { return };
        tape.amend(|fate| match fate {
            _ if lost => *fate = Fate::Lost,
            Fate::Arrives { after, .. } => *after = *after + jitter,
            Fate::Lost => {}
        });
    }

    /// The message that an event sent goes to another node by chance.
    pub(crate) fn astray(&mut self, sent_by: u32, node: Option<NodeId>) {
        if let (Some(tape), Some(node)) = (&mut self.tape, node) {
            tape.astray(sent_by, node);
        }
    }

    /// The message that an event sent, or its copy, arrives damaged by chance.
    pub(crate) fn damaged(&mut self, sent_by: u32, is_copy: bool) {
        if let Some(tape) = &mut self.tape {
            tape.damaged(sent_by, is_copy);
        }
    }

    /// The message that an event sent has arrived, and the draw lets a copy follow.
    pub(crate) fn copied(&mut self, sent_by: u32, later: Span) {
        if let Some(tape) = &mut self.tape {
            tape.copied(sent_by, later);
        }
    }

    /// The place of a node in a range if nothing is drawn.
    fn spread(&self, node: NodeId, low: u64, high: u64) -> u64 {
        let servers = self.servers.max(1) as u64;
        let part = node.position() as u64 % servers;
        low + (u128::from(high - low) * u128::from(part) / u128::from(servers)) as u64
    }

    /// How long a timer is set for.
    pub(crate) fn timer(
        &mut self,
        node: NodeId,
        (name, peer): (&'static str, Option<NodeId>),
        incarnation: u32,
        (low, high): (Span, Span),
        drawn: Span,
    ) -> Span {
        if low == high {
            return drawn;
        }
        let start = incarnation + 1;
        let by_place = Span::from_nanos(self.spread(node, low.nanos(), high.nanos()));
        let place = pair(node, peer.unwrap_or(node));
        let fixed = self.is_fixed();
        let (number, pin) = self.meet(base(TIMER, place, name_hash(name), 0, start));
        let span = match pin {
            Some(Decision::Timer { span, .. }) => *span,
            _ if fixed => by_place,
            _ => drawn,
        };
        if let Some(tape) = &mut self.tape {
            let name = name.to_owned();
            tape.push(Decision::Timer { node, name, peer, start, number, span }, span == by_place);
        }
        span
    }

    /// What a node draws.
    pub(crate) fn draw(
        &mut self,
        node: NodeId,
        site: DrawSite,
        incarnation: u32,
        (low, high): (u64, u64),
        drawn: u64,
    ) -> u64 {
        if low == high {
            return drawn;
        }
        let usual = self.spread(node, low, high);
        self.number(node, site, incarnation, drawn, usual).clamp(low, high)
    }

    /// A number that is drawn for a node, or `usual` if nothing is drawn.
    pub(crate) fn number(
        &mut self,
        node: NodeId,
        site: DrawSite,
        incarnation: u32,
        drawn: u64,
        usual: u64,
    ) -> u64 {
        let (start, fixed) = (incarnation + 1, self.is_fixed());
        let (number, pin) = self.meet(base(DRAW, pair(node, node), site.hash, 0, start));
        let value = match pin {
            Some(Decision::Draw { value, .. }) => *value,
            _ if fixed => usual,
            _ => drawn,
        };
        if let Some(tape) = &mut self.tape {
            let site = site.text();
            tape.push(Decision::Draw { node, site, start, number, value }, value == usual);
        }
        value
    }

    /// What the draws of a crash begin from; `None`: nothing is kept.
    pub(crate) fn crash(&mut self, node: NodeId, drawn: u64) -> Option<u64> {
        let fixed = self.is_fixed();
        let (number, pin) = self.meet(base(CRASH, pair(node, node), 0, 0, 0));
        let bits = match pin {
            Some(Decision::Crash { bits, .. }) => Some(*bits),
            _ if fixed => None,
            _ => Some(drawn),
        };
        if let (Some(tape), Some(bits)) = (&mut self.tape, bits) {
            tape.push(Decision::Crash { node, number, bits }, false);
        }
        bits
    }

    /// The pins of a node's disk: what, number, value.
    pub(crate) fn of_disk(&self, node: NodeId) -> impl Iterator<Item = (&str, u64, u64)> {
        self.pins.iter().filter_map(move |pin| match &pin.decision {
            Decision::Disk { node: of, what, number, value } if *of == node => {
                Some((what.as_str(), *number, *value))
            }
            _ => None,
        })
    }

    /// Takes in which pins of a node's disk were met, and what it has written down.
    pub(crate) fn add_disk(&mut self, node: NodeId, pinned: &Pinned) {
        for (at, pin) in self.pins.iter().enumerate() {
            if let Decision::Disk { node: of, what, number, .. } = &pin.decision {
                self.met[at] |= *of == node && pinned.met.contains(&(what.as_str(), *number));
            }
        }
        if let Some(tape) = &mut self.tape {
            for &(what, number, value) in &pinned.made {
                tape.push(Decision::Disk { node, what: what.to_owned(), number, value }, false);
            }
        }
    }

    /// Which pins were not met, by position.
    pub(crate) fn unmet(&self) -> Vec<usize> {
        (0..self.met.len()).filter(|&at| !self.met[at]).collect()
    }
}
