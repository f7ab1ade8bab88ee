//! Every kind of fault that a world knows, with a name, a sentence, and a count of how often it bit.
//!
//! A fault is counted where it takes effect - at the message that is lost, at the input that waits - and never where it
//! is drawn: the count is the proof that it bites. Switched off by [`crate::World::without`], it does nothing and its
//! count stays at zero.

use std::ops::{Index, IndexMut};

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// One kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Fault {
            /// Every one there is, in the order of the table.
            pub const ALL: [Fault; Fault::COUNT] = [$(Fault::$variant,)+];
            /// How many there are.
            pub const COUNT: usize = [$(Fault::$variant,)+].len();

            /// Its name, as summaries and tables write it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Fault::$variant => $name,)+
                }
            }

            /// What it does, in one sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Fault::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

faults! {
    /// A message is lost by the network as a whole.
    Loss = "loss",
    /// A message is lost on a link, or of a kind, that loses a share of them.
    LossyLink = "lossy-link",
    /// One message, singled out, is lost.
    Drop = "drop",
    /// A message larger than a limit vanishes while smaller ones pass.
    Choke = "choke",
    /// A message that was delivered is delivered a second time.
    Duplicate = "duplicate",
    /// One message, singled out, comes a second time.
    Repeat = "repeat",
    /// A message is delayed so that others overtake it.
    Reorder = "reorder",
    /// A message takes a time from the far end of a long tail.
    LongTail = "long-tail",
    /// A message takes the slower of two ways.
    Bimodal = "bimodal",
    /// A message of a slow link, or of a slow kind, comes later.
    SlowLink = "slow-link",
    /// A message of a restless link comes later by a drawn time.
    Jitter = "jitter",
    /// A copy of a message that was kept back comes some elections later.
    Replay = "replay",
    /// Such a copy meets a sender or a receiver that has been restarted since.
    ReplayOverRestart = "replay-over-restart",
    /// A message arrives damaged, and the receiver's checksum finds it.
    Corrupt = "corrupt",
    /// A message is delivered to another server than it was sent to.
    Misdeliver = "misdeliver",
    /// A link stands still; what was sent over it queues and comes later.
    Clog = "clog",
    /// Messages of a kind, or one of them, are held back.
    HoldMessage = "hold-message",
    /// A timer is held back.
    HoldTimer = "hold-timer",
    /// One direction of one link is cut: a half-open link.
    Cut = "cut",
    /// One node is cut off from all others.
    Isolate = "isolate",
    /// The cluster is cut into groups.
    Split = "split",
    /// The leader and one node less than a majority are cut off from the majority.
    Straddle = "straddle",
    /// Each node reaches a majority, and no two of them the same one.
    Ring = "ring",
    /// Two groups reach each other only through the nodes between them.
    Bridge = "bridge",
    /// Each node reaches only its neighbours in a row.
    Chain = "chain",
    /// Groups hear others and are not heard by them.
    OneWay = "one-way",
    /// A cut that comes and goes.
    Flap = "flap",
    /// A cut that was aimed at the leader.
    CutLeader = "cut-leader",
    /// A clock runs at another rate.
    ClockRate = "clock-rate",
    /// A clock is off from the start.
    ClockOffset = "clock-offset",
    /// A clock jumps ahead.
    ClockForward = "clock-forward",
    /// A clock is set back.
    ClockBack = "clock-back",
    /// A clock stands still.
    ClockFreeze = "clock-freeze",
    /// A server crashes.
    Crash = "crash",
    /// The leader crashes.
    CrashLeader = "crash-leader",
    /// A server crashes at a storage call, in the middle of a step.
    CrashAtCall = "crash-at-call",
    /// A server crashes once it has sent so many messages, in the middle of a step.
    CrashAtSend = "crash-at-send",
    /// A server crashes once it has answered so many requests, in the middle of a step.
    CrashAtReply = "crash-at-reply",
    /// A crash loses what was not synced.
    UnsyncedLost = "unsynced-lost",
    /// A server comes back with an empty disk.
    WipedDisk = "wiped-disk",
    /// A server comes back with its disk of an earlier moment.
    OlderDisk = "older-disk",
    /// A server comes back with other options.
    Roll = "roll",
    /// A process is stopped for a while; what comes for it queues.
    Pause = "pause",
    /// Every input keeps its node busy for a while.
    SlowNode = "slow-node",
    /// A message finds its receiver down.
    Undeliverable = "undeliverable",
    /// A sync takes time.
    SlowSync = "slow-sync",
    /// A storage call other than a sync keeps its node busy.
    Busy = "busy",
    /// A sync takes much longer than others.
    Stall = "stall",
    /// A sync fails, and the data it covered is lost.
    SyncFailed = "sync-failed",
    /// A storage call other than a sync fails.
    CallFailed = "call-failed",
    /// There is no room for a write.
    Full = "full",
    /// A sync says that it is done and is not.
    Lie = "lie",
    /// A write never reaches its place.
    Astray = "astray",
    /// A bit flips.
    Rot = "rot",
}

/// How often each fault bit in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bites([u64; Fault::COUNT]);

impl Default for Bites {
    fn default() -> Bites {
        Bites([0; Fault::COUNT])
    }
}

impl Index<Fault> for Bites {
    type Output = u64;
    fn index(&self, fault: Fault) -> &u64 {
        &self.0[fault as usize]
    }
}

impl IndexMut<Fault> for Bites {
    fn index_mut(&mut self, fault: Fault) -> &mut u64 {
        &mut self.0[fault as usize]
    }
}

/// Some kinds of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultSet(u64);

impl FaultSet {
    /// None of them.
    pub const NONE: FaultSet = FaultSet(0);

    /// Whether it holds this one.
    #[inline]
    pub const fn has(self, fault: Fault) -> bool {
        self.0 >> fault as u8 & 1 == 1
    }

    /// The same with this one.
    #[must_use]
    pub const fn with(self, fault: Fault) -> FaultSet {
        FaultSet(self.0 | 1 << fault as u8)
    }

    /// The same with this one if a condition holds.
    #[must_use]
    pub const fn with_if(self, fault: Fault, holds: bool) -> FaultSet {
        if holds { self.with(fault) } else { self }
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those it holds, in the order of [`Fault::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |&fault| self.has(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_fault_has_a_name_and_a_sentence_of_its_own() {
        let names: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        let sentences: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.about()).collect();
        assert_eq!((names.len(), sentences.len()), (Fault::COUNT, Fault::COUNT));
        assert!(sentences.iter().all(|about| about.ends_with('.') && !about.starts_with(' ')));
        const { assert!(Fault::COUNT <= 64, "a set holds them all") };
    }

    #[test]
    fn a_set_holds_what_was_put_into_it() {
        let set = FaultSet::NONE.with(Fault::Rot).with(Fault::Loss).with_if(Fault::Pause, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Fault::Loss, Fault::Rot]);
        assert!(FaultSet::NONE.is_empty() && !set.has(Fault::Pause));
    }
}
