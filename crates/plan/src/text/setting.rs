//! Settings: what a script says about cluster, network, horizon, settling and limits; those of disks stand in `disk`.

use super::LineError;
use super::disk::DiskSetting;
use super::print::{print_range, print_ratio, print_shape};
use super::read::{Reader, SETTINGS};
use super::words::Word;
use crate::parse_seed;
use std::fmt;
use whitewater_sim::{CLIENTS_MAX, Limits, Network, Ratio, Rest, SERVERS_MAX, Script, Settle, Shape, Span};

/// One setting. Parts that a line leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    Seed(Option<u64>),
    Servers(usize),
    Clients(usize),
    Delay(Span, Span, Shape),
    Loss(Ratio),
    Duplicate(Ratio),
    Reorder(Ratio, Span),
    Corrupt(Ratio),
    Misdeliver(Ratio),
    Disk(DiskSetting),
    Horizon(Span),
    Settle { limit: Span, delay: Option<Span>, power_cycle: Option<bool> },
    Limits { events: Option<u64>, queue: Option<usize>, steps: Option<u32>, time: Option<Span> },
}

impl Setting {
    /// The settings of a script in the order they are written in; what never happens is left out.
    pub(crate) fn all_of(script: &Script) -> Vec<Setting> {
        let Script {
            seed,
            rest,
            servers,
            clients,
            network,
            disk,
            steps: _,
            pins: _,
            horizon,
            settle,
            limits,
        } = script;
        let Network {
            delay_low,
            delay_high,
            shape,
            loss,
            duplicate,
            reorder,
            reorder_window,
            corrupt,
            misdeliver,
        } = *network;
        let Settle { limit, delay_high: settle_delay, power_cycle } = *settle;
        let Limits { events, queue, steps, time } = *limits;
        let cluster = [
            Setting::Seed((*rest == Rest::Drawn).then_some(*seed)),
            Setting::Servers(*servers),
            Setting::Clients(*clients),
            Setting::Delay(delay_low, delay_high, shape),
            Setting::Loss(loss),
            Setting::Duplicate(duplicate),
            Setting::Reorder(reorder, reorder_window),
            Setting::Corrupt(corrupt),
            Setting::Misdeliver(misdeliver),
        ];
        let end = [
            Setting::Horizon(*horizon),
            Setting::Settle { limit, delay: Some(settle_delay), power_cycle: Some(power_cycle) },
            Setting::Limits {
                events: Some(events),
                queue: Some(queue),
                steps: Some(steps),
                time: Some(time),
            },
        ];
        let disk = DiskSetting::all_of(disk).into_iter().map(Setting::Disk);
        let all = cluster.into_iter().chain(disk).chain(end);
        all.filter(|setting| !setting.says_nothing()).collect()
    }

    /// Whether it says what holds without it.
    fn says_nothing(&self) -> bool {
        match *self {
            Setting::Loss(ratio) | Setting::Duplicate(ratio) => ratio == Ratio::NEVER,
            Setting::Corrupt(ratio) | Setting::Misdeliver(ratio) => ratio == Ratio::NEVER,
            Setting::Reorder(ratio, window) => ratio == Ratio::NEVER && window == Span::ZERO,
            Setting::Disk(setting) => setting.says_nothing(),
            _ => false,
        }
    }

    /// Its place among the settings, for the order they are written in.
    pub(crate) fn rank(&self) -> usize {
        let name = self.name();
        SETTINGS.iter().position(|&setting| setting == name).expect("the table has every setting")
    }

