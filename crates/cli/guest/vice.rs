//! How a guest misbehaves: what a campaign has to survive, and what makes runs differ that should not.

use crate::node::{Beat, Guest, Hello};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use whitewater_sim::{Effects, NodeId, Span};

/// A way to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vice {
    None,
    /// A panic.
    Panic,
    /// Effects without end in one input.
    Effects,
    /// A million sends in one input.
    Sends,
    /// Every message leads to many more.
    Flood,
    /// More memory at once than there can be.
    Allocate,
    /// Memory without end.
    Hoard,
    /// An input without end.
    Spin,
    /// The end of the process.
    Abort,
    /// A recursion without end.
    Overflow,
    /// Decides by the order of a hash map.
    HashOrder,
    /// Decides by the time of day.
    Clock,
    /// Decides by an address.
    Address,
    /// Decides by what the run before has left behind.
    LeftOver,
}

const ALL: &[(&str, Vice)] = &[
    ("none", Vice::None),
    ("panic", Vice::Panic),
    ("effects", Vice::Effects),
    ("sends", Vice::Sends),
    ("flood", Vice::Flood),
    ("allocate", Vice::Allocate),
    ("hoard", Vice::Hoard),
    ("spin", Vice::Spin),
    ("abort", Vice::Abort),
    ("overflow", Vice::Overflow),
    ("hash-order", Vice::HashOrder),
    ("clock", Vice::Clock),
    ("address", Vice::Address),
    ("left-over", Vice::LeftOver),
];

/// The names of all of them.
pub(crate) const NAMES: &[&str] = &{
    let mut names = [""; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        names[at] = ALL[at].0;
        at += 1;
    }
    names
};

/// The time at which the last node of this process was told to misbehave.
static LEFT_OVER: AtomicU64 = AtomicU64::new(0);

impl Vice {
    /// The one of that name.
    pub(crate) fn of(name: &str) -> Vice {
        ALL.iter().find(|(known, _)| *known == name).expect("options have only these values").1
    }

    /// Misbehaves, at a time drawn from the seed, and chooses a number that others will be told.
    pub(crate) fn strike(self, at: Span, peers: &[NodeId], fx: &mut Effects<'_, Guest>) -> u64 {
        match self {
            Vice::None | Vice::Flood => 0,
            Vice::Panic => panic!("this guest panics"),
            Vice::Effects => loop {
                fx.set_timer(Beat, at, at);
            },
            Vice::Sends => {
                (0..1_000_000).for_each(|_| fx.send(peers[0], Hello(0)));
                0
            }
            Vice::Allocate => Vec::<u64>::with_capacity(black_box(usize::MAX)).len() as u64,
            Vice::Hoard => hoard(),
            Vice::Spin => loop {
                black_box(at);
            },
            Vice::Abort => std::process::abort(),
            Vice::Overflow => overflow(1),
            Vice::HashOrder => {
                let map: HashMap<u64, ()> = (0..64).map(|key| (key, ())).collect();
                map.into_keys().next().unwrap_or_default()
            }
            Vice::Clock => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::from(now.subsec_nanos())
            }
            Vice::Address => {
                let here = 0u8;
                std::ptr::from_ref(black_box(&here)).addr() as u64
            }
            Vice::LeftOver => LEFT_OVER.swap(at.nanos(), Ordering::SeqCst),
        }
    }
}

/// Takes memory until there is none.
fn hoard() -> u64 {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![0u8; 64 << 20]));
        black_box(&all);
    }
}

#[expect(unconditional_recursion, reason = "that is the vice")]
fn overflow(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    overflow(here[7] + 1) + here[3]
}
