//! A small node for tests of the world: it pings its neighbours, remembers what it heard, and can misbehave on request.

#![allow(dead_code, missing_docs, unreachable_pub)]

use std::fmt;
use whitewater_sim::*;

/// Not `Clone`, on purpose: the world must not ask for it.
pub struct Toy {
    pub id: NodeId,
    pub servers: usize,
    pub heard: Vec<(NodeId, u64)>,
    pub counter: u64,
    pub leads: bool,
    file: FileId,
}

#[derive(Debug, PartialEq)]
pub enum Word {
    Ping(u64),
    Pong(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Clockwork {
    Beat,
    Ready(NodeId),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Ping,
    Lead,
    Panic,
    Flood,
    Write(u64),
    Draw,
    Time,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Write(x) => write!(f, "write {x}"),
            other => f.write_str(&format!("{other:?}").to_lowercase()),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Digest for Word {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.key());
    }
}

impl Message for Word {
    fn kind(&self) -> Kind {
        match self {
            Word::Ping(_) => Kind { code: 1, name: "Ping" },
            Word::Pong(_) => Kind { code: 2, name: "Pong" },
        }
    }
    fn key(&self) -> u64 {
        match self {
            Word::Ping(x) | Word::Pong(x) => *x,
        }
    }
    fn size_bytes(&self) -> u32 {
        8
    }
    fn duplicate(&self) -> Option<Word> {
        Some(match self {
            Word::Ping(x) => Word::Ping(*x),
            Word::Pong(x) => Word::Pong(*x),
        })
    }
}

impl Timer for Clockwork {
    fn code(&self) -> u32 {
        match self {
            Clockwork::Beat => 0,
            Clockwork::Ready(peer) => 1 + peer.index() as u32,
        }
    }
    fn name(&self) -> &'static str {
        match self {
            Clockwork::Beat => "beat",
            Clockwork::Ready(_) => "ready",
        }
    }
    fn peer(&self) -> Option<NodeId> {
        match self {
            Clockwork::Beat => None,
            Clockwork::Ready(peer) => Some(*peer),
        }
    }
}

impl Toy {
    fn beat(&mut self, fx: &mut Effects<'_, Toy>) {
        self.counter += 1;
        for peer in (0..self.servers).map(NodeId::server).filter(|&p| p != self.id) {
            // Numbers come again, as heartbeats do.
            fx.send(peer, Word::Ping(self.counter % 7));
        }
        fx.set_timer(Clockwork::Beat, Span::from_millis(9), Span::from_millis(11));
    }
}

/// How toys differ between tests.
#[derive(Clone, Copy, Default)]
pub struct Manner {
    pub extra_ping: bool,
    pub extra_draw: bool,
}

impl Node for Toy {
    type Message = Word;
    type Timer = Clockwork;
    type Command = Order;
    type Reply = u64Text;
    type View = Toy;
    type Options = Manner;

    fn boot(boot: &Boot<'_, Manner>, fx: &mut Effects<'_, Toy>) -> Toy {
        let file = fx.disk().open("counter");
        // Nothing is dirty yet: a failure would lose nothing.
        let _ = fx.disk().sync(file);
        let bytes = fx.disk().load(file).unwrap_or_default();
        let counter = bytes.last_chunk().map_or(0, |last: &[u8; 8]| u64::from_le_bytes(*last));
        fx.note(format_args!("counter {counter}"));
        fx.set_timer(Clockwork::Beat, Span::from_millis(1), Span::from_millis(3));
        if boot.options.extra_ping && boot.id == NodeId::server(0) {
            fx.send(NodeId::server(1), Word::Ping(1));
        }
        if boot.options.extra_draw {
            fx.draw(draw::name_hash("extra"), 0, 9);
        }
        Toy { id: boot.id, servers: boot.servers, heard: Vec::new(), counter, leads: false, file }
    }

    fn handle(&mut self, now: LocalTime, input: Input<Toy>, fx: &mut Effects<'_, Toy>) {
        match input {
            Input::Deliver { from, message: Word::Ping(x) } => {
                self.heard.push((from, x));
                fx.send(from, Word::Pong(x));
            }
            Input::Deliver { from, message: Word::Pong(x) } => self.heard.push((from, 100 + x)),
            Input::Timeout(Clockwork::Beat) => self.beat(fx),
            Input::Timeout(Clockwork::Ready(_)) => fx.mark("ready"),
            Input::Command { op, command } => self.obey(now, op, command, fx),
            Input::Synced(_) | Input::SyncFailed(_) => {}
        }
    }

    fn view(&self) -> &Toy {
        self
    }

    fn role(&self) -> Role {
        if self.leads { Role::Leader } else { Role::Follower }
    }

    fn figure(&self, name: &str) -> Option<u64> {
        (name == "counter").then_some(self.counter)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counter {} heard {}", self.counter, self.heard.len())
    }

    fn parse_command(text: &str) -> Result<Order, String> {
        match text {
            "ping" => Ok(Order::Ping),
            "lead" => Ok(Order::Lead),
            "panic" => Ok(Order::Panic),
            "flood" => Ok(Order::Flood),
            "draw" => Ok(Order::Draw),
            "time" => Ok(Order::Time),
            _ => (text.strip_prefix("write ").and_then(|x| x.parse().ok()).map(Order::Write)).ok_or_else(
                || format!("`{text}` is no order: ping, lead, panic, flood, draw, time or write N"),
            ),
        }
    }
}

impl Toy {
    fn obey(&mut self, now: LocalTime, op: OpId, order: Order, fx: &mut Effects<'_, Toy>) {
        match order {
            Order::Ping => self.beat(fx),
            Order::Lead => {
                self.leads = true;
                fx.set_timer(Clockwork::Ready(NodeId::server(1)), Span::from_millis(1), Span::from_millis(1));
            }
            Order::Panic => panic!("told to"),
            Order::Flood => loop {
                fx.send(NodeId::server(0), Word::Ping(0));
            },
            Order::Write(x) => {
                let file = self.file;
                let appended = fx.disk().append(file, &x.to_le_bytes());
                if appended.and_then(|()| fx.disk().sync(file)).is_ok() {
                    fx.reply(op, u64Text(x));
                }
            }
            Order::Time => fx.reply(op, u64Text(now.nanos())),
            Order::Draw => {
                let x = fx.draw(draw::name_hash("wish"), 0, 1_000_000);
                fx.reply(op, u64Text(x));
            }
        }
    }
}

#[allow(non_camel_case_types)]
#[derive(Clone, Debug, PartialEq)]
pub struct u64Text(pub u64);

impl fmt::Display for u64Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Digest for u64Text {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.0);
    }
}

/// Runs a script without checks, recorded.
pub fn run(script: &Script) -> Outcome {
    run_as(script, Manner::default())
}

pub fn run_as(script: &Script, manner: Manner) -> Outcome {
    World::<Toy, _>::new(script, manner, Unchecked, true).expect("the script is valid").run()
}

pub fn n(number: usize) -> NodeId {
    NodeId::server(number - 1)
}

pub fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

pub fn step(when: Trigger, action: Action, until: Option<Trigger>) -> Step {
    Step { when, action, until, note: None }
}

pub fn order(when: Trigger, node: NodeId, text: &str) -> Step {
    Step::new(when, Action::Operate { target: Target::Node(node), text: text.to_owned(), every: None })
}

pub fn short(steps: Vec<Step>) -> Script {
    Script { seed: 42, steps, horizon: Span::from_millis(200), ..Script::default() }
}
