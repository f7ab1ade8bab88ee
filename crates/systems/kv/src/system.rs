//! The system as campaigns see it.

use crate::command::parse;
use crate::control::Control;
use crate::marks;
use crate::message::KINDS;
use crate::monitor::KvMonitor;
use crate::node::KvNode;
use crate::options::{SPECS, Settings};
use crate::order::{MembershipChange, Order};
use crate::server::FIGURES;
use crate::timer::KvTimer;
use whitewater_sim::{
    Canary, DiskTrouble, Draw, NodeId, OptionSpec, Options, Outcome, Script, System, Target, Timing, Trouble,
    Watch, World,
};

/// The replicated key-value store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kv;

/// The one there is.
pub static KV: Kv = Kv;

#[cfg(feature = "mutants")]
use crate::bugs::ALL as BUGS;
#[cfg(not(feature = "mutants"))]
const BUGS: &[&str] = if PATCH[0].is_empty() { &[] } else { &PATCH };
/// The bug that was patched into the sources of this build, if one was.
#[cfg(not(feature = "mutants"))]
const PATCH: [&str; 1] = [match option_env!("WHITEWATER_PATCH_KV") {
    Some(id) => id,
    None => "",
}];

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

    fn canary(&self) -> Option<Canary> {
        Some(Canary { profile: "unlimited", set: &[("disk-excuses", "off")] })
    }

    fn marks(&self) -> &'static [&'static str] {
        marks::ALL
    }

    fn bugs(&self) -> &'static [&'static str] {
        BUGS
    }

    fn timing(&self, options: &Options) -> Timing {
        Settings::read(options).timing()
    }

    fn stands(&self, _trouble: DiskTrouble) -> bool {
        true
    }

    fn survives(&self, trouble: Trouble) -> bool {
        match trouble {
            Trouble::Replays | Trouble::Misdelivery | Trouble::Rates | Trouble::Steps => true,
            // As with disks that lie, nothing is excused before a start that shows that a promise is gone.
            Trouble::WipedDisks | Trouble::OlderDisks => true,
        }
    }

    fn rolls(&self) -> &'static [&'static str] {
        // What is owed counts on the others.
        &["in-flight", "forwarding", "snapshot-entries", "snapshot-trail"]
    }

    fn clients(&self) -> (usize, usize) {
        (1, 8)
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String) {
        const CAMPAIGN: usize = 4;
        const TRANSFER: usize = 5;
        const CHANGE: usize = 6;
        const CONTROL: usize = 7;
        let changes = if options.text(SPECS, "membership") == "changing" { 6 } else { 0 };
        let kind = draw.weighted(&[64, 16, 12, 4, 2, 2, changes, 4]);
        if kind == CONTROL {
            let target = match draw.below(3) {
                0 => Target::Leader,
                1 => Target::Follower(0),
                _ => Target::Node(NodeId::server(draw.below(script.servers as u64) as usize)),
            };
            let control = Control::draw(draw, script.servers);
            // Only who leads reads what others lack.
            let is_read = matches!(control, Control::CompactAfterReads(_));
            return (if is_read { Target::Leader } else { target }, control.to_string());
        }
        if kind == TRANSFER || kind == CHANGE {
            let order = match kind {
                TRANSFER => Order::Transfer(NodeId::server(draw.below(script.servers as u64) as usize)),
                _ => Order::Change(MembershipChange::draw(draw, script.servers)),
            };
            // Clients look for the leader and try again.
            let by_client = script.clients > 0 && draw.chance(1, 2);
            let client = |draw: &mut Draw| NodeId::client(draw.below(script.clients as u64) as usize);
            let target = if by_client { Target::Node(client(draw)) } else { Target::Leader };
            return (target, order.to_string());
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
        run(script, options, Watch::All, record)
    }

    fn run_watched(
        &self,
        script: &Script,
        options: &Options,
        watch: Watch<'_>,
        record: bool,
    ) -> Result<Outcome, String> {
        run(script, options, watch, record)
    }
}

fn run(script: &Script, options: &Options, watch: Watch<'_>, record: bool) -> Result<Outcome, String> {
    let settings = Settings::read(options);
    let mut monitor = KvMonitor::new(script, &settings);
    monitor.watch(watch)?;
    let mut world = World::<KvNode, _>::new(script, settings, monitor, record)?;
    for (step, options) in script.rolls(options, SPECS)? {
        world.roll(step, Settings::read(&options));
    }
    Ok(world.run())
}
