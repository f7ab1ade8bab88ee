//! A group whose network loses, repeats and reorders messages, and whose nodes crash at awkward moments.

mod dice;
mod node;

use dice::Dice;
use node::Node;
use std::collections::{BTreeMap, BTreeSet};
use whitewater_raft::{
    Change, ChangeKind, ConfChangeV2, Config, Message, MessageKind, NodeId, Payload, Role, StepError,
    Transition,
};

/// Ids of nodes that may ever be members.
const NODES: u64 = 5;

/// What the whole group must agree on.
#[derive(Default)]
pub(crate) struct Truth {
    /// The term of the entry at each committed index, and the state of the application behind it.
    applied: BTreeMap<u64, (u64, u64)>,
    leaders: BTreeMap<u64, NodeId>,
}

impl Truth {
    /// Somebody applied an entry, and everybody has to apply the same there.
    pub(crate) fn applied(&mut self, index: u64, term: u64, state: u64) {
        let first = *self.applied.entry(index).or_insert((term, state));
        assert_eq!(first, (term, state), "two nodes applied different entries at {index}");
    }

    fn last(&self) -> u64 {
        self.applied.last_key_value().map_or(0, |(&index, _)| index)
    }
}

/// The group and its tormentor.
pub(crate) struct World {
    dice: Dice,
    nodes: BTreeMap<NodeId, Node>,
    down: BTreeSet<NodeId>,
    wire: Vec<Message>,
    cut: BTreeSet<(NodeId, NodeId)>,
    truth: Truth,
    /// How far everything was applied when a read was asked for.
    reads: BTreeMap<u64, u64>,
    faults: bool,
    pub(crate) snapshots: u64,
    pub(crate) changes: u64,
}

impl World {
    /// A group of a drawn size with drawn options.
    pub(crate) fn new(seed: u64) -> World {
        World::with(seed, Config::new(1))
    }

    /// A group of a drawn size with drawn options, and everything else from `given`.
    pub(crate) fn with(seed: u64, given: Config) -> World {
        let mut dice = Dice::new(seed);
        let voters: Vec<NodeId> = (1..=dice.pick(&[1, 2, 3, 3, 4, 5])).collect();
        let base = Config {
            check_quorum: dice.one_in(2),
            pre_vote: dice.one_in(2),
            async_storage_writes: dice.one_in(2),
            message_size_max_bytes: dice.pick(&[0, 30, u64::MAX]),
            committed_size_max_bytes: dice.pick(&[0, 1, 30]),
            inflight_count_max: dice.pick(&[1, 3, 256]),
            // Without it a removed leader goes on leading and takes no proposals: no progress is owed then.
            step_down_on_removal: true,
            ..given
        };
        let nodes = (1..=NODES).map(|id| {
            let members = if voters.contains(&id) { voters.clone() } else { Vec::new() };
            (id, Node::new(Config { id, ..base.clone() }, members))
        });
        World {
            nodes: nodes.collect(),
            dice,
            down: BTreeSet::new(),
            wire: Vec::new(),
            cut: BTreeSet::new(),
            truth: Truth::default(),
            reads: BTreeMap::new(),
            faults: true,
            snapshots: 0,
            changes: 0,
        }
    }

    pub(crate) fn committed(&self) -> u64 {
        self.truth.last()
    }

    /// Lets one thing happen.
    pub(crate) fn step(&mut self) {
        let id = 1 + self.dice.below(NODES);
        match self.dice.below(40) {
            0..=3 => self.tick(id),
            4..=12 => self.work(id),
            13..=30 => self.deliver(),
            31..=33 => self.ask(id),
            34 => self.change_membership(id),
            35 => self.compact(id),
            36 if self.dice.one_in(5) => self.crash(id),
            37 => drop(self.down.remove(&id)),
            38 if self.dice.one_in(3) => self.change_links(id),
            39 if self.dice.one_in(3) => self.report(id),
            _ => self.deliver(),
        }
    }

    fn tick(&mut self, id: NodeId) {
        if !self.down.contains(&id) {
            let ticks = 1 + self.dice.below(3) as u32;
            self.node(id).raw.tick_by(ticks);
            self.after(id);
        }
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(&id).expect("ids are drawn from the group")
    }

