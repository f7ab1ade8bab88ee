//! Both releases of `noraft` behind one door: the same calls, in words of our own.

use crate::wire::{Position, Wire};
use whitewater_sim::Role;
use whitewater_store::Entry;

/// The kind of the entry with which a leader opens its term.
pub(crate) const TERM: u8 = 1;

/// What a node wants done. Commands in entries are without their content, which the crate does not know.
pub(crate) enum Act {
    Timeout,
    Save,
    Append(Vec<Entry>),
    Broadcast(Wire),
    Send(u64, Wire),
    Install(u64),
}

/// A node of one release.
pub(crate) trait Version {
    /// Takes a message; false if the node says that its storage cannot be right.
    fn handle(&mut self, from: u64, wire: &Wire) -> bool;
    fn next_act(&mut self) -> Option<Act>;
    fn time_out(&mut self);
    /// The index of a new command, if it leads.
    fn propose(&mut self) -> Option<u64>;
    /// Its log begins behind that place from now on.
    fn installed(&mut self, at: Position) -> bool;
    fn term_at(&self, index: u64) -> Option<u64>;
    fn term(&self) -> u64;
    fn vote(&self) -> Option<u64>;
    fn role(&self) -> Role;
    fn commit(&self) -> u64;
    fn last_index(&self) -> u64;
    fn peers(&self) -> Vec<u64>;
    fn match_index(&self, peer: u64) -> Option<u64>;
}

/// What a node starts from.
pub(crate) struct Kept {
    pub(crate) id: u64,
    pub(crate) incarnation: u32,
    pub(crate) term: u64,
    pub(crate) vote: Option<u64>,
    pub(crate) base: Position,
    pub(crate) voters: Vec<u64>,
    pub(crate) entries: Vec<Entry>,
}

