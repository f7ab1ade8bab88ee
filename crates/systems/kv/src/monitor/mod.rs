//! The rules over a run: safety after every step, clients, and what is owed when faults are over.

#[cfg(test)]
mod beside_tests;
mod bounds;
mod clients;
mod copies;
mod leases;
mod pacing;
mod settling;
mod step;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod told_tests;
#[cfg(test)]
mod wires_tests;

use crate::client::Client;
use crate::message::{KvMessage, Outcome, Session, server};
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::Server;
use bounds::Bounds;
use clients::{Clients, deed, ended};
use copies::Copy;
use leases::Leases;
use pacing::Pacing;
use settling::Settling;
use step::{Deeds, Done};
use whitewater_check::{
    Answered, Asked, Because, BoundRules, ClientRules, LINEARIZABLE, LeaseRules, PROGRESS_RULES, PaceRules,
    RaftRules, Spoken, Stimulus,
};
use whitewater_raft::MessageKind;
use whitewater_sim::{
    Action, ClientOperation, Cluster, Effect, Figures, Monitor, NodeId, Phase, Progress, Ratio, SERVERS_MAX,
    Script, Seen, Span, Step, Time, Violation, Watch, What,
};

/// Name and claim of the rule that a log on a disk of good faith is whole.
const LOG_FOUND_WHOLE: (&str, &str) =
    ("log-found-whole", "A server that starts finds its log whole, unless its disk may damage it.");

/// Why nothing is owed once a disk gave promises away unnoticed.
const PROMISES_LOST: &str = "promises-lost";

/// Which rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    All,
    /// Those about what clients see.
    Clients,
    Only(&'static str),
}

impl Counted {
    fn has(self, rule: &str) -> bool {
        match self {
            Counted::All => true,
            Counted::Clients => is_of_clients(rule),
            Counted::Only(name) => rule == name,
        }
    }
}

/// Watches a run.
pub struct KvMonitor {
    rules: RaftRules,
    leases: Leases,
    bounds: Bounds,
    pacing: Pacing,
    clients: Clients,
    /// Copies of some of these, see [`Watch::Copies`].
    copies: Vec<Copy>,
    settling: Settling,
    figures: Figures,
    /// The session of every server: another one means that its process was started again.
    lives: [Session; SERVERS_MAX],
    /// Servers that answered a client in the step in which they died, a bit each by position. Which entry the answer stood
    /// for nobody can tell any more.
    answered: u16,
    /// Somebody's disk gave promises away unnoticed: what rests on them is not owed any more.
    waived: bool,
    /// Whether a server is forgiven what its disk betrayed.
    excuses: bool,
    /// What is let pass, whatever it says.
    counted: Counted,
    /// A log that was found damaged breaks no rule.
    ignores_damage: bool,
    /// Nobody looks inside of servers: nothing is to be checked, or a rule that does not count was broken.
    is_blind: bool,
}

/// Whether a lease may be wrong in a run: a leader finds out within two election timeouts that nobody follows, and others may
/// elect another after one. So it has to be cut off, to stand still, or to have a clock of its own.
fn disturbs_leases(script: &Script) -> bool {
    let Script { network, disk, steps, .. } = script;
    let stands_still = disk.stalls > 0 || disk.busy_high > Span::ZERO;
    let is_fault = |step: &Step| !matches!(step.action, Action::Operate { .. });
    network.loss != Ratio::NEVER || stands_still || steps.iter().any(is_fault)
}

impl KvMonitor {
    /// Watches a run of this script.
    pub fn new(script: &Script, settings: &Settings) -> KvMonitor {
        let reads_may_be_old = settings.lease && settings.lease_excuses && disturbs_leases(script);
        KvMonitor {
            rules: RaftRules::new(script.servers),
            leases: Leases::new(script),
            bounds: Bounds::default(),
            pacing: Pacing::default(),
            answered: 0,
            waived: false,
            clients: Clients::new(reads_may_be_old),
            copies: Vec::new(),
            settling: Settling::new(script, settings),
            figures: Figures::default(),
            lives: [0; SERVERS_MAX],
            excuses: settings.disk_excuses,
            counted: if settings.clients_only { Counted::Clients } else { Counted::All },
            ignores_damage: false,
            is_blind: false,
        }
    }

