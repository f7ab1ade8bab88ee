//! The rules over leases, bounds and pace are asked about every step: held to narrower limits than its servers, a run breaks each.

use super::KvMonitor;
use super::step::{Deeds, Done};
use super::testing::{Chosen, Told};
use crate::message::KvMessage;
use crate::node::KvNode;
use whitewater_check::{Limits, Membership, Standing};
use whitewater_sim::{
    Action, Cluster, DiskTiming, Effect, Losing, Monitor, Pattern, Script, Seen, Span, Step, Target, Time,
    Trigger, Violation, What,
};

/// A monitor that was told something else of the servers than they were, and may be told that who receives has sent.
type Deceived = Told<fn(&mut KvMonitor, &Seen<'_, KvNode>, &Cluster<KvNode>) -> Result<(), Violation>>;

/// Says that whoever is sent a message of the core did what its sender did.
fn mistakes_nodes(
    monitor: &mut KvMonitor,
    seen: &Seen<'_, KvNode>,
    cluster: &Cluster<KvNode>,
) -> Result<(), Violation> {
    let receiver = seen.effects.iter().find_map(|effect| match effect {
        Effect::Send { to, message: KvMessage::Raft { .. } } => Some(*to),
        _ => None,
    });
    if let Some(node) = receiver
        && let Some(view) = cluster.view(seen.node).and_then(KvNode::server)
    {
        let Seen { event, time, effects, died, .. } = *seen;
        let mistaken = Seen { event, time, node, what: What::Booted, effects, died };
        let (standing, membership) = (&Standing::default(), &Membership::default());
        let (deeds, before, after) = (Deeds::of(effects), standing, standing);
        return monitor.bounds.observe(&Done { seen: &mistaken, deeds, view, before, after, membership });
    }
    monitor.observe(seen, cluster)
}

/// Three servers, one of which crashes, and a client that writes without a pause.
fn script(seed: u64) -> Script {
    let mut script = super::testing::script(seed, 2);
    let crash = Action::Crash { node: Target::Leader, losing: Losing::Unsynced, at_call: 0 };
    let until = Some(Trigger::After(Span::from_millis(400)));
    script.steps.push(Step { until, ..Step::new(Trigger::At(Time::from_millis(900)), crash) });
    script
}

const USUAL: &Chosen = &[("snapshot-entries", "20"), ("snapshot-trail", "3"), ("uncommitted-bytes", "4096")];

/// The rule that the first of some runs breaks whose monitor is told something else.
fn broken(deceive: impl Fn(&mut Deceived)) -> Option<&'static str> {
    (0..8).find_map(|seed| broken_in(&script(seed), USUAL, &deceive))
}

fn broken_in(script: &Script, chosen: &Chosen, deceive: impl Fn(&mut Deceived)) -> Option<&'static str> {
    super::testing::broken_in(script, chosen, |settings| {
        let monitor = KvMonitor::new(script, settings);
        let mut deceived = Deceived { monitor, tell: KvMonitor::observe };
        deceive(&mut deceived);
        deceived
    })
}

const NO_LIMITS: Limits = Limits { appends: 0, window_bytes: 0, append_bytes: 0, uncommitted_bytes: 0 };

#[test]
fn what_servers_do_is_within_what_they_were_configured_to() {
    assert_eq!(broken(|_| {}), None);
}

#[test]
fn a_snapshot_that_is_not_durable_yet_bounds_no_log() {
    // In one step the log is compacted behind a snapshot that is durable at once, and the next one has to wait for the disk.
    let chosen: &Chosen = &[("snapshot-entries", "5"), ("snapshot-trail", "0"), ("apply-bytes", "1")];
    for seed in 0..32 {
        assert_eq!(
            broken_in(&Script { disk: stalling(), ..script(seed) }, chosen, |_| {}),
            None,
            "seed {seed}"
        );
    }
}

/// A disk that takes its time for one sync of four.
fn stalling() -> DiskTiming {
    DiskTiming { stalls: 1 << 14, stall: Span::from_millis(50), ..DiskTiming::default() }
}

#[test]
fn a_snapshot_that_came_to_be_durable_behind_a_compaction_bounds_it_not() {
    // As before, and before the step ends a joint membership is left: that is written, need not wait, and takes along what
    // waits.
    let chosen: &Chosen = &[
        ("snapshot-entries", "5"),
        ("snapshot-trail", "0"),
        ("apply-bytes", "1"),
        ("membership", "changing"),
        ("founders", "3"),
    ];
    for seed in 0..64 {
        let mut script = Script { disk: stalling(), servers: 4, ..script(seed) };
        let replaced = [("n3", "n4"), ("n4", "n3")].into_iter().cycle().zip(0..12);
        script.steps.extend(replaced.map(|((old, new), number)| {
            let (at, target) = (Trigger::At(Time::from_millis(301 + 50 * number)), Target::Leader);
            Step::new(at, Action::Operate { target, text: format!("replace {old} by {new}"), every: None })
        }));
        assert_eq!(broken_in(&script, chosen, |_| {}), None, "seed {seed}");
    }
}

#[test]
fn every_bound_is_looked_at() {
    let bound = |limits| broken(|deceived| deceived.monitor.bounds.limits = limits);
    assert_eq!(bound(|_| (Limits { appends: 1, ..NO_LIMITS }, 99)), Some("window-bounded"));
    assert_eq!(bound(|_| (Limits { window_bytes: 1, ..NO_LIMITS }, 99)), Some("window-bounded"));
    assert_eq!(bound(|_| (Limits { uncommitted_bytes: 1, ..NO_LIMITS }, 99)), Some("uncommitted-bounded"));
    assert_eq!(bound(|_| (NO_LIMITS, 2)), Some("log-bounded"));
    assert_eq!(bound(|_| (NO_LIMITS, 3)), None);
    assert_eq!(broken(|deceived| deceived.tell = mistakes_nodes), Some("nothing-to-self"));
}

#[test]
fn heartbeats_are_looked_at() {
    let interval = |ticks| broken(|deceived| deceived.monitor.pacing.interval_ticks = ticks);
    assert_eq!(interval(|settings| settings.heartbeat_ticks), None);
    assert_eq!(interval(|settings| settings.heartbeat_ticks / 2), Some("heartbeats-on-time"));
}

#[test]
fn leases_are_looked_at() {
    // For a while nobody hears anything: less than a leader is granted, and more than one tick.
    let silent = |seed| {
        let (mut script, from) = (script(seed), Trigger::At(Time::from_millis(700)));
        let until = Some(Trigger::After(Span::from_millis(60)));
        script.steps.push(Step { until, ..Step::new(from, Action::Drop(Pattern::default())) });
        script
    };
    let lease = |timeout| {
        (0..8).find_map(|seed| {
            broken_in(&silent(seed), USUAL, |deceived| deceived.monitor.leases.timeout = timeout)
        })
    };
    assert_eq!(lease(|settings| settings.election_ticks), None);
    assert_eq!(lease(|_| 0), Some("leads-by-contact"));
    assert_eq!(lease(|_| 1_000), Some("voters-loyal"));
}
