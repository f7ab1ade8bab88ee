//! When a fault begins and ends, and whom and what it hits.

use super::decide::{Decisions, log_span, readable};
use super::weights::{self as w, Ending, Moment, Victim};
use whitewater_sim::{
    Condition, Draw, NodeId, Pattern, Role, Script, Span, System, Target, Time, Timing, Trigger,
};

/// What faults are made to fit.
pub(super) struct Stage<'a> {
    pub(super) decisions: &'a Decisions,
    pub(super) servers: usize,
    horizon: Span,
    one_way: Span,
    timing: Timing,
    timeout: Span,
    messages: &'static [&'static str],
    timers: &'static [&'static str],
    pub(super) system: &'a dyn System,
    /// Of how many further faults of a family one is kept.
    one_in: u64,
}

/// One fault to be drawn. Each of its decisions has an address of its own.
pub(super) struct Fault<'a> {
    stage: &'a Stage<'a>,
    family: &'static str,
    number: u64,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        script: &Script,
        timing: Timing,
        system: &'a dyn System,
        decisions: &'a Decisions,
    ) -> Stage<'a> {
        // Messages and timers are named with a link, and a lone server has none.
        let (messages, timers) = if script.servers > 1 { system.names() } else { (&[][..], &[][..]) };
        Stage {
            decisions,
            servers: script.servers,
            horizon: script.horizon,
            one_way: script.network.delay_low,
            timing,
            timeout: timing.election_high,
            messages,
            timers,
            system,
            one_in: *decisions.draw("density", 0).pick(&w::FURTHER_FAULTS_ONE_IN),
        }
    }

    /// The faults of a family: none in half of the runs, and where there are several a part of them, as dense as the run is.
    pub(super) fn faults(&'a self, family: &'static str) -> impl Iterator<Item = Fault<'a>> {
        let count = match self.decisions.is_on(family) {
            true => {
                let mut draw = self.decisions.draw_joined(&[family, " count"], 0);
                let (low, high) = self.decisions.range("faults", w::FAULTS_OF_A_FAMILY);
                draw.log_uniform(low, high)
            }
            false => 0,
        };
        let faults = (0..count).map(move |number| self.fault(family, number));
        faults.filter(|fault| fault.number == 0 || fault.draw("kept").chance(1, self.one_in))
    }

    /// The `number`-th fault of a family, whether the family is on or not.
    pub(super) fn fault(&'a self, family: &'static str, number: u64) -> Fault<'a> {
        Fault { stage: self, family, number }
    }

    /// The shortest election timeout.
    pub(super) fn election_low(&self) -> Span {
        self.timing.election_low
    }

    /// All servers in an order of the fault's own.
    pub(super) fn shuffled(&self, fault: &Fault<'_>) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = (0..self.servers).map(NodeId::server).collect();
        fault.draw("members").shuffle(&mut nodes);
        nodes
    }

    /// Whether kinds of messages can be named.
    pub(super) fn has_messages(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Whether timers can be named.
    pub(super) fn has_timers(&self) -> bool {
        !self.timers.is_empty()
    }
}

