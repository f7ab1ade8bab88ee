//! Readings of a saved plan: as it is, with more time, or with all its times longer or shorter.
//!
//! A plan that was shrunk ends where its failure was found, and its steps come when they were needed. Code whose timers are
//! longer, or that sends one message more, comes to the same point at another time. So a plan that passes now is read again.

use std::fmt;
use whitewater_plan::Plan;
use whitewater_sim::{Action, Decision, Fate, Span, Time, Trigger};

/// How a saved plan was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its times are so many ...
    by: u64,
    /// ... of so many as they were.
    of: u64,
    /// Its horizon is so many times as far as that.
    horizon: u64,
}

impl Reading {
    /// As it is.
    pub const AS_SAVED: Reading = Reading { by: 1, of: 1, horizon: 1 };

    /// Every other way to read a plan, in the order in which they are tried.
    pub const OTHERS: [Reading; 9] = [
        Reading { by: 1, of: 1, horizon: 2 },
        Reading { by: 6, of: 5, horizon: 2 },
        Reading { by: 5, of: 6, horizon: 2 },
        Reading { by: 5, of: 4, horizon: 2 },
        Reading { by: 4, of: 5, horizon: 2 },
        Reading { by: 3, of: 2, horizon: 2 },
        Reading { by: 2, of: 3, horizon: 2 },
        Reading { by: 2, of: 1, horizon: 2 },
        Reading { by: 1, of: 2, horizon: 2 },
    ];

    /// The plan as it is read.
    pub fn of(self, plan: &Plan) -> Plan {
        let mut read = plan.clone();
        let script = &mut read.script;
        let span = |span: Span| Span::from_nanos(span.nanos().saturating_mul(self.by) / self.of);
        script.horizon = span(script.horizon).times(self.horizon);
        let network = &mut script.network;
        (network.delay_low, network.delay_high) = (span(network.delay_low), span(network.delay_high));
        for step in &mut script.steps {
            for trigger in [Some(&mut step.when), step.until.as_mut()].into_iter().flatten() {
                match trigger {
                    Trigger::At(time) => *time = Time::ZERO + span(time.since(Time::ZERO)),
                    Trigger::After(after) | Trigger::When(_, after) => *after = span(*after),
                    Trigger::End => {}
                }
            }
            match &mut step.action {
                Action::Delay(_, by) | Action::Duplicate(_, by) => *by = span(*by),
                _ => {}
            }
        }
        for pin in &mut script.pins {
            match &mut pin.decision {
                Decision::Message { fate: Fate::Arrives { after, again, .. }, .. } => {
                    *after = span(*after);
                    *again = again.map(span);
                }
                Decision::Timer { span: of, .. } => *of = span(*of),
                _ => {}
            }
        }
        read
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.by, self.of, self.horizon) {
            (1, 1, 1) => f.write_str("as it was saved"),
            (1, 1, _) => f.write_str("with more time"),
            (by, of, _) => write!(f, "with its times {by}/{of} as long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_plan::text::{parse_script, script_lines};

    fn read(reading: Reading, lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let plan = Plan { script: parse_script(&lines, None).unwrap(), ..crate::traces::plan() };
        script_lines(&reading.of(&plan).script)
    }

    #[test]
    fn all_times_of_a_script_are_stretched_alike() {
        let lines = [
            "delay 1ms",
            "horizon 100ms",
            "crash n1 at 50ms until +10ms",
            "pin n1->n2 MsgApp key a #1 after 5ms again after 10ms",
        ];
        let stretched = read(Reading { by: 6, of: 5, horizon: 2 }, &lines);
        for line in [
            "delay 1200us",
            "horizon 240ms",
            "crash n1 at 60ms until +12ms",
            "pin n1->n2 MsgApp key a #1 after 6ms again after 12ms",
        ] {
            assert!(stretched.iter().any(|other| other == line), "{line} is missing in {stretched:?}");
        }
        assert_eq!(read(Reading::AS_SAVED, &lines), read(Reading { by: 3, of: 3, horizon: 1 }, &lines));
    }
}
