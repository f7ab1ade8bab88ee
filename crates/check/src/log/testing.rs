//! A node made by hand and a run of three of them, for the tests of rules.

use super::rules::RaftRules;
use crate::chain::ChainLog;
use crate::log_view::{LogView, Refusal, Spoken, Stimulus};
use crate::membership::Membership;
use crate::view::ElectionView;
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

/// How a run made by hand goes on.
pub(crate) type Going = Result<(), Violation>;

/// A node that shows what the test tells it to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toy {
    pub(crate) term: u64,
    pub(crate) durable_term: u64,
    pub(crate) vote: Option<NodeId>,
    pub(crate) durable_vote: Option<NodeId>,
    pub(crate) role: Role,
    pub(crate) leader: Option<NodeId>,
    pub(crate) log: ChainLog,
    /// Entries in memory that are not shown yet.
    pub(crate) hidden: u64,
    pub(crate) durable_index: u64,
    pub(crate) commit: u64,
    pub(crate) applied: u64,
    pub(crate) state_hash: Option<u64>,
    pub(crate) matches: [u64; SERVERS_MAX],
    pub(crate) nexts: [Option<u64>; SERVERS_MAX],
    pub(crate) snapshots_awaited: [Option<u64>; SERVERS_MAX],
    /// It tells others than leaders up to where its log goes.
    pub(crate) tells_anybody: bool,
    /// It goes on while its disk writes.
    pub(crate) applies_durable_only: bool,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) memberships: Vec<(u64, Membership)>,
    pub(crate) changes: Vec<u64>,
}

impl Toy {
    /// A node that has never done anything.
    pub(crate) fn new() -> Toy {
        Toy { role: Role::Follower, log: ChainLog::new(), ..Toy::default() }
    }

    /// Enters a term in a role; the term is durable at once.
    pub(crate) fn enter(&mut self, term: u64, role: Role) {
        (self.term, self.durable_term, self.role) = (term, term, role);
        (self.vote, self.durable_vote) = (None, None);
    }

    /// Appends entries of these terms with equal content wherever they stand; they are durable at once.
    pub(crate) fn append(&mut self, terms: &[u64]) {
        for &term in terms {
            self.log.append(self.log.last_index() + 1, term, 7);
        }
        self.durable_index = self.log.last_index();
    }

    /// Cuts the log back to `last`.
    pub(crate) fn cut(&mut self, last: u64) {
        self.log.truncate(last);
        self.durable_index = self.durable_index.min(last);
    }

    /// Chooses a candidate; the choice is durable at once.
    pub(crate) fn choose(&mut self, candidate: NodeId) {
        (self.vote, self.durable_vote) = (Some(candidate), Some(candidate));
    }
}

impl ElectionView for Toy {
    fn term(&self) -> u64 {
        self.term
    }
    fn durable_term(&self) -> u64 {
        self.durable_term
    }
    fn vote(&self) -> Option<NodeId> {
        self.vote
    }
    fn role(&self) -> Role {
        self.role
    }
    fn leader(&self) -> Option<NodeId> {
        self.leader
    }
}

impl LogView for Toy {
    fn first_index(&self) -> u64 {
        self.log.base() + 1
    }
    fn last_index(&self) -> u64 {
        self.log.last_index()
    }
    fn memory_last_index(&self) -> u64 {
        self.log.last_index() + self.hidden
    }
    fn commit(&self) -> u64 {
        self.commit
    }
    fn applied(&self) -> u64 {
        self.applied
    }
    fn term_at(&self, index: u64) -> Option<u64> {
        self.log.term_at(index)
    }
    fn chain_at(&self, index: u64) -> Option<u64> {
        self.log.chain_at(index)
    }
    fn durable_index(&self) -> u64 {
        self.durable_index
    }
    fn durable_vote(&self) -> Option<NodeId> {
        self.durable_vote
    }
    fn match_index(&self, peer: NodeId) -> Option<u64> {
        (self.role == Role::Leader).then_some(self.matches[peer.position()])
    }
    fn next_index(&self, peer: NodeId) -> Option<u64> {
        self.nexts[peer.position()]
    }
    fn acknowledges_leaders_only(&self) -> bool {
        !self.tells_anybody
    }
    fn applies_durable_only(&self) -> bool {
        self.applies_durable_only
    }
    fn snapshot_awaited(&self, peer: NodeId) -> Option<u64> {
        self.snapshots_awaited[peer.position()]
    }
    fn state_hash(&self) -> Option<u64> {
        self.state_hash
    }
    fn memberships(&self) -> &[(u64, Membership)] {
        &self.memberships
    }
    fn changes(&self) -> &[u64] {
        &self.changes
    }
    fn refusals(&self) -> u32 {
        self.refusal.is_some().into()
    }
    fn last_refusal(&self) -> Option<Refusal> {
        self.refusal
    }
}

