//! Profiles: which kinds of faults plans are drawn with, and which systems they suit.

use crate::suggest::listed;
use std::fmt;
use std::str::FromStr;
use whitewater_sim::{DiskContract, DiskTrouble, System, Trouble};

/// Which plans are drawn.
///
/// All of them decide alike: a profile leaves out what it does not allow, and changes nothing else that a seed means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// No faults, and options at their defaults.
    Calm,
    /// Each fault family and feature is off in half of the runs; the ranges of the rest are drawn.
    Swarm,
    /// Of the swarm only the faults of links.
    Network,
    /// Of the swarm only crashes and disks, which may be slow, fail and say so.
    Disk,
    /// Of the swarm only what clocks do, with stops and slowness of processes.
    Clock,
    /// The swarm on disks of which every call succeeds and what a sync has covered is durable; they may be slow.
    Honest,
    /// The swarm on disks of which some calls fail, and say so.
    Lossy,
    /// The swarm with a minority of disks that lose what they said was durable.
    Lying,
    /// The swarm with a minority of disks on which bits flip.
    Rotten,
    /// The swarm with disks that may do anything, all of them.
    Unlimited,
}

/// What a profile allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Options are drawn; otherwise they have their defaults.
    pub(crate) options: bool,
    /// Links lose, repeat, reorder, delay and hold messages, and are cut.
    pub(crate) links: bool,
    /// Timers wait.
    pub(crate) timers: bool,
    /// Servers crash, and come back with other options.
    pub(crate) crashes: bool,
    /// Processes are stopped and slow.
    pub(crate) processes: bool,
    /// Clocks are off, fast, slow, jump and stand still.
    pub(crate) clocks: bool,
    /// What disks may do.
    pub(crate) disks: Disks,
}

/// What a profile lets disks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disks {
    /// Every call is instant and succeeds.
    Ideal,
    /// This is the contract, or a better one.
    UpTo(DiskContract),
    /// This is the contract.
    Exactly(DiskContract),
    /// The contract is drawn.
    Drawn,
}

impl Profile {
    /// Every profile there is.
    pub const ALL: [Profile; 10] = [
        Profile::Calm,
        Profile::Swarm,
        Profile::Network,
        Profile::Disk,
        Profile::Clock,
        Profile::Honest,
        Profile::Lossy,
        Profile::Lying,
        Profile::Rotten,
        Profile::Unlimited,
    ];

    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Calm => "calm",
            Profile::Swarm => "swarm",
            Profile::Network => "network",
            Profile::Disk => "disk",
            Profile::Clock => "clock",
            Profile::Honest => "honest",
            Profile::Lossy => "lossy",
            Profile::Lying => "lying",
            Profile::Rotten => "rotten",
            Profile::Unlimited => "unlimited",
        }
    }

    /// Whether a system stands enough for plans of this profile to be what it is named after. Such plans still have no
    /// trouble with disks that the system does not stand.
    pub fn suits(self, system: &dyn System) -> bool {
        let any_of = |contract| DiskTrouble::of(contract).any(|trouble| system.stands(trouble));
        match self {
            Profile::Calm | Profile::Swarm | Profile::Network | Profile::Honest => true,
            Profile::Clock => system.survives(Trouble::Rates) || system.survives(Trouble::Steps),
            Profile::Disk => any_of(DiskContract::Honest) || any_of(DiskContract::Lossy),
            Profile::Lossy => any_of(DiskContract::Lossy),
            Profile::Lying => any_of(DiskContract::Lying),
            Profile::Rotten => any_of(DiskContract::Rotten),
            Profile::Unlimited => {
                system.stands(DiskTrouble::Everywhere)
                    && (any_of(DiskContract::Lying) || any_of(DiskContract::Rotten))
            }
        }
    }

    /// What it allows.
    pub(crate) const fn scope(self) -> Scope {
        const SWARM: Scope = Scope {
            options: true,
            links: true,
            timers: true,
            crashes: true,
            processes: true,
            clocks: true,
            disks: Disks::Drawn,
        };
        const STEADY: Scope = Scope {
            timers: false,
            crashes: false,
            processes: false,
            clocks: false,
            disks: Disks::Ideal,
            ..SWARM
        };
        match self {
            Profile::Calm => Scope { options: false, links: false, ..STEADY },
            Profile::Swarm => SWARM,
            Profile::Network => STEADY,
            Profile::Disk => {
                Scope { links: false, crashes: true, disks: Disks::UpTo(DiskContract::Lossy), ..STEADY }
            }
            Profile::Clock => Scope { links: false, timers: true, processes: true, clocks: true, ..STEADY },
            Profile::Honest => Scope { disks: Disks::UpTo(DiskContract::Honest), ..SWARM },
            Profile::Lossy => Scope { disks: Disks::Exactly(DiskContract::Lossy), ..SWARM },
            Profile::Lying => Scope { disks: Disks::Exactly(DiskContract::Lying), ..SWARM },
            Profile::Rotten => Scope { disks: Disks::Exactly(DiskContract::Rotten), ..SWARM },
            Profile::Unlimited => Scope { disks: Disks::Exactly(DiskContract::Unlimited), ..SWARM },
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;
    fn from_str(text: &str) -> Result<Profile, String> {
        Profile::ALL.into_iter().find(|profile| profile.name() == text).ok_or_else(|| {
            format!("there is no profile `{text}`; {}", listed(text, &Profile::ALL.map(Profile::name)))
        })
    }
}
