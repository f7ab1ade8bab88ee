//! Which kinds of faults a script has: those that may bite when it runs.

use crate::action::{Action, Countable, Losing, Topology};
use crate::clock::ClockChange;
use crate::disk::DiskTrouble;
use crate::fault::{Fault, FaultSet};
use crate::network::{Network, Shape};
use crate::ratio::Ratio;
use crate::script::{Script, Step, Trigger};
use crate::target::Target;
use crate::time::{Span, Time};

impl Script {
    /// The kinds of faults it has. Those that only follow from others are not among them: lost unsynced data, a leader that
    /// crashes without being aimed at, messages that find nobody, copies that outlive a restart.
    pub fn faults(&self) -> FaultSet {
        let network = &self.network;
        let set = FaultSet::NONE
            .with_if(Fault::Loss, network.loss != Ratio::NEVER)
            .with_if(Fault::Duplicate, network.duplicate != Ratio::NEVER)
            .with_if(Fault::Reorder, network.reorder != Ratio::NEVER)
            .with_if(Fault::Corrupt, network.corrupt != Ratio::NEVER)
            .with_if(Fault::Misdeliver, network.misdeliver != Ratio::NEVER)
            .with_if(Fault::LongTail, network.shape == Shape::LongTail)
            .with_if(Fault::Bimodal, network.shape == Shape::Bimodal);
        let disks = DiskTrouble::ALL.into_iter().filter(|&trouble| self.disk.has(trouble));
        let set = disks.filter_map(of_disk).fold(set, FaultSet::with);
        self.steps.iter().fold(set, |set, step| of_step(step, self.servers, set))
    }
}

impl Script {
    /// Takes every fault away that is of none of these kinds; operations and claims stay. So it can be asked what a fault is
    /// needed for.
    pub fn keep_faults(&mut self, kept: FaultSet) {
        let is_kept = |set: FaultSet| {
            // A crash that takes the disk is no crash like others.
            set.iter().any(|fault| kept.has(fault))
                && (kept.has(Fault::WipedDisk) || !set.has(Fault::WipedDisk))
        };
        self.retain_faults(is_kept, kept);
    }

    /// Takes every fault away that is of one of these kinds.
    pub fn drop_faults(&mut self, gone: FaultSet) {
        let rest =
            Fault::ALL.into_iter().filter(|&fault| !gone.has(fault)).fold(FaultSet::NONE, FaultSet::with);
        self.retain_faults(|set| set.iter().all(|fault| rest.has(fault)), rest);
    }

    fn retain_faults(&mut self, is_kept: impl Fn(FaultSet) -> bool, kept: FaultSet) {
        let servers = self.servers;
        self.steps.retain(|step| {
            let set = of_step(step, servers, FaultSet::NONE);
            set.is_empty() || is_kept(set)
        });
        self.network.keep_faults(kept);
        for trouble in DiskTrouble::ALL {
            let is_kept = match of_disk(trouble) {
                Some(fault) => kept.has(fault),
                // Sectors matter where a crash loses something, and how many disks are struck where one is.
                None => !kept.is_empty(),
            };
            if !is_kept {
                self.disk.spare(trouble);
            }
        }
    }
}

impl Network {
    fn keep_faults(&mut self, kept: FaultSet) {
        let shares = [
            (Fault::Loss, &mut self.loss),
            (Fault::Duplicate, &mut self.duplicate),
            (Fault::Reorder, &mut self.reorder),
            (Fault::Corrupt, &mut self.corrupt),
            (Fault::Misdeliver, &mut self.misdeliver),
        ];
        shares
            .into_iter()
            .filter(|(fault, _)| !kept.has(*fault))
            .for_each(|(_, share)| *share = Ratio::NEVER);
        let shape = match self.shape {
            Shape::Uniform => None,
            Shape::LongTail => Some(Fault::LongTail),
            Shape::Bimodal => Some(Fault::Bimodal),
        };
        if shape.is_some_and(|fault| !kept.has(fault)) {
            self.shape = Shape::Uniform;
        }
    }
}

