//! The director: which steps of the script are open, which wait for a condition, what they ask of messages.

use super::Pending;
use super::tamper::hits;
use crate::action::Action;
use crate::disk::Disk;
use crate::draw::{Draw, fold};
use crate::fault::Fault;
use crate::id::{Link, NodeId};
use crate::node::{Node, OpId};
use crate::script::{Script, Step, Trigger};
use crate::target::Condition;
use crate::target::{Pattern, Target};
use crate::time::Span;
use crate::trace::Subject;

/// A step of the script, as it stands.
#[derive(Debug, Default)]
pub(super) struct StepState {
    pub(super) began: bool,
    pub(super) open: bool,
    /// Its end was told by a condition that has not held.
    pub(super) endless: bool,
    /// It waits for a message, a timer or a storage call that it is about, and none has come; or it was to end before
    /// it began.
    pub(super) unmet: bool,
    pub(super) cuts: Vec<Link>,
    pub(super) crashed: Option<NodeId>,
    pub(super) armed: Option<NodeId>,
    /// The node that it stopped, slowed down or whose clock it changed, with its incarnation.
    pub(super) struck: Option<(NodeId, u32)>,
    /// The disk that a node is to come back with.
    pub(super) kept_disk: Option<Box<Disk>>,
}

/// A step that waits for a condition, to begin or to end.
struct Waiting {
    step: usize,
    closing: bool,
    condition: Condition,
    after: Span,
    seen: u32,
    /// Whether the step claims something about the condition, instead of ending with it.
    claim: bool,
}

/// A condition that has come to hold.
pub(super) struct Met {
    pub(super) step: usize,
    pub(super) closing: bool,
    /// Whether the step claims something about the condition.
    pub(super) claim: bool,
    pub(super) after: Span,
}

/// An open hold with what it holds.
struct Hold<N: Node> {
    step: usize,
    pattern: Pattern,
    /// It is a link that stands still; timers pass.
    clogs: bool,
    seen: u32,
    parked: Vec<Pending<N>>,
}

/// An open step that singles messages out.
struct Bender {
    step: usize,
    action: Action,
    seen: u32,
}

/// What open steps ask of one message.
#[derive(Default)]
pub(super) struct Bent {
    pub(super) lost: Option<Fault>,
    /// A step that loses a share has lost it.
    pub(super) lost_by_chance: bool,
    pub(super) delay: Span,
    pub(super) jitter: Span,
    /// What the jitter is at least.
    pub(super) jitter_least: Span,
    /// How much longer it takes by steps that let a share of messages be overtaken.
    pub(super) overtaken: Span,
}

/// What open steps ask of one message that arrives.
#[derive(Default)]
pub(super) struct Tampered {
    pub(super) corrupt: bool,
    pub(super) goes_to: Option<NodeId>,
    pub(super) copy_after: Option<Span>,
    /// After how many elections a copy is to come.
    pub(super) replay_after: Option<u32>,
    /// A step that repeats a share repeats it, so much later.
    pub(super) copied_by_chance: Option<Span>,
    /// A step that mixes up a share has it go to another server, which is drawn from this.
    pub(super) astray_by_chance: Option<Draw>,
}

/// Keeps the script.
pub(super) struct Director<N: Node> {
    pub(super) steps: Vec<StepState>,
    commands: Vec<Option<N::Command>>,
    injected: Vec<(OpId, N::Command)>,
    operations: u32,
    waiting: Vec<Waiting>,
    watched: Watched,
    holds: Vec<Hold<N>>,
    /// Steps that change what is sent.
    benders: Vec<Bender>,
    /// Steps that change what arrives.
    tamperers: Vec<Bender>,
    /// From settling on, nothing begins any more.
    pub(super) over: bool,
    /// Whether some step means messages or timers by the role of their ends.
    names_roles: bool,
    /// Who has which role, where that matters.
    cast: Cast,
}

/// Who has which role at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Cast {
    /// Who leads.
    pub(super) leader: Option<NodeId>,
    /// Who is up and does not lead, counting round the cluster from the leader.
    pub(super) followers: Vec<NodeId>,
}

impl Cast {
    /// Whether a target means this node.
    fn means(&self, target: Target, node: NodeId) -> bool {
        match target {
            Target::Node(named) => named == node,
            Target::Any => true,
            Target::Leader => self.leader == Some(node),
            Target::Follower(count) => self.follower(count) == Some(node),
        }
    }

