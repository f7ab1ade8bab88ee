//! How a node behaves, and which combinations make sense.

use crate::bug::Planted;
use crate::error::ConfigError;
use crate::identity::{NodeId, is_node};

/// How the leader makes sure that a read sees every write that was acknowledged before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// A quorum confirms that the leader still leads (Raft thesis, section 6.4). Holds whatever the clocks do.
    #[default]
    Safe,
    /// The leader trusts its lease and answers at once (Raft thesis, section 6.4.1). Wrong if clocks drift apart.
    LeaseBased,
}

/// How a node behaves. Every field but `id` has a usable default.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of this node; not [`NONE`](crate::NONE) and not a storage thread.
    pub id: NodeId,
    /// How long a follower waits for its leader, in ticks; timeouts are drawn from `election_ticks..2 * election_ticks`.
    ///
    /// Larger than `heartbeat_ticks`; ten times as large is a good start. Default 10.
    pub election_ticks: u32,
    /// How often a leader sends heartbeats, in ticks; at least 1. Default 1: with every tick.
    pub heartbeat_ticks: u32,
    /// The last index the application holds when the node starts; 0 to apply again from the last snapshot on.
    pub applied: u64,
    /// Storage writes go to an append thread and an apply thread by message, and the node goes on meanwhile.
    ///
    /// With this option [`RawNode::advance`](crate::RawNode::advance) is not called; the responses attached to the work
    /// are stepped instead. Requests for votes do not wait for the disk then, as in etcd: an owner whose disk may forget the
    /// term holds them back until the work that carries it is done. Default off.
    pub async_storage_writes: bool,
    /// The encoded size of the entries in one append, in bytes; a single larger entry travels alone, so 0 means one
    /// entry per message. Default `u64::MAX`: no limit.
    pub message_size_max_bytes: u64,
    /// The encoded size of committed entries that the application may hold unconfirmed, in bytes.
    ///
    /// 0, the default, means the same as `message_size_max_bytes`.
    pub committed_size_max_bytes: u64,
    /// The payload of entries that a leader may have uncommitted, in bytes, beyond which proposals are dropped.
    ///
    /// 0, the default, means no limit; otherwise at least `message_size_max_bytes`, where that is limited. The first
    /// proposal and empty ones always pass.
    pub uncommitted_size_max_bytes: u64,
    /// How many appends may be in flight to one follower; at least 1. Default 256.
    pub inflight_count_max: u32,
    /// The payload that may be in flight to one follower, in bytes; at least `message_size_max_bytes`.
    ///
    /// 0, the default, means no limit.
    pub inflight_size_max_bytes: u64,
    /// A leader that hears from no quorum for an election timeout steps down, and a node that hears from a leader
    /// refuses to vote (Raft thesis, sections 6.2 and 4.2.3). Default off.
    pub check_quorum: bool,
    /// A node asks whether it could win before it raises its term (Raft thesis, section 9.6). Default off.
    pub pre_vote: bool,
    /// How reads are made safe. [`ReadMode::LeaseBased`] needs `check_quorum`.
    pub read_mode: ReadMode,
    /// Drop proposals at followers instead of passing them to the leader. Default off.
    pub disable_proposal_forwarding: bool,
    /// Append configuration changes without checking that they fit the active configuration. Default off.
    ///
    /// For applications that check on their own: an unfit change then fails when it is applied.
    pub disable_conf_change_validation: bool,
    /// A leader that a configuration change removes or demotes becomes a follower. Default off: it goes on leading, without
    /// a vote, until somebody else takes over.
    pub step_down_on_removal: bool,
    /// Between logs of the same length, the vote goes only to a candidate of the same or a higher priority. Default 0 for
    /// everybody: no effect. (A feature of raft-rs.)
    pub priority: i64,
    /// Followers may ask for a snapshot, see [`RawNode::request_snapshot`](crate::RawNode::request_snapshot). Default off.
    /// (A feature of raft-rs.)
    pub follower_snapshots: bool,
    /// The bug to plant.
    #[cfg(feature = "mutants")]
    pub bug: Option<crate::bug::Bug>,
}

