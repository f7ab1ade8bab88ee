//! Quorum files: what majorities and pairs of them have committed, and how they have voted.

use crate::Interpreter;
use crate::datadriven::Command;
use std::fmt::Write;
use whitewater_raft::{Joint, Majority, NodeId, VoteResult};

/// The interpreter of quorum files; every command stands for itself.
pub(crate) struct Suite;

/// What each voter said, in the order in which voters are first named; `None` for nothing.
struct Said(Vec<(NodeId, Option<u64>)>);

impl Said {
    fn of(&self, id: NodeId) -> Option<u64> {
        self.0.iter().find(|(voter, _)| *voter == id).and_then(|&(_, value)| value)
    }
}

impl Interpreter for Suite {
    fn commands(&self) -> &'static [&'static str] {
        &["committed", "vote"]
    }

    fn execute(&mut self, command: &Command) -> String {
        execute(command).unwrap_or_else(|error| error)
    }
}

fn execute(command: &Command) -> Result<String, String> {
    let (mut incoming, mut outgoing, mut values) = (Vec::new(), None, Vec::new());
    for argument in &command.arguments {
        match argument.key.as_str() {
            "cfg" => incoming = ids(&argument.values)?,
            "cfgj" if argument.values == ["zero"] => outgoing = Some(Vec::new()),
            "cfgj" => outgoing.get_or_insert_default().extend(ids(&argument.values)?),
            "idx" => values = argument.values.iter().map(|value| index(value)).collect::<Result<_, _>>()?,
            "votes" => values = argument.values.iter().map(|value| vote(value)).collect::<Result<_, _>>()?,
            other => return Err(format!("unknown arg {other}")),
        }
    }
    let mut voters: Vec<NodeId> = Vec::new();
    for &id in incoming.iter().chain(outgoing.iter().flatten()) {
        if !voters.contains(&id) {
            voters.push(id);
        }
    }
    if voters.len() != values.len() {
        return Err(format!("error: mismatched input for voters {voters:?}: {values:?}"));
    }
    let said = Said(voters.into_iter().zip(values).collect());
    let joint =
        Joint { incoming: Majority::new(incoming), outgoing: Majority::new(outgoing.unwrap_or_default()) };
    match command.name.as_str() {
        "committed" => Ok(committed(&joint, &said)),
        "vote" => Ok(voted(&joint, &said)),
        _ => Err("unknown command".to_string()),
    }
}

fn committed(joint: &Joint, said: &Said) -> String {
    let index = joint.committed_index(|id| said.of(id));
    let index = if index == u64::MAX { "∞".to_string() } else { index.to_string() };
    format!("{}{index}\n", chart(&joint.ids().collect::<Vec<_>>(), said))
}

fn voted(joint: &Joint, said: &Said) -> String {
    let result = joint.vote_result(|id| said.of(id).map(|value| value == 1));
    let name = match result {
        VoteResult::Pending => "VotePending",
        VoteResult::Lost => "VoteLost",
        VoteResult::Won => "VoteWon",
    };
    format!("{name}\n")
}

/// A bar for every voter, as long as there are voters behind it.
fn chart(voters: &[NodeId], said: &Said) -> String {
    if voters.is_empty() {
        return "<empty majority quorum>".to_string();
    }
    let width = voters.len();
    let mut chart = format!("{:width$}    idx\n", "");
    for &id in voters {
        let index = said.of(id);
        let behind = voters.iter().filter(|&&other| said.of(other).unwrap_or(0) < index.unwrap_or(0)).count();
        let bar = match index {
            Some(_) => format!("{}>{:rest$}", "x".repeat(behind), "", rest = width - behind),
            None => format!("?{:width$}", ""),
        };
        let _ = writeln!(chart, "{bar} {:5}    (id={id})", index.unwrap_or(0));
    }
    chart
}

fn ids(values: &[String]) -> Result<Vec<NodeId>, String> {
    values.iter().map(|value| value.parse().map_err(|error| format!("{value}: {error}"))).collect()
}

fn index(value: &str) -> Result<Option<u64>, String> {
    match value {
        "_" => Ok(None),
        "0" => Err("use '_' for unknown, and a number above 0 otherwise".to_string()),
        number => number.parse().map(Some).map_err(|error| format!("{number}: {error}")),
    }
}

fn vote(value: &str) -> Result<Option<u64>, String> {
    match value {
        "_" => Ok(None),
        "y" => Ok(Some(1)),
        "n" => Ok(Some(0)),
        other => Err(format!("unknown vote: {other}")),
    }
}
