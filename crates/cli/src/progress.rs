//! How far a search has come: a bar on a terminal, elsewhere a line every ten seconds that `grep` can find.

use crate::Screen;
use crate::amount::Amount;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Time between two looks of the bar.
const BAR_EVERY: Duration = Duration::from_millis(100);

/// Shows how far a search has come.
pub(crate) struct Progress<'a> {
    screen: &'a Screen,
    amount: Amount,
    begun: Instant,
    shown: Mutex<Instant>,
    recorded: Mutex<Instant>,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    /// Begins with nothing done.
    pub(crate) fn begin(screen: &'a Screen, amount: Amount) -> Progress<'a> {
        let bar = std::io::stderr().is_terminal().then(|| bar(amount));
        screen.set_bar(bar.clone());
        let now = Instant::now();
        Progress { screen, amount, begun: now, shown: Mutex::new(now), recorded: Mutex::new(now), bar }
    }

    /// Shows where it stands if it is time to.
    pub(crate) fn show(&self, now: &whitewater_hunt::Progress) {
        let every = if self.bar.is_some() { BAR_EVERY } else { LINE_EVERY };
        if !is_due(&self.shown, every) {
            return;
        }
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.position(now));
                bar.set_message(self.figures(now));
            }
            None => self.screen.remark(&format!("#{}  {}", now.runs, self.figures(now))),
        }
    }

    /// Whether it is time to tell programs where it stands; once every ten seconds.
    pub(crate) fn is_record_due(&self) -> bool {
        is_due(&self.recorded, LINE_EVERY)
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.screen.set_bar(None);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Real time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn position(&self, now: &whitewater_hunt::Progress) -> u64 {
        match self.amount {
            Amount::Deliveries(_) => now.deliveries,
            Amount::Runs(_) => now.runs,
            Amount::Time(_) => self.elapsed().as_millis() as u64,
        }
    }

    fn figures(&self, now: &whitewater_hunt::Progress) -> String {
        let elapsed = self.elapsed();
        format!(
            "fail {}  marks {}/{}  {} runs/s  {} deliveries/s  t={}s",
            now.failures,
            now.marks_reached,
            now.marks,
            per_second(now.runs, elapsed),
            per_second(now.deliveries, elapsed),
            elapsed.as_secs()
        )
    }
}

/// Whether so much time has passed since it was due last.
fn is_due(last: &Mutex<Instant>, every: Duration) -> bool {
    let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let due = last.elapsed() >= every;
    if due {
        *last = Instant::now();
    }
    due
}

/// A rate in whole units, 0 before any time has passed.
pub(crate) fn per_second(count: u64, elapsed: Duration) -> u64 {
    (u128::from(count) * 1_000_000).checked_div(elapsed.as_micros()).unwrap_or(0) as u64
}

fn bar(amount: Amount) -> ProgressBar {
    let length = match amount {
        Amount::Deliveries(number) | Amount::Runs(number) => number,
        Amount::Time(time) => time.as_millis() as u64,
    };
    let style =
        ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}").expect("the template is right");
    ProgressBar::new(length).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_known_from_the_first_microsecond_on() {
        assert_eq!(per_second(5, Duration::ZERO), 0);
        assert_eq!(per_second(3_000, Duration::from_millis(1_500)), 2_000);
        assert_eq!(per_second(u64::MAX, Duration::from_secs(1)), u64::MAX);
    }
}
