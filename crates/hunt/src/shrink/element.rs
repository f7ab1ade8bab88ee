//! The elements of a plan: everything that can be taken away from it by itself.

use super::cluster::{without_client, without_server};
use super::trials::changed;
use super::weaker::{members, without_member};
use whitewater_plan::Plan;
use whitewater_sim::{
    Decision, DiskFaults, DiskTiming, Network, NodeId, OptionSpec, Ratio, Shape, Span, System,
};

/// Something that can be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A fault, an operation or a claim, by position.
    Step(usize),
    /// A pin, by position.
    Pin(usize),
    /// A node in a partition: step, group and place.
    Member(usize, usize, usize),
    /// A server with all that names it.
    Server(NodeId),
    /// A client with all that names it.
    Client(NodeId),
    /// Messages that get lost.
    Loss,
    /// Messages that arrive twice.
    Copies,
    /// Messages that overtake others.
    Overtaking,
    /// Messages that arrive damaged.
    Damage,
    /// Messages that go astray.
    Astray,
    /// Delays that are not spread evenly.
    Shape,
    /// A trouble with disks, with the pins that need it.
    Disk(DiskSetting),
    /// An option with another value than usual.
    Option(String),
    /// The power cycle after settling.
    PowerCycle,
}

/// A setting of disks that can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskSetting {
    /// Time that syncs take.
    Syncs,
    /// Syncs that fail.
    SyncFailures,
    /// Sectors.
    Sectors,
    /// Time that other calls take.
    Busy,
    /// Syncs that stall.
    Stalls,
    /// Writes that fail.
    WriteFailures,
    /// Reads that fail.
    ReadFailures,
    /// Times at which there is no room.
    Full,
    /// A limit of room.
    Capacity,
    /// Whatever the disk does behind the back of its node.
    Deceit,
}

impl DiskSetting {
    const ALL: [DiskSetting; 10] = [
        DiskSetting::Deceit,
        DiskSetting::Capacity,
        DiskSetting::Full,
        DiskSetting::ReadFailures,
        DiskSetting::WriteFailures,
        DiskSetting::Stalls,
        DiskSetting::Busy,
        DiskSetting::Sectors,
        DiskSetting::SyncFailures,
        DiskSetting::Syncs,
    ];

    /// The pins that mean something only with it.
    const fn pins(self) -> &'static [&'static str] {
        match self {
            DiskSetting::Syncs => &["sync-time"],
            DiskSetting::SyncFailures => &["sync-fails"],
            DiskSetting::Sectors => &["cache-keeps"],
            DiskSetting::Busy => &["busy"],
            DiskSetting::Stalls => &["stalls"],
            DiskSetting::WriteFailures => &["write-fails"],
            DiskSetting::ReadFailures => &["read-fails"],
            DiskSetting::Full => &["full"],
            DiskSetting::Capacity => &[],
            DiskSetting::Deceit => {
                &["lies", "write-lost", "write-astray", "write-astray-to", "rots", "rots-at"]
            }
        }
    }

    fn calm(self, disk: &mut DiskTiming) {
        match self {
            DiskSetting::Syncs => (disk.low, disk.high) = (Span::ZERO, Span::ZERO),
            DiskSetting::SyncFailures => disk.failures = 0,
            DiskSetting::Sectors => disk.sector_bytes = 0,
            DiskSetting::Busy => (disk.busy_low, disk.busy_high) = (Span::ZERO, Span::ZERO),
            DiskSetting::Stalls => (disk.stalls, disk.stall) = (0, Span::ZERO),
            DiskSetting::WriteFailures => disk.write_failures = 0,
            DiskSetting::ReadFailures => disk.read_failures = 0,
            DiskSetting::Full => disk.full = 0,
            DiskSetting::Capacity => disk.capacity_bytes = 0,
            DiskSetting::Deceit => disk.faults = DiskFaults::default(),
        }
    }
}

/// The troubles with disks of a plan.
pub(super) fn disk_troubles(plan: &Plan) -> Vec<DiskSetting> {
    let calmer = |setting: &DiskSetting| {
        let mut disk = plan.script.disk;
        setting.calm(&mut disk);
        disk != plan.script.disk
    };
    DiskSetting::ALL.into_iter().filter(calmer).collect()
}

/// Links on which every message arrives once and where it should, within the same delays.
pub(super) fn calm_links(network: &Network) -> Network {
    Network { delay_high: network.delay_high, ..network.without_chance() }
}

