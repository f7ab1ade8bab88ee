//! Scripts of log operations, a plain model of what they mean, and the search through every crash they may meet.

use std::collections::BTreeMap;
use whitewater_sim::{Disk, DiskTiming, Draw, Key, Span, Ticket};
use whitewater_wal::{Durability, Entry, HardState, Options, Recovered, Snapshot, Synced, Wal, WalError};

/// What a log must say, without any of its means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) hard_state: HardState,
    /// Index of the entry before the first that must be there.
    pub(super) base: u64,
    pub(super) entries: BTreeMap<u64, (u64, Vec<u8>)>,
    pub(super) snapshot: Option<(u64, u64, Vec<u8>)>,
}

/// One operation of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// One entry.
    Append,
    /// A new term with two entries.
    AppendTwo,
    /// A new term with an entry in place of the last one.
    Overwrite,
    /// A vote.
    Vote,
    /// A commit index, not to be made durable.
    Commit,
    /// The last entry goes, without another.
    Truncate,
    /// A snapshot of the whole log.
    Save,
    /// A snapshot from a peer that is ahead, with an entry behind it.
    Install,
    /// Entries under the snapshot are given up.
    Compact,
    /// Every sync under way is done, oldest first.
    Settle,
    /// The newest sync under way is done.
    SettleNewest,
}

impl Op {
    /// All but [`Op::Commit`], which leaves more unsynced than can be tried in every script.
    pub(super) const SYNCED: [Op; 10] = [
        Op::Append,
        Op::AppendTwo,
        Op::Overwrite,
        Op::Vote,
        Op::Truncate,
        Op::Save,
        Op::Install,
        Op::Compact,
        Op::Settle,
        Op::SettleNewest,
    ];
}

/// A log with its disk, what it must say after each write, and how much of that it has promised.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) disk: Disk,
    pub(super) wal: Wal,
    pub(super) options: Options,
    /// What the log must say after each write, the first being what it began with.
    pub(super) history: Vec<Model>,
    /// The newest of [`Bench::history`] that was said to be durable.
    pub(super) promised: usize,
    /// Tickets under way, with what each stands for: a state of the history, or a snapshot that is being written.
    waiting: Vec<(Ticket, Waiting)>,
}

#[derive(Clone, Debug)]
enum Waiting {
    Write(usize),
    Store(Model, Op),
}

impl Bench {
    pub(super) fn new(timing: DiskTiming, key: Key, options: Options) -> Bench {
        let mut disk = Disk::new(timing, key);
        let (wal, _) = Wal::open(&mut disk, options.clone()).expect("an empty disk holds an empty log");
        Bench { disk, wal, options, history: vec![Model::default()], promised: 0, waiting: Vec::new() }
    }

    pub(super) fn model(&self) -> &Model {
        self.history.last().expect("there is a beginning")
    }

    /// Does an operation. `None` if it means nothing at this moment. An error is one the log may lawfully answer.
    pub(super) fn run(&mut self, op: Op) -> Option<Result<(), WalError>> {
        let mut next = self.model().clone();
        let last = self.wal.last_index();
        let snapshot_index = next.snapshot.as_ref().map_or(0, |s| s.0);
        let serial = self.history.len() as u64;
        let mut hard_state = next.hard_state;
        let entry = |index: u64, term: u64| Entry {
            index,
            term,
            kind: 0,
            payload: format!("e{serial}.{index}").into_bytes().into(),
        };
        let result = match op {
            Op::Append | Op::AppendTwo | Op::Overwrite => {
                let first = if op == Op::Overwrite { last } else { last + 1 };
                if op == Op::Overwrite && last <= snapshot_index {
                    return None;
                }
                hard_state.term += u64::from(op != Op::Append);
                hard_state.term = hard_state.term.max(1);
                let count = if op == Op::AppendTwo { 2 } else { 1 };
                let entries: Vec<Entry> =
                    (first..first + count).map(|index| entry(index, hard_state.term)).collect();
                let given = (op != Op::Append || hard_state != next.hard_state).then_some(hard_state);
                next.append(given, &entries);
                self.history.push(next);
                self.wal.append(&mut self.disk, given, &entries)
            }
            Op::Vote => {
                (hard_state.term, hard_state.vote) = (hard_state.term + 1, serial);
                next.hard_state = hard_state;
                self.history.push(next);
                self.wal.append(&mut self.disk, Some(hard_state), &[])
            }
            Op::Commit => {
                hard_state.commit += 1;
                next.hard_state = hard_state;
                self.history.push(next);
                return match self.wal.note(&mut self.disk, hard_state) {
                    Err(WalError::Busy) => None,
                    result => Some(result),
                };
            }
            Op::Truncate => {
                if last <= snapshot_index {
                    return None;
                }
                next.entries.split_off(&last);
                self.history.push(next);
                self.wal.truncate(&mut self.disk, last)
            }
            Op::Save | Op::Install => return self.store(op, serial),
            Op::Compact => {
                if snapshot_index == 0 || next.base >= snapshot_index {
                    return None;
                }
                next.compact();
                return match self.wal.compact(&mut self.disk, snapshot_index) {
                    Ok(()) => {
                        self.history.iter_mut().for_each(Model::compact);
                        Some(Ok(()))
                    }
                    Err(WalError::NotCovered { .. }) => None,
                    Err(error) => Some(Err(error)),
                };
            }
            Op::Settle | Op::SettleNewest => return self.settle(op),
        };
        if result == Err(WalError::Busy) {
            return None;
        }
        let promise = self.history.len() - 1;
        Some(result.map(|durability| self.note(durability, promise)))
    }

