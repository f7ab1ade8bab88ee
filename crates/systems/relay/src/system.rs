//! The system as campaigns see it.

use crate::bug::IDS;
use crate::command::Command;
use crate::glossary::GLOSSARY;
use crate::marks::MARKS;
use crate::message::KINDS;
use crate::monitor::RelayMonitor;
use crate::node::{FIGURES, RelayNode};
use crate::raft::Mode;
use crate::settings::{OPTIONS, Settings};
use crate::timer::TIMERS;
use whitewater_sim::{
    Canary, DiskTrouble, Draw, NodeId, OptionSpec, Options, Outcome, Script, Sole, System, Target, Timing,
    Trouble, Watch, World,
};

/// One operation in so many is an order about elections.
const ORDER_ONE_IN: u64 = 40;
/// One proposal in so many goes to any server instead of the leader.
const ASTRAY_ONE_IN: u64 = 10;

/// An order about elections, to any server. A leader that resigns by order stands no more until somebody calls an election,
/// which no plan would be sure of.
fn draw_order(draw: &mut Draw, any: impl Fn(&mut Draw) -> NodeId, settings: &Settings) -> (Target, String) {
    let node = any(draw);
    let order = match draw.below(4) {
        0 => Command::Promote,
        1 => Command::Mode(if draw.chance(1, 2) { Mode::Voter } else { Mode::Candidate }),
        _ if settings.mode(node) == Mode::Candidate => Command::Campaign,
        _ => Command::Promote,
    };
    (Target::Node(node), order.to_string())
}

/// The system `relay`.
#[derive(Clone, Copy, Debug)]
pub struct Relay;

/// The one value there is of it.
pub static RELAY: Relay = Relay;

impl System for Relay {
    fn name(&self) -> &'static str {
        "relay"
    }

    fn about(&self) -> &'static str {
        "Asynchronous replication with election by broadcast: relays that start up, appliers that refuse rows of non-leaders."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        RelayMonitor::rules()
    }

    fn bugs(&self) -> &'static [&'static str] {
        IDS
    }

    fn canary(&self) -> Option<Canary> {
        Some(Canary { profile: "swarm", set: &[("relay-not-ready", "drop")] })
    }

    fn marks(&self) -> &'static [&'static str] {
        MARKS
    }

    fn timing(&self, options: &Options) -> Timing {
        Settings::new(options, 0).timing()
    }

    fn stands(&self, trouble: DiskTrouble) -> bool {
        matches!(trouble, DiskTrouble::SlowSyncs | DiskTrouble::FailedSyncs)
    }

    fn survives(&self, trouble: Trouble) -> bool {
        matches!(trouble, Trouble::Replays | Trouble::Rates | Trouble::Steps)
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String) {
        let any = |draw: &mut Draw| NodeId::server(draw.below(script.servers as u64) as usize);
        if draw.chance(1, ORDER_ONE_IN) {
            return draw_order(draw, any, &Settings::new(options, script.servers));
        }
        let target = match draw.chance(1, ASTRAY_ONE_IN) {
            true => Target::Node(any(draw)),
            false => Target::Leader,
        };
        (target, format!("propose x={}", number + 1))
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        Command::parse(text).map(drop)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (KINDS, TIMERS)
    }

    fn figures(&self) -> &'static [&'static str] {
        FIGURES
    }

    fn glossary(&self) -> &'static [(&'static str, &'static str)] {
        GLOSSARY
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let settings = Settings::new(options, script.servers);
        let monitor = RelayMonitor::new(&settings, script);
        Ok(World::<RelayNode, RelayMonitor>::new(script, settings, monitor, record)?.run())
    }

    fn run_watched(
        &self,
        script: &Script,
        options: &Options,
        watch: Watch<'_>,
        record: bool,
    ) -> Result<Outcome, String> {
        let Watch::Only(rule) = watch else {
            return match watch {
                Watch::All => self.run(script, options, record),
                _ => {
                    Err("the checks of `relay` can be left alone one by one, and not switched off".to_owned())
                }
            };
        };
        let settings = Settings::new(options, script.servers);
        let monitor = Sole::new(RelayMonitor::new(&settings, script), rule);
        Ok(World::<RelayNode, _>::new(script, settings, monitor, record)?.run())
    }
}
