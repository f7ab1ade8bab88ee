//! What a script claims about its run: what is expected at a moment or within a time, and what never happens.
//!
//! A claim that does not hold is a broken rule like any other: `expected` or `never`, at the node the claim is about. What
//! is ruled out for any node breaks it where it comes true; what is expected of any node is missed at none.

use super::{Pending, World};
use crate::action::Action;
use crate::id::NodeId;
use crate::monitor::Monitor;
use crate::node::{Node, Role};
use crate::script::Trigger;
use crate::target::Condition;
use crate::target::Target;
use crate::time::Span;
use crate::trace::{EventId, EventKind};
use crate::verdict::{Verdict, Violation};

/// The rules that scripts bring with them: name and claim.
pub const CLAIM_RULES: [(&str, &str); 2] = [
    ("expected", "What the script expects comes true in time."),
    ("never", "What the script rules out does not happen."),
];

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// The moment of an expectation has come.
    pub(super) fn expect(&mut self, step: usize, condition: Condition, within: Option<Span>, cause: EventId) {
        let event = self.record_step(EventKind::Open, step, cause);
        let state = &mut self.director.steps[step];
        (state.began, state.open) = (true, true);
        if self.holds_now(&condition) {
            self.claim_met(step, event);
            return;
        }
        match within {
            None => self.claim_missed(step),
            Some(within) => {
                self.queue.push(self.now + within, Pending::Close(step as u32));
                self.director.watch(step, condition);
            }
        }
    }

    /// From now on the condition must not come true, nor hold already.
    pub(super) fn forbid(&mut self, step: usize, condition: Condition, event: EventId) {
        if self.holds_now(&condition) {
            self.claim_met(step, event);
        } else {
            self.director.watch(step, condition);
        }
    }

    /// A condition that a step claims something about has come true.
    pub(super) fn claim_met(&mut self, step: usize, event: EventId) {
        match &self.script.steps[step].action {
            Action::Never(condition) => {
                let place = self.place_of(condition).or_else(|| self.holders(condition).next());
                self.break_claim(step, 1, format!("step {} has come true", step + 1), place, event);
            }
            _ => {
                self.director.steps[step].open = false;
                self.director.stop_waiting_for_end(step);
                self.record_step(EventKind::Close, step, event);
            }
        }
    }

    /// The time of an expectation is over.
    pub(super) fn claim_missed(&mut self, step: usize) {
        let Action::Expect(condition, within) = &self.script.steps[step].action else { return };
        let message = match within {
            Some(within) => format!("step {} has not come true within {within}", step + 1),
            None => format!("step {} is not true at its moment", step + 1),
        };
        let message = match self.instead(condition) {
            Some(instead) => format!("{message}, and {instead}"),
            None => message,
        };
        let place = self.place_of(condition);
        self.director.steps[step].open = false;
        let cause = place.map_or(EventId::NONE, |node| self.around(node).last_event);
        self.break_claim(step, 0, message, place, cause);
    }

    fn break_claim(
        &mut self,
        step: usize,
        rule: usize,
        message: String,
        node: Option<NodeId>,
        cause: EventId,
    ) {
        if self.verdict.is_none() {
            self.broken_claim = Some(step);
        }
        let (rule, claim) = CLAIM_RULES[rule];
        self.end_with(Verdict::Violated(Violation { rule, claim, message, node, peer: None }), cause);
        self.tag_step(step);
    }

    /// Looks at what is expected at the end, and at what the run has left open.
    pub(super) fn claims_at_end(&mut self) {
        for step in 0..self.script.steps.len() {
            if self.verdict.is_some() {
                return;
            }
            let of = &self.script.steps[step];
            match &of.action {
                Action::Expect(condition, None) if of.when == Trigger::End => {
                    self.expect(step, condition.clone(), None, EventId::NONE);
                }
                Action::Expect(..) if self.director.steps[step].open => self.claim_missed(step),
                _ => {}
            }
        }
    }

    /// Whether something is expected that may still come true.
    pub(super) fn awaits_claims(&self) -> bool {
        let is_open = |step: usize| {
            self.director.steps[step].open && matches!(self.script.steps[step].action, Action::Expect(..))
        };
        (0..self.script.steps.len()).any(is_open)
    }

    /// A node has handled something: figures may have reached what somebody waits for.
    pub(super) fn figures_changed(&mut self, node: NodeId, event: EventId) {
        if !self.cluster.is_up(node) {
            return;
        }
        let mut reached: Vec<(Target, String, u64)> = self.director.awaited_figures();
        reached.retain(|(target, figure, value)| {
            self.means(*target, node) && self.figure(node, figure).is_some_and(|is| is >= *value)
        });
        let met = self.director.met(|condition| match condition {
            Condition::Reaches(target, figure, value) => {
                reached.iter().any(|(t, f, v)| t == target && f == figure && v == value)
            }
            _ => false,
        });
        for met in met {
            self.trigger(met, event);
        }
    }

    fn figure(&self, node: NodeId, figure: &str) -> Option<u64> {
        self.cluster.slots[node.index()].node.as_ref()?.figure(figure)
    }

    /// Whether a target means this node now.
    fn means(&self, target: Target, node: NodeId) -> bool {
        match target {
            Target::Any => node.is_server(),
            target => self.resolve(target) == Some(node),
        }
    }

    /// Whether a condition about states holds at this moment.
    fn holds_now(&self, condition: &Condition) -> bool {
        self.holders(condition).next().is_some()
    }

    /// The nodes at which a condition about states holds at this moment.
    fn holders<'a>(&'a self, condition: &'a Condition) -> impl Iterator<Item = NodeId> + 'a {
        let target = match condition {
            Condition::Takes(target, _) | Condition::Reaches(target, ..) => Some(*target),
            _ => None,
        };
        let one = target.filter(|target| *target != Target::Any).and_then(|target| self.resolve(target));
        let any = self.cluster.servers().filter(move |_| target == Some(Target::Any));
        one.into_iter().chain(any).filter(|node| match condition {
            Condition::Takes(_, role) => self.cluster.role(*node) == Some(*role) && *role != Role::None,
            Condition::Reaches(_, figure, value) => self.figure(*node, figure).is_some_and(|is| is >= *value),
            _ => false,
        })
    }

    /// The node a claim is about.
    fn place_of(&self, condition: &Condition) -> Option<NodeId> {
        let target = match condition {
            Condition::Takes(target, _) | Condition::Reaches(target, ..) => *target,
            other => return other.place(),
        };
        self.resolve(target)
    }

    /// What is the case instead, for the message.
    fn instead(&self, condition: &Condition) -> Option<String> {
        let (Condition::Takes(target, _) | Condition::Reaches(target, ..)) = condition else { return None };
        let Some(node) = self.resolve(*target) else {
            // Whoever is meant by name is there; roles may be nobody's.
            return (*target != Target::Any).then(|| "there is nobody whom it means".to_owned());
        };
        match (condition, self.cluster.role(node)) {
            (_, None) => Some(format!("{node} is down")),
            (Condition::Reaches(_, figure, _), _) => {
                self.figure(node, figure).map(|is| format!("{figure} of {node} is {is}"))
            }
            (_, Some(role)) => Some(format!("{node} is {}", role.words())),
        }
    }
}