    /// Switches checks off.
    ///
    /// # Errors
    /// There is no such check, or it is about what is owed at the end.
    pub(crate) fn watch(&mut self, watch: Watch<'_>) -> Result<(), String> {
        match watch {
            Watch::All => Ok(()),
            Watch::None => {
                (self.waived, self.is_blind) = (true, true);
                Ok(())
            }
            Watch::AllBut(rule) => {
                if rule == LINEARIZABLE.0 {
                    self.clients.forgo_search();
                    return Ok(());
                }
                self.ignores_damage |= rule == LOG_FOUND_WHOLE.0;
                if self.ignores_damage || self.blind_beside(rule) {
                    return Ok(());
                }
                self.rules.blind(rule).or_else(|_| self.clients.rules_mut().blind(rule))
            }
            Watch::Only(rule) => {
                let rules = KvMonitor::rules();
                let known = rules.iter().find(|(name, _)| *name == rule);
                let &(name, _) = known.ok_or_else(|| format!("there is no rule `{rule}`"))?;
                self.rules.blind_all_but(name);
                self.clients.rules_mut().blind_all_but(name);
                for (other, _) in beside().filter(|(other, _)| *other != name) {
                    assert!(self.blind_beside(other));
                }
                self.counted = Counted::Only(name);
                Ok(())
            }
            Watch::Copies { rule, count, look } => {
                if beside().any(|(name, _)| name == rule) {
                    self.copies = vec![Copy::of(self, look.then_some(rule)); count as usize];
                    return Ok(());
                }
                self.rules.copy(rule, count, look)
            }
        }
    }

    /// Switches a rule beside those that any Raft is under off, if it is one; says whether it is.
    fn blind_beside(&mut self, rule: &str) -> bool {
        self.leases.rules.blind(rule) || self.bounds.rules.blind(rule) || self.pacing.rules.blind(rule)
    }

    /// Name and claim of each rule.
    pub fn rules() -> Vec<(&'static str, &'static str)> {
        let mut rules = RaftRules::rules();
        rules.extend(beside());
        rules.extend(ClientRules::rules());
        rules.push(LINEARIZABLE);
        rules.push(LOG_FOUND_WHOLE);
        rules.extend(PROGRESS_RULES);
        rules.extend([settling::STARTED_AGAIN, settling::REPAIRED]);
        rules
    }

    /// Notes what a server promises in the step in which it dies: a leader that tells others of a commit counts itself in,
    /// and an answer to a client stands for an entry.
    fn note_promises(&mut self, seen: &Seen<'_, KvNode>) {
        for effect in seen.effects {
            match effect {
                Effect::Send { message: KvMessage::Raft { message, .. }, .. } => {
                    self.rules.promise(seen.node, message.commit);
                }
                Effect::Send { message: KvMessage::Response { outcome: Outcome::Done(_), .. }, .. } => {
                    self.answered |= 1 << seen.node.position();
                }
                _ => {}
            }
        }
    }

    /// A server starts whose disk has lied, misplaced a write or rotted.
    fn starts_on_false_disk(&mut self, node: NodeId, view: &Server) {
        self.rules.forgive(node);
        if view.is_damaged() {
            // It has found out, and takes care itself that nothing rests on what it has lost.
            self.rules.forget_term(node);
        } else if self.rules.has_lost(node, view) || self.answered >> node.position() & 1 == 1 {
            self.rules.forget(node);
            self.waived = true;
        }
    }

