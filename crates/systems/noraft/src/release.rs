//! Both releases of `noraft`: what differs between them, and their messages in the words of the Raft paper.

/// The kind of the entry with which a leader opens its term.
const TERM: u8 = 1;

/// Does the same with a node of either release; `noraft` is its crate in there, and `words` how that says what is said here.
macro_rules! with {
    ($node:expr, $name:ident => $does:expr) => {{
        #[allow(unused_imports)]
        match $node {
            crate::Node::V04($name) => {
                use crate::release::v04 as words;
                use noraft_04 as noraft;
                $does
            }
            crate::Node::V07($name) => {
                use crate::release::v07 as words;
                use noraft_07 as noraft;
                $does
            }
        }
    }};
}
pub(crate) use with;

/// How a release says what is said here. The answers to appends of the early one carry a generation besides.
macro_rules! release {
    ($words:ident, $noraft:ident $(, $generation:ident: $given:expr)?) => {
        pub(crate) mod $words {
            use super::TERM;
            use $noraft::{ClusterConfig, LogEntries, LogEntry, LogIndex, LogPosition, Message, NodeId, Term};
            use std::rc::Rc;
            use whitewater_store::paper::{self, Kind};
            use whitewater_store::{Entry, Log, Place, REQUEST, Seat, number_of, numbers_in};

            pub(crate) fn position(place: Place) -> LogPosition {
                LogPosition { term: Term::new(place.term), index: LogIndex::new(place.index) }
            }

            pub(crate) fn place(position: LogPosition) -> Place {
                Place { term: position.term.get(), index: position.index.get() }
            }

            /// A node that starts from what its log has.
            pub(crate) fn start(seat: &Seat, kept: &Log) -> $noraft::Node {
                let mut config = ClusterConfig::new();
                config.voters = numbers_in(seat.members.voters).into_iter().map(NodeId::new).collect();
                let (begins, state) = (kept.beginning(), kept.hard_state());
                let entries = log_entries(begins, kept.entries(begins.index + 1, kept.last() + 1));
                let (id, term) = (NodeId::new(number_of(seat.id)), Term::new(state.term));
                let vote = Some(state.vote).filter(|&vote| vote != 0).map(NodeId::new);
                let log = $noraft::Log::new(config, entries);
                $noraft::Node::restart(id, $($given(seat.incarnation.into()),)? term, vote, log)
            }

            /// Entries behind a place.
            pub(crate) fn log_entries<'a>(place: Place, entries: impl Iterator<Item = &'a Entry>) -> LogEntries {
                let entry = |entry: &Entry| match entry.kind {
                    REQUEST => LogEntry::Command,
                    _ => LogEntry::Term(Term::new(entry.term)),
                };
                LogEntries::from_iter(position(place), entries.map(entry))
            }

            pub(crate) fn entries(entries: &LogEntries) -> Vec<Entry> {
                let entry = |(at, entry): (LogPosition, LogEntry)| {
                    let Place { term, index } = place(at);
                    let kind = if entry == LogEntry::Command { REQUEST } else { TERM };
                    Entry { index, term, kind, payload: Rc::default() }
                };
                entries.iter_with_positions().map(entry).collect()
            }

            pub(crate) fn theirs(from: u64, message: &paper::Message) -> Message {
                let (from, term) = (NodeId::new(from), Term::new(message.term));
                let last_position = position(message.place);
                match message.kind {
                    Kind::VoteCall => Message::RequestVoteCall { from, term, last_position },
                    Kind::VoteReply => {
                        Message::RequestVoteReply { from, term, vote_granted: !message.rejects }
                    }
                    Kind::AppendCall => Message::AppendEntriesCall {
                        from,
                        term,
                        commit_index: LogIndex::new(message.commit),
                        entries: log_entries(message.place, message.entries.iter()),
                    },
                    Kind::AppendReply => Message::AppendEntriesReply {
                        from,
                        term,
                        $($generation: $given(message.more),)?
                        last_position,
                    },
                }
            }

            pub(crate) fn ours(message: Message) -> paper::Message {
                let at = |kind, at| paper::Message { kind, place: place(at), ..paper::Message::default() };
                let term = message.term().get();
                let said = match message {
                    Message::RequestVoteCall { last_position, .. } => at(Kind::VoteCall, last_position),
                    Message::RequestVoteReply { vote_granted, .. } => {
                        paper::Message { rejects: !vote_granted, ..at(Kind::VoteReply, LogPosition::ZERO) }
                    }
                    Message::AppendEntriesCall { commit_index, entries: new, .. } => paper::Message {
                        commit: commit_index.get(),
                        entries: entries(&new),
                        ..at(Kind::AppendCall, new.prev_position())
                    },
                    Message::AppendEntriesReply { last_position, $($generation,)? .. } => {
                        paper::Message { more: 0 $(+ $generation.get())?, ..at(Kind::AppendReply, last_position) }
                    }
                };
                paper::Message { term, ..said }
            }
        }
    };
}

release!(v04, noraft_04, generation: noraft_04::NodeGeneration::new);
release!(v07, noraft_07);
