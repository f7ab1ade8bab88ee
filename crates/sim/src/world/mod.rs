//! The world: runs the nodes of a script, event by event, and shows every step to a monitor.
//!
//! One seed in a straight line: [`World::run`] takes event after event from the queue, `step` lets the node act,
//! `route` sends what it sent and `tamper` sees it arrive, `director` knows which steps of the script are open, `faults`
//! opens and closes them with `processes` and `topology`, `phases` settles and cycles.

mod claims;
mod director;
mod faults;
mod phases;
mod processes;
mod record;
mod route;
mod step;
mod tamper;
mod topology;

use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::digest::Digester;
use crate::disk::{Disk, Ticket};
use crate::draw::{Key, Keys, Site};
use crate::effects::{Fuse, NodeDraws, Outbox};
use crate::fault::{Fault, FaultSet};
use crate::id::{NodeId, SERVERS_MAX, SLOTS};
use crate::monitor::Monitor;
use crate::names::{Names, WINDOW_LOG2};
use crate::network::{Network, Shape};
use crate::node::{Node, Role};
use crate::pins::{Pin, PinBook, Rest, Tape};
use crate::queue::Queue;
use crate::ratio::Ratio;
use crate::script::Script;
use crate::time::{Span, Time};
use crate::timers::Timers;
use crate::trace::{EventId, Trace};
use crate::verdict::{Counters, DiskFile, Limit, Outcome, Verdict};
pub use claims::CLAIM_RULES;
use director::Director;
use std::collections::VecDeque;
use tamper::Kept;
use topology::Blame;

/// A message under way.
struct Packet<N: Node> {
    from: NodeId,
    to: NodeId,
    message: N::Message,
    /// What the message says its key is, as it is asked for at both ends.
    key: u64,
    /// What the network's decisions about it are made of.
    bits: u64,
    digest: u64,
    sent: Time,
    cause: EventId,
    copying: Copying,
}

/// Whether a message arrives a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copying {
    /// Drawn as it arrives.
    Drawn,
    /// Decided by its sending: `bits` is how many nanoseconds later plus one, or 0 if it does not.
    Decided,
    /// It is a second copy; copies are not copied again.
    Done,
}

/// Something that waits for its time.
enum Pending<N: Node> {
    Packet(Packet<N>),
    Timer {
        node: NodeId,
        place: u32,
        generation: u32,
        cause: EventId,
    },
    Sync {
        node: NodeId,
        incarnation: u32,
        ticket: Ticket,
        cause: EventId,
    },
    /// A timer that was due and held back.
    Held {
        node: NodeId,
        incarnation: u32,
        timer: N::Timer,
        cause: EventId,
    },
    /// A node goes on with what has waited for it.
    Wake(NodeId),
    Open(u32),
    Again(u32),
    Close(u32),
}

/// What the world keeps for one node besides the node.
struct Surroundings<N: Node> {
    disk: Disk,
    /// Until when it handles nothing else, because of its disk or its slowness; for ever while its process is stopped.
    busy_until: Time,
    /// What has come while it was busy or its process was stopped, in order.
    parked: VecDeque<Pending<N>>,
    /// An event is on its way by which it goes on with what is parked.
    wakes: bool,
    /// How much time each input takes.
    slowness: Option<Slowness>,
    clock: Clock,
    /// The step that decides about the rate of its clock.
    clock_step: Option<usize>,
    /// After which effects it crashes.
    fuse: Fuse,
    /// The options it has instead of those of the run, by place in the list of the world.
    rolled: Option<usize>,
    timers: Timers<N::Timer>,
    draws: NodeDraws,
    names: Names,
    link_key: Key,
    /// When it last became leader, as a count of such moments.
    led: u64,
    last_event: EventId,
    /// The state that a recorded trace told last.
    told: Option<String>,
}

/// How a step of the script slows a node down.
#[derive(Clone, Copy, Debug)]
struct Slowness {
    step: usize,
    low: Span,
    high: Span,
}

