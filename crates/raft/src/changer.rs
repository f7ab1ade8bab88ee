//! Applying changes to a configuration: simple ones, and into and out of joint ones.
//!
//! Everything here works on a copy and returns it only if it is consistent, so a failed change leaves no trace.

use crate::conf_change::{Change, ChangeKind};
use crate::error::ConfChangeError;
use crate::identity::{NodeId, is_node};
use crate::progress::Progress;
use crate::quorum::Majority;
use crate::state::ConfState;
use crate::tracker::{Configuration, Tracker};

/// A configuration with the progress of its members, ready to be put in place.
pub type Changed = (Configuration, Vec<Progress>);

/// Computes the configuration that follows from a change.
#[derive(Debug)]
pub struct Changer<'a> {
    /// The configuration in place.
    pub tracker: &'a Tracker,
    /// The last index of the log: new members are probed from there.
    pub last_index: u64,
}

impl Changer<'_> {
    /// Adds or removes at most one voter, and any number of learners.
    ///
    /// # Errors
    ///
    /// In a joint configuration, if more than one voter differs, or if none would be left.
    pub fn simple(&self, changes: &[Change]) -> Result<Changed, ConfChangeError> {
        let mut draft = self.draft();
        if draft.configuration.is_joint() {
            return Err(ConfChangeError::SimpleInJoint);
        }
        self.apply(&mut draft, changes)?;
        let before = &self.tracker.configuration.voters.incoming;
        if difference(before, &draft.configuration.voters.incoming) > 1 {
            return Err(ConfChangeError::MoreThanOneVoter);
        }
        draft.finish()
    }

    /// Makes the present voters the outgoing half and applies the changes to the incoming half.
    ///
    /// # Errors
    ///
    /// In a joint configuration, without voters, or if the incoming half would have none.
    pub fn enter_joint(&self, auto_leave: bool, changes: &[Change]) -> Result<Changed, ConfChangeError> {
        let mut draft = self.draft();
        if draft.configuration.is_joint() {
            return Err(ConfChangeError::AlreadyJoint);
        }
        if draft.configuration.voters.incoming.is_empty() {
            return Err(ConfChangeError::ZeroVoterJoint);
        }
        draft.configuration.voters.outgoing = draft.configuration.voters.incoming.clone();
        self.apply(&mut draft, changes)?;
        draft.configuration.auto_leave = auto_leave;
        draft.finish()
    }

    /// Forgets the outgoing half; members that were only in it leave, and waiting learners become learners.
    ///
    /// # Errors
    ///
    /// Outside of a joint configuration.
    pub fn leave_joint(&self) -> Result<Changed, ConfChangeError> {
        let mut draft = self.draft();
        if !draft.configuration.is_joint() {
            return Err(ConfChangeError::NotJoint);
        }
        for id in std::mem::take(&mut draft.configuration.learners_next) {
            insert(&mut draft.configuration.learners, id);
            if let Some(peer) = draft.peer(id) {
                peer.is_learner = true;
            }
        }
        let outgoing = std::mem::take(&mut draft.configuration.voters.outgoing);
        let Draft { configuration, peers } = &mut draft;
        peers.retain(|peer| {
            !outgoing.contains(peer.id)
                || configuration.voters.incoming.contains(peer.id)
                || configuration.learners.contains(&peer.id)
        });
        draft.configuration.auto_leave = false;
        draft.finish()
    }

    /// The configuration that a snapshot describes, from nothing.
    ///
    /// # Errors
    ///
    /// If the description contradicts itself, or names members but no voter.
    pub fn restore(&self, state: &ConfState) -> Result<Changed, ConfChangeError> {
        let mut draft = Draft {
            configuration: Configuration { auto_leave: state.auto_leave, ..Configuration::default() },
            peers: Vec::new(),
        };
        let lists = [&state.voters, &state.learners, &state.voters_outgoing, &state.learners_next];
        for list in lists {
            for (at, &id) in list.iter().enumerate() {
                if !is_node(id) || list[..at].contains(&id) {
                    return Err(ConfChangeError::Contradiction(id));
                }
            }
        }
        if state.voters.is_empty() && lists.iter().any(|list| !list.is_empty()) {
            return Err(ConfChangeError::RemovedAllVoters);
        }
        draft.configuration.voters.incoming = Majority::new(state.voters.clone());
        draft.configuration.voters.outgoing = Majority::new(state.voters_outgoing.clone());
        draft.configuration.learners.clone_from(&state.learners);
        draft.configuration.learners.sort_unstable();
        draft.configuration.learners_next.clone_from(&state.learners_next);
        draft.configuration.learners_next.sort_unstable();
        let voters: Vec<NodeId> = draft.configuration.voters.ids().collect();
        for id in voters {
            draft.peers.push(self.tracker.new_progress(id, self.last_index.max(1), false));
        }
        for &id in &state.learners {
            if draft.peer(id).is_some() {
                return Err(ConfChangeError::Contradiction(id));
            }
            draft.insert_peer(self.tracker.new_progress(id, self.last_index.max(1), true));
        }
        draft.finish()
    }

    fn draft(&self) -> Draft {
        Draft { configuration: self.tracker.configuration.clone(), peers: self.tracker.peers.clone() }
    }

    fn apply(&self, draft: &mut Draft, changes: &[Change]) -> Result<(), ConfChangeError> {
        for change in changes {
            match change.kind {
                _ if change.node == 0 => {}
                _ if !is_node(change.node) => return Err(ConfChangeError::Contradiction(change.node)),
                ChangeKind::AddNode => self.make_voter(draft, change.node),
                ChangeKind::AddLearner => self.make_learner(draft, change.node),
                ChangeKind::RemoveNode => draft.remove(change.node),
                ChangeKind::UpdateNode => {}
            }
        }
        if draft.configuration.voters.incoming.is_empty() {
            return Err(ConfChangeError::RemovedAllVoters);
        }
        Ok(())
    }

    fn make_voter(&self, draft: &mut Draft, id: NodeId) {
        match draft.peer(id) {
            Some(peer) => peer.is_learner = false,
            None => draft.insert_peer(self.tracker.new_progress(id, self.last_index.max(1), false)),
        }
        draft.configuration.learners.retain(|&learner| learner != id);
        draft.configuration.learners_next.retain(|&learner| learner != id);
        draft.configuration.voters.incoming.insert(id);
    }

    fn make_learner(&self, draft: &mut Draft, id: NodeId) {
        let Some(peer) = draft.peer(id) else {
            draft.insert_peer(self.tracker.new_progress(id, self.last_index.max(1), true));
            insert(&mut draft.configuration.learners, id);
            return;
        };
        if peer.is_learner {
            return;
        }
        let mut peer = peer.clone();
        draft.remove(id);
        // A voter of the outgoing half cannot be a learner yet: it waits until the joint configuration is left.
        if draft.configuration.voters.outgoing.contains(id) {
            insert(&mut draft.configuration.learners_next, id);
        } else {
            peer.is_learner = true;
            draft.insert_peer(peer);
            insert(&mut draft.configuration.learners, id);
        }
    }
}

