//! A store around some core, as campaigns see it.

use crate::command::{Change, parse};
use crate::core::Core;
use crate::marks;
use crate::message::StoreMessage;
use crate::monitor::StoreMonitor;
use crate::node::StoreNode;
use crate::options::{MEMBERSHIP, Settings};
use crate::outline::Outlined;
use crate::timer::StoreTimer;
use std::marker::PhantomData;
use whitewater_sim::{
    DiskContract, DiskTrouble, Draw, NodeId, OptionSpec, Options, Outcome, Script, System, Target, Timing,
    Trouble, World,
};

/// The system of a core: `static MINE: Store<MyCore> = Store::new();`
pub struct Store<C> {
    /// Kinds of messages, those of the core and those of the store.
    kinds: std::sync::OnceLock<&'static [&'static str]>,
    core: PhantomData<fn() -> C>,
}

impl<C: Core> Store<C> {
    /// The one there is.
    #[expect(clippy::new_without_default, reason = "systems are statics, and a default is not const")]
    pub const fn new() -> Store<C> {
        Store { kinds: std::sync::OnceLock::new(), core: PhantomData }
    }
}

impl<C: Core> System for Store<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn about(&self) -> &'static str {
        C::ABOUT
    }

    fn options(&self) -> &'static [OptionSpec] {
        C::OPTIONS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        StoreMonitor::rules()
    }

    fn marks(&self) -> &'static [&'static str] {
        marks::ALL
    }

    fn timing(&self, options: &Options) -> Timing {
        Settings::read(options, C::OPTIONS).timing()
    }

    fn stands(&self, trouble: DiskTrouble) -> bool {
        // A process that its disk fails starts again; a log that was damaged it could not get back from its peers.
        matches!(trouble.contract(), DiskContract::Honest | DiskContract::Lossy)
    }

    fn survives(&self, trouble: Trouble) -> bool {
        match trouble {
            Trouble::Replays => true,
            Trouble::Rates | Trouble::Steps => C::NEEDS_NO_CLOCK,
            // A message does not say whom it is for, and a server without its disk is another server.
            Trouble::Misdelivery | Trouble::WipedDisks | Trouble::OlderDisks => false,
        }
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
        const REQUEST_SNAPSHOT: usize = 7;
        let has = |option: &OptionSpec| C::OPTIONS.iter().any(|own| own.name == option.name);
        let changing = has(&MEMBERSHIP) && options.text(C::OPTIONS, MEMBERSHIP.name) == "changing";
        let (changes, requests) = (if changing { 6 } else { 0 }, if C::REQUESTS_SNAPSHOTS { 1 } else { 0 });
        let kind = draw.weighted(&[64, 16, 12, 4, 2, 2, changes, requests]);
        if kind == CHANGE {
            return (Target::Leader, Change::draw(draw, script.servers).to_string());
        }
        if kind == REQUEST_SNAPSHOT {
            return (Target::Follower(0), "request-snapshot".to_owned());
        }
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
        let kinds = self.kinds.get_or_init(|| {
            let [own @ .., snapshot] = StoreMessage::<C::Message>::KINDS;
            let all = C::Message::KINDS.iter().copied().chain(C::BARE.then_some(snapshot)).chain(own);
            all.collect::<Vec<_>>().leak()
        });
        (kinds, StoreTimer::NAMES)
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let settings = Settings::read(options, C::OPTIONS);
        let monitor = StoreMonitor::new(script, &settings);
        Ok(World::<StoreNode<C>, _>::new(script, settings, monitor, record)?.run())
    }
}
