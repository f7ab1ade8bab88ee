//! A small system with a planted race: a leader announces itself once, and with `not-ready=drop` it gives the
//! announcement up on links that are not ready yet. Who missed it refuses everything the leader writes.

#![allow(dead_code, missing_docs, unreachable_pub)]

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use whitewater_sim::{
    Boot, Cluster, Digest, Digester, Draw, Effects, Input, Kind, LocalTime, Message, Monitor, Node, NodeId,
    OpId, OptionSpec, Options, Outcome, Phase, Progress, Role, Script, Seen, Span, System, Target, Time,
    Timer, Timing, Values, Violation, World,
};

pub static BEACON: Beacon = Beacon { name: "beacon", vice: Vice::None };
/// Gives another run every time.
pub static FLAKY: Beacon = Beacon { name: "flaky", vice: Vice::Flaky(AtomicU64::new(0)) };
/// Panics outside of any node for one seed in five.
pub static BROKEN: Beacon = Beacon { name: "broken", vice: Vice::Broken };

pub struct Beacon {
    name: &'static str,
    vice: Vice,
}

enum Vice {
    None,
    Flaky(AtomicU64),
    Broken,
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "not-ready",
    about: "What becomes of an announcement on a link that is not ready.",
    values: Values::Words(&["drop", "keep"]),
    default: "keep",
    per_node: false,
    drawn: false,
}];

const RULES: [(&str, &str); 2] = [
    ("follower-applies", "A live follower that is connected to the leader applies its rows."),
    ("one-leader", "There is one leader."),
];

impl System for Beacon {
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        "A leader that announces itself once."
    }
    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }
    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        RULES.to_vec()
    }
    fn marks(&self) -> &'static [&'static str] {
        &["announced", "announced-late", "flown"]
    }
    fn timing(&self, _: &Options) -> Timing {
        let millis = Span::from_millis;
        Timing { election_low: millis(40), election_high: millis(80), heartbeat: millis(10) }
    }
    fn draw_operation(&self, _: &mut Draw, number: u32, _: &Script, _: &Options) -> (Target, String) {
        (Target::Node(NodeId::server(0)), format!("write {number}"))
    }
    fn check_operation(&self, text: &str) -> Result<(), String> {
        Light::parse_command(text).map(drop)
    }
    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["Announce", "Row", "Ack", "Beat"], &["lead", "ready", "beat"])
    }
    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let mut script = script.clone();
        match &self.vice {
            Vice::None => {}
            Vice::Flaky(count) => script.seed ^= count.fetch_add(1, Ordering::SeqCst) << 32,
            Vice::Broken => assert!(!script.seed.is_multiple_of(5), "the checks are beside themselves"),
        }
        let drop = options.text(OPTIONS, "not-ready") == "drop";
        Ok(World::new(&script, drop, Owes, record)?.run())
    }
}

pub struct Light {
    id: NodeId,
    servers: usize,
    drops: bool,
    leads: bool,
    leader: Option<NodeId>,
    ready: Vec<bool>,
    pending: Vec<bool>,
    pub rows: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Word {
    Announce,
    Row(u64),
    Ack(u64),
    Beat,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clockwork {
    Lead,
    Ready(NodeId),
    Beat,
}

#[derive(Clone, Copy, Debug)]
pub struct Write(u64);

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {}", self.0)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Announce => f.write_str("Announce Term:1"),
            Word::Row(n) => write!(f, "Row Log:1/{n}"),
            Word::Ack(n) => write!(f, "Ack Log:1/{n}"),
            Word::Beat => f.write_str("Beat"),
        }
    }
}

impl Digest for Word {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.key());
    }
}

impl Message for Word {
    fn kind(&self) -> Kind {
        let (code, name) = match self {
            Word::Announce => (1, "Announce"),
            Word::Row(_) => (2, "Row"),
            Word::Ack(_) => (3, "Ack"),
            Word::Beat => (4, "Beat"),
        };
        Kind { code, name }
    }
    fn key(&self) -> u64 {
        match self {
            Word::Row(n) | Word::Ack(n) => *n,
            _ => 0,
        }
    }
    fn term(&self) -> Option<u64> {
        matches!(self, Word::Announce).then_some(1)
    }
    fn size_bytes(&self) -> u32 {
        16
    }
    fn duplicate(&self) -> Option<Word> {
        Some(*self)
    }
}

impl Timer for Clockwork {
    fn code(&self) -> u32 {
        match self {
            Clockwork::Lead => 0,
            Clockwork::Beat => 1,
            Clockwork::Ready(peer) => 2 + peer.index() as u32,
        }
    }
    fn name(&self) -> &'static str {
        match self {
            Clockwork::Lead => "lead",
            Clockwork::Beat => "beat",
            Clockwork::Ready(_) => "ready",
        }
    }
    fn peer(&self) -> Option<NodeId> {
        if let Clockwork::Ready(peer) = self { Some(*peer) } else { None }
    }
}

impl Node for Light {
    type Message = Word;
    type Timer = Clockwork;
    type Command = Write;
    type Reply = String;
    type View = Light;
    type Options = bool;

