//! What is owed when faults are over: a leader, equal logs, answers, a fresh write and read, and all that was written.

use super::clients::Clients;
use super::step::Done;
use crate::command::{Command, Operation, Reply, Text};
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::Server;
use whitewater_check::{
    Because, BoundRules, Ground, Membership, Obstructions, Owed, RaftRules, Served, Service, Settlement,
    Stimulus, Terrain, Witness, set_of,
};
use whitewater_raft::MessageKind;
use whitewater_sim::{
    Cluster, Effect, Link, NodeId, OpId, Phase, Progress, Role, Script, Span, Time, Violation, What,
};

/// The key of fresh operations. No script can name it, as it holds a blank.
const FRESH_KEY: &[u8] = b"fresh key";

/// Entries that one request may add: an attempt that waits too long is followed by another.
const ENTRIES_PER_REQUEST: u64 = 4;

/// Files beside those that are needed: a snapshot that is being stored, and one that is about to be removed.
const SPARE_FILES: usize = 2;

/// Name and claim of the rule that damage is repaired.
pub(super) const REPAIRED: (&str, &str) = (
    "damage-repaired",
    "Once faults are over, a server that found its log damaged has it back from its peers, if it reaches all of them.",
);

/// Name and claim of the rule that a process that died of its disk comes back.
pub(super) const STARTED_AGAIN: (&str, &str) =
    ("started-again", "Once faults are over, a server whose process died of its disk is started again.");

/// The progress of one phase of settling.
pub(super) struct Settling {
    obstructions: Obstructions,
    ground: Ground,
    phase: Phase,
    settlement: Option<Settlement>,
    /// How servers were when it was settled what is owed.
    standing: Standing,
    /// Time beyond the limit for elections that a repair takes.
    repair: Span,
    /// Longest time a server takes to apply one entry; one that has a thread for it may have to catch up.
    apply_time: Span,
    /// Bytes of a snapshot in one message, if there is a limit.
    piece_bytes: usize,
    /// Time it takes to apply what somebody has not applied, and to send a snapshot in pieces.
    applying: Span,
    /// Time for clients to ask all servers in turn for each request that is open, where some are no members any more and
    /// know of no leader.
    asking: Span,
    /// Clients that reach all of those who owe.
    served: Vec<NodeId>,
    write: Option<OpId>,
    read: Option<OpId>,
    service: Service,
    /// How many files a server needs at rest, and may have to spare.
    pub(super) needed_files: fn(&Server) -> usize,
    /// Snapshots that were sent in the step that is looked at, with room kept for the next.
    snapshots: Vec<(NodeId, u64)>,
}

impl Settling {
    pub(super) fn new(script: &Script, settings: &Settings) -> Settling {
        let delay_high = script.network.delay_high.min(script.settle.delay_high);
        Settling {
            obstructions: Obstructions::of(script),
            ground: Ground {
                pre_vote: settings.pre_vote,
                check_quorum: settings.check_quorum,
                timing: settings.timing(),
                // The answer waits for a sync, and for one that was asked for before.
                round_trip: (delay_high + script.disk.high + script.lasting_slowness()).times(2),
                // A session that begins is asked for, once more if that was lost, and takes its time. One that was asked for in
                // an earlier life of the peer takes it first, and is found to be broken then.
                connecting: settings.session_start_high.times(2) + settings.election_timeout().times(2),
                clocks_true: !script.has_lasting_clocks_beyond(20),
                limit: script.settle.limit,
                entries_per_round_trip: settings.entries_per_append(),
            },
            apply_time: if settings.storage_async { settings.apply_time } else { Span::ZERO },
            piece_bytes: settings.piece_bytes,
            applying: Span::ZERO,
            phase: Phase::Faults,
            settlement: None,
            standing: Standing::default(),
            repair: Span::ZERO,
            asking: Span::ZERO,
            served: Vec::new(),
            write: None,
            read: None,
            service: Service::default(),
            needed_files: |server| server.core().storage().needed_files() + SPARE_FILES,
            snapshots: Vec::new(),
        }
    }

