//! The rules over a run: safety after every step, clients, and what is owed when faults are over.

mod clients;
mod settling;
#[cfg(test)]
mod settling_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod wires_tests;

use crate::client::Client;
use crate::core::Core;
use crate::node::StoreNode;
use crate::options::{Reads, Settings};
pub use clients::{Clients, follow_clients};
use settling::Settling;
use whitewater_check::{
    ClientRules, ElectionView, LINEARIZABLE, PROGRESS_RULES, RaftRules, Spoken, Stimulus,
};
use whitewater_sim::{
    Action, ClientOperation, Cluster, Effect, Figures, Monitor, NodeId, Phase, Progress, SERVERS_MAX, Script,
    Seen, Span, Step, Time, Violation, What,
};

/// Watches a run.
pub struct StoreMonitor {
    rules: RaftRules,
    clients: Clients,
    settling: Settling,
    figures: Figures,
    /// The life of every server: another one means that its process was started again.
    lives: [u32; SERVERS_MAX],
    /// The term that a server has come to while nobody looked, see [`Server::is_undecided`]; 0 if there is none.
    unseen: [u64; SERVERS_MAX],
}

impl StoreMonitor {
    /// Watches a run of this script.
    pub fn new(script: &Script, settings: &Settings) -> StoreMonitor {
        let disturbs_time = |step: &Step| {
            matches!(step.action, Action::Clock { .. } | Action::Pause(_) | Action::Slow { .. })
        };
        // The lease of the crate that has one outlives a leadership even in good time, see FINDINGS.
        let lease_may_be_wrong = || settings.guarded || script.steps.iter().any(disturbs_time);
        let reads_may_be_old = settings.reads == Reads::Lease && lease_may_be_wrong();
        StoreMonitor {
            rules: RaftRules::new(script.servers),
            clients: Clients::new(reads_may_be_old),
            settling: Settling::new(script, settings),
            figures: Figures::default(),
            lives: [0; SERVERS_MAX],
            unseen: [0; SERVERS_MAX],
        }
    }

    /// What a server that is no more may have done while nobody looked, in the words of the rules: it may have led.
    fn unseen(&mut self, node: NodeId) -> Option<Spoken> {
        let term = std::mem::take(&mut self.unseen[node.position()]);
        (term > 0).then_some(Spoken::Other { term, is_pre_vote: false })
    }

    /// Name and claim of each rule.
    pub fn rules() -> Vec<(&'static str, &'static str)> {
        let mut rules = RaftRules::rules();
        rules.extend(ClientRules::rules());
        rules.push(LINEARIZABLE);
        rules.extend(PROGRESS_RULES);
        rules.push(settling::STARTED_AGAIN);
        rules
    }

    #[inline]
    fn follow_clients<C: Core>(
        &mut self,
        seen: &Seen<'_, StoreNode<C>>,
        cluster: &Cluster<StoreNode<C>>,
    ) -> Result<(), Violation> {
        if let What::Commanded { op, command } = seen.what {
            self.settling.asked(op, command, &mut self.clients);
        }
        for effect in seen.effects {
            if let Effect::Reply { op, reply } = effect {
                self.settling.told(*op, reply);
            }
        }
        let client = cluster.view(seen.node).and_then(StoreNode::client);
        // A client may have others to do before.
        follow_clients(&mut self.clients, seen, client.is_none(), client.map(Client::place))?;
        if let Some(op) = client.and_then(Client::current) {
            self.clients.begun(op, seen.time);
        }
        Ok(())
    }
}

impl<C: Core> Monitor<StoreNode<C>> for StoreMonitor {
    #[inline]
    fn observe(
        &mut self,
        seen: &Seen<'_, StoreNode<C>>,
        cluster: &Cluster<StoreNode<C>>,
    ) -> Result<(), Violation> {
        if !seen.node.is_server() {
            return self.follow_clients(seen, cluster);
        }
        let stimulus = match seen.what {
            What::Crashed => {
                if let Some(said) = self.unseen(seen.node) {
                    self.rules.died(seen.node, [said])?;
                }
                self.rules.crashed(seen.node);
                return Ok(());
            }
            What::Booted => Stimulus::Booted,
            What::Delivered { from, .. } => Stimulus::Delivered(from),
            _ => Stimulus::Other,
        };
        self.follow_clients(seen, cluster)?;
        let mut said = seen
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Send { to, message } if *to != seen.node => message.spoken(*to),
                _ => None,
            })
            .peekable();
        if seen.died {
            // Its view says that things are durable which are not; only what it sent counts.
            let unseen = self.unseen(seen.node);
            return self.rules.died(seen.node, said.chain(unseen));
        }
        match cluster.view(seen.node) {
            Some(StoreNode::Server(view)) => {
                let lived = std::mem::replace(&mut self.lives[seen.node.position()], view.life());
                let stimulus = if view.life() == lived { stimulus } else { Stimulus::Booted };
                if view.is_undecided() && stimulus != Stimulus::Booted && said.peek().is_none() {
                    self.unseen[seen.node.position()] = view.term();
                    return Ok(());
                }
                self.unseen[seen.node.position()] = 0;
                self.rules.observe(seen.node, stimulus, view, said)?;
                self.settling.observe(seen, stimulus, &self.rules)
            }
            // Its process has died of its disk, now or before.
            Some(StoreNode::Dead(_)) => {
                let unseen = self.unseen(seen.node);
                self.rules.died(seen.node, said.chain(unseen))?;
                self.rules.crashed(seen.node);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        phase: Phase,
        _now: Time,
        cluster: &Cluster<StoreNode<C>>,
        inject: &mut Vec<(NodeId, crate::command::Command)>,
    ) {
        self.settling.begin(phase, cluster, &self.rules, &self.clients, inject);
        if let Some(because) = self.settling.owes_nothing_because() {
            self.figures.owe_nothing(because.name());
        }
    }

    fn allowance(&self) -> Span {
        self.settling.allowance()
    }

    fn owed(&mut self, _now: Time, cluster: &Cluster<StoreNode<C>>) -> Progress {
        self.settling.progress(&self.rules, cluster)
    }

    fn missed(&self, now: Time, violation: Violation) -> Violation {
        self.settling.missed(now, violation)
    }

    fn end(&mut self) -> Result<(), Violation> {
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