    fn boot(boot: &Boot<'_, bool>, fx: &mut Effects<'_, Light>) -> Light {
        let millis = Span::from_millis;
        let peers = (0..boot.servers).map(NodeId::server).filter(|p| *p != boot.id);
        if boot.id == NodeId::server(0) {
            peers.for_each(|p| fx.set_timer(Clockwork::Ready(p), millis(1), millis(20)));
            fx.set_timer(Clockwork::Lead, millis(10), millis(20));
        }
        let (ready, pending) = (vec![false; boot.servers], vec![false; boot.servers]);
        let (id, servers, drops) = (boot.id, boot.servers, *boot.options);
        Light { id, servers, drops, leads: false, leader: None, ready, pending, rows: 0 }
    }

    fn handle(&mut self, _: LocalTime, input: Input<Light>, fx: &mut Effects<'_, Light>) {
        match input {
            Input::Timeout(Clockwork::Lead) => self.lead(fx),
            Input::Timeout(Clockwork::Ready(peer)) => self.get_ready(peer, fx),
            Input::Timeout(Clockwork::Beat) => self.beat(fx),
            Input::Command { op, command } => self.obey(op, command, fx),
            Input::Deliver { from, message } => self.hear(from, message, fx),
            Input::Synced(_) | Input::SyncFailed(_) => {}
        }
    }

    fn view(&self) -> &Light {
        self
    }

    fn role(&self) -> Role {
        if self.leads { Role::Leader } else { Role::Follower }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leader = self.leader.map_or("?".to_owned(), |leader| leader.to_string());
        write!(f, "{} rows {} leader {leader}", self.role().letter(), self.rows)
    }

    fn parse_command(text: &str) -> Result<Write, String> {
        let number = text.strip_prefix("write ").and_then(|n| n.parse().ok());
        number.map(Write).ok_or_else(|| format!("`{text}` is no order: `write N`"))
    }
}

impl Light {
    fn peers(&self) -> impl Iterator<Item = NodeId> + use<> {
        let id = self.id;
        (0..self.servers).map(NodeId::server).filter(move |p| *p != id)
    }

    fn lead(&mut self, fx: &mut Effects<'_, Light>) {
        (self.leads, self.leader) = (true, Some(self.id));
        fx.note(format_args!("LEADER of term 1"));
        for peer in self.peers() {
            if self.ready[peer.index()] {
                fx.mark("announced");
                fx.send(peer, Word::Announce);
            } else if self.drops {
                fx.discard(peer, Word::Announce, "the link is not ready");
            } else {
                self.pending[peer.index()] = true;
                fx.note(format_args!("keeps the announcement for {peer}"));
            }
        }
        self.beat(fx);
    }

    fn get_ready(&mut self, peer: NodeId, fx: &mut Effects<'_, Light>) {
        self.ready[peer.index()] = true;
        fx.note(format_args!("link to {peer} is ready"));
        if self.pending[peer.index()] {
            fx.mark("announced-late");
            fx.send(peer, Word::Announce);
        }
    }

    fn beat(&mut self, fx: &mut Effects<'_, Light>) {
        self.peers().for_each(|peer| fx.send(peer, Word::Beat));
        self.peers().for_each(|peer| fx.send(peer, Word::Row(self.rows)));
        fx.set_timer(Clockwork::Beat, Span::from_millis(90), Span::from_millis(110));
    }

    fn obey(&mut self, op: OpId, write: Write, fx: &mut Effects<'_, Light>) {
        if self.leads {
            self.rows = self.rows.max(write.0 + 1);
            self.peers().for_each(|peer| fx.send(peer, Word::Row(self.rows)));
            fx.reply(op, "done".to_owned());
        }
    }

    fn hear(&mut self, from: NodeId, word: Word, fx: &mut Effects<'_, Light>) {
        match word {
            Word::Announce => {
                self.leader = Some(from);
                fx.note(format_args!("leader is {from}"));
            }
            Word::Row(_) if self.leader != Some(from) => fx.note(format_args!("refused: no leader known")),
            Word::Row(n) => {
                self.rows = self.rows.max(n);
                fx.send(from, Word::Ack(n));
            }
            Word::Ack(_) | Word::Beat => {}
        }
    }
}

/// Every follower has the rows of the leader; owed before the power cycle.
struct Owes;

impl Monitor<Light> for Owes {
    fn observe(&mut self, _: &Seen<'_, Light>, _: &Cluster<Light>) -> Result<(), Violation> {
        Ok(())
    }

    fn begin(&mut self, _: Phase, _: Time, c: &Cluster<Light>, inject: &mut Vec<(NodeId, Write)>) {
        let leader = c.servers().find(|n| c.role(*n) == Some(Role::Leader));
        inject.extend(leader.map(|leader| (leader, Write(999))));
    }

    fn owed(&mut self, _: Time, cluster: &Cluster<Light>) -> Progress {
        let Some(leader) = cluster.view(NodeId::server(0)).filter(|l| l.leads) else { return Progress::Done };
        let behind = |node: &NodeId| cluster.view(*node).is_some_and(|n| n.rows < leader.rows);
        match cluster.servers().find(behind) {
            None => Progress::Done,
            Some(node) => Progress::Waiting(Violation {
                rule: RULES[0].0,
                claim: RULES[0].1,
                message: format!("{node} is up and connected to n1 but applied none of its rows"),
                node: Some(node),
                peer: Some(NodeId::server(0)),
            }),
        }
    }
}
