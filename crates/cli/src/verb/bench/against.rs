//! This program and an earlier build of it, measured in turn: what others do on the machine then bears on both alike.

use crate::Screen;
use anyhow::{Context, bail};
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// How two programs compare.
#[derive(Debug, Serialize)]
struct Paired {
    v: u32,
    r#type: &'static str,
    name: &'static str,
    /// Deliveries per second on the core in this program, divided by those in the other: the median of all pairs.
    ratio: f64,
    ratio_lowest: f64,
    ratio_highest: f64,
    deliveries_per_core_second: f64,
    earlier_deliveries_per_core_second: f64,
    rounds: u32,
}

/// Measures a benchmark in both programs, one round each at a time.
pub(super) fn measure(
    name: &'static str,
    earlier: &Path,
    rounds: u32,
    screen: &Screen,
) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let mut pairs = Vec::new();
    for _ in 0..rounds {
        let before = speed(earlier, name)?;
        pairs.push((speed(&own, name)?, before));
    }
    pairs.sort_by(|(a, b), (c, d)| (a / b).total_cmp(&(c / d)));
    let ratio = |(now, before): (f64, f64)| now / before;
    let (now, before) = pairs[pairs.len() / 2];
    screen.data(&Paired {
        v: 1,
        r#type: "paired",
        name,
        ratio: now / before,
        ratio_lowest: ratio(pairs[0]),
        ratio_highest: ratio(pairs[pairs.len() - 1]),
        deliveries_per_core_second: now,
        earlier_deliveries_per_core_second: before,
        rounds,
    });
    Ok(())
}

/// Deliveries per second on the core in one round of a program.
fn speed(program: &Path, name: &str) -> anyhow::Result<f64> {
    let words = ["bench", "--only", name, "--rounds", "1", "--message-format", "json"];
    let ran = Command::new(program).args(words).output();
    let ran = ran.with_context(|| format!("{} cannot be started", program.display()))?;
    if !ran.status.success() {
        bail!("{}: {}", program.display(), String::from_utf8_lossy(&ran.stderr).trim());
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    let figures: serde_json::Value = serde_json::from_str(text.trim())
        .with_context(|| format!("{} says what is no result: {text}", program.display()))?;
    let speed = ["deliveries_per_core_second", "deliveries_per_second"];
    let speed = speed.iter().find_map(|field| figures[field].as_f64());
    speed.with_context(|| format!("{} does not say how fast it is: {text}", program.display()))
}
