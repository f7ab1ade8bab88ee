//! One node under test with its storage and its two queues of storage work.

use super::storage::TestStorage;
use std::collections::VecDeque;
use whitewater_raft::{
    ConfState, Config, Entry, EntryKind, HardState, Message, Payload, RawNode, Snapshot, decode_entry,
};

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

    /// Applies committed entries. One that cannot be applied changes nothing, and is reported at the end.
    pub(crate) fn apply(&mut self, entries: &[Entry]) -> Result<(), String> {
        let mut result = Ok(());
        for entry in entries {
            let (update, conf_state) = match self.apply_conf_change(entry) {
                Ok(Some((context, conf_state))) => (context, Some(conf_state)),
                Ok(None) => (entry.data.clone(), None),
                Err(error) => {
                    result = Err(error);
                    (Payload::EMPTY, None)
                }
            };
            self.raw.storage_mut().apply(entry, &update, conf_state);
        }
        result
    }

    /// Applies an entry if it is a configuration change.
    fn apply_conf_change(&mut self, entry: &Entry) -> Result<Option<(Payload, ConfState)>, String> {
        if entry.kind == EntryKind::Normal {
            return Ok(None);
        }
        let change = decode_entry(entry.kind, &entry.data).ok_or("malformed conf change")?;
        let conf_state = self.raw.apply_conf_change(&change).map_err(|error| error.to_string())?;
        Ok(Some((change.context, conf_state)))
    }
}
