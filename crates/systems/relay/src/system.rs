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

/// One operation in so many asks for an election.
const CAMPAIGN_ONE_IN: u64 = 40;
/// One proposal in so many goes to any server instead of the leader.
const ASTRAY_ONE_IN: u64 = 10;

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
        if draw.chance(1, CAMPAIGN_ONE_IN) {
            let node = any(draw);
            if Settings::new(options, script.servers).mode(node) == Mode::Candidate {
                let order = if draw.chance(1, 2) { "campaign" } else { "promote" };
                return (Target::Node(node), order.to_owned());
            }
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