impl Fault<'_> {
    /// What one decision about this fault is drawn from.
    pub(super) fn draw(&self, decision: &str) -> Draw {
        self.draw_joined(decision, "")
    }

    fn draw_joined(&self, decision: &str, rest: &str) -> Draw {
        self.stage.decisions.draw_joined(&[self.family, " ", decision, rest], self.number)
    }

    /// When it begins: at a time, or when something happens.
    pub(super) fn begin(&self) -> Trigger {
        let moment = pick(&mut self.draw("moment"), &w::MOMENTS);
        let after = self.after("after");
        match moment {
            Moment::AnyLeads => Trigger::When(Condition::Takes(Target::Any, Role::Leader), after),
            Moment::NodeTakes => {
                let roles = [Role::Leader, Role::Candidate, Role::Follower];
                let node = self.node("moment node");
                Trigger::When(
                    Condition::Takes(Target::Node(node), *self.draw("moment role").pick(&roles)),
                    after,
                )
            }
            Moment::Message if self.stage.has_messages() => {
                let pattern = self.one_of(self.message("moment message"));
                Trigger::When(
                    match self.draw("moment arrives").chance(1, 2) {
                        true => Condition::Arrives(pattern),
                        false => Condition::Leaves(pattern),
                    },
                    after,
                )
            }
            Moment::Timer if self.stage.has_timers() => {
                Trigger::When(Condition::Fires(self.one_of(self.timer("moment timer"))), after)
            }
            Moment::Late => {
                let last = self.stage.timeout.times(w::LATE_TIMEOUTS).min(self.stage.horizon);
                self.between(self.stage.horizon - last, self.stage.horizon)
            }
            Moment::Time | Moment::Message | Moment::Timer => {
                let (part, of) = w::FAULTS_BEGIN_WITHIN;
                self.between(Span::ZERO, Span::from_nanos(self.stage.horizon.nanos() / of * part))
            }
        }
    }

    /// A time from `low` until before `high`.
    fn between(&self, low: Span, high: Span) -> Trigger {
        let after = self.draw("begin").below((high - low).nanos().max(1));
        Trigger::At(Time::ZERO + readable(low + Span::from_nanos(after)))
    }

    /// How long after what it waits for: at once in half of the cases.
    fn after(&self, decision: &str) -> Span {
        let mut draw = self.draw(decision);
        match draw.chance(1, 2) {
            true => Span::ZERO,
            false => log_span(&mut draw, self.stage.one_way, self.stage.timeout.times(w::AFTER_TIMEOUTS)),
        }
    }

    /// When it ends: from one way of a message to many election timeouts later, or when an election is called or won,
    /// by `node` or by anybody.
    pub(super) fn end(&self, node: Option<NodeId>) -> Trigger {
        let role = match pick(&mut self.draw("ending"), &w::ENDINGS) {
            Ending::Time => {
                let (_, timeouts) = self.stage.decisions.range("fault-timeouts", (0, w::FAULT_TIMEOUTS));
                let longest = self.stage.timeout.times(timeouts);
                return Trigger::After(log_span(&mut self.draw("duration"), self.stage.one_way, longest));
            }
            Ending::Campaigns => Role::Candidate,
            Ending::Leads => Role::Leader,
        };
        let who = match node.filter(|_| self.draw("ending node").chance(1, 2)) {
            Some(node) => Target::Node(node),
            None => Target::Any,
        };
        Trigger::When(Condition::Takes(who, role), self.after("ending after"))
    }

    /// A length of time for what a fault does to one message.
    pub(super) fn shift(&self) -> Span {
        let longest = self.stage.timeout.times(w::AFTER_TIMEOUTS);
        log_span(&mut self.draw("shift"), self.stage.one_way, longest)
    }

    /// A length of time from one way of a message to many election timeouts.
    pub(super) fn long(&self) -> Span {
        log_span(&mut self.draw("long"), self.stage.one_way, self.stage.timeout.times(w::FAULT_TIMEOUTS))
    }

    /// A length of time that is short against the election timeout: at most such a part of the shortest.
    pub(super) fn short(&self, part: u64) -> Span {
        log_span(&mut self.draw("short"), Span::from_micros(1), self.stage.timing.election_low.part(part))
    }

    /// A server.
    pub(super) fn node(&self, decision: &str) -> NodeId {
        NodeId::server(self.draw(decision).below(self.stage.servers as u64) as usize)
    }

    /// Two different servers.
    pub(super) fn pair(&self, decision: &str) -> (NodeId, NodeId) {
        let mut draw = self.draw(decision);
        let first = draw.below(self.stage.servers as u64);
        let second = (first + 1 + draw.below(self.stage.servers as u64 - 1)) % self.stage.servers as u64;
        (NodeId::server(first as usize), NodeId::server(second as usize))
    }

    /// Whom it hits.
    pub(super) fn victim(&self) -> Target {
        match pick(&mut self.draw("victim"), &w::VICTIMS) {
            Victim::Follower if self.stage.servers < 2 => Target::Leader,
            Victim::Node => Target::Node(self.node("victim node")),
            Victim::Leader => Target::Leader,
            Victim::Follower => self.follower(),
        }
    }

    /// One direction of a link: to or from the leader, or between two servers drawn beforehand.
    pub(super) fn direction(&self) -> (Target, Target) {
        let (one, other) = match self.victim() {
            Target::Leader => (Target::Leader, self.follower()),
            Target::Follower(count) => (Target::Follower(count), Target::Leader),
            _ => {
                let (one, other) = self.pair("link");
                (Target::Node(one), Target::Node(other))
            }
        };
        match self.draw("direction").chance(1, 2) {
            true => (one, other),
            false => (other, one),
        }
    }

    /// One of the servers that do not lead.
    pub(super) fn follower(&self) -> Target {
        Target::Follower(self.draw("victim follower").below(self.stage.servers as u64 - 1) as u8)
    }

    /// All messages of one link.
    pub(super) fn link(&self, decision: &str) -> Pattern {
        let (from, to) = self.pair(decision);
        Pattern { from: Some(from.into()), to: Some(to.into()), ..Pattern::default() }
    }

    /// Messages of one kind on one link, or all of the link if kinds have no names.
    pub(super) fn message(&self, decision: &str) -> Pattern {
        let kinds = self.stage.messages;
        let name = self.stage.has_messages().then(|| *self.draw_joined(decision, " kind").pick(kinds));
        Pattern { name: name.map(str::to_owned), ..self.link(decision) }
    }

    /// A timer of one server; about one peer, if it is about peers, in half of the cases.
    pub(super) fn timer(&self, decision: &str) -> Pattern {
        let (owner, peer) = self.pair(decision);
        let name = (*self.draw_joined(decision, " name").pick(self.stage.timers)).to_owned();
        let to = self.draw_joined(decision, " peer").chance(1, 2).then_some(peer.into());
        Pattern { name: Some(name), from: Some(owner.into()), to, ..Pattern::default() }
    }

    /// Only one of those that match.
    pub(super) fn one_of(&self, pattern: Pattern) -> Pattern {
        let number = self.draw("which").log_uniform(w::MESSAGE_NUMBERS.0, w::MESSAGE_NUMBERS.1);
        Pattern { number: Some(number as u32), ..pattern }
    }
}

/// One of the values, in proportion to their weights.
pub(super) fn pick<T: Copy, const N: usize>(draw: &mut Draw, table: &[(T, u32); N]) -> T {
    table[draw.weighted(&table.map(|(_, weight)| weight))].0
}
