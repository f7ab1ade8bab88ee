//! No needless election: once faults are over, a node that hears its leader does not stand for its place.
//!
//! A broadcast takes at most four queues from the election to the connection, which is less than a heartbeat interval, and
//! connections keep order. So whoever hears in order from a node something that was sent a heartbeat interval after that
//! node began to lead has been told so, unless the announcement was lost on the way. Hearing it puts the election off
//! for the death timeout, four intervals; so two intervals after, a node that still acts in that term calls no election.

use super::{claims, rounded};
use crate::node::RelayNode;
use crate::settings::Settings;
use whitewater_check::{Change, Obstructions};
use whitewater_sim::{Cluster, Link, NodeId, Role, SERVERS_MAX, Script, Seen, Span, Time, Violation, What};

#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    sent: Time,
    at: Time,
}

/// Looks for elections that nobody needed.
#[derive(Debug)]
pub struct NeedlessElection {
    heartbeat: Span,
    obstructions: Obstructions,
    /// Since when faults are over.
    pub(super) since: Option<Time>,
    /// For each server what it leads: term and since when.
    leads: Vec<Option<(u64, Time)>>,
    /// For each pair of listener and speaker what was heard last.
    heard: Vec<Option<Heard>>,
    counts: Vec<u64>,
    elections: Vec<u64>,
}

impl NeedlessElection {
    pub(super) fn new(settings: &Settings, script: &Script) -> NeedlessElection {
        let pairs = SERVERS_MAX * SERVERS_MAX;
        NeedlessElection {
            heartbeat: settings.heartbeat,
            obstructions: Obstructions::of(script),
            since: None,
            leads: vec![None; SERVERS_MAX],
            heard: vec![None; pairs],
            counts: vec![0; pairs],
            elections: vec![0; SERVERS_MAX],
        }
    }

    /// A phase without faults begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// A node has crashed or started.
    pub(super) fn forget(&mut self, node: NodeId) {
        let row = node.index() * SERVERS_MAX;
        self.leads[node.index()] = None;
        self.heard[row..row + SERVERS_MAX].fill(None);
        self.counts[row..row + SERVERS_MAX].fill(0);
        self.elections[node.index()] = 0;
    }

    pub(super) fn observe(
        &mut self,
        seen: &Seen<'_, RelayNode>,
        change: &Change<'_>,
        view: &RelayNode,
        cluster: &Cluster<RelayNode>,
    ) -> Result<(), Violation> {
        let (node, now) = (seen.node, seen.time);
        let called =
            view.elections() > std::mem::replace(&mut self.elections[node.index()], view.elections());
        let asked = matches!(seen.what, What::Commanded { .. });
        if called && !asked {
            self.judge(node, change, now, cluster)?;
        }
        if let What::Delivered { from, sent, .. } = seen.what {
            let pair = node.index() * SERVERS_MAX + from.index();
            let count = view.heard_of(from);
            if count > std::mem::replace(&mut self.counts[pair], count) {
                self.heard[pair] = Some(Heard { sent, at: now });
            }
        }
        if change.after.role != Role::Leader {
            self.leads[node.index()] = None;
        } else if (change.before.role, change.before.term) != (Role::Leader, change.after.term) {
            self.leads[node.index()] = Some((change.after.term, now));
        }
        Ok(())
    }

    /// `node` has called an election.
    fn judge(
        &self,
        node: NodeId,
        change: &Change<'_>,
        now: Time,
        cluster: &Cluster<RelayNode>,
    ) -> Result<(), Violation> {
        let Some(since) = self.since else { return Ok(()) };
        for leader in cluster.servers().filter(|&leader| leader != node) {
            let Some((term, began)) = self.leads[leader.index()] else { continue };
            let Some(heard) = self.heard[node.index() * SERVERS_MAX + leader.index()] else { continue };
            let is_told = heard.sent >= began.max(since) + self.heartbeat;
            let is_recent = now.since(heard.at) <= self.heartbeat.times(2);
            if term == change.before.term && is_told && is_recent && self.is_joined(node, leader, cluster) {
                let (rule, claim) = claims::NO_NEEDLESS_ELECTION;
                let message = format!(
                    "{node} calls an election in term {} although it has heard from {leader}, which leads term {term}, \
                     {} ago",
                    change.after.term,
                    rounded(now.since(heard.at)),
                );
                return Err(Violation { rule, claim, message, node: Some(node), peer: Some(leader) });
            }
        }
        Ok(())
    }

    fn is_joined(&self, a: NodeId, b: NodeId, cluster: &Cluster<RelayNode>) -> bool {
        cluster.connected(a, b)
            && self.obstructions.is_free(Link { from: a, to: b })
            && self.obstructions.is_free(Link { from: b, to: a })
    }
}