    /// The word it begins with.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Setting::Seed(_) => "seed",
            Setting::Servers(_) => "servers",
            Setting::Clients(_) => "clients",
            Setting::Delay(..) => "delay",
            Setting::Loss(_) => "loss",
            Setting::Duplicate(_) => "duplicate",
            Setting::Reorder(..) => "reorder",
            Setting::Corrupt(_) => "corrupt",
            Setting::Misdeliver(_) => "misdeliver",
            Setting::Disk(setting) => setting.name(),
            Setting::Horizon(_) => "horizon",
            Setting::Settle { .. } => "settle",
            Setting::Limits { .. } => "limits",
        }
    }

    /// Writes it into a script.
    pub(crate) fn apply(&self, script: &mut Script) {
        let Script { network, disk, settle, limits, .. } = script;
        match *self {
            Setting::Seed(Some(seed)) => (script.seed, script.rest) = (seed, Rest::Drawn),
            Setting::Seed(None) => (script.seed, script.rest) = (0, Rest::Fixed),
            Setting::Servers(servers) => script.servers = servers,
            Setting::Clients(clients) => script.clients = clients,
            Setting::Delay(low, high, shape) => {
                (network.delay_low, network.delay_high, network.shape) = (low, high, shape);
            }
            Setting::Loss(ratio) => network.loss = ratio,
            Setting::Duplicate(ratio) => network.duplicate = ratio,
            Setting::Reorder(ratio, window) => (network.reorder, network.reorder_window) = (ratio, window),
            Setting::Corrupt(ratio) => network.corrupt = ratio,
            Setting::Misdeliver(ratio) => network.misdeliver = ratio,
            Setting::Disk(setting) => setting.apply(disk),
            Setting::Horizon(horizon) => script.horizon = horizon,
            Setting::Settle { limit, delay, power_cycle } => {
                settle.limit = limit;
                settle.delay_high = delay.unwrap_or(settle.delay_high);
                settle.power_cycle = power_cycle.unwrap_or(settle.power_cycle);
            }
            Setting::Limits { events, queue, steps, time } => {
                limits.events = events.unwrap_or(limits.events);
                limits.queue = queue.unwrap_or(limits.queue);
                limits.steps = steps.unwrap_or(limits.steps);
                limits.time = time.unwrap_or(limits.time);
            }
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Setting::Seed(Some(seed)) => write!(f, " 0x{seed:x}"),
            Setting::Seed(None) => f.write_str(" none"),
            Setting::Servers(count) | Setting::Clients(count) => write!(f, " {count}"),
            Setting::Delay(low, high, shape) => {
                write!(f, " {}{}", print_range(*low, *high), print_shape(*shape))
            }
            Setting::Loss(ratio)
            | Setting::Duplicate(ratio)
            | Setting::Corrupt(ratio)
            | Setting::Misdeliver(ratio) => write!(f, " {}", print_ratio(*ratio)),
            Setting::Disk(setting) => write!(f, " {setting}"),
            Setting::Reorder(ratio, window) => write!(f, " {} up to {window}", print_ratio(*ratio)),
            Setting::Horizon(horizon) => write!(f, " {horizon}"),
            Setting::Settle { limit, delay, power_cycle } => {
                write!(f, " {limit}")?;
                delay.map_or(Ok(()), |delay| write!(f, " delay {delay}"))?;
                power_cycle.map_or(Ok(()), |cycle| {
                    f.write_str(if cycle { " power-cycle" } else { " no power-cycle" })
                })
            }
            Setting::Limits { events, queue, steps, time } => {
                events.map_or(Ok(()), |events| write!(f, " events {events}"))?;
                queue.map_or(Ok(()), |queue| write!(f, " queue {queue}"))?;
                steps.map_or(Ok(()), |steps| write!(f, " steps {steps}"))?;
                time.map_or(Ok(()), |time| write!(f, " time {time}"))
            }
        }
    }
}