    /// Follows what clients ask and are told.
    #[inline(never)]
    fn follow_clients(
        &mut self,
        seen: &Seen<'_, KvNode>,
        cluster: &Cluster<KvNode>,
    ) -> Result<(), Violation> {
        if self.waived {
            return Ok(());
        }
        if let What::Commanded { op, command } = seen.what {
            if let Some((key, deed)) = deed(command) {
                // A client may have others to do before.
                let asked = Asked { node: seen.node, at: seen.time };
                self.clients.asked(op, asked, key, deed, seen.node.is_server());
            }
            self.settling.asked(op, command, &mut self.clients);
        }
        for effect in seen.effects {
            if let Effect::Reply { op, reply } = effect {
                self.settling.told(*op, reply);
                let Some(ended) = ended(reply) else { continue };
                let by = match seen.what {
                    What::Delivered { from, .. } => Some(from).filter(|from| from.is_server()),
                    _ => None,
                };
                let client = cluster.view(seen.node).and_then(KvNode::client);
                let answered = Answered { at: seen.time, by, index: client.map(Client::place) };
                self.clients.told(*op, seen.node, &ended, answered)?;
            }
        }
        Ok(())
    }
}

/// What a message of the core promises or claims.
#[inline(always)]
fn spoken(message: &whitewater_raft::Message) -> Spoken {
    let term = message.term;
    match message.kind {
        MessageKind::VoteResponse if !message.reject => {
            let to = server(message.to).expect("votes go to members");
            Spoken::Grant { to, term }
        }
        MessageKind::AppendResponse if !message.reject => {
            let to = server(message.to).expect("acknowledgements go to members");
            Spoken::AppendResponse { to, term, index: message.index }
        }
        MessageKind::VoteResponse | MessageKind::AppendResponse => Spoken::Refusal { term },
        MessageKind::PreVoteResponse if message.reject => Spoken::Refusal { term },
        MessageKind::Append => {
            let to = server(message.to).expect("leaders write to members");
            let (index, log_term, commit) = (message.index, message.log_term, message.commit);
            Spoken::Append { to, term, index, log_term, commit, entries: message.entries.len() as u64 }
        }
        MessageKind::Snapshot => {
            Spoken::Snapshot { term, index: message.snapshot().map_or(0, |snapshot| snapshot.index) }
        }
        MessageKind::TimeoutNow => {
            Spoken::Order { to: server(message.to).expect("leaders order members"), term }
        }
        MessageKind::Vote => Spoken::Campaign { term, takes_over: message.transfer },
        MessageKind::PreVote | MessageKind::PreVoteResponse => Spoken::Other { term, is_pre_vote: true },
        _ => Spoken::Other { term, is_pre_vote: false },
    }
}

impl KvMonitor {
    /// A server has begun another life, or its life is over.
    fn forget_life(&mut self, node: NodeId) {
        self.leases.rules.forget(node);
        self.bounds.rules.forget(node);
        self.pacing.forget(node);
        self.copies.iter_mut().for_each(|copy| copy.forget_life(node));
    }

    /// Whether only a rule counts that no progress can break.
    fn is_about_safety_alone(&self) -> bool {
        let own = [settling::STARTED_AGAIN, settling::REPAIRED, BoundRules::AT_REST];
        let mut late = PROGRESS_RULES.iter().chain(&own);
        matches!(self.counted, Counted::Only(name) if late.all(|(rule, _)| *rule != name))
    }

    /// Whether a server is forgiven what it does on a disk that betrayed it.
    fn is_excused(&self, node: NodeId, cluster: &Cluster<KvNode>) -> bool {
        self.excuses && cluster.is_betrayed(node)
    }

