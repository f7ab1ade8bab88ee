//! Nodes that greet each other at a steady beat; at one beat, drawn from the seed, some of them misbehave.

use crate::vice::Vice;
use std::fmt;
use whitewater_sim::draw::name_hash;
use whitewater_sim::{
    Boot, Digest, Digester, Effects, Input, Kind, LocalTime, Message, Node, NodeId, Span, Timer,
};

const STRIKES: u64 = name_hash("strikes");
/// A node misbehaves in one life out of so many.
const ONE_IN: u64 = 12;
/// Copies of every message that a node makes which floods the network.
const COPIES: u32 = 50;
/// At which beat.
const STRIKES_AT: u64 = 5;

pub(crate) struct Guest {
    id: NodeId,
    peers: Vec<NodeId>,
    vice: Vice,
    strikes: bool,
    beats: u64,
}

/// A greeting with a number, which is that of the beat unless it was misbehaviour that chose it.
#[derive(Clone, Copy)]
pub(crate) struct Hello(pub(crate) u64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Beat;

/// What a script may ask of a guest.
#[derive(Clone)]
pub(crate) struct Greet;

impl Hello {
    pub(crate) const NAME: &'static str = "Hello";
}

impl Guest {
    fn greet(&mut self, fx: &mut Effects<'_, Guest>) {
        let at = Span::from_nanos(fx.draw(STRIKES, 1, 1_000_000));
        let strikes = self.strikes && self.beats == STRIKES_AT;
        let number = if strikes { self.vice.strike(at, &self.peers, fx) } else { self.beats };
        self.peers.iter().for_each(|&peer| fx.send(peer, Hello(number)));
    }
}

impl Node for Guest {
    type Message = Hello;
    type Timer = Beat;
    type Command = Greet;
    type Reply = String;
    type View = Guest;
    type Options = Vice;

    fn boot(boot: &Boot<'_, Vice>, fx: &mut Effects<'_, Guest>) -> Guest {
        let all = (0..boot.servers).map(NodeId::server);
        let strikes = fx.draw(STRIKES, 0, ONE_IN - 1) == 0;
        fx.set_timer(Beat, Span::from_millis(1), Span::from_millis(20));
        // With nobody else there a guest greets itself.
        let mut peers: Vec<_> = all.filter(|&node| node != boot.id).collect();
        if peers.is_empty() {
            peers.push(boot.id);
        }
        Guest { id: boot.id, peers, vice: *boot.options, strikes, beats: 0 }
    }

    fn handle(&mut self, _: LocalTime, input: Input<Guest>, fx: &mut Effects<'_, Guest>) {
        match input {
            Input::Timeout(Beat) => {
                self.beats += 1;
                self.greet(fx);
                fx.set_timer(Beat, Span::from_millis(10), Span::from_millis(10));
            }
            Input::Deliver { message, .. } => {
                fx.mark("greeted");
                if self.vice == Vice::Flood && self.strikes && self.beats >= STRIKES_AT {
                    (0..COPIES).for_each(|_| fx.send(self.id, message));
                }
            }
            Input::Command { op, command: Greet } => {
                self.greet(fx);
                fx.reply(op, "greeted".to_owned());
            }
            Input::Synced(_) | Input::SyncFailed(_) => {}
        }
    }

    fn view(&self) -> &Guest {
        self
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} beats", self.beats)
    }

    fn parse_command(text: &str) -> Result<Greet, String> {
        if text == "greet" { Ok(Greet) } else { Err(format!("`{text}` is no order: `greet`")) }
    }
}

impl Digest for Hello {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.0);
    }
}

impl Message for Hello {
    fn kind(&self) -> Kind {
        Kind { code: 1, name: Hello::NAME }
    }
    fn key(&self) -> u64 {
        self.0
    }
    fn size_bytes(&self) -> u32 {
        16
    }
    fn duplicate(&self) -> Option<Hello> {
        Some(*self)
    }
}

impl Timer for Beat {
    fn code(&self) -> u32 {
        0
    }
    fn name(&self) -> &'static str {
        "beat"
    }
}

impl fmt::Display for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hello {}", self.0)
    }
}

impl fmt::Display for Greet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("greet")
    }
}
