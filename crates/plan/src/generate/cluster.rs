//! The cluster of a generated plan: servers, clients, delays, horizon, settling, and what disturbs all links.

use super::decide::{Decisions, log_span, readable};
use super::weights as w;
use whitewater_sim::draw::Draw;
use whitewater_sim::{Network, Ratio, Script, Settle, Span, System, Timing, Trouble};

pub(super) fn servers(decisions: &Decisions) -> usize {
    if let Some((low, high)) = decisions.given_range("servers") {
        return decisions.draw("servers", 0).within(low, high) as usize;
    }
    let weights = w::SERVERS.map(|(_, weight)| weight);
    w::SERVERS[decisions.draw("servers", 0).weighted(&weights)].0
}

pub(super) fn clients((low, high): (usize, usize), decisions: &Decisions) -> usize {
    decisions.draw("clients", 0).within(low as u64, high as u64) as usize
}

/// A script without faults and operations.
pub(super) fn script(
    seed: u64,
    servers: usize,
    clients: usize,
    timing: Timing,
    decisions: &Decisions,
) -> Script {
    let network = delays(timing, decisions);
    let (low, high) = decisions.range("horizon-timeouts", w::HORIZON_TIMEOUTS);
    let timeouts = decisions.draw("horizon", 0).log_uniform(low, high);
    Script {
        seed,
        servers,
        clients,
        network,
        horizon: readable(timing.election_high.times(timeouts)),
        settle: Settle {
            limit: timing.election_high.times(w::SETTLE_TIMEOUTS),
            delay_high: network.delay_high.min(timing.election_low.part(w::SETTLE_DELAY_PART)),
            power_cycle: true,
        },
        ..Script::default()
    }
}

fn delays(timing: Timing, decisions: &Decisions) -> Network {
    let low = log_span(
        &mut decisions.draw("delay-low", 0),
        Span::from_micros(w::DELAY_LOW_MICROS.0),
        Span::from_micros(w::DELAY_LOW_MICROS.1),
    );
    let low = low.min(timing.election_low.part(w::DELAY_LOW_PART));
    let factor = decisions.draw("delay-high", 0).log_uniform(w::DELAY_FACTOR.0, w::DELAY_FACTOR.1);
    let high = low.times(factor).min(timing.election_low.part(w::DELAY_HIGH_PART));
    let high = readable(high).max(low);
    Network { delay_low: low, delay_high: high, ..Network::default() }
}

/// Lets all links lose, repeat, reorder, damage and mix up messages, and spreads delays otherwise than evenly.
pub(super) fn disturb(script: &mut Script, timing: Timing, system: &dyn System, decisions: &Decisions) {
    let one_way = script.network.delay_high;
    let network = &mut script.network;
    if decisions.is_on("loss") {
        let range = decisions.range("loss", w::LOSS_PERMILLE);
        network.loss = permille(&mut decisions.draw("loss", 0), range);
    }
    if decisions.is_on("duplicate") {
        let range = decisions.range("duplicate", w::DUPLICATE_PERMILLE);
        network.duplicate = permille(&mut decisions.draw("duplicate", 0), range);
    }
    if decisions.is_on("reorder") {
        let range = decisions.range("reorder", w::REORDER_PERMILLE);
        network.reorder = permille(&mut decisions.draw("reorder", 0), range);
        network.reorder_window =
            log_span(&mut decisions.draw("reorder-window", 0), one_way, timing.election_high);
    }
    if decisions.is_on("shape") {
        network.shape = *decisions.draw("shape", 0).pick(&w::SHAPES);
    }
    if decisions.is_on("corrupt") {
        let range = decisions.range("corrupt", w::CORRUPT_PERMILLE);
        network.corrupt = permille(&mut decisions.draw("corrupt", 0), range);
    }
    if system.survives(Trouble::Misdelivery) && decisions.is_on("misdeliver") {
        let range = decisions.range("misdeliver", w::MISDELIVER_PERMILLE);
        network.misdeliver = permille(&mut decisions.draw("misdeliver", 0), range);
    }
}

/// Makes links quick enough while settling that a round trip, with a sync and a slow member on the way, takes at most a
/// quarter of the shortest election timeout: then progress is owed.
pub(super) fn calm(script: &mut Script, timing: Timing) {
    let one_way = timing.election_low.part(2 * w::SETTLE_ROUND_TRIP_PART);
    let elsewhere = script.disk.high + script.lasting_slowness();
    let room = one_way.nanos().saturating_sub(elsewhere.nanos());
    script.settle.delay_high = script.settle.delay_high.min(Span::from_nanos(room));
}

/// A share of which every doubling is equally likely.
pub(super) fn permille(draw: &mut Draw, (low, high): (u64, u64)) -> Ratio {
    Ratio::of(draw.log_uniform(low, high), 1_000)
}