impl Config {
    /// The default configuration of a node.
    pub fn new(id: NodeId) -> Config {
        Config {
            id,
            election_ticks: 10,
            heartbeat_ticks: 1,
            applied: 0,
            async_storage_writes: false,
            message_size_max_bytes: u64::MAX,
            committed_size_max_bytes: 0,
            uncommitted_size_max_bytes: 0,
            inflight_count_max: 256,
            inflight_size_max_bytes: 0,
            check_quorum: false,
            pre_vote: false,
            read_mode: ReadMode::Safe,
            disable_proposal_forwarding: false,
            disable_conf_change_validation: false,
            step_down_on_removal: false,
            priority: 0,
            follower_snapshots: false,
            #[cfg(feature = "mutants")]
            bug: None,
        }
    }

    /// Checks every rule that a single node can check.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Field`] with the first field that breaks a rule, and how to mend it.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let rules = [
            (is_node(self.id), "id", "must not be 0 or the id of a storage thread; number nodes from 1"),
            (self.heartbeat_ticks > 0, "heartbeat_ticks", "must be at least 1"),
            (
                self.election_ticks > self.heartbeat_ticks,
                "election_ticks",
                "must be larger than heartbeat_ticks; ten times as large avoids needless elections",
            ),
            (
                self.election_ticks <= u32::MAX / 2,
                "election_ticks",
                "must be at most u32::MAX / 2, as timeouts reach twice as far",
            ),
            (
                self.uncommitted_size_max_bytes == 0
                    || self.message_size_max_bytes == u64::MAX
                    || self.uncommitted_size_max_bytes >= self.message_size_max_bytes,
                "uncommitted_size_max_bytes",
                "must be 0 for no limit, or at least message_size_max_bytes where that is limited",
            ),
            (self.inflight_count_max > 0, "inflight_count_max", "must be at least 1; 256 is a good start"),
            (
                self.inflight_size_max_bytes == 0
                    || self.inflight_size_max_bytes >= self.message_size_max_bytes,
                "inflight_size_max_bytes",
                "must be 0 for no limit, or at least message_size_max_bytes",
            ),
            (
                self.read_mode != ReadMode::LeaseBased || self.check_quorum,
                "read_mode",
                "a lease needs check_quorum; switch it on or use ReadMode::Safe",
            ),
        ];
        match rules.into_iter().find(|(holds, ..)| !holds) {
            Some((_, field, mend)) => Err(ConfigError::Field { field, mend }),
            None => Ok(()),
        }
    }

    /// The limit of committed entries with its default resolved.
    pub(crate) fn applying_size_max_bytes(&self) -> u64 {
        let limit = if self.committed_size_max_bytes == 0 {
            self.message_size_max_bytes
        } else {
            self.committed_size_max_bytes
        };
        // With nothing allowed nothing could ever be applied; one byte lets one entry through at a time.
        limit.max(1)
    }

    pub(crate) fn planted(&self) -> Planted {
        Planted {
            #[cfg(feature = "mutants")]
            bug: self.bug,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_field(change: impl FnOnce(&mut Config)) -> &'static str {
        let mut config = Config::new(1);
        change(&mut config);
        match config.validate() {
            Err(ConfigError::Field { field, .. }) => field,
            other => panic!("expected a broken rule, got {other:?}"),
        }
    }

    #[test]
    fn the_default_is_valid() {
        assert_eq!(Config::new(1).validate(), Ok(()));
    }

    #[test]
    fn every_broken_rule_names_its_field() {
        assert_eq!(broken_field(|config| config.id = 0), "id");
        assert_eq!(broken_field(|config| config.id = crate::APPEND_THREAD), "id");
        assert_eq!(broken_field(|config| config.heartbeat_ticks = 0), "heartbeat_ticks");
        assert_eq!(broken_field(|config| config.heartbeat_ticks = 10), "election_ticks");
        assert_eq!(broken_field(|config| config.election_ticks = u32::MAX), "election_ticks");
        assert_eq!(broken_field(|config| config.inflight_count_max = 0), "inflight_count_max");
        assert_eq!(broken_field(|config| config.inflight_size_max_bytes = 5), "inflight_size_max_bytes");
        let less_than_a_message = |config: &mut Config| {
            config.message_size_max_bytes = 100;
            config.uncommitted_size_max_bytes = 99;
        };
        assert_eq!(broken_field(less_than_a_message), "uncommitted_size_max_bytes");
        assert_eq!(broken_field(|config| config.read_mode = ReadMode::LeaseBased), "read_mode");
    }
}
