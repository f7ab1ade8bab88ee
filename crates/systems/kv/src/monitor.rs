//! The rules over a run: safety after every step, clients, and what is owed when faults are over.

use crate::message::{KvMessage, server};
use crate::node::KvNode;
use crate::options::Settings;
use whitewater_check::{Core, ElectionView, LogView, Obstructions, RaftRules, Spoken, Stimulus};
use whitewater_raft::MessageKind;
use whitewater_sim::{
    Cluster, Effect, Figures, Monitor, NodeId, Phase, Progress, Role, Script, Seen, Time, Violation, What,
};

/// Watches a run.
pub struct KvMonitor {
    rules: RaftRules,
    obstructions: Obstructions,
    figures: Figures,
}

impl KvMonitor {
    /// Watches a run of this script.
    pub fn new(script: &Script, _settings: &Settings) -> KvMonitor {
        KvMonitor {
            rules: RaftRules::new(script.servers),
            obstructions: Obstructions::of(script),
            figures: Figures::default(),
        }
    }
}

/// What a message of the core promises or claims.
#[inline]
fn spoken(message: &whitewater_raft::Message) -> Spoken {
    let term = message.term;
    match message.kind {
        MessageKind::VoteResponse if !message.reject => {
            let to = server(message.to).expect("votes go to members");
            Spoken::Grant { to, term }
        }
        MessageKind::AppendResponse if !message.reject => {
            Spoken::AppendResponse { term, index: message.index }
        }
        MessageKind::VoteResponse | MessageKind::AppendResponse => Spoken::Refusal { term },
        MessageKind::PreVoteResponse if message.reject => Spoken::Refusal { term },
        MessageKind::PreVote | MessageKind::PreVoteResponse => Spoken::Other { term, is_pre_vote: true },
        _ => Spoken::Other { term, is_pre_vote: false },
    }
}

impl Monitor<KvNode> for KvMonitor {
    #[inline]
    fn observe(&mut self, seen: &Seen<'_, KvNode>, cluster: &Cluster<KvNode>) -> Result<(), Violation> {
        if !seen.node.is_server() {
            for effect in seen.effects {
                if let Effect::Reply {
                    reply: crate::command::Reply::Done(crate::command::Answer::Written),
                    ..
                } = effect
                {
                    self.figures.acknowledged_writes += 1;
                }
            }
            return Ok(());
        }
        let stimulus = match seen.what {
            What::Crashed => {
                self.rules.crashed(seen.node);
                return Ok(());
            }
            What::Booted => Stimulus::Booted,
            What::Delivered { from, .. } => Stimulus::Delivered(from),
            _ => Stimulus::Other,
        };
        if seen.died {
            // Its view says that things are durable which are not.
            return Ok(());
        }
        let Some(view) = cluster.view(seen.node).and_then(KvNode::server) else { return Ok(()) };
        let said = seen.effects.iter().filter_map(|effect| match effect {
            Effect::Send { message: KvMessage::Raft { message, .. }, .. } => Some(spoken(message)),
            _ => None,
        });
        self.rules.observe(seen.node, stimulus, view, said)
    }

    fn begin(
        &mut self,
        _phase: Phase,
        _now: Time,
        _cluster: &Cluster<KvNode>,
        _inject: &mut Vec<(NodeId, crate::command::Command)>,
    ) {
    }

    fn owed(&mut self, _now: Time, cluster: &Cluster<KvNode>) -> Progress {
        let Some(core) = Core::of(cluster, &self.obstructions) else {
            self.figures.not_owed += 1;
            return Progress::Done;
        };
        let waiting = |rule, message: String, node| {
            Progress::Waiting(Violation { rule, claim: rule, message, node, peer: None })
        };
        let views: Vec<_> =
            core.members.iter().filter_map(|&n| Some((n, cluster.view(n)?.server()?))).collect();
        if views.iter().any(|(_, v)| v.is_halted()) {
            self.figures.not_owed += 1;
            return Progress::Done;
        }
        let Some(&(leader, lead)) = views
            .iter()
            .filter(|(_, v)| ElectionView::role(*v) == Role::Leader)
            .max_by_key(|(_, v)| v.term())
        else {
            return waiting("leader", "nobody leads".to_owned(), None);
        };
        for &(node, view) in &views {
            if view.leader() != Some(leader)
                || view.commit() != lead.last_index()
                || view.applied() != view.commit()
                || view.last_index() != lead.last_index()
            {
                return waiting(
                    "converge",
                    format!("{node} is behind {leader}: commit {} of {}", view.commit(), lead.last_index()),
                    Some(node),
                );
            }
        }
        for client in cluster.clients() {
            if !cluster.view(client).and_then(KvNode::client).is_none_or(|c| c.is_idle()) {
                return waiting("answers", format!("{client} has no answer"), Some(client));
            }
        }
        Progress::Done
    }

    fn figures(&self) -> Figures {
        self.figures
    }
}