impl Reader<'_> {
    /// A number of clients, which not every system has.
    fn clients(&mut self, name: &Word) -> Result<usize, LineError> {
        let number = self.number("their number", 0, CLIENTS_MAX as u64)? as usize;
        match self.system {
            Some(system) if number > 0 && system.clients() == (0, 0) => Err(self.words.wrong(
                name,
                format!("{} has no clients", system.name()),
                "leave the line out, and ask its servers themselves",
            )),
            _ => Ok(number),
        }
    }

    /// A setting; the next word is its name.
    pub(super) fn setting(&mut self) -> Result<Setting, LineError> {
        let name = self.word("a setting", "one, such as `servers 3`")?;
        let setting = match name.text.as_str() {
            "seed" => self.seed()?,
            "servers" => Setting::Servers(self.number("their number", 1, SERVERS_MAX as u64)? as usize),
            "clients" => Setting::Clients(self.clients(&name)?),
            "delay" => {
                let (low, high) = self.range()?;
                Setting::Delay(low, high, self.shape())
            }
            "loss" => Setting::Loss(self.ratio()?),
            "duplicate" => Setting::Duplicate(self.ratio()?),
            "reorder" => {
                let ratio = self.ratio()?;
                Setting::Reorder(ratio, self.up_to()?)
            }
            "corrupt" => Setting::Corrupt(self.ratio()?),
            "misdeliver" => Setting::Misdeliver(self.ratio()?),
            "horizon" => Setting::Horizon(self.span()?),
            "settle" => self.settle()?,
            "limits" => self.limits()?,
            disk => Setting::Disk(self.disk_setting(disk)?),
        };
        self.end("nothing more: a setting has no time and no note")?;
        Ok(setting)
    }

    /// How far messages may be overtaken.
    pub(super) fn up_to(&mut self) -> Result<Span, LineError> {
        let example = "the longest additional delay, such as `reorder 5/100 up to 20ms`";
        self.keyword("up", example)?;
        self.keyword("to", example)?;
        self.span()
    }

    fn seed(&mut self) -> Result<Setting, LineError> {
        let word = self.word("the seed", "a number such as 42 or 0x2a, or none")?;
        if word.is("none") {
            return Ok(Setting::Seed(None));
        }
        parse_seed(&word.text).map(|seed| Setting::Seed(Some(seed))).map_err(|_| {
            let message = format!("`{}` is no seed", word.text);
            self.words.wrong(&word, message, "write a number below 2^64 such as 42 or 0x2a, or `none`")
        })
    }

    fn settle(&mut self) -> Result<Setting, LineError> {
        let limit = self.span()?;
        let (mut delay, mut power_cycle) = (None, None);
        while self.words.peek().is_some() {
            if self.words.eat("delay") {
                delay = Some(self.span()?);
            } else if self.words.eat("power-cycle") {
                power_cycle = Some(true);
            } else {
                let example = "`settle 4s delay 10ms power-cycle`, or `no power-cycle`";
                let word = self.word("what settling is like", example)?;
                if !word.is("no") {
                    let message = format!("settling has no `{}`", word.text);
                    return Err(self.words.wrong(&word, message, format!("write {example}")));
                }
                self.keyword("power-cycle", example)?;
                power_cycle = Some(false);
            }
        }
        Ok(Setting::Settle { limit, delay, power_cycle })
    }

    fn limits(&mut self) -> Result<Setting, LineError> {
        let (mut events, mut queue, mut steps, mut time) = (None, None, None, None);
        let example = "`limits events 2000000 queue 200000 steps 10000 time 3600s`, or some of these";
        loop {
            let word = self.word("a limit", example)?;
            match word.text.as_str() {
                "events" => events = Some(self.number("a number of events", 1, u64::MAX)?),
                "queue" => queue = Some(self.number("a number of events", 1, u64::from(u32::MAX))? as usize),
                "steps" => steps = Some(self.number("a number of steps", 1, u64::from(u32::MAX))? as u32),
                "time" => time = Some(self.span()?),
                other => {
                    let message = format!("there is no limit on `{other}`");
                    return Err(self.words.wrong(&word, message, format!("write {example}")));
                }
            }
            if self.words.peek().is_none() {
                return Ok(Setting::Limits { events, queue, steps, time });
            }
        }
    }
}