/// A configuration under construction.
struct Draft {
    configuration: Configuration,
    peers: Vec<Progress>,
}

impl Draft {
    fn peer(&mut self, id: NodeId) -> Option<&mut Progress> {
        self.peers.iter_mut().find(|peer| peer.id == id)
    }

    fn insert_peer(&mut self, progress: Progress) {
        let at = self.peers.partition_point(|peer| peer.id < progress.id);
        self.peers.insert(at, progress);
    }

    fn remove(&mut self, id: NodeId) {
        if self.peer(id).is_none() {
            return;
        }
        self.configuration.voters.incoming.remove(id);
        self.configuration.learners.retain(|&learner| learner != id);
        self.configuration.learners_next.retain(|&learner| learner != id);
        if !self.configuration.voters.outgoing.contains(id) {
            self.peers.retain(|peer| peer.id != id);
        }
    }

    /// The finished configuration, if every rule that the rest of the core leans on holds.
    fn finish(self) -> Result<Changed, ConfChangeError> {
        let configuration = &self.configuration;
        let find = |id| self.peers.iter().find(|peer| peer.id == id);
        let contradiction = |id| Err(ConfChangeError::Contradiction(id));
        for id in configuration.voters.ids() {
            if find(id).is_none_or(|peer| peer.is_learner) {
                return contradiction(id);
            }
        }
        for &id in &configuration.learners {
            if configuration.voters.contains(id) || find(id).is_none_or(|peer| !peer.is_learner) {
                return contradiction(id);
            }
        }
        for &id in &configuration.learners_next {
            let outgoing_only =
                configuration.voters.outgoing.contains(id) && !configuration.voters.incoming.contains(id);
            if !outgoing_only || find(id).is_none_or(|peer| peer.is_learner) {
                return contradiction(id);
            }
        }
        if !configuration.is_joint() && (configuration.auto_leave || !configuration.learners_next.is_empty())
        {
            return Err(ConfChangeError::NotJoint);
        }
        Ok((self.configuration, self.peers))
    }
}

fn insert(set: &mut Vec<NodeId>, id: NodeId) {
    if let Err(at) = set.binary_search(&id) {
        set.insert(at, id);
    }
}

/// How many voters are in one majority but not in both.
fn difference(left: &Majority, right: &Majority) -> usize {
    let only = |a: &Majority, b: &Majority| a.voters().iter().filter(|&&id| !b.contains(id)).count();
    only(left, right) + only(right, left)
}
