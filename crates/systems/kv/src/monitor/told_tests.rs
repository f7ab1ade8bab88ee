//! The rules over pace, leases and files hear of everything they are about: told of steps that nobody took, each is broken.

use super::step::{Deeds, Done};
use super::testing::{Chosen, Told, broken_in, script};
use super::{Counted, KvMonitor};
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::server::Server;
use crate::timer::KvTimer;
use std::cell::{Cell, RefCell};
use whitewater_check::{LogView, Standing};
use whitewater_raft::{Message, MessageKind};
use whitewater_sim::{
    Action, Cluster, Effect, Losing, Monitor, NodeId, Role, Script, Seen, Span, Step, Target, Time, Trigger,
    Violation, What,
};

/// The rule that some runs break whose monitor is told this.
fn broken(
    script: impl Fn(u64) -> Script,
    chosen: &Chosen,
    tell: impl Fn(&mut KvMonitor, &Seen<'_, KvNode>, &Cluster<KvNode>) -> Result<(), Violation>,
) -> Option<&'static str> {
    (0..8).find_map(|seed| {
        let script = script(seed);
        broken_in(&script, chosen, |settings| Told {
            monitor: KvMonitor::new(&script, settings),
            tell: &tell,
        })
    })
}

/// A server that leads, as it stands.
fn leading<'a>(
    monitor: &KvMonitor,
    node: NodeId,
    cluster: &'a Cluster<KvNode>,
) -> Option<(&'a Server, Standing)> {
    let standing = monitor.rules.standing(node);
    let view = cluster.view(node).and_then(KvNode::server).filter(|view| !view.is_halted())?;
    (standing.role == Role::Leader).then_some((view, standing))
}

/// The first message of the core of some kind among what a server did.
fn said(effects: &[Effect<KvNode>], kind: MessageKind) -> Option<(NodeId, &KvMessage)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send { to, message: message @ KvMessage::Raft { message: inner, .. } } => {
            (inner.kind == kind).then_some((*to, message))
        }
        _ => None,
    })
}

/// The same message with something changed in it.
fn changed(message: &KvMessage, change: impl FnOnce(&mut Message)) -> KvMessage {
    let mut message = message.clone();
    if let KvMessage::Raft { message, .. } = &mut message {
        change(message);
    }
    message
}

/// Has the rules over pace look at a step in which that alone was sent.
fn looks_at_pace(
    monitor: &mut KvMonitor,
    seen: &Seen<'_, KvNode>,
    view: &Server,
    standing: &Standing,
    sent: Option<(NodeId, KvMessage)>,
) -> Result<(), Violation> {
    let effects: Vec<Effect<KvNode>> =
        sent.into_iter().map(|(to, message)| Effect::Send { to, message }).collect();
    let Seen { event, time, node, died, .. } = *seen;
    let step = Seen { event, time, node, what: What::Fired(KvTimer::Tick), effects: &effects, died };
    let (deeds, membership) = (Deeds::of(&effects), monitor.rules.last_membership(node));
    let done = Done { seen: &step, deeds, view, before: standing, after: standing, membership };
    monitor.pacing.observe(&done)
}

fn slowly(seed: u64) -> Script {
    script(seed, 40)
}

#[test]
fn an_acknowledgement_of_an_earlier_term_is_looked_at() {
    let late = broken(slowly, &[], |monitor, seen, cluster| {
        monitor.observe(seen, cluster)?;
        let Some((view, standing)) = leading(monitor, seen.node, cluster) else { return Ok(()) };
        let later = Standing { term: standing.term + 1, ..standing };
        looks_at_pace(monitor, seen, view, &later, None)
    });
    assert_eq!(late, Some("old-answers-ignored"));
}

#[test]
fn a_refusal_of_what_is_committed_is_looked_at() {
    let refused = broken(slowly, &[], |monitor, seen, cluster| {
        monitor.observe(seen, cluster)?;
        let view = cluster.view(seen.node).and_then(KvNode::server);
        let taken = view.and_then(Server::taken).filter(|taken| taken.kind == MessageKind::Append);
        let (Some(view), Some(taken)) = (view, taken) else { return Ok(()) };
        let Some((to, message)) = said(seen.effects, MessageKind::AppendResponse) else { return Ok(()) };
        let refusal = changed(message, |message| (message.reject, message.index) = (true, taken.index));
        let standing = monitor.rules.standing(seen.node);
        looks_at_pace(monitor, seen, view, &standing, Some((to, refusal)))
    });
    assert_eq!(refused, Some("prefix-accepted"));
}

#[test]
fn what_a_leader_says_while_it_waits_for_its_disk_is_looked_at() {
    let waiting = |seed| {
        let mut script = script(seed, 5);
        (script.disk.low, script.disk.high) = (Span::from_millis(4), Span::from_millis(8));
        script
    };
    let last = RefCell::new(None);
    let spoke = broken(waiting, &[], |monitor, seen, cluster| {
        monitor.observe(seen, cluster)?;
        if let Some((to, message)) = said(seen.effects, MessageKind::Append) {
            last.replace(Some((to, message.clone())));
        }
        let sent = last.borrow().clone();
        match (leading(monitor, seen.node, cluster), sent) {
            (Some((view, standing)), Some(sent)) if view.waits_for_disk() => {
                looks_at_pace(monitor, seen, view, &standing, Some(sent))
            }
            _ => Ok(()),
        }
    });
    assert_eq!(spoke, Some("silent-without-disk"));
}

