//! What is owed when faults are over: a leader, equal logs, answers, a fresh write and read, and all that was written.

use super::clients::Clients;
use crate::command::{Command, Operation, Reply, Text};
use crate::core::Core;
use crate::node::StoreNode;
use crate::options::Settings;
use whitewater_check::{
    Because, Ground, Membership, Obstructions, Owed, RaftRules, Served, Service, Settlement, Stimulus,
    Terrain, Witness,
};
use whitewater_sim::{
    Cluster, Link, NodeId, OpId, Phase, Progress, Script, Seen, Span, Time, Violation, What,
};

/// The key of fresh operations. No script can name it, as it holds a blank.
pub(super) const FRESH_KEY: &str = "fresh key";

/// Entries that one request may add: an attempt that waits too long is followed by another.
const ENTRIES_PER_REQUEST: u64 = 4;

/// Name and claim of the rule that a process that died of its disk comes back.
pub(super) const STARTED_AGAIN: (&str, &str) =
    ("started-again", "Once faults are over, a server whose process died of its disk is started again.");

/// The progress of one phase of settling.
pub(super) struct Settling {
    obstructions: Obstructions,
    pub(super) ground: Ground,
    /// Whether members change.
    changing: bool,
    phase: Phase,
    settlement: Option<Settlement>,
    /// How servers were when it was settled what is owed.
    pub(super) standing: Standing,
    /// Time for clients to ask all servers in turn for each request that is open, where some are no members and know of no
    /// leader.
    asking: Span,
    /// Clients that reach all of those who owe.
    served: Vec<NodeId>,
    write: Option<OpId>,
    read: Option<OpId>,
    service: Service,
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
                connecting: Span::ZERO,
                clocks_true: !script.has_lasting_clocks_beyond(20),
                limit: script.settle.limit,
                entries_per_round_trip: settings.entries_per_append(),
            },
            changing: settings.changing,
            phase: Phase::Faults,
            settlement: None,
            standing: Standing::default(),
            asking: Span::ZERO,
            served: Vec::new(),
            write: None,
            read: None,
            service: Service::default(),
        }
    }

    /// A phase begins: decides what is owed and asks for something new, and at the very end for everything there is.
    pub(super) fn begin<C: Core>(
        &mut self,
        phase: Phase,
        cluster: &Cluster<StoreNode<C>>,
        rules: &RaftRules,
        clients: &Clients,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.phase = phase;
        let settlement = self.settle(cluster, rules);
        self.served = match settlement.owed() {
            Owed::Progress { core, .. } => {
                cluster.clients().filter(|&client| self.reaches(cluster, client, &core.members)).collect()
            }
            Owed::Nothing(_) => Vec::new(),
        };
        self.settlement = Some(settlement);
        self.asking = self.time_to_ask(cluster);
        (self.write, self.read, self.service) = (None, None, Service::default());
        let Some(&first) = self.served.first() else { return };
        let key = Text::from(FRESH_KEY);
        let value = Text::from(if phase == Phase::Cycled { "f2" } else { "f1" });
        inject.push((first, Command::Insist(Operation::Append(key.clone(), value))));
        inject.push((first, Command::Insist(Operation::Get(key))));
        (self.service.fresh_write, self.service.fresh_read) = (Served::Waiting, Served::Waiting);
        if phase == Phase::Cycled {
            let readers = self.served.iter().cycle().skip(1);
            let keys = clients.keys().iter().filter(|key| &***key != FRESH_KEY);
            let read =
                |(key, reader): (&Text, &NodeId)| (*reader, Command::Insist(Operation::Get(key.clone())));
            inject.extend(keys.zip(readers).map(read));
        }
    }

    /// What is owed by those who are up now. A process that died of its disk is started again soon, and no disk fails any
    /// more: it counts.
    fn settle<C: Core>(&mut self, cluster: &Cluster<StoreNode<C>>, rules: &RaftRules) -> Settlement {
        self.standing = Standing::of(cluster);
        let mut terrain = Terrain::of(cluster, &self.obstructions, |_| true);
        if self.changing {
            for node in cluster.servers() {
                if let Some(server) = cluster.view(node).and_then(StoreNode::server) {
                    terrain.set_memberships(node, server.memberships_to_come());
                }
            }
        }
        let asking = cluster.clients().filter_map(|client| cluster.view(client)?.client());
        let requests: usize = asking.map(|client| client.open_requests()).sum();
        terrain.expect(requests as u64 * ENTRIES_PER_REQUEST);
        Settlement::begin(&self.ground, terrain, rules)
    }

    /// See [`Settling::asking`]: an attempt waits for up to two of the shortest election timeouts.
    fn time_to_ask<C: Core>(&self, cluster: &Cluster<StoreNode<C>>) -> Span {
        if !self.changing {
            return Span::ZERO;
        }
        let clients = self.served.iter().filter_map(|&client| cluster.view(client)?.client());
        let open = clients.map(|client| client.open_requests()).max().unwrap_or(0) as u64;
        self.ground.timing.election_low.times(2 * cluster.server_count() as u64 * open)
    }

    /// Whether nothing lies between a client and any of these servers.
    fn reaches<C: Core>(&self, cluster: &Cluster<StoreNode<C>>, client: NodeId, servers: &[NodeId]) -> bool {
        let free = |link| cluster.is_open(link) && self.obstructions.is_free(link);
        let both =
            |server| free(Link { from: client, to: server }) && free(Link { from: server, to: client });
        servers.iter().all(|&server| both(server))
    }

    /// Time beyond the script's limit that this phase may take.
    pub(super) fn allowance(&self) -> Span {
        self.settlement.as_ref().map_or(Span::ZERO, Settlement::allowance) + self.asking
    }

    pub(super) fn owes_nothing(&self) -> bool {
        self.owes_nothing_because().is_some()
    }

    /// Why nothing is owed, if so.
    pub(super) fn owes_nothing_because(&self) -> Option<Because> {
        self.settlement.as_ref().and_then(Settlement::nothing_because)
    }

    /// A node is told to do something. Nobody insists on anything but what is asked for here.
    pub(super) fn asked(&mut self, op: OpId, command: &Command, clients: &mut Clients) {
        let Command::Insist(operation) = command else { return };
        match (self.phase, operation) {
            (_, Operation::Append(key, _)) if &**key == FRESH_KEY => self.write = Some(op),
            (_, Operation::Get(key)) if &**key == FRESH_KEY => self.read = Some(op),
            (Phase::Cycled, Operation::Get(key)) => clients.is_last(op, key),
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

    /// A server has done something that broke no other rule. What its core sends and hears nobody here can tell.
    #[inline]
    pub(super) fn observe<C: Core>(
        &mut self,
        seen: &Seen<'_, StoreNode<C>>,
        stimulus: Stimulus,
        rules: &RaftRules,
    ) -> Result<(), Violation> {
        let Some(settlement) = &mut self.settlement else { return Ok(()) };
        let provoked = matches!(seen.what, What::Commanded { .. });
        let witness =
            Witness { node: seen.node, now: seen.time, stimulus, provoked, heard: None, snapshots: &[] };
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
    pub(super) fn progress<C: Core>(
        &mut self,
        rules: &RaftRules,
        cluster: &Cluster<StoreNode<C>>,
    ) -> Progress {
        if self.settlement.is_some() && Standing::of(cluster) != self.standing {
            // A process that was started again has found out what is on its disk, or a change of the members was applied.
            self.settlement = Some(self.settle(cluster, rules));
        }
        let awaited = self.standing.dead.iter().find(|node| cluster.is_running(**node));
        if let (false, Some(&node)) = (self.owes_nothing(), awaited) {
            let (rule, claim) = STARTED_AGAIN;
            let message = format!("the process of {node} died of its disk and is not started again");
            return Progress::Waiting(Violation { rule, claim, message, node: Some(node), peer: None });
        }
        let Some(settlement) = &self.settlement else { return Progress::Done };
        let busy = |client: &NodeId| {
            cluster.view(*client).and_then(StoreNode::client).is_some_and(|client| client.open_requests() > 0)
        };
        self.service.unanswered = self.served.iter().copied().find(busy);
        settlement.progress(rules, cluster, &self.service)
    }
}

/// What may change what is owed although faults are over.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Standing {
    dead: Vec<NodeId>,
    /// The members as servers see them, and as they may come to see them.
    pub(super) memberships: Vec<Vec<Membership>>,
}

impl Standing {
    fn of<C: Core>(cluster: &Cluster<StoreNode<C>>) -> Standing {
        let servers = || cluster.servers().filter_map(|node| Some((node, cluster.view(node)?)));
        let dead = servers().filter(|(_, view)| view.is_dead()).map(|(node, _)| node).collect();
        let members = servers().filter_map(|(_, view)| view.server());
        Standing { dead, memberships: members.map(|server| server.memberships_to_come()).collect() }
    }
}