    fn note(&mut self, durability: Durability, promise: usize) {
        match durability {
            Durability::Now if self.disk.is_dead() => {}
            Durability::Now => self.promised = self.promised.max(promise),
            Durability::After(ticket) => self.waiting.push((ticket, Waiting::Write(promise))),
        }
    }

    fn store(&mut self, op: Op, serial: u64) -> Option<Result<(), WalError>> {
        let model = self.model().clone();
        let last = self.wal.last_index();
        let index = if op == Op::Save { last } else { last + 3 };
        if index <= model.snapshot.as_ref().map_or(0, |s| s.0) || self.wal.is_storing() {
            return None;
        }
        let term = if op == Op::Save { self.wal.term(index)? } else { model.hard_state.term + 1 };
        let data = format!("s{serial}").into_bytes();
        let snapshot = Snapshot { index, term, metadata: [7][..].into(), data: data.clone().into() };
        // In the order of the log it takes effect when its frame is written; without latency that is now.
        let part = Model { snapshot: Some((index, term, data)), ..Model::default() };
        let result = if op == Op::Save {
            self.wal.save_snapshot(&mut self.disk, snapshot)
        } else {
            let (hard_state, entries) = install_with(index, term);
            self.wal.install_snapshot(&mut self.disk, snapshot, Some(hard_state), &entries)
        };
        Some(match result {
            Ok(Durability::After(ticket)) if self.wal.is_storing() => {
                self.waiting.push((ticket, Waiting::Store(part, op)));
                Ok(())
            }
            result => {
                self.take_effect(part, op);
                let promise = self.history.len() - 1;
                result.map(|durability| self.note(durability, promise))
            }
        })
    }

    fn take_effect(&mut self, part: Model, op: Op) {
        let mut next = self.model().clone();
        let (index, term, _) = *part.snapshot.as_ref().expect("a snapshot takes effect");
        next.snapshot = part.snapshot;
        if op == Op::Install {
            (next.base, next.entries) = (index, BTreeMap::new());
            let (hard_state, entries) = install_with(index, term);
            next.append(Some(hard_state), &entries);
        }
        self.history.push(next);
    }

    fn settle(&mut self, op: Op) -> Option<Result<(), WalError>> {
        self.waiting.last()?;
        if op == Op::SettleNewest && self.waiting.len() < 2 {
            return None;
        }
        let _ = self.disk.take_asked().count();
        while !self.waiting.is_empty() && !self.disk.is_dead() {
            let at = if op == Op::Settle { 0 } else { self.waiting.len() - 1 };
            let (ticket, waiting) = self.waiting.remove(at);
            let done = self.disk.complete(ticket).expect("the ticket is under way");
            if !done {
                self.wal.sync_failed(&mut self.disk, ticket);
                if self.wal.is_poisoned() {
                    return Some(Err(WalError::Poisoned));
                }
                let _ = self.disk.take_asked().count();
                if let Ok(durability) = self.wal.flush(&mut self.disk) {
                    self.note(durability, self.history.len() - 1);
                }
                let _ = self.disk.take_asked().count();
                continue;
            }
            let promise = match waiting {
                Waiting::Write(promise) => promise,
                Waiting::Store(part, op) => {
                    self.take_effect(part, op);
                    self.history.len() - 1
                }
            };
            match self.wal.synced(&mut self.disk, ticket) {
                Ok(Synced::Done) => self.note(Durability::Now, promise),
                Ok(Synced::Next(durability)) => self.note(durability, promise),
                Ok(Synced::Unknown) => panic!("the log does not know its ticket {ticket}"),
                Err(error) => return Some(Err(error)),
            }
            let _ = self.disk.take_asked().count();
            if op == Op::SettleNewest {
                break;
            }
        }
        Some(Ok(()))
    }