    /// A phase begins: decides what is owed and asks for something new, and at the very end for everything there is.
    pub(super) fn begin(
        &mut self,
        phase: Phase,
        cluster: &Cluster<KvNode>,
        rules: &RaftRules,
        clients: &Clients,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.phase = phase;
        // From here on the membership changes only by what is in the logs already: what is owed depends on it.
        let orders = |client: &NodeId| {
            cluster.view(*client).and_then(KvNode::client).is_some_and(|client| client.has_orders())
        };
        inject.extend(cluster.clients().filter(orders).map(|client| (client, Command::Abandon)));
        let settlement = self.settle(cluster, rules);
        self.served = match settlement.owed() {
            Owed::Progress { core, .. } => {
                cluster.clients().filter(|&client| self.reaches(cluster, client, &core.members)).collect()
            }
            Owed::Nothing(_) => Vec::new(),
        };
        self.settlement = Some(settlement);
        // Each repair takes an election of its own; one after the other, if one is damaged when the last has just ended.
        let may_repair = |node: &NodeId| {
            let server = cluster.view(*node).and_then(KvNode::server);
            server.is_some_and(|server| server.is_damaged() || server.is_halted())
        };
        let repairs = cluster.servers().filter(may_repair).count() as u64;
        self.repair = self.ground.limit.times(repairs);
        self.asking = self.time_to_ask(cluster);
        (self.write, self.read, self.service) = (None, None, Service::default());
        let Some(&first) = self.served.first() else { return };
        let key = Text::new(FRESH_KEY);
        let value = Text::new(if phase == Phase::Cycled { b"f2" } else { b"f1" });
        inject.push((first, Command::Insist(Operation::Append { key: key.clone(), value })));
        inject.push((first, Command::Insist(Operation::Get { key })));
        (self.service.fresh_write, self.service.fresh_read) = (Served::Waiting, Served::Waiting);
        if phase == Phase::Cycled {
            let readers = self.served.iter().cycle().skip(1);
            let keys = clients.keys().iter().filter(|key| key.bytes() != FRESH_KEY);
            inject.extend(
                keys.zip(readers)
                    .map(|(key, &reader)| (reader, Command::Insist(Operation::Get { key: key.clone() }))),
            );
        }
    }

    /// What is owed by those who are up now.
    fn settle(&mut self, cluster: &Cluster<KvNode>, rules: &RaftRules) -> Settlement {
        // A process that died of a failed sync is started again soon, and no sync fails any more: it counts. One that has
        // found its log damaged takes part in nothing.
        self.standing = Standing::of(cluster);
        let mut terrain =
            Terrain::of(cluster, &self.obstructions, |node| !damaged(cluster).any(|other| other == node));
        for node in cluster.servers() {
            if let Some(server) = cluster.view(node).and_then(KvNode::server) {
                terrain.set_memberships(node, server.memberships_to_come());
            }
        }
        let asking = cluster.clients().filter_map(|client| cluster.view(client)?.client());
        let requests: usize = asking.map(|client| client.open_requests()).sum();
        let expected = requests as u64 * ENTRIES_PER_REQUEST;
        let standings = || cluster.servers().map(|node| rules.log_standing(node));
        let last = standings().map(|log| log.last_index).max().unwrap_or(0);
        let applied = standings().map(|log| log.applied).min().unwrap_or(0);
        self.applying = self.apply_time.times(last.saturating_sub(applied) + expected);
        if let Some(piece) = std::num::NonZero::new(self.piece_bytes as u64) {
            // The state may grow once more by as much.
            let servers = cluster.servers().filter_map(|node| cluster.view(node).and_then(KvNode::server));
            let bytes = servers.map(|server| server.core().storage().snapshot_bytes()).max().unwrap_or(0);
            self.applying = self.applying + self.ground.round_trip.times(2 * (bytes as u64 / piece + 1));
        }
        terrain.expect(expected);
        Settlement::begin(&self.ground, terrain, rules)
    }

    /// See [`Settling::asking`]: an attempt waits for up to two of the shortest election timeouts.
    fn time_to_ask(&self, cluster: &Cluster<KvNode>) -> Span {
        let servers = cluster.server_count() as u64;
        let mut memberships = self.standing.memberships.iter().flatten();
        if memberships.all(|membership| cluster.servers().all(|node| membership.has(node))) {
            return Span::ZERO;
        }
        let clients = self.served.iter().filter_map(|&client| cluster.view(client)?.client());
        let open = clients.map(|client| client.open_requests()).max().unwrap_or(0) as u64;
        self.ground.timing.election_low.times(2 * servers * open)
    }

    /// Whether nothing lies between a client and any of these servers.
    fn reaches(&self, cluster: &Cluster<KvNode>, client: NodeId, servers: &[NodeId]) -> bool {
        let free = |link| cluster.is_open(link) && self.obstructions.is_free(link);
        let both =
            |server| free(Link { from: client, to: server }) && free(Link { from: server, to: client });
        servers.iter().all(|&server| both(server))
    }