    /// Answers what the node asks, and checks what it may not be.
    fn after(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(&id).expect("ids are drawn from the group");
        if let Some(range) = node.raw.take_timeout_request() {
            let drawn = u64::from(range.start) + self.dice.below(u64::from(range.end - range.start));
            node.raw.set_randomized_timeout(drawn as u32);
        }
        if node.raw.role() == Role::Leader {
            let first = *self.truth.leaders.entry(node.raw.term()).or_insert(id);
            assert_eq!(first, id, "two leaders in term {}", node.raw.term());
            if !node.was_leader
                && let Some((&index, &(term, _))) = self.truth.applied.last_key_value()
            {
                assert_eq!(node.raw.term_at(index), Some(term), "leader {id} lacks committed entry {index}");
            }
        }
        node.was_leader = node.raw.role() == Role::Leader;
        for progress in node.raw.progress() {
            let in_flight = progress.inflights.count() as u32;
            assert!(
                in_flight <= node.config.inflight_count_max,
                "{in_flight} appends in flight to {}",
                progress.id
            );
        }
    }

    /// Lets a node do some of what it wants done.
    fn work(&mut self, id: NodeId) {
        if self.down.contains(&id) {
            return;
        }
        let crashes = self.faults && self.dice.one_in(60);
        let node = self.nodes.get_mut(&id).expect("ids are drawn from the group");
        let done = node.work(&mut self.dice, &mut self.truth, crashes);
        self.wire.extend(done.messages);
        self.snapshots += done.snapshots;
        self.changes += done.changes;
        for (index, context) in done.reads {
            let number = u64::from_le_bytes(context[..].try_into().expect("eight bytes were asked with"));
            assert!(index >= self.reads[&number], "a read missed what was applied before it was asked for");
        }
        for message in done.for_itself {
            self.give(message);
        }
        if crashes {
            self.crash(id);
        } else {
            self.after(id);
        }
    }

    fn deliver(&mut self) {
        if self.wire.is_empty() {
            return;
        }
        let at = if self.faults && self.dice.one_in(3) { self.dice.below(self.wire.len() as u64) } else { 0 };
        let message = self.wire.remove(at as usize);
        if self.faults && self.dice.one_in(20) {
            self.wire.push(message.clone());
        }
        let lost = (self.faults && self.dice.one_in(20))
            || self.down.contains(&message.to)
            || self.cut.contains(&(message.from, message.to));
        if message.kind == MessageKind::Snapshot {
            // The link layer owes a word about every snapshot, or a lost answer could never be made up for.
            self.node(message.from).raw.report_snapshot(message.to, !lost);
        }
        if !lost {
            self.give(message);
        }
    }

    /// Nobody here says what a correct peer would not say, so nobody may refuse it.
    fn give(&mut self, message: Message) {
        let (to, kind) = (message.to, message.kind);
        let text = message.to_string();
        match self.node(to).raw.step(message) {
            Ok(()) => {}
            Err(StepError::ProposalDropped) if kind == MessageKind::Propose => {}
            Err(StepError::PeerNotFound) if kind.is_response() => {}
            Err(refusal) => panic!("a correct message was refused: {refusal}: {text}"),
        }
        self.after(to);
    }

    fn ask(&mut self, id: NodeId) {
        if self.down.contains(&id) {
            return;
        }
        let number = self.dice.next();
        match self.dice.below(8) {
            0 => {
                self.reads.insert(number, self.truth.last());
                self.node(id).raw.read_index(number.to_le_bytes());
            }
            1 => {
                let target = 1 + self.dice.below(NODES);
                self.node(id).raw.transfer_leader(target);
            }
            2 if self.dice.one_in(4) => self.node(id).raw.campaign(),
            3 if self.dice.one_in(4) => drop(self.node(id).raw.forget_leader()),
            _ => drop(self.node(id).raw.propose(number.to_le_bytes())),
        }
        self.after(id);
    }

