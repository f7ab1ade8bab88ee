//! W, the workload of one long run: a steady stream of writes through a cluster that loses messages and nodes.
//!
//! Five servers, one write of 64 bytes per millisecond at whoever leads, one message in a hundred lost, and every two
//! seconds one server that is down for 300 ms and starts again from its disk: 300 simulated seconds of it.

use anyhow::anyhow;
use whitewater_plan::{PLAN_VERSION, Plan, Profile, text};
use whitewater_sim::draw::name_hash;
use whitewater_sim::{Keys, Options, Site, System};

/// Decides which server crashes, and everything the script leaves open.
const SEED: u64 = 0;
/// Bytes of a value that make an entry of 64 bytes: the store puts 19 bytes before it, and a key of one.
const VALUE_BYTES: usize = 44;

/// What a workload is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Simulated seconds before the faults end; with 0 it is a tenth of one.
    pub(super) seconds: u64,
    pub(super) servers: u64,
    /// Nobody writes, and nothing fails.
    pub(super) is_idle: bool,
    /// With every check, or without any.
    pub(super) is_checked: bool,
}

impl Shape {
    /// The workload by which speed is told.
    pub(super) const W: Shape = Shape { seconds: 300, servers: 5, is_idle: false, is_checked: true };
}

const SETTINGS: &[&str] = &[
    "delay 1ms..10ms",
    "settle 60s delay 10ms no power-cycle",
    "limits events 1000000000 queue 200000 steps 1000000 time 3600s",
];

const OPTIONS: &[(&str, &str)] = &[
    ("tick", "10ms"),
    ("election-ticks", "15"),
    ("heartbeat-ticks", "5"),
    ("pre-vote", "on"),
    ("check-quorum", "on"),
];

/// The plan of a workload.
///
/// # Errors
/// The system has other options or operations than the workload needs.
pub(super) fn plan(system: &'static dyn System, shape: &Shape) -> anyhow::Result<Plan> {
    let mut options = Options::new();
    for (name, value) in OPTIONS {
        options.set(system.options(), name, value).map_err(anyhow::Error::msg)?;
    }
    let script = text::parse_script(&lines(shape), Some(system)).map_err(|error| anyhow!("{error:?}"))?;
    let system = system.name().to_owned();
    Ok(Plan { version: PLAN_VERSION, system, profile: Profile::Calm, options, script })
}

fn lines(shape: &Shape) -> Vec<String> {
    let &Shape { seconds, servers, .. } = shape;
    let horizon = if seconds == 0 { "100ms".to_owned() } else { format!("{seconds}s") };
    let mut lines = vec![format!("seed {SEED}"), format!("servers {servers}"), format!("horizon {horizon}")];
    lines.extend(SETTINGS.iter().map(|line| (*line).to_owned()));
    if shape.is_idle {
        return lines;
    }
    lines.push("loss 1/100".to_owned());
    lines.push(format!("put w {} at leader every 1ms", "x".repeat(VALUE_BYTES)));
    let victims = Keys::new(SEED).key(Site::PLAN, 0);
    lines.extend((2..seconds.max(2)).step_by(2).map(|second| {
        let victim = 1 + victims.draw(name_hash("victim"), second).below(servers);
        format!("crash n{victim} at {second}s until +300ms")
    }));
    lines
}