/// A cluster of nodes with everything around them.
pub struct World<N: Node, M: Monitor<N>> {
    script: Script,
    options: N::Options,
    monitor: M,
    now: Time,
    queue: Queue<Pending<N>>,
    cluster: Cluster<N>,
    around: Vec<Option<Surroundings<N>>>,
    network: Network,
    /// Whether the network changes messages where they arrive.
    tampers: bool,
    /// Copies that come some elections later.
    kept: Vec<Kept<N>>,
    /// For each link why it is cut, by sender and receiver.
    blame: Vec<Blame>,
    /// Other options for servers that come back from a step, by position of the step.
    rolls: Vec<(usize, N::Options)>,
    /// Faults without effect.
    without: FaultSet,
    director: Director<N>,
    outbox: Outbox<N>,
    hash: Digester,
    counters: Counters,
    marks: Vec<&'static str>,
    events: u32,
    verdict: Option<Verdict>,
    /// The role that the node of the verdict had then.
    verdict_role: Option<Role>,
    /// The step whose claim the verdict is about.
    broken_claim: Option<usize>,
    /// Only if something is pinned, nothing is drawn, or a trace is recorded.
    book: Option<Box<PinBook>>,
    cycling: bool,
    trace: Option<Trace>,
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// A world at the beginning of `script`. Records a trace if `record`; the run is the same either way.
    ///
    /// # Errors
    /// The script is not valid, or holds a command that the system cannot read.
    pub fn new(script: &Script, options: N::Options, monitor: M, record: bool) -> Result<Self, String> {
        script.validate()?;
        let director = Director::new(script)?;
        let cluster = Cluster::new(script.servers, script.clients);
        let keys = Keys::new(script.seed);
        let budget = script.fault_budget();
        let network = match script.rest {
            Rest::Drawn => script.network,
            Rest::Fixed => script.network.without_chance(),
        };
        let pinned = record || !script.pins.is_empty() || script.rest == Rest::Fixed;
        let new_book = || PinBook::new(&script.pins, script.rest, script.servers, record);
        let book = pinned.then(|| Box::new(new_book()));
        let mut around: Vec<Option<Surroundings<N>>> = (0..SLOTS).map(|_| None).collect();
        for node in cluster.nodes() {
            let entity = node.index() as u32;
            let mut disk = Disk::new(budget.disk_of(node, script.disk), keys.key(Site::DISK, entity));
            if let Some(book) = &book {
                disk.pin(book.of_disk(node), book.is_fixed(), record);
            }
            around[node.index()] = Some(Surroundings {
                disk,
                busy_until: Time::ZERO,
                parked: VecDeque::new(),
                wakes: false,
                slowness: None,
                clock: Clock::new(),
                clock_step: None,
                fuse: Fuse::default(),
                rolled: None,
                timers: Timers::new(keys.key(Site::TIMER, entity)),
                draws: NodeDraws::new(keys.key(Site::NODE, entity)),
                names: Names::new(),
                link_key: keys.key(Site::LINK, entity),
                led: 0,
                last_event: EventId::NONE,
                told: None,
            });
        }
        Ok(World {
            tampers: network.corrupt != Ratio::NEVER || network.misdeliver != Ratio::NEVER,
            network,
            kept: Vec::new(),
            blame: vec![Blame::NONE; SLOTS * SLOTS],
            rolls: Vec::new(),
            without: FaultSet::NONE,
            outbox: Outbox::new(script.limits.steps, record),
            script: script.clone(),
            options,
            monitor,
            now: Time::ZERO,
            queue: Queue::new(),
            cluster,
            around,
            director,
            hash: Digester::default(),
            counters: Counters::default(),
            marks: Vec::new(),
            events: 0,
            verdict: None,
            verdict_role: None,
            broken_claim: None,
            book,
            cycling: false,
            trace: record.then(Trace::default),
        })
    }

    /// Lets a server that comes back from a step have these options, see [`Script::rolls`].
    pub fn roll(&mut self, step: usize, options: N::Options) {
        self.rolls.push((step, options));
    }

    /// Takes the effect from some kinds of faults: they are drawn and do nothing. For tests of what counts them.
    #[must_use]
    pub fn without(mut self, faults: FaultSet) -> Self {
        self.without = faults;
        let shaped = [(Shape::LongTail, Fault::LongTail), (Shape::Bimodal, Fault::Bimodal)];
        if shaped.iter().any(|&(shape, fault)| shape == self.network.shape && faults.has(fault)) {
            self.network.shape = Shape::Uniform;
        }
        self.around.iter_mut().flatten().for_each(|around| around.disk.leave_out(faults));
        self
    }

    /// Counts a fault where it takes effect, unless its effect is taken from it.
    #[inline]
    fn bite(&mut self, fault: Fault) -> bool {
        let has_effect = !self.without.has(fault);
        self.counters.bites[fault] += u64::from(has_effect);
        has_effect
    }

    /// Runs to the end: faults, settling, power cycle, settling again.
    pub fn run(mut self) -> Outcome {
        self.run_phases();
        self.finish()
    }

    /// Handles everything that is due by `deadline`, then moves time there. Stops early at a verdict.
    fn run_until(&mut self, deadline: Time) {
        while self.verdict.is_none() {
            let Some((at, pending)) = self.queue.pop_until(deadline) else {
                self.now = deadline.max(self.now);
                return;
            };
            assert!(at >= self.now, "time does not go back");
            self.now = at;
            self.handle(pending);
            self.check_limits();
        }
    }

