//! A store around some core, as campaigns see it.

use crate::command::parse;
use crate::core::Core;
use crate::marks;
use crate::monitor::StoreMonitor;
use crate::node::StoreNode;
use crate::options::Settings;
use crate::timer::StoreTimer;
use std::marker::PhantomData;
use whitewater_sim::{
    DiskTrouble, Draw, NodeId, OptionSpec, Options, Outcome, Script, System, Target, Timing, Trouble, World,
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
        matches!(trouble, DiskTrouble::SlowSyncs)
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
        let kinds = self.kinds.get_or_init(|| {
            let all = C::KINDS.iter().chain(&crate::message::StoreMessage::<C::Message>::KINDS);
            all.copied().collect::<Vec<_>>().leak()
        });
        (kinds, StoreTimer::NAMES)
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let settings = Settings::read(options, C::OPTIONS);
        let monitor = StoreMonitor::new(script, &settings);
        Ok(World::<StoreNode<C>, _>::new(script, settings, monitor, record)?.run())
    }
}
