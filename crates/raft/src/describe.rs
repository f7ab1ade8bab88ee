//! How everything is printed: the way etcd prints it.

use crate::conf_change::{Change, ChangeKind, decode_entry};
use crate::entry::{Entry, EntryKind};
use crate::identity::{APPEND_THREAD, APPLY_THREAD, NONE, NodeId};
use crate::message::{Message, MessageKind};
use crate::progress::{Progress, ProgressState};
use crate::ready::Ready;
use crate::state::{ConfState, HardState, Role, Snapshot, SoftState};
use crate::tracker::Configuration;
use std::fmt::{self, Display, Formatter, Write};

/// Bytes in double quotes, with Go's escapes.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '"' | '\\' => write!(f, "\\{character}")?,
                    '\x07' => f.write_str("\\a")?,
                    '\x08' => f.write_str("\\b")?,
                    '\x0c' => f.write_str("\\f")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    '\x0b' => f.write_str("\\v")?,
                    control if control.is_ascii_control() => write!(f, "\\x{:02x}", control as u32)?,
                    control if control.is_control() => write!(f, "\\u{:04x}", control as u32)?,
                    other => f.write_char(other)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}

/// Ids in parentheses, hexadecimal.
pub(crate) struct IdSet<'a>(pub(crate) &'a [NodeId]);

impl Display for IdSet<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (at, id) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{id:x}")?;
        }
        f.write_char(')')
    }
}

/// Values with a space between.
struct Spaced<'a, T>(&'a [T]);

impl<T: Display> Display for Spaced<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, value) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{value}")?;
        }
        Ok(())
    }
}

/// One end of a message: hexadecimal, or the name of a storage thread.
struct End(NodeId);

impl Display for End {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            NONE => f.write_str("None"),
            APPEND_THREAD => f.write_str("AppendThread"),
            APPLY_THREAD => f.write_str("ApplyThread"),
            id => write!(f, "{id:x}"),
        }
    }
}

impl Display for MessageKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Display for EntryKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            EntryKind::Normal => "EntryNormal",
            EntryKind::ConfChange => "EntryConfChange",
            EntryKind::ConfChangeV2 => "EntryConfChangeV2",
        })
    }
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = match self.kind {
            ChangeKind::AddNode => 'v',
            ChangeKind::AddLearner => 'l',
            ChangeKind::RemoveNode => 'r',
            ChangeKind::UpdateNode => 'u',
        };
        write!(f, "{letter}{}", self.node)
    }
}

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} {}", self.term, self.index, self.kind)?;
        match decode_entry(self.kind, &self.data) {
            Some(change) if change.changes.is_empty() => Ok(()),
            Some(change) => write!(f, " {}", Spaced(&change.changes)),
            None => write!(f, " {}", Quoted(&self.data)),
        }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        describe_message(f, self, "")
    }
}

/// Prints a message; every line after the first starts with `indent`.
fn describe_message(f: &mut Formatter<'_>, message: &Message, indent: &str) -> fmt::Result {
    let (from, to, kind) = (End(message.from), End(message.to), message.kind);
    write!(f, "{from}->{to} {kind} Term:{} Log:{}/{}", message.term, message.log_term, message.index)?;
    if message.reject {
        write!(f, " Rejected (Hint: {})", message.reject_hint)?;
    }
    if message.commit != 0 {
        write!(f, " Commit:{}", message.commit)?;
    }
    if message.vote() != NONE {
        write!(f, " Vote:{}", message.vote())?;
    }
    match &message.entries[..] {
        [] => {}
        [entry] => write!(f, " Entries:[{entry}]")?,
        entries => {
            f.write_str(" Entries:[")?;
            for entry in entries {
                write!(f, "\n{indent}  {entry}")?;
            }
            write!(f, "\n{indent}]")?;
        }
    }
    if let Some(snapshot) = message.snapshot()
        && !snapshot.is_empty()
    {
        write!(f, "\n{indent}  Snapshot: {snapshot}")?;
    }
    if !message.responses().is_empty() {
        f.write_str(" Responses:[")?;
        let deeper = format!("{indent}  ");
        for response in message.responses() {
            write!(f, "\n{deeper}")?;
            describe_message(f, response, &deeper)?;
        }
        write!(f, "\n{indent}]")?;
    }
    Ok(())
}