    #[inline]
    fn handle(&mut self, pending: Pending<N>) {
        // Looked at in place: what is handed on and back again is copied each time.
        match self.busy_receiver(&pending) {
            None => self.dispatch(pending),
            Some(node) => self.wait_for(node, pending),
        }
    }

    fn dispatch(&mut self, pending: Pending<N>) {
        match pending {
            Pending::Packet(packet) => self.deliver(packet),
            Pending::Timer { node, place, generation, cause } => {
                self.timer_due(node, place, generation, cause)
            }
            Pending::Sync { node, incarnation, ticket, cause } => {
                self.sync_due(node, incarnation, ticket, cause);
            }
            Pending::Held { node, incarnation, timer, cause } => {
                self.held_due(node, incarnation, timer, cause)
            }
            Pending::Wake(node) => self.wake(node),
            Pending::Open(step) => self.open_step(step as usize, EventId::NONE),
            Pending::Again(step) => self.repeat_step(step as usize),
            Pending::Close(step) => self.close_step(step as usize, EventId::NONE),
        }
    }

    /// The node that something is meant for, if it has to wait there: the node is busy, or others wait already.
    #[inline]
    fn busy_receiver(&mut self, pending: &Pending<N>) -> Option<NodeId> {
        let node = match pending {
            Pending::Packet(packet) => packet.to,
            Pending::Timer { node, .. } | Pending::Sync { node, .. } | Pending::Held { node, .. } => *node,
            Pending::Wake(_) | Pending::Open(_) | Pending::Again(_) | Pending::Close(_) => return None,
        };
        let now = self.now;
        let around = self.around(node);
        let is_free = around.busy_until < now || around.busy_until == now && around.parked.is_empty();
        (!is_free).then_some(node)
    }

    #[inline]
    fn check_limits(&mut self) {
        self.counters.events += 1;
        let limits = &self.script.limits;
        let (limit, most) = if self.counters.events > limits.events {
            (Limit::Events, limits.events)
        } else if self.queue.len() > limits.queue {
            (Limit::Queue, limits.queue as u64)
        } else if self.now.nanos() > limits.time.nanos() {
            (Limit::Time, limits.time.nanos())
        } else {
            return;
        };
        self.end_with(Verdict::Exhausted { limit, most, node: None }, EventId::NONE);
    }

    /// The window of time that repetitions are counted in.
    fn window(&self) -> u32 {
        (self.now.nanos() >> WINDOW_LOG2) as u32
    }

    fn around(&mut self, node: NodeId) -> &mut Surroundings<N> {
        self.around[node.index()].as_mut().expect("the node is in the cluster")
    }

    fn finish(mut self) -> Outcome {
        self.record_final_states();
        self.around.iter().flatten().for_each(|around| self.counters.disks.add(around.disk.counts()));
        self.counters.count_disks();
        let (unmet, decisions) = self.close_book();
        let faulty = Span::from_nanos(self.now.nanos().min(self.script.horizon.nanos()));
        let evidence = match &self.verdict {
            Some(Verdict::Violated(violation)) if self.trace.is_some() => self.monitor.evidence(violation),
            _ => Vec::new(),
        };
        Outcome {
            verdict: self.verdict.unwrap_or(Verdict::Pass),
            time: self.now,
            hash: self.hash.hash(),
            counters: self.counters,
            figures: self.monitor.figures(),
            marks: self.marks,
            unfired: self.director.unfired(),
            claim: self.broken_claim,
            unmet,
            role: self.verdict_role,
            faulty,
            disks: if self.trace.is_some() { files_of(&self.around) } else { Vec::new() },
            history: self.trace.as_ref().and_then(|_| self.monitor.history()),
            evidence,
            decisions,
            trace: self.trace,
        }
    }

    /// Gives the pins that were not met, and the decisions that were made if they are recorded.
    fn close_book(&mut self) -> (Vec<usize>, Vec<Pin>) {
        let Some(mut book) = self.book.take() else { return Default::default() };
        for node in self.cluster.nodes() {
            let pinned = self.around(node).disk.pinned();
            book.add_disk(node, &pinned);
        }
        let decisions = book.tape.take().map_or_else(Vec::new, Tape::into_pins);
        (book.unmet(), decisions)
    }

    /// Servers, by position.
    fn server_ids(&self) -> impl Iterator<Item = NodeId> + use<N, M> {
        assert!(self.cluster.servers <= SERVERS_MAX);
        self.cluster.servers()
    }
}

/// The files of every server's disk.
fn files_of<N: Node>(around: &[Option<Surroundings<N>>]) -> Vec<(NodeId, Vec<DiskFile>)> {
    let servers = around.iter().take(SERVERS_MAX).flatten().enumerate();
    servers.map(|(position, around)| (NodeId::server(position), around.disk.files())).collect()
}