    /// Restarts on a disk that a crash has left, and holds the log against what it may lawfully say: any state from
    /// the newest promised to the newest that was begun. Returns what it said, to go on from there.
    pub(super) fn recover(&self, mut disk: Disk) -> Result<(Bench, Recovered), String> {
        let (wal, recovered) =
            Wal::open(&mut disk, self.options.clone()).map_err(|error| error.to_string())?;
        let allowed = &self.history[self.promised..];
        let Some(model) = allowed.iter().find(|model| model.differs(&wal).is_none()) else {
            let nearest = allowed.iter().map(|model| model.differs(&wal).expect("it differs")).next_back();
            return Err(format!("after the crash {}", nearest.expect("the promised state is there")));
        };
        let (options, history) = (self.options.clone(), vec![model.clone()]);
        Ok((Bench { disk, wal, options, history, promised: 0, waiting: Vec::new() }, recovered))
    }
}

fn install_with(index: u64, term: u64) -> (HardState, Vec<Entry>) {
    let payload = b"behind"[..].into();
    (HardState { term, vote: 0, commit: index }, vec![Entry { index: index + 1, term, kind: 0, payload }])
}

impl Model {
    fn append(&mut self, hard_state: Option<HardState>, entries: &[Entry]) {
        self.hard_state = hard_state.unwrap_or(self.hard_state);
        let Some(first) = entries.first() else { return };
        self.entries.split_off(&first.index);
        self.entries.extend(entries.iter().map(|e| (e.index, (e.term, e.payload.to_vec()))));
    }

    /// Gives up what the snapshot covers; entries there may be there or not.
    pub(super) fn compact(&mut self) {
        let covered = self.snapshot.as_ref().map_or(0, |s| s.0);
        self.base = self.base.max(covered);
        self.entries.retain(|index, _| *index > covered);
    }

    fn last_index(&self) -> u64 {
        self.entries.keys().next_back().copied().unwrap_or(self.base)
    }

    /// What a log says that the model does not, if anything.
    pub(super) fn differs(&self, wal: &Wal) -> Option<String> {
        let snapshot = wal.snapshot().map(|s| (s.index, s.term, s.data.to_vec()));
        if wal.hard_state() != self.hard_state {
            return Some(format!("the hard state is {:?} and not {:?}", wal.hard_state(), self.hard_state));
        }
        if snapshot != self.snapshot {
            return Some(format!("the snapshot is {snapshot:?} and not {:?}", self.snapshot));
        }
        if wal.last_index() != self.last_index() {
            return Some(format!("the last entry is {} and not {}", wal.last_index(), self.last_index()));
        }
        for (&index, (term, payload)) in &self.entries {
            let found = wal.entry(index).map(|entry| (entry.term, entry.payload.to_vec()));
            if found.as_ref() != Some(&(*term, payload.clone())) {
                return Some(format!("entry {index} is {found:?}"));
            }
        }
        None
    }
}

/// What a search tries.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) timing: DiskTiming,
    pub(super) key: Key,
    pub(super) options: Options,
    /// What scripts are made of.
    pub(super) alphabet: &'static [Op],
    /// What has happened before the script.
    pub(super) before: &'static [Op],
    /// Storage calls a script may make.
    pub(super) calls: u64,
    /// Operations a script may have.
    pub(super) ops: usize,
    /// Where torn sectors are cut.
    pub(super) cut_bytes: usize,
}

/// How much a search has tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    pub(super) scripts: u64,
    pub(super) crash_points: u64,
    pub(super) crash_states: u64,
}