impl Display for ConfState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Voters:[{}] VotersOutgoing:[{}] Learners:[{}] LearnersNext:[{}] AutoLeave:{}",
            Spaced(&self.voters),
            Spaced(&self.voters_outgoing),
            Spaced(&self.learners),
            Spaced(&self.learners_next),
            self.auto_leave
        )
    }
}

impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Index:{} Term:{} ConfState:{}", self.index, self.term, self.conf_state)
    }
}

impl Display for HardState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Term:{}", self.term)?;
        if self.vote != NONE {
            write!(f, " Vote:{}", self.vote)?;
        }
        write!(f, " Commit:{}", self.commit)
    }
}

impl Display for SoftState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Lead:{} State:{}", self.leader, self.role)
    }
}

impl Display for Role {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Follower => "StateFollower",
            Role::PreCandidate => "StatePreCandidate",
            Role::Candidate => "StateCandidate",
            Role::Leader => "StateLeader",
        })
    }
}

impl Display for ProgressState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ProgressState::Probe => "StateProbe",
            ProgressState::Replicate => "StateReplicate",
            ProgressState::Snapshot => "StateSnapshot",
        })
    }
}

impl Display for Progress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} match={} next={}", self.state, self.match_index, self.next_index)?;
        if self.is_learner {
            f.write_str(" learner")?;
        }
        if self.is_paused() {
            f.write_str(" paused")?;
        }
        if self.pending_snapshot > 0 {
            write!(f, " pendingSnap={}", self.pending_snapshot)?;
        }
        if !self.recent_active {
            f.write_str(" inactive")?;
        }
        if self.inflights.count() > 0 {
            write!(f, " inflight={}", self.inflights.count())?;
            if self.inflights.is_full() {
                f.write_str("[full]")?;
            }
        }
        Ok(())
    }
}

impl Display for Configuration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "voters={}", self.voters)?;
        if !self.learners.is_empty() {
            write!(f, " learners={}", IdSet(&self.learners))?;
        }
        if !self.learners_next.is_empty() {
            write!(f, " learners_next={}", IdSet(&self.learners_next))?;
        }
        if self.auto_leave {
            f.write_str(" autoleave")?;
        }
        Ok(())
    }
}

impl Display for Ready {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Some(soft_state) = &self.soft_state {
            writeln!(text, "{soft_state}")?;
        }
        if let Some(hard_state) = &self.hard_state {
            writeln!(text, "HardState {hard_state}")?;
        }
        if !self.read_states.is_empty() {
            let reads: Vec<String> = self
                .read_states
                .iter()
                .map(|read| format!("{{{} [{}]}}", read.index, Spaced(&read.context)))
                .collect();
            writeln!(text, "ReadStates [{}]", Spaced(&reads))?;
        }
        describe_lines(&mut text, "Entries:", &self.entries)?;
        if let Some(snapshot) = &self.snapshot {
            writeln!(text, "Snapshot {snapshot}")?;
        }
        describe_lines(&mut text, "CommittedEntries:", &self.committed_entries)?;
        describe_lines(&mut text, "Messages:", &self.messages)?;
        if text.is_empty() {
            return f.write_str("<empty Ready>");
        }
        write!(f, "Ready MustSync={}:\n{text}", self.must_sync)
    }
}

fn describe_lines<T: Display>(text: &mut String, title: &str, lines: &[T]) -> fmt::Result {
    if !lines.is_empty() {
        writeln!(text, "{title}")?;
    }
    lines.iter().try_for_each(|line| writeln!(text, "{line}"))
}