    /// The so-manieth of those that do not lead, from 0, counting on from the first behind the last.
    pub(super) fn follower(&self, count: u8) -> Option<NodeId> {
        self.followers.get(usize::from(count) % self.followers.len().max(1)).copied()
    }
}

/// Which kinds of conditions somebody waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    roles: bool,
    timers: bool,
    arrivals: bool,
    leaves: bool,
    figures: bool,
}

impl Pattern {
    /// Whether the pattern means this message or timer, its number not considered.
    fn matches(&self, subject: &Subject, cast: &Cast) -> bool {
        self.name.as_deref().is_none_or(|name| name == subject.name)
            && self.from.is_none_or(|from| cast.means(from, subject.from))
            && self.to.is_none_or(|to| cast.means(to, subject.to))
            && self.term.is_none_or(|term| subject.term == Some(term))
    }

    /// Whether it means this one, counting those that match otherwise.
    fn counts(&self, subject: &Subject, cast: &Cast, seen: &mut u32) -> bool {
        if !self.matches(subject, cast) {
            return false;
        }
        *seen += 1;
        self.number.is_none_or(|number| number == *seen)
    }
}

impl<N: Node> Director<N> {
    pub(super) fn new(script: &Script) -> Result<Self, String> {
        let commands = script.steps.iter().map(|step| match &step.action {
            Action::Operate { text, .. } => N::parse_command(text).map(Some),
            _ => Ok(None),
        });
        Ok(Director {
            steps: script.steps.iter().map(|_| StepState::default()).collect(),
            commands: commands.collect::<Result<_, _>>()?,
            injected: Vec::new(),
            operations: 0,
            waiting: Vec::new(),
            watched: Watched::default(),
            holds: Vec::new(),
            benders: Vec::new(),
            tamperers: Vec::new(),
            over: false,
            names_roles: script.steps.iter().any(names_a_role),
            cast: Cast::default(),
        })
    }

    /// Whether it has to know who has which role before it looks at a message or timer.
    #[inline]
    pub(super) fn names_roles(&self) -> bool {
        self.names_roles
    }

    pub(super) fn set_cast(&mut self, cast: Cast) {
        self.cast = cast;
    }

    pub(super) fn command(&self, step: usize) -> &N::Command {
        self.commands[step].as_ref().expect("only operations are given to nodes")
    }

    pub(super) fn injected(&self, op: OpId) -> &N::Command {
        let place = self.injected.binary_search_by_key(&op, |(op, _)| *op).expect("it was injected");
        &self.injected[place].1
    }

    pub(super) fn inject(&mut self, command: N::Command) -> OpId {
        let op = self.next_operation();
        self.injected.push((op, command));
        op
    }

    pub(super) fn next_operation(&mut self) -> OpId {
        self.operations += 1;
        OpId(self.operations - 1)
    }

    /// Steps that never began, whose end never came, or that never met what they are about.
    pub(super) fn unfired(&self) -> Vec<usize> {
        let never = |state: &StepState| !state.began || state.endless || state.unmet;
        (0..self.steps.len()).filter(|&at| never(&self.steps[at])).collect()
    }

    pub(super) fn wait(&mut self, step: usize, closing: bool, condition: Condition, after: Span) {
        self.waiting.push(Waiting { step, closing, condition, after, seen: 0, claim: false });
        self.note_watched();
    }

    /// Waits for what a step claims about the run, beyond the faults.
    pub(super) fn watch(&mut self, step: usize, condition: Condition) {
        let after = Span::ZERO;
        self.waiting.push(Waiting { step, closing: true, condition, after, seen: 0, claim: true });
        self.note_watched();
    }

    /// Forgets every condition of faults and operations: faults are over.
    pub(super) fn stop_waiting(&mut self) {
        self.waiting.retain(|waiting| waiting.claim);
        self.note_watched();
    }

    pub(super) fn stop_waiting_for_end(&mut self, step: usize) {
        self.waiting.retain(|w| !(w.closing && w.step == step));
        self.note_watched();
    }

    fn note_watched(&mut self) {
        let any = |f: fn(&Condition) -> bool| self.waiting.iter().any(|w| f(&w.condition));
        self.watched = Watched {
            roles: any(|c| matches!(c, Condition::Takes(..))),
            timers: any(|c| matches!(c, Condition::Fires(_))),
            arrivals: any(|c| matches!(c, Condition::Arrives(_))),
            leaves: any(|c| matches!(c, Condition::Leaves(_))),
            figures: any(|c| matches!(c, Condition::Reaches(..))),
        };
    }

