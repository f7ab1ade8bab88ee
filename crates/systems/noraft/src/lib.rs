//! The public crate `noraft`, an early and the current release of it, in the world.

mod release;

use release::with;
use std::rc::Rc;
use whitewater_check::RefusalReason;
use whitewater_sim::{NodeId, OptionSpec, Role, Values};
use whitewater_store::core::{HardState, Order, Seat, Shown};
use whitewater_store::paper::Message;
use whitewater_store::{Core, Log, Place, Store, Todo, number_of, server_of};

/// The release 0.4.0, which compares nothing but the length of logs when it votes.
pub static NORAFT_04: Store<Noraft<0>> = Store::new();
/// The current release.
pub static NORAFT: Store<Noraft<1>> = Store::new();
/// A cluster in which the releases meet.
pub static NORAFT_MIXED: Store<Noraft<2>> = Store::new();

const NAMES: [&str; 3] = ["noraft-0.4", "noraft", "noraft-mixed"];
const ABOUT: [&str; 3] = [
    "The public crate noraft 0.4.0, with a store, clients and a durable log.",
    "The current release of the public crate noraft, with a store, clients and a durable log.",
    "A cluster in which nodes of noraft 0.4.0 and of the current release meet.",
];

/// Options of every cluster; the last one of those in which releases meet.
const OPTIONS: &[OptionSpec] = whitewater_store::options! {
    TICK, ELECTION_TICKS, HEARTBEAT_TICKS, MESSAGE_SIZE, SNAPSHOT_ENTRIES, SNAPSHOT_TRAIL, CLIENT_ATTEMPTS;
    OptionSpec {
        name: "version",
        about: "Which release a node runs.",
        values: Values::Words(&["0.4", "0.7"]),
        default: "0.7",
        per_node: true,
        drawn: true,
    },
};

/// A node of one release.
enum Node {
    V04(noraft_04::Node),
    V07(noraft_07::Node),
}

/// A node with what its users have to keep for it.
pub struct Noraft<const CLUSTER: usize> {
    node: Node,
    log: Log,
    wants_timeout: bool,
    /// Up to where entries are committed and durable.
    committed: u64,
}

impl<const CLUSTER: usize> Core for Noraft<CLUSTER> {
    type Message = Message;
    const NAME: &'static str = NAMES[CLUSTER];
    const ABOUT: &'static str = ABOUT[CLUSTER];
    const NEEDS_NO_CLOCK: bool = true;
    // Whoever it chose may lead; it does not tell a leader from a candidate.
    const NAMES_LEADER: bool = false;
    // Every answer tells where its log ends, to candidates and to former leaders as well.
    const ACKNOWLEDGES_LEADERS_ONLY: bool = false;
    const BARE: bool = true;
    const OPTIONS: &'static [OptionSpec] = if CLUSTER == 2 { OPTIONS } else { OPTIONS.split_at(7).0 };

    fn start(seat: &Seat, log: Log) -> Self {
        let is_early = CLUSTER == 0 || CLUSTER == 2 && seat.settings.own_at("version", seat.id) == "0.4";
        let node = match is_early {
            true => Node::V04(release::v04::start(seat, &log)),
            false => Node::V07(release::v07::start(seat, &log)),
        };
        Noraft { node, wants_timeout: false, committed: log.beginning().index, log }
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn log_mut(&mut self) -> &mut Log {
        &mut self.log
    }

    fn time_out(&mut self) {
        with!(&mut self.node, node => node.handle_election_timeout());
    }

    fn receive(&mut self, from: NodeId, message: Message) -> Result<(), RefusalReason> {
        match &mut self.node {
            Node::V04(node) => node.handle_message(&release::v04::theirs(number_of(from), &message)),
            Node::V07(node) => {
                let handled = node.handle_message(&release::v07::theirs(number_of(from), &message));
                handled.map_err(|_| RefusalReason::Error("its storage cannot be right"))?;
            }
        }
        Ok(())
    }

    fn obey(&mut self, order: Order<'_>) -> bool {
        let stands = order == Order::Campaign && self.shown().role != Role::Leader;
        if stands {
            self.time_out();
        }
        stands
    }

    fn propose(&mut self, _data: Rc<[u8]>) -> bool {
        with!(&mut self.node, node => node.propose_command() != noraft::LogPosition::INVALID)
    }

    fn begins_behind(&mut self, place: Place) {
        self.committed = self.committed.max(place.index);
        with!(&mut self.node, node => {
            let members = node.config().clone();
            node.handle_snapshot_installed(words::position(place), members);
        });
    }

    fn ready(&mut self, todo: &mut Todo<Message>, applied: u64) -> bool {
        let mut wants = false;
        with!(&mut self.node, node => while let Some(action) = node.actions_mut().next() {
            wants = true;
            match action {
                noraft::Action::SetElectionTimeout => self.wants_timeout = true,
                noraft::Action::SaveCurrentTerm | noraft::Action::SaveVotedFor => {
                    let (term, vote) = (node.current_term().get(), node.voted_for().map_or(0, |id| id.get()));
                    todo.hard_state = Some(HardState { term, vote, commit: 0 });
                }
                noraft::Action::AppendLogEntries(entries) => todo.entries = words::entries(&entries),
                noraft::Action::BroadcastMessage(message) => {
                    let message = words::ours(message);
                    let peers = node.peers().filter_map(|peer| server_of(peer.get()));
                    todo.promises.extend(peers.map(|peer| (peer, message.clone())));
                }
                noraft::Action::SendMessage(to, message) => {
                    todo.promises.extend(server_of(to.get()).map(|to| (to, words::ours(message))));
                }
                noraft::Action::InstallSnapshot(to) => todo.behind.extend(server_of(to.get())),
            }
        });
        // The crate counts what is in memory, where it leads alone, and 0.4 does not count what is in a snapshot. Its users may
        // count only what is durable.
        if todo.entries.is_empty() {
            let commit = with!(&self.node, node => node.commit_index().get());
            self.committed = self.committed.max(commit.min(self.log.last()));
            todo.committed = self.committed;
        }
        wants || todo.committed > applied
    }

    fn timeout_wanted(&mut self) -> bool {
        std::mem::take(&mut self.wants_timeout)
    }

    fn shown(&self) -> Shown {
        let vote = with!(&self.node, node => node.voted_for().and_then(|id| server_of(id.get())));
        let role = with!(&self.node, node => match node.role() {
            noraft::Role::Follower => Role::Follower,
            noraft::Role::Candidate => Role::Candidate,
            noraft::Role::Leader => Role::Leader,
        });
        Shown {
            term: with!(&self.node, node => node.current_term().get()),
            vote,
            role,
            leader: vote.filter(|_| role != Role::Candidate),
            last_index: with!(&self.node, node => node.log().last_position().index.get()),
            commit: self.committed,
        }
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        // 0.4 does not tell.
        let Node::V07(node) = &self.node else { return None };
        node.follower_match_index(noraft_07::NodeId::new(number_of(peer))).map(|index| index.get())
    }
}
