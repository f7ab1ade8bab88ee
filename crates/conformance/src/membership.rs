//! Configuration change files: what follows from a change, and who is tracked since when.

use crate::Interpreter;
use crate::datadriven::Command;
use whitewater_raft::{Change, ChangeKind, Changed, Changer, Tracker};

/// The interpreter of configuration change files: one configuration that runs through the whole file.
pub(crate) struct Suite {
    tracker: Tracker,
    /// Raised with every command, so that the position at which a member is first probed tells when it came.
    last_index: u64,
}

impl Default for Suite {
    fn default() -> Suite {
        Suite { tracker: Tracker::new(10, 0), last_index: 0 }
    }
}

impl Interpreter for Suite {
    fn commands(&self) -> &'static [&'static str] {
        &["simple", "enter-joint", "leave-joint"]
    }

    fn execute(&mut self, command: &Command) -> String {
        let output = match self.change(command) {
            Ok(changed) => {
                self.tracker.replace(changed);
                let mut output = format!("{}\n", self.tracker.configuration);
                for progress in self.tracker.peers() {
                    output += &format!("{}: {progress}\n", progress.id);
                }
                output
            }
            Err(error) => error + "\n",
        };
        self.last_index += 1;
        output
    }
}

impl Suite {
    fn change(&self, command: &Command) -> Result<Changed, String> {
        let changes = parse_changes(&command.input)?;
        let changer = Changer { tracker: &self.tracker, last_index: self.last_index };
        let changed = match command.name.as_str() {
            "simple" => changer.simple(&changes),
            "enter-joint" => {
                let auto_leave = command
                    .arguments
                    .iter()
                    .any(|argument| argument.key == "autoleave" && argument.values == ["true"]);
                changer.enter_joint(auto_leave, &changes)
            }
            "leave-joint" if !changes.is_empty() => return Err("this command takes no input".to_string()),
            "leave-joint" => changer.leave_joint(),
            _ => return Err("unknown command".to_string()),
        };
        changed.map_err(|error| error.to_string())
    }
}

/// Reads changes such as `v1 l2 r3 u4`: voter, learner, removal, update.
pub(crate) fn parse_changes(text: &str) -> Result<Vec<Change>, String> {
    text.split_whitespace().map(parse_change).collect()
}

fn parse_change(token: &str) -> Result<Change, String> {
    let kind = match token.chars().next() {
        _ if token.len() < 2 => return Err(format!("unknown token {token}")),
        Some('v') => ChangeKind::AddNode,
        Some('l') => ChangeKind::AddLearner,
        Some('r') => ChangeKind::RemoveNode,
        Some('u') => ChangeKind::UpdateNode,
        _ => return Err(format!("unknown input: {token}")),
    };
    let node = token[1..].parse().map_err(|error| format!("{token}: {error}"))?;
    Ok(Change { kind, node })
}
