//! Linearizable reads at a leader (Raft thesis, section 6.4).

use crate::bug::planted;
use crate::entry::Entries;
use crate::identity::{NONE, NodeId};
use crate::message::{Message, MessageKind};
use crate::raft::Raft;
use crate::reads::Read;
use crate::state::ReadState;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Somebody wants to read at this leader.
    pub(crate) fn handle_read_request(&mut self, request: &Message) {
        let from = if request.from == NONE { self.id } else { request.from };
        let read = Read { from, entry: request.entries[0].clone() };
        if self.has_committed_in_term() {
            self.accept_read(read);
        } else {
            // The commit index may lag behind what an earlier leader acknowledged, until an entry of this term is committed.
            // A single voter is no exception (in etcd it is): its commit index may have been lost in a crash.
            self.reads.park(read);
        }
    }

    fn accept_read(&mut self, read: Read) {
        if self.reads_by_lease() || self.decides_alone() || planted!(self.log.planted, L11) {
            self.serve_read(self.log.committed, read);
            return;
        }
        let sequence = self.reads.queue(self.log.committed, read);
        self.reads.ack(self.id, sequence);
        self.broadcast_heartbeat(sequence);
    }

    /// An entry of this term is committed: reads that waited for it go on.
    pub(crate) fn release_parked_reads(&mut self) {
        if self.reads.count() == 0 || !self.has_committed_in_term() {
            return;
        }
        for read in self.reads.take_parked() {
            self.accept_read(read);
        }
    }

    /// A peer confirms that it still follows, for all reads up to `sequence`.
    pub(crate) fn confirm_reads(&mut self, from: NodeId, sequence: u64) {
        if sequence != 0 && !self.reads_by_lease() {
            self.reads.ack(from, sequence);
            self.serve_confirmed_reads();
        }
    }

    /// Serves every read that a quorum has confirmed; a change of the configuration may be what confirms it.
    pub(crate) fn serve_confirmed_reads(&mut self) {
        while let Some((index, read)) = self.reads.take_confirmed(&self.tracker.configuration.voters) {
            self.serve_read(index, read);
        }
    }

    fn serve_read(&mut self, index: u64, read: Read) {
        if read.from == self.id {
            self.read_states.push(ReadState { index, context: read.entry.data });
            return;
        }
        let mut response = self.message(MessageKind::ReadIndexResponse, read.from);
        response.index = index;
        response.entries = Entries::One(read.entry);
        self.send(response);
    }

    fn has_committed_in_term(&self) -> bool {
        self.log.term(self.log.committed) == Ok(self.term)
    }

    fn decides_alone(&self) -> bool {
        // Also where a joint configuration has the same single voter in both halves (in etcd its reads wait for ever, as
        // nobody answers a heartbeat).
        let mut voters = self.tracker.configuration.voters.ids();
        voters.next().is_some() && voters.next().is_none()
    }
}