/// The door to a release: its crate, how it starts, what its answers carry besides, and what it says of its followers.
macro_rules! release {
    (
        $module:ident, $noraft:ident,
        start: $start:expr,
        reply: { $($generation:ident: $given:expr)? },
        handle: $handle:expr,
        match_index: $match_index:expr $(,)?
    ) => {
        pub(crate) mod $module {
            use super::{Act, Kept, TERM, Version};
            use crate::wire::{Position, Wire};
            use $noraft::{
                Action, ClusterConfig, Log, LogEntries, LogEntry, LogIndex, LogPosition, Message, Node, NodeId, Term,
            };
            use std::sync::Arc;
            use whitewater_sim::Role;
            use whitewater_store::{Entry, REQUEST};

            fn position(at: Position) -> LogPosition {
                LogPosition { term: Term::new(at.term), index: LogIndex::new(at.index) }
            }

            fn own(at: LogPosition) -> Position {
                Position { term: at.term.get(), index: at.index.get() }
            }

            fn config_of(voters: &[u64]) -> ClusterConfig {
                let mut config = ClusterConfig::new();
                config.voters = voters.iter().copied().map(NodeId::new).collect();
                config
            }

            fn entries_of(base: Position, entries: &[Entry]) -> LogEntries {
                let entry = |entry: &Entry| match entry.kind {
                    REQUEST => LogEntry::Command,
                    _ => LogEntry::Term(Term::new(entry.term)),
                };
                LogEntries::from_iter(position(base), entries.iter().map(entry))
            }

            fn own_entries(entries: &LogEntries) -> Vec<Entry> {
                let own = |(at, entry): (LogPosition, LogEntry)| {
                    let kind = match entry {
                        LogEntry::Command => REQUEST,
                        LogEntry::Term(_) => TERM,
                        LogEntry::ClusterConfig(_) => unreachable!("nobody changes the members"),
                    };
                    Entry { index: at.index.get(), term: at.term.get(), kind, payload: Arc::default() }
                };
                entries.iter_with_positions().map(own).collect()
            }

            fn message_of(from: u64, wire: &Wire) -> Option<Message> {
                let from = NodeId::new(from);
                Some(match wire {
                    Wire::VoteCall { term, last } => Message::RequestVoteCall {
                        from,
                        term: Term::new(*term),
                        last_position: position(*last),
                    },
                    Wire::VoteReply { term, granted } => {
                        Message::RequestVoteReply { from, term: Term::new(*term), vote_granted: *granted }
                    }
                    Wire::AppendCall { term, commit, base, entries } => Message::AppendEntriesCall {
                        from,
                        term: Term::new(*term),
                        commit_index: LogIndex::new(*commit),
                        entries: entries_of(*base, entries),
                    },
                    #[allow(unused_variables)]
                    Wire::AppendReply { term, generation, last } => Message::AppendEntriesReply {
                        from,
                        term: Term::new(*term),
                        $($generation: $given(*generation),)?
                        last_position: position(*last),
                    },
                    Wire::Snapshot { .. } => return None,
                })
            }

            fn own_message(message: Message) -> Wire {
                match message {
                    Message::RequestVoteCall { term, last_position, .. } => {
                        Wire::VoteCall { term: term.get(), last: own(last_position) }
                    }
                    Message::RequestVoteReply { term, vote_granted: granted, .. } => {
                        Wire::VoteReply { term: term.get(), granted }
                    }
                    Message::AppendEntriesCall { term, commit_index, entries, .. } => Wire::AppendCall {
                        term: term.get(),
                        commit: commit_index.get(),
                        base: own(entries.prev_position()),
                        entries: own_entries(&entries),
                    },
                    Message::AppendEntriesReply { term, last_position, $($generation,)? .. } => Wire::AppendReply {
                        term: term.get(),
                        generation: 0 $(+ $generation.get())?,
                        last: own(last_position),
                    },
                }
            }

            /// A node that starts from what was kept.
            pub(crate) fn start(kept: &Kept) -> Box<dyn Version> {
                let log = Log::new(config_of(&kept.voters), entries_of(kept.base, &kept.entries));
                let vote = kept.vote.map(NodeId::new);
                let start: fn(&Kept, Option<NodeId>, Log) -> Node = $start;
                Box::new(start(kept, vote, log))
            }

            impl Version for Node {
                fn handle(&mut self, from: u64, wire: &Wire) -> bool {
                    let handle: fn(&mut Node, &Message) -> bool = $handle;
                    message_of(from, wire).is_none_or(|message| handle(self, &message))
                }

                fn next_act(&mut self) -> Option<Act> {
                    Some(match self.actions_mut().next()? {
                        Action::SetElectionTimeout => Act::Timeout,
                        Action::SaveCurrentTerm | Action::SaveVotedFor => Act::Save,
                        Action::AppendLogEntries(entries) => Act::Append(own_entries(&entries)),
                        Action::BroadcastMessage(message) => Act::Broadcast(own_message(message)),
                        Action::SendMessage(to, message) => Act::Send(to.get(), own_message(message)),
                        Action::InstallSnapshot(to) => Act::Install(to.get()),
                    })
                }

                fn time_out(&mut self) {
                    self.handle_election_timeout();
                }

                fn propose(&mut self) -> Option<u64> {
                    let at = self.propose_command();
                    (at != LogPosition::INVALID).then_some(at.index.get())
                }

                fn installed(&mut self, at: Position) -> bool {
                    let config = self.config().clone();
                    self.handle_snapshot_installed(position(at), config)
                }

                fn term_at(&self, index: u64) -> Option<u64> {
                    let (at, _) = self.log().get_position_and_config(LogIndex::new(index))?;
                    Some(at.term.get())
                }

                fn term(&self) -> u64 {
                    self.current_term().get()
                }

                fn vote(&self) -> Option<u64> {
                    self.voted_for().map(|id| id.get())
                }

                fn role(&self) -> Role {
                    match Node::role(self) {
                        $noraft::Role::Follower => Role::Follower,
                        $noraft::Role::Candidate => Role::Candidate,
                        $noraft::Role::Leader => Role::Leader,
                    }
                }

                fn commit(&self) -> u64 {
                    self.commit_index().get()
                }

                fn last_index(&self) -> u64 {
                    self.log().last_position().index.get()
                }

                fn peers(&self) -> Vec<u64> {
                    Node::peers(self).map(|id| id.get()).collect()
                }

                fn match_index(&self, peer: u64) -> Option<u64> {
                    let match_index: fn(&Node, NodeId) -> Option<u64> = $match_index;
                    match_index(self, NodeId::new(peer))
                }
            }
        }
    };
}

release! {
    v04, noraft_04,
    start: |kept, vote, log| {
        let generation = noraft_04::NodeGeneration::new(kept.incarnation.into());
        Node::restart(NodeId::new(kept.id), generation, Term::new(kept.term), vote, log)
    },
    reply: { generation: noraft_04::NodeGeneration::new },
    handle: |node, message| {
        node.handle_message(message);
        true
    },
    match_index: |_, _| None,
}

release! {
    v07, noraft_07,
    start: |kept, vote, log| Node::restart(NodeId::new(kept.id), Term::new(kept.term), vote, log),
    reply: {},
    handle: |node, message| node.handle_message(message).is_ok(),
    match_index: |node, peer| node.follower_match_index(peer).map(|index| index.get()),
}
