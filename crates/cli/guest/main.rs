//! A command line over one system of one's own: a guest whose nodes misbehave as an option says.
//!
//! `cargo run --bin guest -- fuzz --set vice=spin --isolate=2s --runs 20 --keep-going`

mod node;
mod vice;

use node::{Guest, Hello};
use std::process::ExitCode;
use vice::{NAMES, Vice};
use whitewater_sim::{
    Draw, NodeId, OptionSpec, Options, Outcome, Script, Span, System, Target, Timing, Unchecked, Values,
    World,
};

struct Guests;

static GUESTS: Guests = Guests;

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "vice",
    about: "How nodes misbehave.",
    values: Values::Words(NAMES),
    default: "none",
    per_node: false,
    drawn: false,
}];

impl System for Guests {
    fn name(&self) -> &'static str {
        "guest"
    }
    fn about(&self) -> &'static str {
        "Nodes that greet each other, and misbehave as an option says."
    }
    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }
    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    fn marks(&self) -> &'static [&'static str] {
        &["greeted"]
    }
    fn timing(&self, _: &Options) -> Timing {
        let millis = Span::from_millis;
        Timing { election_low: millis(40), election_high: millis(80), heartbeat: millis(10) }
    }
    fn draw_operation(&self, _: &mut Draw, _: u32, _: &Script, _: &Options) -> (Target, String) {
        (Target::Node(NodeId::server(0)), "greet".to_owned())
    }
    fn check_operation(&self, text: &str) -> Result<(), String> {
        <Guest as whitewater_sim::Node>::parse_command(text).map(drop)
    }
    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[Hello::NAME], &["beat"])
    }
    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let vice = Vice::of(options.text(OPTIONS, "vice"));
        Ok(World::<Guest, _>::new(script, vice, Unchecked, record)?.run())
    }
}

fn main() -> ExitCode {
    whitewater_cli::main(whitewater_cli::systems![GUESTS])
}