const fn of_disk(trouble: DiskTrouble) -> Option<Fault> {
    Some(match trouble {
        DiskTrouble::SlowSyncs => Fault::SlowSync,
        DiskTrouble::StalledSyncs => Fault::Stall,
        DiskTrouble::SlowCalls => Fault::Busy,
        DiskTrouble::FailedSyncs => Fault::SyncFailed,
        DiskTrouble::FailedWrites | DiskTrouble::FailedReads => Fault::CallFailed,
        DiskTrouble::FullAtTimes | DiskTrouble::LittleRoom => Fault::Full,
        DiskTrouble::LyingSyncs => Fault::Lie,
        DiskTrouble::LostWrites | DiskTrouble::MisdirectedWrites => Fault::Astray,
        DiskTrouble::Rot => Fault::Rot,
        DiskTrouble::TornSectors | DiskTrouble::Everywhere => return None,
    })
}

fn of_step(step: &Step, servers: usize, set: FaultSet) -> FaultSet {
    let aims_at_leader = step.action.targets().contains(&Target::Leader);
    let set = set.with_if(Fault::CutLeader, aims_at_leader && step.action.cuts_links());
    let fault = match &step.action {
        Action::Operate { .. } | Action::Expect(..) | Action::Never(_) => return set,
        Action::Crash { node, losing, at_call } => {
            let set = set
                .with_if(Fault::CrashLeader, *node == Target::Leader)
                .with_if(Fault::WipedDisk, *losing == Losing::Everything);
            return set.with(if *at_call == 0 { Fault::Crash } else { Fault::CrashAtCall });
        }
        Action::CrashAfter { losing, effect, .. } => {
            let set = set.with_if(Fault::WipedDisk, *losing == Losing::Everything);
            return set.with(match effect {
                Countable::Sends => Fault::CrashAtSend,
                Countable::Replies => Fault::CrashAtReply,
            });
        }
        Action::Roll { .. } => Fault::Roll,
        Action::Rewind(_) => Fault::OlderDisk,
        Action::Pause(_) => Fault::Pause,
        Action::FailSyncs(_) => Fault::SyncFailed,
        Action::Slow { .. } => Fault::SlowNode,
        Action::Clock { change, .. } => match change {
            ClockChange::Rate(_) => Fault::ClockRate,
            ClockChange::Freeze => Fault::ClockFreeze,
            _ if step.when == Trigger::At(Time::ZERO) => Fault::ClockOffset,
            ClockChange::Forward(_) => Fault::ClockForward,
            ClockChange::Back(_) => Fault::ClockBack,
        },
        Action::Partition(groups) => of_groups(groups, servers),
        Action::Topology { flapping: Some(_), .. } => Fault::Flap,
        Action::Topology { topology, groups, .. } => match topology {
            Topology::Groups => of_groups(groups, servers),
            Topology::Ring => Fault::Ring,
            Topology::Bridge => Fault::Bridge,
            Topology::Chain => Fault::Chain,
            Topology::OneWay => Fault::OneWay,
        },
        Action::Cut { .. } => Fault::Cut,
        Action::Clog { .. } => Fault::Clog,
        Action::Hold(pattern) => {
            let is_timer = pattern.name.as_ref().is_some_and(|name| name.starts_with(char::is_lowercase));
            if is_timer { Fault::HoldTimer } else { Fault::HoldMessage }
        }
        Action::Drop(_) => Fault::Drop,
        Action::Delay(..) => Fault::SlowLink,
        Action::Jitter { high: Span::ZERO, .. } => return set,
        Action::Jitter { .. } => Fault::Jitter,
        Action::Reorder { .. } => Fault::Reorder,
        Action::DuplicateSome { .. } => Fault::Duplicate,
        Action::Duplicate(..) => Fault::Repeat,
        Action::Replay(..) => Fault::Replay,
        Action::Lossy(..) => Fault::LossyLink,
        Action::Choke(..) => Fault::Choke,
        Action::Corrupt(..) => Fault::Corrupt,
        Action::Misdeliver(..) | Action::MisdeliverSome(..) => Fault::Misdeliver,
    };
    set.with(fault)
}

/// The kind of a cut into groups, as far as roles allow to tell before it runs.
fn of_groups(groups: &[Vec<Target>], servers: usize) -> Fault {
    match groups {
        [first, _] if first.len() == servers / 2 && servers > 2 && first.contains(&Target::Leader) => {
            Fault::Straddle
        }
        [first, second] if first.len() == 1 || second.len() == 1 => Fault::Isolate,
        _ => Fault::Split,
    }
}
