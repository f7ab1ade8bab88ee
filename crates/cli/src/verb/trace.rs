//! `trace`: looks into runs: why something happened, where two runs part, and all events for other programs.

use crate::meant::{self, Meant, meant};
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::collections::BTreeSet;
use whitewater_hunt::{causes, event_line, find_event, parting_lines, run as run_plan};
use whitewater_plan::{Restrictions, seed_text};
use whitewater_sim::{EventId, Outcome, Trace};

/// Looks into the trace of a run: a seed, a saved failure, a plan, or a variant of a scenario as FILE@VARIANT.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Walks back from an event to what brought it about; from the verdict if none is named.
    Why {
        /// The run.
        what: String,
        /// The event by its number, such as e31, or by its time in a text trace, such as 36.17b.
        event: Option<String>,
    },
    /// Shows where two runs part.
    Diff {
        /// One run.
        one: String,
        /// The other one.
        other: String,
    },
    /// Prints every event for other programs.
    Export {
        /// The run.
        what: String,
        /// How: one JSON object per line.
        #[arg(value_enum, default_value = "jsonl")]
        form: Form,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    Jsonl,
}

impl Typed {
    /// The bugs that are planted in the files.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        match &self.action {
            Action::Why { what, .. } | Action::Export { what, .. } => meant::bugs_of([what], systems),
            Action::Diff { one, other } => meant::bugs_of([one, other], systems),
        }
    }
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    match &typed.action {
        Action::Why { what, event } => why(what, event.as_deref(), systems, screen),
        Action::Diff { one, other } => diff(one, other, systems, screen),
        Action::Export { what, form: Form::Jsonl } => export(what, systems, screen),
    }
}

fn recorded(word: &str, systems: Systems) -> anyhow::Result<(Meant, Outcome)> {
    let found = meant(word, &Restrictions::default(), systems)?;
    let outcome = run_plan(system(&found.plan.system, systems)?, &found.plan, true);
    Ok((found, outcome.map_err(anyhow::Error::msg)?))
}

fn trace_of(outcome: &Outcome) -> &Trace {
    outcome.trace.as_ref().expect("the run was recorded")
}

fn why(word: &str, event: Option<&str>, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (found, outcome) = recorded(word, systems)?;
    let trace = trace_of(&outcome);
    let event = match event {
        Some(name) => find_event(&found.plan, &outcome, name).ok_or_else(|| {
            let count = trace.events.len();
            anyhow!(
                "there is no event `{name}`: write e0 to e{}, or the time of a line",
                count.saturating_sub(1)
            )
        })?,
        None => match trace.violation {
            Some(event) => event,
            None => bail!("the run passes, so there is nothing to explain: name an event, such as e31"),
        },
    };
    let chain = causes(trace, event);
    let lines = chain.iter().filter_map(|&id| trace.event(id)).map(event_line);
    screen.print(&lines.collect::<Vec<_>>().join("\n"));
    Ok(Exit::Clean)
}

fn diff(one: &str, other: &str, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let ((_, a), (_, b)) = (recorded(one, systems)?, recorded(other, systems)?);
    match parting_lines(trace_of(&a), trace_of(&b)) {
        None => {
            screen.print("the two runs are the same, event by event");
            Ok(Exit::Clean)
        }
        Some(lines) => {
            screen.print(&lines.join("\n"));
            screen.print(&format!("- ends with {}, + ends with {}", a.verdict.rule(), b.verdict.rule()));
            Ok(Exit::Found)
        }
    }
}

#[derive(Serialize)]
struct Head<'a> {
    r#type: &'static str,
    v: u32,
    system: &'a str,
    seed: Option<String>,
    verdict: &'a str,
    message: String,
    trace_hash: String,
}

#[derive(Serialize)]
struct Line<'a> {
    r#type: &'static str,
    id: u32,
    cause: Option<u32>,
    time_nanos: u64,
    node: Option<String>,
    role: Option<String>,
    kind: &'static str,
    from: Option<String>,
    to: Option<String>,
    name: Option<&'static str>,
    term: Option<u64>,
    step: Option<usize>,
    text: &'a str,
    notes: &'a [String],
    state: Option<&'a String>,
}

fn export(word: &str, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (found, outcome) = recorded(word, systems)?;
    screen.data(&Head {
        r#type: "trace",
        v: 1,
        system: &found.plan.system,
        seed: found.seed.map(seed_text),
        verdict: outcome.verdict.rule(),
        message: outcome.verdict.to_string(),
        trace_hash: outcome.hash.to_string(),
    });
    for event in &trace_of(&outcome).events {
        if screen.is_closed() {
            break;
        }
        let subject = event.subject;
        screen.data(&Line {
            r#type: "event",
            id: event.id.0,
            cause: (event.cause != EventId::NONE).then_some(event.cause.0),
            time_nanos: event.time.nanos(),
            node: event.node.map(|node| node.to_string()),
            role: event.role.map(|role| role.letter().to_string()),
            kind: event.kind.word(),
            from: subject.map(|subject| subject.from.to_string()),
            to: subject.map(|subject| subject.to.to_string()),
            name: subject.map(|subject| subject.name),
            term: subject.and_then(|subject| subject.term),
            step: event.step.map(|step| step + 1),
            text: &event.text,
            notes: &event.notes,
            state: event.state.as_ref(),
        });
    }
    Ok(Exit::Clean)
}