/// Takes a trouble with disks away; what is pinned of it goes, too, since checks owe more without it.
pub(super) fn calm_disk(plan: &mut Plan, setting: DiskSetting) {
    setting.calm(&mut plan.script.disk);
    plan.script.pins.retain(|pin| match &pin.decision {
        Decision::Disk { what, .. } => !setting.pins().contains(&what.as_str()),
        _ => true,
    });
}

/// The value an option has if nobody says another.
fn usual<'a>(specs: &'a [OptionSpec], name: &str) -> Option<&'a str> {
    let base = name.split('.').next().unwrap_or_default();
    specs.iter().find(|spec| spec.name == base).map(|spec| spec.default)
}

/// Options whose values are not the usual ones.
pub(super) fn unusual_options(plan: &Plan, system: &dyn System) -> Vec<String> {
    let specs = system.options();
    let unusual = plan.options.iter().filter(|(name, value)| usual(specs, name).is_some_and(|u| u != *value));
    unusual.map(|(name, _)| name.to_owned()).collect()
}

/// Gives an option its usual value. It is still said, so that the plan means the same when that changes.
pub(super) fn set_option(plan: &mut Plan, system: &dyn System, name: &str) {
    let specs = system.options();
    if let Some(value) = usual(specs, name) {
        // A value that is the default is allowed.
        let _ = plan.options.set(specs, name, value);
    }
}

/// The elements of a plan.
pub fn elements(plan: &Plan, system: &dyn System) -> Vec<Element> {
    let script = &plan.script;
    let network = &script.network;
    let mut elements: Vec<Element> =
        (0..script.servers).map(|at| Element::Server(NodeId::server(at))).collect();
    elements.extend((0..script.clients).map(|at| Element::Client(NodeId::client(at))));
    elements.extend(unusual_options(plan, system).into_iter().map(Element::Option));
    elements.extend(disk_troubles(plan).into_iter().map(Element::Disk));
    let on = [
        (network.loss != Ratio::NEVER, Element::Loss),
        (network.duplicate != Ratio::NEVER, Element::Copies),
        (network.reorder != Ratio::NEVER, Element::Overtaking),
        (network.corrupt != Ratio::NEVER, Element::Damage),
        (network.misdeliver != Ratio::NEVER, Element::Astray),
        (network.shape != Shape::Uniform, Element::Shape),
        (script.settle.power_cycle && script.settle.limit > Span::ZERO, Element::PowerCycle),
    ];
    elements.extend(on.into_iter().filter(|(on, _)| *on).map(|(_, element)| element));
    elements
        .extend(members(plan).into_iter().map(|(step, group, place)| Element::Member(step, group, place)));
    elements.extend((0..script.steps.len()).map(Element::Step));
    elements.extend((0..script.pins.len()).map(Element::Pin));
    elements
}

/// The plan without an element; none if there is no plan without it.
pub fn without(plan: &Plan, system: &dyn System, element: &Element) -> Option<Plan> {
    match element {
        Element::Member(step, group, place) => return without_member(plan, (*step, *group, *place)),
        Element::Server(_) if plan.script.servers < 2 => return None,
        Element::Server(server) => return Some(without_server(plan, *server)),
        Element::Client(client) => return Some(without_client(plan, *client)),
        _ => {}
    }
    Some(changed(plan, |plan| match element {
        Element::Step(at) => drop(plan.script.steps.remove(*at)),
        Element::Pin(at) => drop(plan.script.pins.remove(*at)),
        Element::Loss => plan.script.network.loss = Ratio::NEVER,
        Element::Copies => plan.script.network.duplicate = Ratio::NEVER,
        Element::Overtaking => {
            (plan.script.network.reorder, plan.script.network.reorder_window) = (Ratio::NEVER, Span::ZERO);
        }
        Element::Damage => plan.script.network.corrupt = Ratio::NEVER,
        Element::Astray => plan.script.network.misdeliver = Ratio::NEVER,
        Element::Shape => plan.script.network.shape = Shape::Uniform,
        Element::Disk(setting) => calm_disk(plan, *setting),
        Element::Option(name) => set_option(plan, system, name),
        Element::PowerCycle => plan.script.settle.power_cycle = false,
        Element::Member(..) | Element::Server(_) | Element::Client(_) => {}
    }))
}
