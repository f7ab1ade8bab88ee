//! `replay --step`: walks through a run event by event; messages under way can be delivered or lost on request.
//!
//! Delivering or losing a message pins that decision and runs the plan again, so everything up to now stays as it is.

use crate::meant::Meant;
use crate::telling::system;
use crate::{Exit, Screen, Systems, files, store};
use anyhow::anyhow;
use std::io::BufRead;
use whitewater_hunt::{Walk, Walked};
use whitewater_sim::NodeId;

const HELP: &str = "\
n [COUNT]   the next event, or as many          b [COUNT]   back
v           on to the verdict                   f           messages under way
deliver K   message K arrives now               drop K      message K is lost
s NODE      the state of a node                 p           the plan as it stands, with what was changed
w           save the plan as it stands          q           stop";

pub(super) fn walk(found: &Meant, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let system = system(&found.plan.system, systems)?;
    let mut walk = Walk::begin(system, found.plan.clone()).map_err(anyhow::Error::msg)?;
    screen.print(&format!("{} events; `help` lists the commands\n{}", walk.len(), walk.here()));
    for line in std::io::stdin().lock().lines() {
        if screen.is_closed() {
            break;
        }
        match obey(line?.trim(), &mut walk, screen) {
            Ok(Walked::On) => {}
            Ok(Walked::Done) => break,
            // Whoever mistypes wants to go on from where they are.
            Err(wrong) => screen.print(&format!("? {wrong}")),
        }
    }
    screen.print(&format!("the run as it stands: {}", walk.verdict()));
    Ok(crate::telling::exit_of(walk.outcome()))
}

fn obey(line: &str, walk: &mut Walk, screen: &Screen) -> anyhow::Result<Walked> {
    let mut words = line.split_whitespace();
    let (verb, rest) = (words.next().unwrap_or("n"), words.next());
    let count = || rest.map_or(Ok(1), |word| word.parse().map_err(|_| anyhow!("`{word}` is no number")));
    let number = || -> anyhow::Result<usize> {
        let word = rest.ok_or_else(|| anyhow!("write the number of the message, as `f` lists it"))?;
        word.parse().map_err(|_| anyhow!("`{word}` is no number"))
    };
    match verb {
        "n" | "next" => screen.print(&walk.forward(count()?)),
        "b" | "back" => screen.print(&walk.back(count()?)),
        "v" | "verdict" => screen.print(&walk.to_the_verdict()),
        "f" | "flight" => screen.print(&walk.under_way()),
        "deliver" | "d" => screen.print(&walk.deliver(number()?).map_err(anyhow::Error::msg)?),
        "drop" | "x" => screen.print(&walk.lose(number()?).map_err(anyhow::Error::msg)?),
        "s" | "state" => {
            let word = rest.ok_or_else(|| anyhow!("write the node, such as `s n1`"))?;
            let node: NodeId = word.parse().map_err(anyhow::Error::msg)?;
            screen.print(&walk.state(node).map_err(anyhow::Error::msg)?);
        }
        "p" | "plan" => screen.print(&walk.plan_text()),
        "w" | "save" => {
            let file = store::found().join("stepped.json");
            files::write_whole(&file, &walk.plan().to_json())?;
            screen.print(&format!("{}: written", file.display()));
        }
        "help" | "h" | "?" => screen.print(HELP),
        "q" | "quit" => return Ok(Walked::Done),
        other => return Err(anyhow!("there is no command `{other}`; `help` lists them")),
    }
    Ok(Walked::On)
}