/// Three servers that are up, under rules.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) rules: RaftRules,
    pub(crate) nodes: Vec<Toy>,
}

/// The servers of a run.
pub(crate) const N1: NodeId = NodeId::server(0);
pub(crate) const N2: NodeId = NodeId::server(1);
pub(crate) const N3: NodeId = NodeId::server(2);

impl Run {
    /// Under all rules but two: a run that shows one thing takes short cuts that no Raft could, and has answers without
    /// questions.
    pub(crate) fn new() -> Run {
        Run::but("abstract-step").blind_to("answers-asked")
    }

    /// Under all rules but one.
    pub(crate) fn but(rule: &str) -> Run {
        Run::without_short_cuts().blind_to(rule)
    }

    fn blind_to(mut self, rule: &str) -> Run {
        self.rules.blind(rule).expect("there is such a rule");
        self
    }

    /// Under all rules.
    pub(crate) fn without_short_cuts() -> Run {
        let mut run = Run { rules: RaftRules::new(3), nodes: vec![Toy::new(); 3] };
        for node in [N1, N2, N3] {
            run.boot(node, |_| {}).expect("a node that has done nothing breaks nothing");
        }
        run
    }

    /// A step in which a node says nothing.
    pub(crate) fn step(&mut self, node: NodeId, act: impl FnOnce(&mut Toy)) -> Going {
        self.act(node, Stimulus::Other, &[], act)
    }

    /// A step in which a node says something.
    pub(crate) fn say(&mut self, node: NodeId, said: Spoken, act: impl FnOnce(&mut Toy)) -> Going {
        self.act(node, Stimulus::Other, &[said], act)
    }

    /// A step upon a message.
    pub(crate) fn deliver(&mut self, node: NodeId, from: NodeId, act: impl FnOnce(&mut Toy)) -> Going {
        self.act(node, Stimulus::Delivered(from), &[], act)
    }

    /// A step upon the refusal of an append, in which a node says something.
    pub(crate) fn retry(&mut self, node: NodeId, from: NodeId, said: Spoken) -> Going {
        self.act(node, Stimulus::Refused(from), &[said], |_| {})
    }

    /// A crash that takes everything that is not durable.
    pub(crate) fn crash(&mut self, node: NodeId) {
        let toy = &mut self.nodes[node.position()];
        let mut log = toy.log.clone();
        log.truncate(toy.durable_index);
        *toy = Toy {
            term: toy.durable_term,
            durable_term: toy.durable_term,
            vote: toy.durable_vote,
            durable_vote: toy.durable_vote,
            log,
            durable_index: toy.durable_index,
            role: Role::Follower,
            ..Toy::default()
        };
        self.rules.crashed(node);
    }

    /// A start.
    pub(crate) fn boot(&mut self, node: NodeId, act: impl FnOnce(&mut Toy)) -> Going {
        self.act(node, Stimulus::Booted, &[], act)
    }

    fn act(
        &mut self,
        node: NodeId,
        stimulus: Stimulus,
        said: &[Spoken],
        act: impl FnOnce(&mut Toy),
    ) -> Going {
        let toy = &mut self.nodes[node.position()];
        act(toy);
        self.rules.observe(node, stimulus, toy, said.iter().copied())
    }
}

/// The rule that a run breaks first.
pub(crate) fn broken(run: impl FnOnce(&mut Run) -> Going) -> Option<&'static str> {
    run(&mut Run::new()).err().map(|violation| violation.rule)
}
