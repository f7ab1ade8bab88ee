//! The commands of interaction files.

use super::arguments::{delivery, first_id, flag, ids, number, value};
use super::environment::{Environment, Thread};
use super::node::Node;
use super::output::Output;
use crate::datadriven::Command;
use crate::membership::parse_changes;
use std::rc::Rc;
use whitewater_raft::{
    ConfChange, ConfChangeV2, Config, Extra, Message, MessageKind, NodeId, Payload, ReadMode, Snapshot,
    Storage, Transition,
};

/// Every command there is.
pub(crate) const COMMANDS: &[&str] = &[
    "_breakpoint",
    "add-nodes",
    "campaign",
    "compact",
    "deliver-msgs",
    "process-ready",
    "process-append-thread",
    "process-apply-thread",
    "log-level",
    "raft-log",
    "raft-state",
    "set-randomized-election-timeout",
    "stabilize",
    "status",
    "tick-election",
    "tick-heartbeat",
    "transfer-leadership",
    "forget-leader",
    "send-snapshot",
    "propose",
    "propose-conf-change",
    "report-unreachable",
];

/// More nodes than any test has, and few enough for every machine.
const NODES_MAX: u64 = 1_000;

/// Executes one command; what it prints goes to the output of the environment.
pub(crate) fn execute(environment: &mut Environment, command: &Command) -> Result<(), String> {
    match command.name.as_str() {
        "_breakpoint" => Ok(()),
        "add-nodes" => add_nodes(environment, command),
        "campaign" => with_node(environment, command, |node| node.raw.campaign()),
        "compact" => compact(environment, command),
        "deliver-msgs" => deliver_messages(environment, command),
        "process-ready" => {
            let ids = ids(command)?;
            environment.for_each(&ids, "handling Ready", Environment::process_ready)
        }
        "process-append-thread" => process_thread(environment, command, Thread::Append),
        "process-apply-thread" => process_thread(environment, command, Thread::Apply),
        "log-level" => log_level(environment, command),
        "raft-log" => raft_log(environment, first_id(command)?),
        "raft-state" => raft_state(environment),
        "set-randomized-election-timeout" => {
            let ticks = number(value(command, "timeout")?)?;
            with_node(environment, command, |node| node.raw.set_randomized_timeout(ticks))
        }
        "stabilize" => stabilize(environment, command),
        "status" => status(environment, command),
        "tick-election" => {
            with_node(environment, command, |node| node.raw.tick_by(node.config.election_ticks))
        }
        "tick-heartbeat" => {
            with_node(environment, command, |node| node.raw.tick_by(node.config.heartbeat_ticks))
        }
        "transfer-leadership" => {
            let (from, to) = (number(value(command, "from")?)?, number(value(command, "to")?)?);
            environment.node(from)?.raw.transfer_leader(to);
            Ok(())
        }
        // Refusing to forget under lease reads is not an error of the command.
        "forget-leader" => with_node(environment, command, |node| {
            let _ = node.raw.forget_leader();
        }),
        "send-snapshot" => send_snapshot(environment, command),
        "propose" => propose(environment, command),
        "propose-conf-change" => propose_conf_change(environment, command),
        "report-unreachable" => report_unreachable(environment, command),
        _ => Err("unknown command".to_string()),
    }
}

fn with_node(
    environment: &mut Environment,
    command: &Command,
    run: impl FnOnce(&mut Node),
) -> Result<(), String> {
    run(environment.node(first_id(command)?)?);
    Ok(())
}

fn add_nodes(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let count: u64 = first_id(command)?;
    if count > NODES_MAX {
        return Err(format!("there may be {NODES_MAX} nodes, not {count}"));
    }
    let mut start = Snapshot::default();
    let mut config = Config { election_ticks: 3, inflight_count_max: i32::MAX as u32, ..Config::new(1) };
    for argument in &command.arguments[1..] {
        for value in &argument.values {
            match argument.key.as_str() {
                "voters" => start.conf_state.voters.push(number(value)?),
                "learners" => start.conf_state.learners.push(number(value)?),
                "index" => start.index = number(value)?,
                "content" => start.data = Payload::from(value),
                "inflight" => config.inflight_count_max = number(value)?,
                "async-storage-writes" => config.async_storage_writes = flag(value)?,
                "prevote" => config.pre_vote = flag(value)?,
                "checkquorum" => config.check_quorum = flag(value)?,
                "max-committed-size-per-ready" => config.committed_size_max_bytes = number(value)?,
                "disable-conf-change-validation" => config.disable_conf_change_validation = flag(value)?,
                "step-down-on-removal" => config.step_down_on_removal = flag(value)?,
                "read-only" => {
                    config.read_mode = match value.as_str() {
                        "safe" => ReadMode::Safe,
                        "lease-based" => ReadMode::LeaseBased,
                        other => return Err(format!("invalid read-only option {other:?}")),
                    }
                }
                other => return Err(format!("unknown argument {other}")),
            }
        }
    }
    config.applied = start.index;
    let start = (start != Snapshot::default()).then_some(Snapshot { term: 1, ..start });
    for _ in 0..count {
        let id = environment.nodes.len() as NodeId + 1;
        environment.nodes.push(Node::new(Config { id, ..config.clone() }, start.as_ref())?);
    }
    Ok(())
}