impl Search {
    /// Tries every script, every crash point in it and every state the crash may leave; the error is the first that
    /// recovery gets wrong.
    pub(super) fn run(&self, tried: &mut Tried) -> Result<(), String> {
        let mut bench = Bench::new(self.timing, self.key, self.options.clone());
        for &op in self.before {
            bench.run(op).expect("it means something").map_err(|error| error.to_string())?;
        }
        let calls = bench.disk.calls() + self.calls;
        self.search(&bench, calls, &mut Vec::new(), tried)
    }

    fn search(
        &self,
        bench: &Bench,
        calls: u64,
        script: &mut Vec<Op>,
        tried: &mut Tried,
    ) -> Result<(), String> {
        for &op in self.alphabet {
            let mut after = bench.clone();
            let Some(result) = after.run(op) else { continue };
            if after.disk.calls() > calls {
                continue;
            }
            script.push(op);
            let located =
                |wrong: String, script: &[Op]| format!("{:?} then {script:?}: {wrong}", self.before);
            tried.scripts += 1;
            match (&result, after.model().differs(&after.wal)) {
                (Err(error), _) if self.timing.failures == 0 => {
                    return Err(located(error.to_string(), script));
                }
                (Ok(()), Some(wrong)) => return Err(located(format!("in memory {wrong}"), script)),
                _ => {}
            }
            for call in 2..=after.disk.calls() - bench.disk.calls() {
                let mut dying = bench.clone();
                dying.disk.die_after(call);
                let _ = dying.run(op);
                assert!(dying.disk.is_dead(), "it makes the same calls again");
                self.crash(&dying, tried).map_err(|wrong| {
                    located(format!("crash at storage call {call} of the last: {wrong}"), script)
                })?;
            }
            self.crash(&after, tried).map_err(|wrong| located(wrong, script))?;
            if result.is_ok() && script.len() < self.ops {
                self.search(&after, calls, script, tried)?;
            }
            script.pop();
        }
        Ok(())
    }

    /// Every state a crash may leave now.
    fn crash(&self, bench: &Bench, tried: &mut Tried) -> Result<(), String> {
        tried.crash_points += 1;
        for disk in bench.disk.crash_states(self.cut_bytes).iter() {
            tried.crash_states += 1;
            let (recovered, report) = bench.recover(disk)?;
            if !report.dropped.is_empty() {
                self.crash_again(&recovered, tried)?;
            }
        }
        Ok(())
    }

    /// A second crash, before or after the next write: what recovery did must not have spoilt anything.
    fn crash_again(&self, recovered: &Bench, tried: &mut Tried) -> Result<(), String> {
        let mut after = recovered.clone();
        let _ = after.run(Op::AppendTwo);
        let _ = after.run(Op::Settle);
        for lose_all in [false, true] {
            let mut disk = after.disk.clone();
            disk.crash(&mut Draw::from_value(tried.crash_states), lose_all);
            tried.crash_states += 1;
            let shown = || shown(&recovered.disk) + &shown(&after.disk) + &shown(&disk);
            after
                .recover(disk.clone())
                .map_err(|wrong| format!("after a second crash {wrong}\n{}", shown()))?;
        }
        for call in 1..=2 {
            let mut dying = recovered.clone();
            dying.disk.die_after(call);
            let _ = dying.run(Op::AppendTwo);
            for disk in dying.disk.crash_states(0).iter() {
                tried.crash_states += 1;
                let shown = || shown(&recovered.disk) + &shown(&dying.disk) + &shown(&disk);
                dying
                    .recover(disk.clone())
                    .map_err(|wrong| format!("after a second crash, during a write, {wrong}\n{}", shown()))?;
            }
        }
        Ok(())
    }
}

/// A disk whose syncs are over at once, or take a ticket.
pub(super) fn timing(tickets: bool, sector_bytes: u32) -> DiskTiming {
    let span = if tickets { Span::from_millis(1) } else { Span::ZERO };
    DiskTiming { low: span, high: span, sector_bytes, ..DiskTiming::default() }
}

/// Every file of a disk, for people.
fn shown(disk: &Disk) -> String {
    let names: Vec<&str> = disk.list().collect();
    let text = |name: &&str| {
        let file = disk.find(name).expect("the name was just listed");
        whitewater_wal::describe(name, disk.read(file)).unwrap_or_else(|error| format!("{error}\n"))
    };
    names.iter().map(text).collect()
}