    #[inline]
    fn judge(&mut self, seen: &Seen<'_, KvNode>, cluster: &Cluster<KvNode>) -> Result<(), Violation> {
        if !seen.node.is_server() {
            self.follow_clients(seen, cluster)?;
            let client = cluster.view(seen.node).and_then(KvNode::client);
            if let Some(op) = client.and_then(Client::current) {
                self.clients.begun(op, seen.time);
            }
            return Ok(());
        }
        let stimulus = match seen.what {
            What::Crashed => {
                self.rules.crashed(seen.node);
                self.forget_life(seen.node);
                return Ok(());
            }
            What::Booted => Stimulus::Booted,
            What::Delivered { from, .. } => Stimulus::Delivered(from),
            _ => Stimulus::Other,
        };
        let deeds = Deeds::of(seen.effects);
        if deeds.has_replied || matches!(seen.what, What::Commanded { .. }) {
            self.follow_clients(seen, cluster)?;
        }
        if seen.died {
            self.forget_life(seen.node);
            // Its view says that things are durable which are not; only what it sent counts.
            return self.dies(seen);
        }
        let Some(view) = cluster.view(seen.node).and_then(KvNode::server) else { return Ok(()) };
        let lived = std::mem::replace(&mut self.lives[seen.node.index()], view.session());
        if view.is_halted() {
            return self.judge_dead(seen, view, cluster);
        }
        let stimulus = match view.taken() {
            _ if view.session() != lived => Stimulus::Booted,
            Some(taken) if taken.rejects && taken.kind == MessageKind::AppendResponse => {
                Stimulus::Refused(taken.from)
            }
            _ => stimulus,
        };
        if stimulus == Stimulus::Booted {
            self.begins_life(seen.node, view, cluster);
        }
        let before = self.rules.standing(seen.node);
        self.rules.observe(seen.node, stimulus, view, Said(seen.effects.iter()))?;
        let (before, after) = (&before, self.rules.last_standing(seen.node));
        let membership = self.rules.last_membership(seen.node);
        let done = Done { seen, deeds, view, before, after, membership };
        self.leases.observe(&done)?;
        self.bounds.observe(&done)?;
        if self.waived {
            return Ok(());
        }
        self.pacing.observe(&done)?;
        if !self.copies.is_empty() {
            copies::observe(&mut self.copies, &done)?;
        }
        self.settling.observe(&done, stimulus, &self.rules)
    }

    /// Something is broken: by a rule that counts?
    #[cold]
    fn let_pass(&mut self, violation: Violation) -> Result<(), Violation> {
        if self.counted.has(violation.rule) {
            return Err(violation);
        }
        self.is_blind = self.counted == Counted::Clients;
        Ok(())
    }

    /// The process of a server is dead; what it shows is what it had in memory.
    #[cold]
    fn judge_dead(
        &mut self,
        seen: &Seen<'_, KvNode>,
        view: &Server,
        cluster: &Cluster<KvNode>,
    ) -> Result<(), Violation> {
        let (rule, claim) = LOG_FOUND_WHOLE;
        let counts = !self.ignores_damage && (self.counted == Counted::Clients || self.counted.has(rule));
        if counts && view.is_damaged() && !self.is_excused(seen.node, cluster) {
            let what =
                view.damage().map_or(String::new(), |what| format!(", and nothing excuses it: {what}"));
            let message = format!("{} finds that its log is damaged{what}", seen.node);
            return Err(Violation { rule, claim, message, node: Some(seen.node), peer: None });
        }
        self.dies(seen)?;
        self.rules.crashed(seen.node);
        self.forget_life(seen.node);
        Ok(())
    }

    /// A server, or its disk, dies in the middle of a step.
    #[cold]
    fn dies(&mut self, seen: &Seen<'_, KvNode>) -> Result<(), Violation> {
        self.note_promises(seen);
        self.rules.died(seen.node, Said(seen.effects.iter()))
    }

    /// A server has started.
    #[cold]
    fn begins_life(&mut self, node: NodeId, view: &Server, cluster: &Cluster<KvNode>) {
        if self.is_excused(node, cluster) {
            self.starts_on_false_disk(node, view);
        }
        self.answered &= !(1 << node.position());
        self.forget_life(node);
    }
}

/// What a server says to others in a step by messages of the core.
struct Said<'a>(std::slice::Iter<'a, Effect<KvNode>>);

impl Iterator for Said<'_> {
    type Item = Spoken;

    #[inline(always)]
    fn next(&mut self) -> Option<Spoken> {
        for effect in self.0.by_ref() {
            if let Effect::Send { message: KvMessage::Raft { message, .. }, .. } = effect {
                return Some(spoken(message));
            }
        }
        None
    }
}

/// The rules over servers beside those that any Raft is under.
fn beside() -> impl Iterator<Item = (&'static str, &'static str)> {
    LeaseRules::rules().into_iter().chain(BoundRules::rules()).chain(PaceRules::rules())
}

