//! One node under test with its storage and its two queues of storage work.

use super::storage::TestStorage;
use std::collections::VecDeque;
use whitewater_raft::{Config, Entry, EntryKind, HardState, Message, RawNode, Snapshot, decode_entry};

/// A node under test.
pub(crate) struct Node {
    pub(crate) raw: RawNode<TestStorage>,
    pub(crate) config: Config,
    pub(crate) append_work: VecDeque<Message>,
    pub(crate) apply_work: VecDeque<Message>,
}

impl Node {
    /// A node that starts from a snapshot, or from nothing.
    pub(crate) fn new(config: Config, start: Option<&Snapshot>) -> Result<Node, String> {
        let mut storage = TestStorage::new(start.cloned().unwrap_or_default());
        if let Some(start) = start {
            if start.index <= 1 {
                return Err("index must be specified as > 1 due to bootstrap".to_string());
            }
            storage.memory.apply_snapshot(start.clone()).map_err(|error| error.to_string())?;
        }
        let raw = RawNode::new(config.clone(), storage).map_err(|error| error.to_string())?;
        Ok(Node { raw, config, append_work: VecDeque::new(), apply_work: VecDeque::new() })
    }

    /// Makes what a Ready, or the append thread, has to store durable.
    pub(crate) fn append(
        &mut self,
        hard_state: Option<HardState>,
        entries: &[Entry],
        snapshot: Option<&Snapshot>,
    ) -> Result<(), String> {
        let memory = &mut self.raw.storage_mut().memory;
        if let Some(hard_state) = hard_state {
            memory.set_hard_state(hard_state);
        }
        if let Some(snapshot) = snapshot {
            if !entries.is_empty() {
                return Err("can't apply snapshot and entries at the same time".to_string());
            }
            return memory.apply_snapshot(snapshot.clone()).map_err(|error| error.to_string());
        }
        memory.append(entries);
        Ok(())
    }

    /// Applies committed entries.
    pub(crate) fn apply(&mut self, entries: &[Entry]) -> Result<(), String> {
        for entry in entries {
            if entry.kind == EntryKind::Normal {
                self.raw.storage_mut().apply(entry, &entry.data, None);
                continue;
            }
            let change = decode_entry(entry.kind, &entry.data).ok_or("malformed conf change")?;
            let conf_state = self.raw.apply_conf_change(&change).map_err(|error| error.to_string())?;
            self.raw.storage_mut().apply(entry, &change.context, Some(conf_state));
        }
        Ok(())
    }
}