fn compact(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let id = first_id(command)?;
    let index = command.arguments.get(1).ok_or("the command lacks an index")?;
    let memory = &mut environment.node(id)?.raw.storage_mut().memory;
    memory.compact(number(&index.key)?).map_err(|error| error.to_string())?;
    raft_log(environment, id)
}

fn deliver_messages(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let (filter, recipients) = delivery(command)?;
    if environment.deliver(filter, &recipients) == 0 {
        environment.output.line("no messages");
    }
    Ok(())
}

fn process_thread(environment: &mut Environment, command: &Command, thread: Thread) -> Result<(), String> {
    let header = format!("processing {} thread", thread.name());
    let ids = ids(command)?;
    environment.for_each(&ids, &header, |environment, id| environment.process_thread(id, thread))
}

fn log_level(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let name = command.arguments.first().ok_or("the command lacks a level")?;
    environment.output.set_level(Output::level_named(&name.key)?);
    Ok(())
}

fn raft_log(environment: &mut Environment, id: NodeId) -> Result<(), String> {
    let storage = environment.node(id)?.raw.storage();
    let ends = storage.first_index().and_then(|first| Ok((first, storage.last_index()?)));
    let (first, last) = ends.map_err(|error| error.to_string())?;
    let lines: Vec<String> = storage.memory.log().iter().map(|entry| entry.to_string()).collect();
    if last < first {
        environment.output.write(&format!("log is empty: first index={first}, last index={last}"));
    }
    for line in lines {
        environment.output.line(line);
    }
    Ok(())
}

fn raft_state(environment: &mut Environment) -> Result<(), String> {
    for node in &environment.nodes {
        let raw = &node.raw;
        let votes = raw.configuration().voters.contains(raw.id());
        let votes = if votes { "(Voter)" } else { "(Non-Voter)" };
        let (id, role, term, leader) = (raw.id(), raw.role(), raw.term(), raw.leader());
        environment.output.line(format!("{id}: {role} {votes} Term:{term} Lead:{leader}"));
    }
    Ok(())
}

fn status(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let status = environment.node(first_id(command)?)?.raw.status();
    for progress in &status.progress {
        environment.output.line(format!("{}: {progress}", progress.id));
    }
    Ok(())
}

fn stabilize(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let mut ids = ids(command)?;
    if ids.is_empty() {
        ids = (1..=environment.nodes.len() as NodeId).collect();
    }
    let mut level_before = None;
    for argument in command.arguments.iter().filter(|argument| argument.key == "log-level") {
        for value in &argument.values {
            level_before = Some(environment.output.set_level(Output::level_named(value)?));
        }
    }
    let result = environment.stabilize(&ids);
    if let Some(level) = level_before {
        environment.output.set_level(level);
    }
    result
}

fn send_snapshot(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let [from, to] = ids(command)?[..] else {
        return Err("must specify exactly two nodes".to_string());
    };
    let raw = &environment.node(from)?.raw;
    let snapshot = raw.storage().snapshot(0, to).map_err(|error| error.to_string())?;
    let mut message = Message::new(MessageKind::Snapshot, from, to);
    message.term = raw.term();
    message.extra = Some(Box::new(Extra { snapshot: Some(Rc::new(snapshot)), ..Extra::default() }));
    environment.output.write(&message.to_string());
    environment.messages.push(message);
    Ok(())
}

fn propose(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let data = command.arguments.get(1).map(|argument| argument.key.as_str()).unwrap_or_default();
    let node = environment.node(first_id(command)?)?;
    node.raw.propose(data).map_err(|error| error.to_string())
}

fn propose_conf_change(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let (mut older, mut transition) = (false, Transition::Auto);
    for argument in &command.arguments[1..] {
        for value in &argument.values {
            match (argument.key.as_str(), value.as_str()) {
                ("v1", value) => older = flag(value)?,
                ("transition", "auto") => transition = Transition::Auto,
                ("transition", "implicit") => transition = Transition::JointImplicit,
                ("transition", "explicit") => transition = Transition::JointExplicit,
                ("transition", other) => return Err(format!("unknown transition {other}")),
                (other, _) => return Err(format!("unknown command {other}")),
            }
        }
    }
    let changes = parse_changes(&command.input)?;
    let raw = &mut environment.node(first_id(command)?)?.raw;
    let proposed = if older {
        let ([change], Transition::Auto) = (&changes[..], transition) else {
            return Err("v1 conf change can only have one operation and no transition".to_string());
        };
        raw.propose_conf_change_v1(&ConfChange { change: *change, ..ConfChange::default() })
    } else {
        raw.propose_conf_change(&ConfChangeV2 { transition, changes, context: Payload::EMPTY })
    };
    proposed.map_err(|error| error.to_string())
}

fn report_unreachable(environment: &mut Environment, command: &Command) -> Result<(), String> {
    let [on, of] = ids(command)?[..] else {
        return Err(
            "must specify exactly two node indexes: node on which to report, and reported node".to_string()
        );
    };
    environment.node(on)?.raw.report_unreachable(of);
    Ok(())
}
