//! Control events: what a script makes a server do that no message and no timer brings about.

use super::{Hands, Server};
use crate::control::Control;
use crate::message::core_id;

impl Server {
    /// Does what a script asks for.
    pub(super) fn obey(&mut self, control: Control, fx: &mut Hands<'_>) {
        let own = self.identity.id;
        match control {
            Control::ForgetLeader => {
                // Refused under lease reads, where it would make a lease a lie.
                let _ = self.core.forget_leader();
            }
            Control::Snapshot => self.snapshot_now(fx),
            Control::CompactAfterReads(reads) => {
                self.core.storage().compact_after_reads(reads);
                self.snapshot_now(fx);
            }
            // No transport reports about the server itself.
            Control::Unreachable(peer) if peer != own => self.core.report_unreachable(core_id(peer)),
            Control::SnapshotFailed(peer) if peer != own => self.core.report_snapshot(core_id(peer), false),
            Control::Unreachable(_) | Control::SnapshotFailed(_) => {}
        }
    }
}
