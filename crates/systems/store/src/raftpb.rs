//! Messages, entries and members of crates whose types are generated from etcd's `raftpb`, in the words of the store.

/// Writes, into the module where it stands, what the store has to know of types that `rust-protobuf` generated from etcd's
/// `raftpb`: those of the crate `raft`, and of whatever is forked from it. It is given the path of their module; the package has
/// to depend on `protobuf`.
///
/// There are a message, `Speech`, which is [`Outlined`](crate::Outlined), and, in both directions, entries (`kept_entry`,
/// `entry`), snapshots (`kept_snapshot`, `snapshot`), hard states (`kept_hard_state`, `hard_state`), members (`members`,
/// `conf_state`) and changes of them (`steps`, `change`): `kept` is what the log of the store has.
///
/// ```ignore
/// mod words {
///     whitewater_store::raftpb!(raft::eraftpb);
/// }
/// ```
#[macro_export]
macro_rules! raftpb {
    ($($pb:ident)::+) => {
        use $($pb)::+ as pb;
        use $crate::core::{Membership, NodeId};
        use $crate::{core, etcd, membership, number_of, server_of};

        /// A message, behind a pointer as it is handed on many times.
        #[derive(Clone, Debug)]
        pub struct Speech(pub Box<pb::Message>);

        impl $crate::Outlined for Speech {
            const KINDS: &'static [&'static str] = etcd::KINDS;

            #[inline]
            fn outline(&self) -> $crate::Outline<'_> {
                let message = &*self.0;
                let snapshot = message.snapshot.as_ref().map(|snapshot| (snapshot.get_metadata(), &snapshot.data[..]));
                let snapshot = snapshot.map(|(at, data)| (at.term, at.index, data));
                $crate::Outline {
                    kind: message.msg_type as u8,
                    term: message.term,
                    claim: etcd::claim_of(message.msg_type as u8, message.reject),
                    place: (message.log_term, message.index),
                    commit: message.commit,
                    rejects: message.reject,
                    snapshot: snapshot.filter(|(_, index, _)| *index > 0),
                    more: [message.reject_hint, message.request_snapshot, message.commit_term],
                    context: &message.context,
                }
            }

            fn entries(&self) -> impl Iterator<Item = $crate::EntryOutline<'_>> {
                self.0.entries.iter().map(|entry| {
                    let (term, index, kind) = (entry.term, entry.index, kind_of(entry));
                    $crate::EntryOutline { term, index, kind, data: &entry.data }
                })
            }
        }

        /// The older type for changes nobody here proposes.
        fn kind_of(entry: &pb::Entry) -> u8 {
            match entry.entry_type {
                pb::EntryType::EntryNormal => $crate::REQUEST,
                _ => etcd::CHANGE,
            }
        }

        /// A message with whom it is for, who is a member.
        pub(crate) fn addressed(message: pb::Message) -> (NodeId, Speech) {
            (server_of(message.to).expect("messages are for members"), Speech(Box::new(message)))
        }

        pub(crate) fn kept_entry(entry: &pb::Entry) -> core::Entry {
            let (index, term, kind) = (entry.index, entry.term, kind_of(entry));
            core::Entry { index, term, kind, payload: entry.data[..].into() }
        }

        pub(crate) fn entry(kept: &core::Entry) -> pb::Entry {
            let mut entry = pb::Entry { index: kept.index, term: kept.term, ..pb::Entry::default() };
            if kept.kind == etcd::CHANGE {
                entry.entry_type = pb::EntryType::EntryConfChangeV2;
            }
            entry.data = kept.payload.to_vec().into();
            entry
        }

        pub(crate) fn kept_snapshot(snapshot: &pb::Snapshot) -> core::Snapshot {
            let at = snapshot.get_metadata();
            let metadata = membership::write(&members(at.get_conf_state())).into();
            core::Snapshot { index: at.index, term: at.term, metadata, data: snapshot.data[..].into() }
        }

        pub(crate) fn snapshot(kept: &core::Snapshot) -> pb::Snapshot {
            let mut snapshot = pb::Snapshot { data: kept.data.to_vec().into(), ..pb::Snapshot::default() };
            let at = snapshot.mut_metadata();
            (at.index, at.term) = (kept.index, kept.term);
            at.set_conf_state(conf_state(&membership::read(&kept.metadata)));
            snapshot
        }

        pub(crate) fn kept_hard_state(state: &pb::HardState) -> core::HardState {
            core::HardState { term: state.term, vote: state.vote, commit: state.commit }
        }

        pub(crate) fn hard_state(kept: &core::HardState) -> pb::HardState {
            let core::HardState { term, vote, commit } = *kept;
            pb::HardState { term, vote, commit, ..pb::HardState::default() }
        }

        pub(crate) fn members(conf: &pb::ConfState) -> Membership {
            let (voting, learning) = (conf.get_voters(), conf.get_learners());
            let (outgoing, next) = (conf.get_voters_outgoing(), conf.get_learners_next());
            membership::of_numbers([voting, outgoing, learning, next], conf.auto_leave)
        }

        pub(crate) fn conf_state(members: &Membership) -> pb::ConfState {
            let [voters, voters_outgoing, learners, learners_next] = membership::numbers(members);
            let auto_leave = members.auto_leave;
            pb::ConfState { voters, voters_outgoing, learners, learners_next, auto_leave, ..pb::ConfState::default() }
        }

        pub(crate) fn change(steps: &[membership::Step]) -> pb::ConfChangeV2 {
            let single = |&(part, node): &membership::Step| {
                let change_type = match part {
                    membership::Part::Voter => pb::ConfChangeType::AddNode,
                    membership::Part::Learner => pb::ConfChangeType::AddLearnerNode,
                    membership::Part::Nobody => pb::ConfChangeType::RemoveNode,
                };
                let node_id = number_of(node);
                pb::ConfChangeSingle { node_id, change_type, ..pb::ConfChangeSingle::default() }
            };
            pb::ConfChangeV2 { changes: steps.iter().map(single).collect(), ..pb::ConfChangeV2::default() }
        }

        /// The change in an entry, if there is one.
        pub(crate) fn steps(kept: &core::Entry) -> Option<Vec<membership::Step>> {
            if kept.kind != etcd::CHANGE {
                return None;
            }
            let change = protobuf::Message::parse_from_bytes(&kept.payload);
            let change: pb::ConfChangeV2 = change.expect("an entry of the log is whole");
            let step = |single: &pb::ConfChangeSingle| {
                Some((etcd::PARTS[single.change_type as usize], server_of(single.node_id)?))
            };
            change.changes.iter().map(step).collect()
        }
    };
}