    /// Time beyond the script's limit that this phase may take.
    pub(super) fn allowance(&self) -> Span {
        let allowance =
            self.settlement.as_ref().map_or(Span::ZERO, Settlement::allowance) + self.repair + self.asking;
        if self.owes_nothing() { allowance } else { allowance + self.ground.connecting + self.applying }
    }

    pub(super) fn owes_nothing(&self) -> bool {
        self.owes_nothing_because().is_some()
    }

    /// Why nothing is owed, if so.
    pub(super) fn owes_nothing_because(&self) -> Option<Because> {
        self.settlement.as_ref().and_then(Settlement::nothing_because)
    }

    /// A node is told to do something: since the phase began only what was asked for here.
    pub(super) fn asked(&mut self, op: OpId, command: &Command, clients: &mut Clients) {
        let Command::Insist(operation) = command else { return };
        match (self.phase, operation) {
            (Phase::Faults, _) => {}
            (_, Operation::Append { key, .. }) if key.bytes() == FRESH_KEY => self.write = Some(op),
            (_, Operation::Get { key }) if key.bytes() == FRESH_KEY => self.read = Some(op),
            (Phase::Cycled, Operation::Get { key }) => clients.is_last(op, key),
            _ => {}
        }
    }

    pub(super) fn told(&mut self, op: OpId, reply: &Reply) {
        let done = matches!(reply, Reply::Done(_));
        if done && self.write == Some(op) {
            self.service.fresh_write = Served::Yes;
        }
        if done && self.read == Some(op) {
            self.service.fresh_read = Served::Yes;
        }
    }

    /// A server has done something that broke no other rule.
    #[inline(always)]
    pub(super) fn observe(
        &mut self,
        done: &Done<'_>,
        stimulus: Stimulus,
        rules: &RaftRules,
    ) -> Result<(), Violation> {
        let Some(settlement) = &mut self.settlement else { return Ok(()) };
        let Done { seen, deeds, view, .. } = *done;
        let taken = view.taken();
        let heard = taken.filter(|taken| taken.kind.is_from_leader());
        self.snapshots.clear();
        if deeds.is_in_pieces || deeds.has_sent(MessageKind::Snapshot) {
            self.snapshots.extend(seen.effects.iter().filter_map(snapshot_in));
        }
        let witness = Witness {
            node: seen.node,
            now: seen.time,
            stimulus,
            provoked: matches!(seen.what, What::Commanded { .. })
                || taken.is_some_and(|taken| taken.kind == MessageKind::TimeoutNow),
            heard: heard.map(|taken| taken.term),
            snapshots: &self.snapshots,
        };
        settlement.observe(&witness, rules)
    }

    /// The bound on what is owed passed.
    pub(super) fn missed(&self, now: Time, violation: Violation) -> Violation {
        match &self.settlement {
            Some(settlement) => settlement.explain(now, violation),
            None => violation,
        }
    }

    /// What is still missing.
    pub(super) fn progress(
        &mut self,
        rules: &RaftRules,
        bounds: &BoundRules,
        cluster: &Cluster<KvNode>,
    ) -> Progress {
        if self.settlement.is_some() && Standing::of(cluster) != self.standing {
            // A process that was started again only now has found out what is on its disk, or one that was stopped has
            // taken an order that had waited for it.
            self.settlement = Some(self.settle(cluster, rules));
        }
        let awaited = self.standing.halted.iter().find(|node| cluster.is_running(**node));
        if let (false, Some(&node)) = (self.owes_nothing(), awaited) {
            let (rule, claim) = STARTED_AGAIN;
            let message = format!("the process of {node} died of its disk and is not started again");
            return Progress::Waiting(Violation { rule, claim, message, node: Some(node), peer: None });
        }
        let Some(settlement) = &self.settlement else { return Progress::Done };
        let busy = |client: &NodeId| {
            cluster.view(*client).and_then(KvNode::client).is_some_and(|client| !client.is_idle())
        };
        self.service.unanswered = self.served.iter().copied().find(busy);
        let those = |is: fn(&Server) -> bool| {
            set_of(
                cluster.servers().filter(|&node| cluster.view(node).and_then(KvNode::server).is_some_and(is)),
            )
        };
        self.service.transferring = those(Server::is_handing_over);
        self.service.declining = those(Server::is_full);
        let healthy = |node| !damaged(cluster).any(|other| other == node);
        match settlement.progress_of(rules, cluster, healthy, &self.service) {
            Progress::Done => match self.repairs(rules, cluster) {
                Progress::Done => self.cleans_up(rules, bounds, cluster),
                waiting => waiting,
            },
            waiting => waiting,
        }
    }