    pub(super) fn watches_roles(&self) -> bool {
        self.watched.roles
    }
    pub(super) fn watches_timers(&self) -> bool {
        self.watched.timers
    }
    pub(super) fn watches_arrivals(&self) -> bool {
        self.watched.arrivals
    }
    pub(super) fn watches_leaves(&self) -> bool {
        self.watched.leaves
    }
    /// The figures that somebody waits for, of whom, and from which value on.
    pub(super) fn awaited_figures(&self) -> Vec<(Target, String, u64)> {
        let awaited = |waiting: &Waiting| match &waiting.condition {
            Condition::Reaches(target, figure, value) => Some((*target, figure.clone(), *value)),
            _ => None,
        };
        self.waiting.iter().filter_map(awaited).collect()
    }

    pub(super) fn watches_figures(&self) -> bool {
        self.watched.figures
    }

    /// Takes out the steps whose condition holds now.
    pub(super) fn met(&mut self, holds: impl Fn(&Condition) -> bool) -> Vec<Met> {
        self.take_met(|waiting| holds(&waiting.condition))
    }

    /// Takes out the steps whose pattern is met by `subject`; `pattern` gives the pattern of a condition that applies.
    pub(super) fn met_by(
        &mut self,
        subject: &Subject,
        pattern: impl Fn(&Condition) -> Option<&Pattern>,
    ) -> Vec<Met> {
        let cast = std::mem::take(&mut self.cast);
        let met = self.take_met(|waiting| match pattern(&waiting.condition) {
            Some(pattern) => pattern.counts(subject, &cast, &mut waiting.seen),
            None => false,
        });
        self.cast = cast;
        met
    }

    fn take_met(&mut self, mut is_met: impl FnMut(&mut Waiting) -> bool) -> Vec<Met> {
        let mut met = Vec::new();
        self.waiting.retain_mut(|waiting| {
            if !is_met(waiting) {
                return true;
            }
            let Waiting { step, closing, claim, after, .. } = *waiting;
            met.push(Met { step, closing, claim, after });
            false
        });
        if !met.is_empty() {
            self.note_watched();
        }
        met
    }

    pub(super) fn holds(&self) -> bool {
        !self.holds.is_empty()
    }

    pub(super) fn open_hold(&mut self, step: usize, pattern: Pattern) {
        self.steps[step].unmet = true;
        self.holds.push(Hold { step, pattern, clogs: false, seen: 0, parked: Vec::new() });
    }

    /// Lets a link stand still.
    pub(super) fn open_clog(&mut self, step: usize, link: Link) {
        let pattern =
            Pattern { from: Some(link.from.into()), to: Some(link.to.into()), ..Pattern::default() };
        self.holds.push(Hold { step, pattern, clogs: true, seen: 0, parked: Vec::new() });
    }

    /// Ends a hold and gives what it held.
    pub(super) fn close_hold(&mut self, step: usize) -> Vec<Pending<N>> {
        match self.holds.iter().position(|hold| hold.step == step) {
            Some(place) => self.holds.remove(place).parked,
            None => Vec::new(),
        }
    }

    /// The hold that takes this message or timer, as its place among the holds, its step, and whether it is a link that
    /// stands still.
    pub(super) fn hold_for(&mut self, subject: &Subject, is_message: bool) -> Option<(usize, usize, bool)> {
        let cast = &self.cast;
        let takes = |hold: &mut Hold<N>| {
            (is_message || !hold.clogs) && hold.pattern.counts(subject, cast, &mut hold.seen)
        };
        let place = self.holds.iter_mut().position(takes)?;
        let Hold { step, clogs, .. } = self.holds[place];
        self.steps[step].unmet = false;
        Some((place, step, clogs))
    }

    pub(super) fn park(&mut self, hold: usize, pending: Pending<N>) {
        self.holds[hold].parked.push(pending);
    }

    /// Whether a step is open that changes what is sent.
    #[inline]
    pub(super) fn bends_messages(&self) -> bool {
        !self.benders.is_empty()
    }

    /// Whether a step is open that changes what arrives.
    #[inline]
    pub(super) fn tampers(&self) -> bool {
        !self.tamperers.is_empty()
    }

