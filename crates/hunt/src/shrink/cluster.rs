//! Fewer servers and clients, operations of one client, and nodes numbered in the order in which they are named.

use super::trials::{Held, Trials, changed};
use crate::rename::{renamed, swapped};
use whitewater_plan::Plan;
use whitewater_sim::{Action, NodeId, Target};

/// Takes servers away, each of which may go, with all that names it.
pub(super) fn fewer_servers(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    while held.plan.script.servers > 1 {
        let plan = held.plan.clone();
        let servers = (0..plan.script.servers).rev().map(NodeId::server);
        let candidates = servers.map(|server| without_server(&plan, server));
        if trials.first(held, candidates).is_none() {
            return helped;
        }
        helped = true;
    }
    helped
}

/// The plan without a server; the last one takes its number.
pub(super) fn without_server(plan: &Plan, server: NodeId) -> Plan {
    let last = NodeId::server(plan.script.servers - 1);
    let map = |node: NodeId| match node {
        _ if node == server => None,
        _ if node == last => Some(server),
        _ => Some(node),
    };
    let mut without = renamed(plan, &map);
    without.script.servers -= 1;
    without
}

/// Takes clients away with their operations.
pub(super) fn fewer_clients(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    if held.plan.script.clients > 1 {
        let none = changed(&held.plan, |plan| {
            plan.script.steps.retain(|step| step.nodes().iter().all(|node| node.is_server()));
            plan.script.pins.retain(|pin| pin.nodes().iter().all(|node| node.is_server()));
            plan.script.clients = 0;
        });
        helped |= trials.first(held, [none]).is_some();
    }
    while held.plan.script.clients > 0 {
        let plan = held.plan.clone();
        let clients = (0..plan.script.clients).rev().map(NodeId::client);
        let candidates = clients.map(|client| without_client(&plan, client));
        if trials.first(held, candidates).is_none() {
            return helped;
        }
        helped = true;
    }
    helped
}

/// The plan without a client; the last one takes its number.
pub(super) fn without_client(plan: &Plan, client: NodeId) -> Plan {
    let last = NodeId::client(plan.script.clients - 1);
    let map = |node: NodeId| match node {
        _ if node == client => None,
        _ if node == last => Some(client),
        _ => Some(node),
    };
    let mut without = renamed(plan, &map);
    without.script.clients -= 1;
    without
}

/// Lets one client do what several do.
pub(super) fn one_client(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.clients < 2 {
        return false;
    }
    let candidate = changed(&held.plan, |plan| {
        for step in &mut plan.script.steps {
            if let Action::Operate { target: Target::Node(node), .. } = &mut step.action
                && !node.is_server()
            {
                *node = NodeId::client(0);
            }
        }
        plan.script.pins.retain(|pin| pin.nodes().iter().all(|node| node.is_server()));
        plan.script.clients = 1;
    });
    trials.first(held, [candidate]).is_some()
}

/// Numbers nodes in the order in which the script names them.
pub(super) fn usual_names(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    for position in 0..held.plan.script.servers {
        let wanted = NodeId::server(position);
        let named = order_of_naming(&held.plan);
        let Some(&is) = named.get(position) else { break };
        if is == wanted {
            continue;
        }
        let candidate = swapped(&held.plan, is, wanted);
        let tried = trials.first_if(held, [candidate], |held, length| {
            length.deliveries <= held.outcome.counters.deliveries
        });
        helped |= tried.is_some();
    }
    helped
}

fn order_of_naming(plan: &Plan) -> Vec<NodeId> {
    let mut named = Vec::new();
    let steps = plan.script.steps.iter().flat_map(|step| step.nodes());
    for node in steps.chain(plan.script.pins.iter().flat_map(|pin| pin.nodes())) {
        if node.is_server() && !named.contains(&node) {
            named.push(node);
        }
    }
    named
}