    /// Whether whoever leads sends its log to a server.
    fn is_member(node: NodeId, rules: &RaftRules, cluster: &Cluster<KvNode>) -> bool {
        let leaders = cluster.servers().filter(|&server| cluster.role(server) == Some(Role::Leader));
        let leader = leaders.max_by_key(|&leader| rules.standing(leader).term);
        let membership = leader.and_then(|leader| rules.membership(leader));
        membership.is_none_or(|membership| membership.has(node))
    }

    /// Whether somebody keeps files that nobody needs any more. Who has written what was asked for last has had the occasion
    /// to remove them.
    fn cleans_up(&self, rules: &RaftRules, bounds: &BoundRules, cluster: &Cluster<KvNode>) -> Progress {
        let Some(Owed::Progress { core, .. }) = self.settlement.as_ref().map(Settlement::owed) else {
            return Progress::Done;
        };
        let litter = |&node: &NodeId| {
            let server = cluster.view(node).and_then(KvNode::server)?;
            let is_at_rest = !server.is_full() && !server.is_damaged() && !server.is_halted();
            let has_written = is_at_rest && self.service.fresh_write == Served::Yes;
            let counts = has_written && Self::is_member(node, rules, cluster);
            if counts {
                bounds.litter(node, cluster.file_count(node), (self.needed_files)(server))
            } else {
                None
            }
        };
        core.members.iter().find_map(litter).map_or(Progress::Done, Progress::Waiting)
    }

    /// Whether somebody is still damaged who ought not to be.
    fn repairs(&self, rules: &RaftRules, cluster: &Cluster<KvNode>) -> Progress {
        if self.owes_nothing() {
            return Progress::Done;
        }
        let free = |from, to| cluster.connected(from, to) && self.obstructions.is_free(Link { from, to });
        let can_be = |node: &NodeId| {
            let reaches = |peer| peer == *node || free(*node, peer) && free(peer, *node);
            Self::is_member(*node, rules, cluster) && cluster.servers().all(reaches)
        };
        match damaged(cluster).find(can_be) {
            None => Progress::Done,
            Some(node) => {
                let (rule, claim) = REPAIRED;
                let server = cluster.view(node).and_then(KvNode::server);
                let what = server.and_then(Server::damage).map_or(String::new(), |what| format!(": {what}"));
                let message = format!("{node} reaches all of its peers, and its log is damaged still{what}");
                Progress::Waiting(Violation { rule, claim, message, node: Some(node), peer: None })
            }
        }
    }
}

/// The snapshot that goes out whole by an effect, or with its last piece: to whom, and up to which index it reaches.
fn snapshot_in(effect: &Effect<KvNode>) -> Option<(NodeId, u64)> {
    let Effect::Send { to, message } = effect else { return None };
    let head = match message {
        KvMessage::Raft { message, .. } => message,
        KvMessage::Piece { head, offset, total, bytes, .. }
            if *offset as usize + bytes.len() == *total as usize =>
        {
            head
        }
        _ => return None,
    };
    Some((*to, head.snapshot()?.index))
}

/// What may change what is owed although faults are over.
#[derive(Default, PartialEq, Eq)]
struct Standing {
    damaged: Vec<NodeId>,
    halted: Vec<NodeId>,
    /// Memberships that servers act by or may come to act by.
    memberships: Vec<Vec<Membership>>,
}

impl Standing {
    fn of(cluster: &Cluster<KvNode>) -> Standing {
        let servers = cluster.servers().filter_map(|node| cluster.view(node)?.server());
        Standing {
            damaged: damaged(cluster).collect(),
            halted: halted(cluster).collect(),
            memberships: servers.map(|server| server.memberships_to_come()).collect(),
        }
    }
}

/// Servers that have found their log damaged.
fn damaged(cluster: &Cluster<KvNode>) -> impl Iterator<Item = NodeId> + '_ {
    let is_damaged = |&node: &NodeId| {
        cluster.view(node).and_then(KvNode::server).is_some_and(|server| server.is_damaged())
    };
    cluster.servers().filter(is_damaged)
}

/// Servers whose process died of their disk, or could not read it, and is to be started again.
fn halted(cluster: &Cluster<KvNode>) -> impl Iterator<Item = NodeId> + '_ {
    let is_halted = |&node: &NodeId| {
        let server = cluster.view(node).and_then(KvNode::server);
        server.is_some_and(|server| server.is_halted() && !server.is_damaged())
    };
    cluster.servers().filter(is_halted)
}