/// A client that writes without a pause, and leaders that are told to hand over.
fn handing_over(seed: u64) -> Script {
    let mut script = script(seed, 2);
    for (number, to) in (0..6).zip([1, 2, 3].into_iter().cycle()) {
        let (target, text) = (Target::Leader, format!("transfer n{to}"));
        let at = Trigger::At(Time::from_millis(330 + 60 * number));
        script.steps.push(Step::new(at, Action::Operate { target, text, every: None }));
    }
    script
}

#[test]
fn an_order_to_take_over_is_looked_at() {
    let last = RefCell::new(None);
    let ordered = broken(handing_over, &[], |monitor, seen, cluster| {
        monitor.observe(seen, cluster)?;
        if let Some((_, message)) = said(seen.effects, MessageKind::Append) {
            last.replace(Some(message.clone()));
        }
        let message = last.borrow().clone();
        let (Some((view, standing)), Some(message)) = (leading(monitor, seen.node, cluster), message) else {
            return Ok(());
        };
        let behind = |&peer: &NodeId| {
            peer != seen.node && view.match_index(peer).is_some_and(|matched| matched < view.last_index())
        };
        let Some(peer) = cluster.servers().find(behind).filter(|_| view.is_handing_over()) else {
            return Ok(());
        };
        let order = changed(&message, |message| message.kind = MessageKind::TimeoutNow);
        looks_at_pace(monitor, seen, view, &standing, Some((peer, order)))
    });
    assert_eq!(ordered, Some("takeover-caught-up"));
}

#[test]
fn a_lease_is_given_away_with_an_order_to_take_over() {
    let orders = Cell::new(0);
    let rule = broken(handing_over, &[("lease", "on")], |monitor, seen, cluster| {
        monitor.observe(seen, cluster)?;
        if said(seen.effects, MessageKind::TimeoutNow).is_some() {
            let term = monitor.rules.standing(seen.node).term;
            assert_eq!(monitor.leases.gave_away_in[seen.node.position()], term);
            orders.set(orders.get() + 1);
        }
        Ok(())
    });
    assert_eq!(rule, None);
    assert!(orders.get() > 8, "{} orders", orders.get());
}

#[test]
fn a_pre_vote_is_held_against_the_loyalty_of_a_voter() {
    let granted = Cell::new(false);
    let crashing = |seed| {
        let mut script = script(seed, 5);
        let crash = Action::Crash { node: Target::Leader, losing: Losing::Unsynced, at_call: 0 };
        let until = Some(Trigger::After(Span::from_millis(400)));
        script.steps.push(Step { until, ..Step::new(Trigger::At(Time::from_millis(900)), crash) });
        script
    };
    let rule = broken(crashing, &[("pre-vote", "on")], |monitor, seen, cluster| {
        monitor.leases.timeout = |_| 1_000;
        let is_grant = |effect: &Effect<KvNode>| {
            let Effect::Send { message: KvMessage::Raft { message, .. }, .. } = effect else { return false };
            message.kind == MessageKind::PreVoteResponse && !message.reject
        };
        monitor.observe(seen, cluster).inspect_err(|_| granted.set(seen.effects.iter().any(is_grant)))
    });
    assert_eq!((rule, granted.get()), (Some("voters-loyal"), true));
}

#[test]
fn a_read_by_a_lease_that_was_given_away_is_looked_at() {
    let reading = |seed| {
        let mut script = script(seed, 20);
        let target = Target::Node(NodeId::client(0));
        script.steps = (0..20)
            .map(|number| {
                let at = Trigger::At(Time::from_millis(300 + 20 * number));
                Step::new(at, Action::Operate { target, text: "get a".to_owned(), every: None })
            })
            .collect();
        script
    };
    let given_away = |chosen: &Chosen| {
        broken(reading, chosen, |monitor, seen, cluster| {
            let is_passed_on = matches!(seen.what, What::Delivered { from, .. } if from.is_server());
            if seen.node.is_server() && (is_passed_on || !chosen.contains(&("read-at", "any"))) {
                let term = monitor.rules.standing(seen.node).term;
                monitor.leases.gave_away_in[seen.node.position()] = term;
            } else {
                monitor.leases.gave_away_in = Default::default();
            }
            monitor.observe(seen, cluster)
        })
    };
    assert_eq!(given_away(&[("lease", "on")]), Some("lease-given-away"));
    assert_eq!(given_away(&[("lease", "on"), ("read-at", "any")]), Some("lease-given-away"), "passed on");
    assert_eq!(given_away(&[("lease", "on"), ("reads", "log")]), None);
    assert_eq!(given_away(&[]), None);
}

#[test]
fn files_are_counted_of_those_that_have_written_behind_faults() {
    let needing_none = |clients| {
        let script = |seed| Script { clients, steps: Vec::new(), ..script(seed, 20) };
        broken(script, &[], |monitor, seen, cluster| {
            monitor.settling.needed_files = |_| 0;
            monitor.counted = Counted::Only("files-bounded");
            monitor.observe(seen, cluster)
        })
    };
    assert_eq!(needing_none(1), Some("files-bounded"));
    assert_eq!(needing_none(0), None, "nobody has written anything");
}

#[test]
fn who_hands_its_writes_to_a_thread_says_that_it_applies_only_what_is_durable() {
    for (storage, expected) in [("sync", false), ("async", true)] {
        let seen_some = Cell::new(false);
        let rule = broken(slowly, &[("storage", storage)], |monitor, seen, cluster| {
            if let Some(view) = cluster.view(seen.node).and_then(KvNode::server) {
                assert_eq!(view.applies_durable_only(), expected);
                seen_some.set(true);
            }
            monitor.observe(seen, cluster)
        });
        assert_eq!((rule, seen_some.get()), (None, true), "{storage}");
    }
}
