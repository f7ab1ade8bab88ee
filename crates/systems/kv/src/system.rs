//! The system as campaigns see it.

use crate::command::parse;
use crate::marks;
use crate::message::KINDS;
use crate::monitor::KvMonitor;
use crate::node::KvNode;
use crate::options::{SPECS, Settings};
use crate::server::FIGURES;
use crate::timer::KvTimer;
use whitewater_sim::{
    DiskTrouble, Draw, NodeId, OptionSpec, Options, Outcome, Script, System, Target, Timing, World,
};

/// The replicated key-value store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kv;

/// The one there is.
pub static KV: Kv = Kv;

#[cfg(feature = "mutants")]
use crate::bugs::{ALL as BUGS, QUIET};
#[cfg(not(feature = "mutants"))]
const BUGS: &[&str] = &[];
#[cfg(not(feature = "mutants"))]
const QUIET: &[&str] = &[];

impl System for Kv {
    fn name(&self) -> &'static str {
        "kv"
    }

    fn about(&self) -> &'static str {
        "A replicated key-value store on the Raft core, over transport sessions, with clients that retry."
    }

    fn options(&self) -> &'static [OptionSpec] {
        SPECS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        KvMonitor::rules()
    }

    fn marks(&self) -> &'static [&'static str] {
        marks::ALL
    }

    fn bugs(&self) -> &'static [&'static str] {
        BUGS
    }

    fn quiet_bugs(&self) -> &'static [&'static str] {
        QUIET
    }

    fn timing(&self, options: &Options) -> Timing {
        Settings::read(options).timing()
    }

    fn stands(&self, _trouble: DiskTrouble) -> bool {
        true
    }

    fn clients(&self) -> (usize, usize) {
        (1, 8)
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        _options: &Options,
    ) -> (Target, String) {
        const CAMPAIGN: usize = 4;
        const TRANSFER: usize = 5;
        let kind = draw.weighted(&[64, 16, 12, 4, 2, 2]);
        if kind == TRANSFER {
            let to = NodeId::server(draw.below(script.servers as u64) as usize);
            return (Target::Leader, format!("transfer {to}"));
        }
        if kind == CAMPAIGN || script.clients == 0 {
            let server = draw.below(script.servers as u64) as usize;
            return (Target::Node(NodeId::server(server)), "campaign".to_owned());
        }
        let client = Target::Node(NodeId::client(draw.below(script.clients as u64) as usize));
        // Keys are used in one way each: lists grow, registers are replaced.
        let list = draw.within(1, 3);
        let register = draw.within(1, 2);
        let text = match kind {
            0 => format!("append a{list} v{number}"),
            1 => format!("put r{register} v{number}"),
            2 if draw.chance(3, 4) => format!("get a{list}"),
            2 => format!("get r{register}"),
            _ => {
                let old = number - draw.within(0, u64::from(number.min(12))) as u32;
                format!("cas r{register} v{old} v{number}")
            }
        };
        (client, text)
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        parse(text).map(drop)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (KINDS, KvTimer::NAMES)
    }

    fn figures(&self) -> &'static [&'static str] {
        FIGURES
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let settings = Settings::read(options);
        let monitor = KvMonitor::new(script, &settings);
        Ok(World::<KvNode, _>::new(script, settings, monitor, record)?.run())
    }
}
