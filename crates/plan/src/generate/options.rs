//! Options of a generated plan.

use super::Restrictions;
use super::decide::{Decisions, log_span};
use super::size::Size;
use whitewater_sim::{Draw, NodeId, OptionSpec, Options, System, Values};

/// Draws the options that plans draw, if they are drawn at all, then gives what is demanded.
pub(super) fn draw(
    system: &dyn System,
    is_drawn: bool,
    servers: usize,
    decisions: &Decisions,
    restrictions: &Restrictions,
) -> Result<Options, String> {
    let specs = system.options();
    let mut demanded = Options::new();
    for (name, value) in restrictions.set.iter().filter(|(name, _)| !Size::has(name)) {
        demanded.set(specs, name, value).map_err(|wrong| format!("{}: {wrong}", system.name()))?;
    }
    let mut options = Options::new();
    let drawn = specs.iter().filter(|spec| is_drawn && spec.drawn);
    // What is demanded of all nodes is not overruled by what was drawn for one of them.
    for spec in drawn.filter(|spec| demanded.given(spec.name).is_none()) {
        for (name, value) in values(spec, servers, decisions) {
            options.set(specs, &name, &value)?;
        }
    }
    for (name, value) in demanded.iter() {
        options.set(specs, name, value)?;
    }
    if let Some(bug) = &restrictions.bug {
        options.plant(system.bugs(), bug).map_err(|wrong| format!("{}: {wrong}", system.name()))?;
    }
    Ok(options)
}

/// Values for one option. What may differ between nodes does so in half of the runs, and then at about half of the nodes.
fn values(spec: &OptionSpec, servers: usize, decisions: &Decisions) -> Vec<(String, String)> {
    let address = format!("option {}", spec.name);
    if !spec.per_node {
        return vec![(spec.name.to_owned(), value(&spec.values, &mut decisions.draw(&address, 0)))];
    }
    if !decisions.is_on(&address) {
        return Vec::new();
    }
    let at = |position| {
        let mut draw = decisions.draw(&address, 1 + position as u64);
        let name = format!("{}.{}", spec.name, NodeId::server(position));
        draw.chance(1, 2).then(|| (name, value(&spec.values, &mut draw)))
    };
    (0..servers).filter_map(at).collect()
}

/// A value, as plans draw it.
pub(super) fn value(values: &Values, draw: &mut Draw) -> String {
    match *values {
        Values::Words(words) => (*draw.pick(words)).to_owned(),
        Values::Number { low, high } => log_number(draw, low, high).to_string(),
        // A logarithmic range starts above zero; a thousandth of the longest is as good as nothing.
        Values::Time { low, high } => log_span(draw, low.max(high.part(1_000)), high).to_string(),
    }
}

/// A number of which every doubling is equally likely; zero counts as one doubling.
fn log_number(draw: &mut Draw, low: u64, high: u64) -> u64 {
    match low {
        0 if high == u64::MAX => draw.log_uniform(1, high),
        0 => draw.log_uniform(1, high + 1) - 1,
        _ => draw.log_uniform(low, high),
    }
}
