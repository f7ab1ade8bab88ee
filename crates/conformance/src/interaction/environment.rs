//! The nodes of one file and the queue of messages between them.

use super::arguments::{Filter, Recipient};
use super::node::Node;
use super::output::Output;
use whitewater_raft::{HardState, Message, MessageKind, NodeId, is_storage_thread};

/// Rounds after which `stabilize` gives up: a group that goes on for ever is a finding, not a hang.
const ROUNDS_MAX: usize = 10_000;

/// Everything a file has built so far.
#[derive(Default)]
pub(crate) struct Environment {
    /// Node ids count from 1 in the order of creation.
    pub(crate) nodes: Vec<Node>,
    /// Messages on their way, in the order in which they were sent.
    pub(crate) messages: Vec<Message>,
    pub(crate) output: Output,
}

/// The two threads that do storage work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    Append,
    Apply,
}

impl Thread {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Thread::Append => "append",
            Thread::Apply => "apply",
        }
    }
}

impl Environment {
    pub(crate) fn node(&mut self, id: NodeId) -> Result<&mut Node, String> {
        let at = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        at.and_then(|at| self.nodes.get_mut(at)).ok_or_else(|| format!("there is no node {id}"))
    }

    /// Runs something and indents what it prints.
    fn indented<T>(&mut self, run: impl FnOnce(&mut Environment) -> T) -> T {
        let mark = self.output.mark();
        let result = run(self);
        self.output.indent_since(mark);
        result
    }

    /// Runs something for every node, below a header each if there are several.
    pub(crate) fn for_each(
        &mut self,
        ids: &[NodeId],
        header: &str,
        run: impl Fn(&mut Environment, NodeId) -> Result<(), String>,
    ) -> Result<(), String> {
        for &id in ids {
            if let [_] = ids {
                run(self, id)?;
            } else {
                self.output.line(format!("> {id} {header}"));
                self.indented(|environment| run(environment, id))?;
            }
        }
        Ok(())
    }

    /// Takes one Ready of a node and does what it demands.
    pub(crate) fn process_ready(&mut self, id: NodeId) -> Result<(), String> {
        let node = self.node(id)?;
        let ready = node.raw.ready();
        let text = ready.to_string();
        let asynchronous = node.config.async_storage_writes;
        self.output.write(&text);
        if !text.ends_with('\n') {
            self.output.write("\n");
        }
        let node = self.node(id)?;
        // A change that cannot be applied is an error to report; the rest of the Ready is dealt with all the same.
        let mut applied = Ok(());
        if !asynchronous {
            node.append(ready.hard_state, &ready.entries, ready.snapshot.as_deref())?;
            applied = node.apply(&ready.committed_entries);
        }
        for message in ready.messages {
            match message.kind {
                MessageKind::StorageAppend => self.node(id)?.append_work.push_back(message),
                MessageKind::StorageApply => self.node(id)?.apply_work.push_back(message),
                _ => self.messages.push(message),
            }
        }
        if !asynchronous {
            self.node(id)?.raw.advance();
        }
        applied
    }

    /// Does one piece of storage work of a node.
    pub(crate) fn process_thread(&mut self, id: NodeId, thread: Thread) -> Result<(), String> {
        let node = self.node(id)?;
        let work = match thread {
            Thread::Append => node.append_work.pop_front(),
            Thread::Apply => node.apply_work.pop_front(),
        };
        let Some(mut work) = work else {
            self.output.write(&format!("no {} work to perform", thread.name()));
            return Ok(());
        };
        let responses = work.take_responses();
        self.output.line("Processing:");
        self.output.line(&work);
        let node = self.node(id)?;
        let mut applied = Ok(());
        match thread {
            Thread::Append => {
                let stored = HardState { term: work.term, vote: work.vote(), commit: work.commit };
                let hard_state = (!stored.is_empty()).then_some(stored);
                node.append(hard_state, &work.entries, work.snapshot().map(|snapshot| &**snapshot))?;
            }
            Thread::Apply => applied = node.apply(&work.entries),
        }
        self.output.line("Responses:");
        for response in &responses {
            self.output.line(response);
        }
        self.messages.extend(responses);
        applied
    }

    /// Delivers or drops messages, and returns how many.
    pub(crate) fn deliver(&mut self, filter: Filter, recipients: &[Recipient]) -> usize {
        let mut count = 0;
        for recipient in recipients {
            let (taken, left) = std::mem::take(&mut self.messages)
                .into_iter()
                .partition(|message| is_for(message, filter, *recipient));
            self.messages = left;
            for message in taken {
                count += 1;
                self.deliver_one(message, recipient.drop);
            }
        }
        count
    }

    fn deliver_one(&mut self, message: Message, drop: bool) {
        if drop {
            self.output.line(format!("dropped: {message}"));
            return;
        }
        self.output.line(&message);
        let to = message.to;
        let stepped = match self.node(to) {
            Ok(node) => node.raw.step(message).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        if let Err(error) = stepped {
            self.output.line(error);
        }
    }

    /// Lets nodes work until nothing is left to do: all Readys, then all messages, then all storage work, again and again.
    pub(crate) fn stabilize(&mut self, ids: &[NodeId]) -> Result<(), String> {
        for _ in 0..ROUNDS_MAX {
            let mut done = true;
            for &id in ids {
                if self.node(id)?.raw.has_ready() {
                    done = false;
                    self.output.line(format!("> {id} handling Ready"));
                    self.indented(|environment| environment.process_ready(id))?;
                }
            }
            for &id in ids {
                let recipient = Recipient { id, drop: false };
                if self.messages.iter().any(|message| is_for(message, Filter::Any, recipient)) {
                    done = false;
                    self.output.line(format!("> {id} receiving messages"));
                    self.indented(|environment| environment.deliver(Filter::Any, &[recipient]));
                }
            }
            for thread in [Thread::Append, Thread::Apply] {
                for &id in ids {
                    done &= !self.drain_thread(id, thread)?;
                }
            }
            if done {
                return Ok(());
            }
        }
        Err("the group does not come to rest".to_string())
    }

    /// Does all storage work of a node, and returns whether there was any.
    fn drain_thread(&mut self, id: NodeId, thread: Thread) -> Result<bool, String> {
        let mut any = false;
        loop {
            let node = self.node(id)?;
            let work = match thread {
                Thread::Append => &node.append_work,
                Thread::Apply => &node.apply_work,
            };
            if work.is_empty() {
                return Ok(any);
            }
            if !any {
                self.output.line(format!("> {id} processing {} thread", thread.name()));
            }
            any = true;
            self.indented(|environment| environment.process_thread(id, thread))?;
        }
    }
}

/// Whether a message is what a delivery is about. Local messages cannot be lost.
fn is_for(message: &Message, filter: Filter, recipient: Recipient) -> bool {
    let is_local =
        message.from == message.to || is_storage_thread(message.from) || is_storage_thread(message.to);
    message.to == recipient.id && !(recipient.drop && is_local) && filter.takes(message.kind)
}