/// Whether a rule is about what clients see.
fn is_of_clients(rule: &str) -> bool {
    ClientRules::rules().iter().any(|(name, _)| *name == rule)
}

impl Monitor<KvNode> for KvMonitor {
    #[inline]
    fn observe(&mut self, seen: &Seen<'_, KvNode>, cluster: &Cluster<KvNode>) -> Result<(), Violation> {
        if self.is_blind && seen.node.is_server() {
            return self.follow_clients(seen, cluster);
        }
        match self.judge(seen, cluster) {
            Ok(()) => Ok(()),
            Err(violation) => self.let_pass(violation),
        }
    }

    fn begin(
        &mut self,
        phase: Phase,
        _now: Time,
        cluster: &Cluster<KvNode>,
        inject: &mut Vec<(NodeId, crate::command::Command)>,
    ) {
        self.settling.begin(phase, cluster, &self.rules, &self.clients, inject);
        if self.waived {
            inject.clear();
        }
        let because = self.settling.owes_nothing_because().map(Because::name);
        if let Some(because) = if self.waived { Some(PROMISES_LOST) } else { because } {
            self.figures.owe_nothing(because);
        }
    }

    fn allowance(&self) -> Span {
        self.settling.allowance()
    }

    fn owed(&mut self, _now: Time, cluster: &Cluster<KvNode>) -> Progress {
        if self.waived || self.is_blind {
            return Progress::Done;
        }
        match self.settling.progress(&self.rules, &self.bounds.rules, cluster) {
            // Who looks at another rule need not wait for it; a rule about progress may come behind it.
            Progress::Waiting(_) if self.is_about_safety_alone() => Progress::Done,
            progress => progress,
        }
    }

    fn missed(&self, now: Time, violation: Violation) -> Violation {
        self.settling.missed(now, violation)
    }

    fn end(&mut self) -> Result<(), Violation> {
        let (rule, _) = LINEARIZABLE;
        if self.waived || matches!(self.counted, Counted::Only(name) if name != rule) {
            return Ok(());
        }
        self.clients.check()?;
        self.figures.undecided += self.clients.undecided();
        Ok(())
    }

    fn history(&self) -> Option<String> {
        Some(self.clients.to_lines())
    }

    fn evidence(&self, violation: &Violation) -> Vec<ClientOperation> {
        self.clients.evidence(violation)
    }

    fn figures(&self) -> Figures {
        Figures { acknowledged_writes: self.clients.acknowledged(), ..self.figures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_raft::Message;

    #[test]
    fn every_promise_of_a_message_is_held_against_the_disk() {
        let said = |kind, reject| {
            spoken(&Message { kind, from: 2, to: 1, term: 3, index: 7, reject, ..Message::default() })
        };
        let (to, term) = (NodeId::server(0), 3);
        assert_eq!(said(MessageKind::VoteResponse, false), Spoken::Grant { to, term });
        assert_eq!(said(MessageKind::AppendResponse, false), Spoken::AppendResponse { to, term, index: 7 });
        for kind in [MessageKind::VoteResponse, MessageKind::AppendResponse, MessageKind::PreVoteResponse] {
            assert_eq!(said(kind, true), Spoken::Refusal { term }, "{kind:?}");
        }
        for kind in [MessageKind::PreVote, MessageKind::PreVoteResponse] {
            assert_eq!(said(kind, false), Spoken::Other { term, is_pre_vote: true }, "{kind:?}");
        }
        assert_eq!(said(MessageKind::TimeoutNow, false), Spoken::Order { to, term });
        assert_eq!(said(MessageKind::Vote, false), Spoken::Campaign { term, takes_over: false });
        let append = Spoken::Append { to, term, index: 7, log_term: 0, commit: 0, entries: 0 };
        assert_eq!(said(MessageKind::Append, false), append);
        let heartbeat = Spoken::Other { term, is_pre_vote: false };
        assert_eq!(said(MessageKind::Heartbeat, false), heartbeat);
    }
}
