//! The log of a server as `raft::Storage`, and entries, snapshots and members in both forms.

use protobuf::Message as _;
use raft::eraftpb::ConfChangeType::{self, AddLearnerNode, AddNode, RemoveNode};
use raft::eraftpb::{ConfChangeSingle, ConfChangeV2, ConfState, Entry, EntryType, HardState, Snapshot};
use raft::{Error, GetEntriesContext, RaftState, Result, Storage, StorageError};
use whitewater_check::Membership;
use whitewater_store::{Log, Part, REQUEST, Step, core, membership, number_of, server_of};

/// The log, and who is a member as it begins.
pub(crate) struct Shelf {
    pub(crate) log: Log,
    pub(crate) members: Membership,
}

/// The kind of entries that change the members.
const CHANGE: u8 = 1;

/// The kind that the log has for entries of a type. The older type for changes nobody here proposes.
pub(crate) fn kind_of(entry: EntryType) -> u8 {
    if entry == EntryType::EntryNormal { REQUEST } else { CHANGE }
}

/// An entry as the log keeps it.
pub(crate) fn written(entry: &Entry) -> core::Entry {
    let (index, term, kind) = (entry.index, entry.term, kind_of(entry.get_entry_type()));
    core::Entry { index, term, kind, payload: entry.data[..].into() }
}

fn read(entry: &core::Entry) -> Entry {
    let mut read = Entry { index: entry.index, term: entry.term, ..Entry::default() };
    if entry.kind == CHANGE {
        read.set_entry_type(EntryType::EntryConfChangeV2);
    }
    read.data = entry.payload.to_vec().into();
    read
}

/// A snapshot as the log keeps it.
pub(crate) fn stored(snapshot: &Snapshot) -> core::Snapshot {
    let at = snapshot.get_metadata();
    let metadata = membership::write(&members_in(at.get_conf_state())).into();
    core::Snapshot { index: at.index, term: at.term, metadata, data: snapshot.data[..].into() }
}

pub(crate) fn hard_state(state: &HardState) -> core::HardState {
    core::HardState { term: state.term, vote: state.vote, commit: state.commit }
}

pub(crate) fn members_in(conf: &ConfState) -> Membership {
    let sets = [conf.get_voters(), conf.get_voters_outgoing(), conf.get_learners(), conf.get_learners_next()];
    membership::of_numbers(sets, conf.auto_leave)
}

fn conf_of(members: &Membership) -> ConfState {
    let [voters, voters_outgoing, learners, learners_next] = membership::numbers(members);
    let auto_leave = members.auto_leave;
    ConfState { voters, voters_outgoing, learners, learners_next, auto_leave, ..ConfState::default() }
}

/// What a server becomes, in both forms.
const PARTS: [(Part, ConfChangeType); 3] =
    [(Part::Voter, AddNode), (Part::Learner, AddLearnerNode), (Part::Nobody, RemoveNode)];

/// A change of the members, as the core takes it.
pub(crate) fn change_of(steps: &[Step]) -> ConfChangeV2 {
    let single = |&(part, node): &Step| {
        let (_, change_type) = PARTS[PARTS.iter().position(|(known, _)| *known == part).unwrap_or(0)];
        ConfChangeSingle { node_id: number_of(node), change_type, ..ConfChangeSingle::default() }
    };
    let mut change = ConfChangeV2::default();
    change.set_changes(steps.iter().map(single).collect());
    change
}

/// The change in an entry, if there is one.
pub(crate) fn change_in(entry: &core::Entry) -> Option<ConfChangeV2> {
    if entry.kind != CHANGE {
        return None;
    }
    let mut change = ConfChangeV2::default();
    change.merge_from_bytes(&entry.payload).expect("an entry of the log is whole");
    Some(change)
}

/// What a change makes of each server.
pub(crate) fn steps_of(change: &ConfChangeV2) -> Vec<Step> {
    let step = |single: &ConfChangeSingle| {
        let (part, _) = PARTS.into_iter().find(|(_, known)| *known == single.change_type)?;
        Some((part, server_of(single.node_id)?))
    };
    change.get_changes().iter().filter_map(step).collect()
}

impl Storage for Shelf {
    fn initial_state(&self) -> Result<RaftState> {
        let core::HardState { term, vote, commit } = self.log.hard_state();
        let hard_state = HardState { term, vote, commit, ..HardState::default() };
        Ok(RaftState { hard_state, conf_state: conf_of(&self.members) })
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: impl Into<Option<u64>>,
        _: GetEntriesContext,
    ) -> Result<Vec<Entry>> {
        if low < self.log.first() {
            return Err(Error::Store(StorageError::Compacted));
        }
        assert!(high <= self.log.last() + 1, "nobody asks for more than there is");
        let mut entries: Vec<Entry> = self.log.entries(low, high).map(read).collect();
        raft::util::limit_size(&mut entries, size_max_bytes.into());
        Ok(entries)
    }

    fn term(&self, index: u64) -> Result<u64> {
        let gone = if index < self.log.first() { StorageError::Compacted } else { StorageError::Unavailable };
        self.log.term(index).ok_or(Error::Store(gone))
    }

    fn first_index(&self) -> Result<u64> {
        Ok(self.log.first())
    }

    fn last_index(&self) -> Result<u64> {
        Ok(self.log.last())
    }

    fn snapshot(&self, request_index: u64, to: u64) -> Result<Snapshot> {
        let kept = server_of(to).and_then(|to| self.log.snapshot_to_send(request_index, to));
        let kept = kept.ok_or(Error::Store(StorageError::SnapshotTemporarilyUnavailable))?;
        let mut snapshot = Snapshot { data: kept.data.to_vec().into(), ..Snapshot::default() };
        let at = snapshot.mut_metadata();
        (at.index, at.term) = (kept.index, kept.term);
        at.set_conf_state(conf_of(&membership::read(&kept.metadata)));
        Ok(snapshot)
    }
}