    fn change_membership(&mut self, id: NodeId) {
        let kinds =
            [ChangeKind::AddNode, ChangeKind::AddNode, ChangeKind::RemoveNode, ChangeKind::AddLearner];
        let count = self.dice.pick(&[0, 1, 1, 2, 3]);
        let mut changes = Vec::new();
        for _ in 0..count {
            changes.push(Change { kind: self.dice.pick(&kinds), node: 1 + self.dice.below(NODES) });
        }
        let transitions =
            [Transition::Auto, Transition::Auto, Transition::JointImplicit, Transition::JointExplicit];
        let transition = if changes.is_empty() { Transition::Auto } else { self.dice.pick(&transitions) };
        let change = ConfChangeV2 { transition, changes, context: Payload::EMPTY };
        if !self.down.contains(&id) && self.leaves_enough_voters(id, &change) {
            let _ = self.node(id).raw.propose_conf_change(&change);
            self.after(id);
        }
    }

    /// Whether progress is owed afterwards. Of two voters none can be removed safely: the one that goes may be the only one
    /// that knows of it, and refuse its vote to the other for ever, because its log is longer.
    fn leaves_enough_voters(&self, id: NodeId, change: &ConfChangeV2) -> bool {
        let raw = &self.nodes[&id].raw;
        let voters = &raw.configuration().voters.incoming;
        let goes = |change: &&Change| {
            voters.contains(change.node)
                && matches!(change.kind, ChangeKind::RemoveNode | ChangeKind::AddLearner)
        };
        let going = change.changes.iter().filter(goes).count();
        // A follower might have an older configuration in mind than the leader it passes the change to.
        raw.role() == Role::Leader && (going == 0 || voters.voters().len() >= going + 2)
    }

    fn compact(&mut self, id: NodeId) {
        let keep = self.dice.below(4);
        if !self.down.contains(&id) {
            self.node(id).compact(keep);
        }
    }

    /// Everything that is not durable is lost.
    fn crash(&mut self, id: NodeId) {
        let forgets_commit = self.dice.one_in(2);
        self.node(id).restart(forgets_commit);
        self.down.insert(id);
        self.after(id);
    }

    fn change_links(&mut self, id: NodeId) {
        if self.dice.one_in(2) {
            self.cut.clear();
            return;
        }
        let other = 1 + self.dice.below(NODES);
        self.cut.insert((id, other));
        if self.dice.one_in(2) {
            self.cut.insert((other, id));
        }
    }

    fn report(&mut self, id: NodeId) {
        let peer = 1 + self.dice.below(NODES);
        if self.dice.one_in(2) {
            self.node(id).raw.report_unreachable(peer);
        } else {
            let arrived = self.dice.one_in(2);
            self.node(id).raw.report_snapshot(peer, arrived);
        }
    }

    /// The faults end: everything works again, and the group owes progress.
    pub(crate) fn settle(&mut self) {
        self.faults = false;
        self.down.clear();
        self.cut.clear();
        let before = self.truth.last();
        for round in 0..2_000_u64 {
            for id in 1..=NODES {
                self.tick(id);
            }
            for _ in 0..20 {
                (1..=NODES).for_each(|id| self.work(id));
                (0..self.wire.len()).for_each(|_| self.deliver());
            }
            if round % 10 == 0 {
                for id in 1..=NODES {
                    let _ = self.node(id).raw.propose(round.to_le_bytes());
                }
            }
            if self.truth.last() > before + 3 && self.members_agree() {
                return;
            }
        }
        let states: Vec<String> =
            self.nodes.values().map(|node| format!("{:?}", node.raw.status())).collect();
        panic!("a healed group made no progress from {before} on:\n{}", states.join("\n"));
    }

    /// Whether every member of the last configuration has applied everything.
    fn members_agree(&self) -> bool {
        let leader = self
            .nodes
            .values()
            .filter(|node| node.raw.role() == Role::Leader)
            .max_by_key(|node| node.raw.term());
        leader.is_some_and(|leader| {
            let applied = leader.raw.applied_index();
            let members = leader.raw.progress();
            let behind = members.iter().filter(|member| self.nodes[&member.id].raw.applied_index() < applied);
            applied == self.truth.last() && behind.count() == 0
        })
    }
}
