//! What cores that know entries by their places alone leave to their user: what requests hold, and links that are busy.

use crate::core::{Entry, REQUEST, Snapshot, Todo};
use crate::log::Log;
use crate::outline::Outlined;
use std::collections::BTreeMap;
use std::rc::Rc;
use whitewater_sim::SERVERS_MAX;

/// What a server keeps for its core.
#[derive(Default)]
pub(super) struct Bare {
    /// What requests hold that are on their way to the log, by index.
    contents: BTreeMap<u64, Rc<[u8]>>,
    /// Where the entries begin that were sent to each peer last, since the last tick: its link is busy with them.
    sent: [Option<u64>; SERVERS_MAX],
    /// A snapshot that a peer has brought.
    pub(super) incoming: Option<Box<Snapshot>>,
}

impl Bare {
    /// A request is put into the log there.
    pub(super) fn keep(&mut self, index: u64, data: Rc<[u8]>) {
        self.contents.insert(index, data);
    }

    /// A message has come: what its entries hold counts from now on.
    pub(super) fn keep_entries<M: Outlined>(&mut self, message: &mut M) {
        if let Some(entries) = message.entries_mut() {
            self.contents = entries.iter().map(|entry| (entry.index, entry.payload.clone())).collect();
        }
    }

    /// What was wanted is written: from now on the log has it.
    pub(super) fn written(&mut self) {
        self.contents.clear();
    }

    pub(super) fn tick(&mut self) {
        self.sent = [None; SERVERS_MAX];
    }

    /// Gives entries what they hold, and messages no more than `entries_max` of them. Every answer of a follower that lags is
    /// answered with entries: on a network that repeats messages they would multiply without end, so those that a link is busy
    /// with already are given up.
    pub(super) fn complete<M: Outlined>(&mut self, todo: &mut Todo<M>, log: &Log, entries_max: usize) {
        let fill = |entry: &mut Entry| {
            if entry.kind == REQUEST {
                let kept = || log.entry(entry.index).map(|kept| &kept.payload);
                let content = self.contents.get(&entry.index).or_else(kept);
                entry.payload = content.expect("what a request in the log holds is kept").clone();
            }
        };
        todo.entries.iter_mut().filter(|entry| entry.payload.is_empty()).for_each(fill);
        for messages in [&mut todo.messages, &mut todo.promises] {
            messages.retain_mut(|(to, message)| {
                let Some(entries) = message.entries_mut() else { return true };
                let Some(first) = entries.first().map(|first| first.index) else { return true };
                entries.truncate(entries_max);
                entries.iter_mut().for_each(fill);
                self.sent[to.position()].replace(first) != Some(first)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{MESSAGE_SIZE, Settings};
    use crate::paper::{Kind, Message};
    use whitewater_sim::{Disk, DiskTiming, Key, NodeId, Options};

    const PEER: NodeId = NodeId::server(1);

    fn log() -> Log {
        let settings = Settings::read(&Options::default(), &[MESSAGE_SIZE]);
        Log::open(&mut Disk::new(DiskTiming::default(), Key::default()), &settings)
            .expect("an empty disk can be read")
            .0
    }

    fn appends(first: u64, last: u64) -> Todo<Message> {
        let entry = |index| Entry { index, term: 1, kind: REQUEST, payload: Rc::default() };
        let entries: Vec<Entry> = (first..=last).map(entry).collect();
        let message = Message { kind: Kind::AppendCall, entries: entries.clone(), ..Message::default() };
        Todo { entries, promises: vec![(PEER, message)], ..Todo::default() }
    }

    #[test]
    fn entries_are_given_what_was_proposed_and_no_more_of_them_than_one_append_holds() {
        let (mut bare, mut todo) = (Bare::default(), appends(1, 3));
        (1..=3).for_each(|index| bare.keep(index, Rc::from([index as u8])));
        bare.complete(&mut todo, &log(), 2);
        let payloads = |entries: &[Entry]| entries.iter().map(|entry| entry.payload[0]).collect::<Vec<_>>();
        assert_eq!(payloads(&todo.entries), [1, 2, 3]);
        assert_eq!(payloads(&todo.promises[0].1.entries), [1, 2]);
    }

    #[test]
    fn a_link_takes_entries_from_the_same_place_once_in_a_tick() {
        let mut bare = Bare::default();
        (1..=3).for_each(|index| bare.keep(index, Rc::from([0])));
        let sent = |bare: &mut Bare, first| {
            let mut todo = appends(first, 3);
            bare.complete(&mut todo, &log(), 9);
            todo.promises.len()
        };
        assert_eq!([sent(&mut bare, 1), sent(&mut bare, 1), sent(&mut bare, 2)], [1, 0, 1]);
        bare.tick();
        assert_eq!(sent(&mut bare, 2), 1);
    }
}