    pub(super) fn open_bender(&mut self, step: usize, action: Action) {
        let may_do_nothing = match action {
            Action::Choke(..) => true,
            Action::Jitter { .. } => false,
            _ => action.is_by_chance(),
        };
        self.steps[step].unmet = !may_do_nothing;
        let at_arrival = matches!(
            action,
            Action::Duplicate(..)
                | Action::DuplicateSome { .. }
                | Action::Replay(..)
                | Action::Corrupt(..)
                | Action::Misdeliver(..)
                | Action::MisdeliverSome(..)
        );
        let list = if at_arrival { &mut self.tamperers } else { &mut self.benders };
        list.push(Bender { step, action, seen: 0 });
    }

    pub(super) fn close_bender(&mut self, step: usize) {
        self.benders.retain(|bender| bender.step != step);
        self.tamperers.retain(|bender| bender.step != step);
    }

    /// What the open steps ask of a message that is sent; `bits` is random and belongs to the message.
    pub(super) fn bend(&mut self, subject: &Subject, size_bytes: u32, bits: u64) -> Bent {
        let mut bent = Bent::default();
        for Bender { step, action, seen } in &mut self.benders {
            if !action.pattern().is_some_and(|pattern| pattern.counts(subject, &self.cast, seen)) {
                continue;
            }
            self.steps[*step].unmet = false;
            let mut draw = Draw::from_value(fold(bits, *step as u64 | 1 << 32));
            match action {
                Action::Drop(_) => bent.lost = Some(Fault::Drop),
                Action::Delay(_, by) => bent.delay = bent.delay + *by,
                Action::Jitter { low, high, shape, .. } => {
                    let (more, _) = shape.delay(draw.bits(), low.nanos(), high.nanos());
                    bent.jitter = bent.jitter + Span::from_nanos(more);
                    bent.jitter_least = bent.jitter_least + *low;
                }
                Action::Reorder { share, window, .. } if hits(draw.bits(), *share) => {
                    bent.overtaken = bent.overtaken + Span::from_nanos(draw.below(window.nanos() + 1));
                }
                Action::Choke(_, bytes) if size_bytes > *bytes => bent.lost = Some(Fault::Choke),
                Action::Lossy(_, share) if hits(draw.bits(), *share) => {
                    bent.lost_by_chance = true;
                }
                _ => {}
            }
        }
        bent
    }

    /// What the open steps ask of a message that arrives; `bits` is random and belongs to the message.
    pub(super) fn tamper(&mut self, subject: &Subject, bits: u64) -> Tampered {
        let mut tampered = Tampered::default();
        for Bender { step, action, seen } in &mut self.tamperers {
            if !action.pattern().is_some_and(|pattern| pattern.counts(subject, &self.cast, seen)) {
                continue;
            }
            self.steps[*step].unmet = false;
            let mut draw = Draw::from_value(fold(bits, *step as u64 | 1 << 33));
            match action {
                Action::DuplicateSome { share, after, .. } if hits(draw.bits(), *share) => {
                    tampered.copied_by_chance = Some(*after);
                }
                Action::MisdeliverSome(_, share) if hits(draw.bits(), *share) => {
                    tampered.astray_by_chance = Some(draw);
                }
                Action::Duplicate(_, after) => tampered.copy_after = Some(*after),
                Action::Replay(_, elections) => tampered.replay_after = Some(*elections),
                Action::Misdeliver(_, to) => tampered.goes_to = Some(*to),
                Action::Corrupt(_, share) => tampered.corrupt |= hits(draw.bits(), *share),
                _ => {}
            }
        }
        tampered
    }
}

impl Trigger {
    /// Whether a fault with this end outlasts the run.
    pub(super) fn is_end(end: Option<&Trigger>) -> bool {
        matches!(end, Some(Trigger::End))
    }
}

/// Whether a step means messages or timers by the role of one of their ends.
fn names_a_role(step: &Step) -> bool {
    let of_trigger = |trigger: &Trigger| match trigger {
        Trigger::When(condition, _) => condition.pattern().is_some_and(Pattern::names_a_role),
        _ => false,
    };
    let of_action = match &step.action {
        Action::Expect(condition, _) | Action::Never(condition) => condition.pattern(),
        action => action.pattern(),
    };
    of_action.is_some_and(Pattern::names_a_role)
        || of_trigger(&step.when)
        || step.until.as_ref().is_some_and(of_trigger)
}
