//! A guest as a system: what it says of itself when it is asked, and the rules over what it does.

use crate::guest::RULES;
use crate::manners::{Manners, ask};
use crate::node::ExecNode;
use whitewater_check::{ClientRules, LINEARIZABLE};
use whitewater_sim::{
    ClientOperation, Cluster, Draw, Figures, Limits, Monitor, NodeId, OptionSpec, Options, Outcome, Progress,
    Role, Script, Seen, System, Target, Time, Timing, Violation, World,
};
use whitewater_store::{Clients, follow_clients};

/// What stands before the command in the name of such a system.
pub const PREFIX: &str = "exec:";

const ONE_LEADER: (&str, &str) = ("election-safety", "There is at most one leader in a term.");

/// The system of a command.
pub struct Exec {
    name: &'static str,
    manners: &'static Manners,
}

impl Exec {
    /// Starts the command once to ask it for its manners. `name` is `exec:` with the command behind it; the system lives as
    /// long as the process.
    ///
    /// # Errors
    /// The command cannot be started, or does not answer as the protocol says.
    pub fn make(name: &str) -> Result<&'static dyn System, String> {
        let command = name.strip_prefix(PREFIX).unwrap_or(name).trim();
        let manners = ask(command).map_err(|trouble| format!("{PREFIX}{command}: {trouble}"))?;
        let system = Exec { name: Box::leak(name.into()), manners: Box::leak(Box::new(manners)) };
        Ok(Box::leak(Box::new(system)))
    }
}

impl System for Exec {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "A system in any language: one process per node, spoken to in lines of JSON."
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        let mut rules = RULES.to_vec();
        rules.push(ONE_LEADER);
        rules.extend(ClientRules::rules());
        rules.push(LINEARIZABLE);
        rules
    }

    fn marks(&self) -> &'static [&'static str] {
        self.manners.marks
    }

    fn timing(&self, _: &Options) -> Timing {
        let timeout = self.manners.timeout;
        Timing { election_low: timeout, election_high: timeout.times(2), heartbeat: timeout.part(4) }
    }

    fn draw_operation(&self, draw: &mut Draw, number: u32, script: &Script, _: &Options) -> (Target, String) {
        let server = draw.below(script.servers as u64) as usize;
        let target = if self.manners.led { Target::Leader } else { Target::Node(NodeId::server(server)) };
        // Keys are used in one way each: lists grow, registers are replaced.
        let register = draw.within(1, 2);
        let verbs = &self.manners.verbs;
        let verb = if verbs.is_empty() { "get" } else { draw.pick(verbs).as_str() };
        let grown = verbs.iter().any(|verb| verb == "append");
        let text = match verb {
            "put" => format!("put r{register} v{number}"),
            "append" => format!("append a{register} v{number}"),
            "cas" => {
                let old = number - draw.within(0, u64::from(number.min(12))) as u32;
                format!("cas r{register} v{old} v{number}")
            }
            _ if grown && draw.chance(1, 2) => format!("get a{register}"),
            _ => format!("get r{register}"),
        };
        (target, text)
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        whitewater_store::parse(text).map(drop)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (self.manners.messages, self.manners.timers)
    }

    fn run(&self, script: &Script, _: &Options, record: bool) -> Result<Outcome, String> {
        let mut script = script.clone();
        limit(&mut script.limits, self.manners.events);
        let watch = Watch::new(&script);
        Ok(World::<ExecNode, _>::new(&script, self.manners, watch, record)?.run())
    }
}

/// Events of a run of guests that may wait at once.
const QUEUE_MAX: usize = 10_000;

/// Sets what a script has not set otherwise: with processes, the limits of other systems take minutes to hit.
fn limit(limits: &mut Limits, events: u64) {
    let usual = Limits::default();
    if limits.events == usual.events {
        limits.events = events;
    }
    if limits.queue == usual.queue {
        limits.queue = QUEUE_MAX;
    }
}

/// Watches a run.
struct Watch {
    clients: Clients,
    /// Terms in which somebody led, with whom.
    led: std::collections::BTreeMap<u64, NodeId>,
}

impl Watch {
    fn new(_: &Script) -> Watch {
        Watch { clients: Clients::new(false), led: std::collections::BTreeMap::new() }
    }
}

fn broken((rule, claim): (&'static str, &'static str), message: String, node: NodeId) -> Violation {
    Violation { rule, claim, message, node: Some(node), peer: None }
}

impl Monitor<ExecNode> for Watch {
    fn observe(&mut self, seen: &Seen<'_, ExecNode>, cluster: &Cluster<ExecNode>) -> Result<(), Violation> {
        follow_clients(&mut self.clients, seen, true, None)?;
        let Some(node) = cluster.view(seen.node).filter(|_| !seen.died) else { return Ok(()) };
        if let Some(trouble) = node.trouble() {
            return Err(broken(
                trouble.rule(),
                format!("the process of {}: {trouble}", seen.node),
                seen.node,
            ));
        }
        if cluster.role(seen.node) == Some(Role::Leader) && node.term() > 0 {
            let leader = *self.led.entry(node.term()).or_insert(seen.node);
            if leader != seen.node {
                let term = node.term();
                let message = format!("{} leads term {term}, which {leader} has led before", seen.node);
                return Err(broken(ONE_LEADER, message, seen.node));
            }
        }
        Ok(())
    }

    fn owed(&mut self, _: Time, _: &Cluster<ExecNode>) -> Progress {
        Progress::Done
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.clients.check()
    }

    fn history(&self) -> Option<String> {
        Some(self.clients.to_lines())
    }

    fn evidence(&self, violation: &Violation) -> Vec<ClientOperation> {
        self.clients.evidence(violation)
    }

    fn figures(&self) -> Figures {
        let (acknowledged_writes, undecided) = (self.clients.acknowledged(), self.clients.undecided());
        Figures { acknowledged_writes, undecided, ..Figures::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_check::{Answered, Asked, Deed, Ended};
    use whitewater_sim::OpId;
    use whitewater_store::Text;

    #[test]
    fn what_a_script_limits_is_limited_so_and_the_rest_as_processes_allow() {
        let limited = |limits: Limits| {
            let mut limits = limits;
            limit(&mut limits, 50_000);
            (limits.events, limits.queue)
        };
        let usual = Limits::default();
        assert_eq!(limited(usual), (50_000, 10_000));
        assert_eq!(limited(Limits { events: 7, queue: 150_000, ..usual }), (7, 150_000));
    }

    #[test]
    fn a_key_that_nobody_can_decide_about_is_counted() {
        let mut watch = Watch::new(&Script::default());
        watch.clients.search_within(0);
        let (text, node) = (|text: &str| Text::from(text), NodeId::client(0));
        let deeds = [(Deed::Put(text("x")), Ended::Done), (Deed::Swap(text("x"), text("x")), Ended::Done)];
        for (number, (deed, ended)) in (0..).zip(deeds.into_iter().cycle().take(6)) {
            let at = Time::from_millis(u64::from(number));
            watch.clients.asked(OpId(number), Asked { node, at }, &text("a"), deed, true);
            watch.clients.told(OpId(number), node, &ended, Answered { at, ..Answered::default() }).unwrap();
        }
        assert_eq!(Monitor::<ExecNode>::end(&mut watch), Ok(()));
        assert_eq!(Monitor::<ExecNode>::figures(&watch).undecided, 1);
    }
}
