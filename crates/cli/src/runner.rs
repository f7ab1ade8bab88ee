//! From what was typed to an exit code: parses, runs the verb, and says what went wrong.

use crate::given::Given;
use crate::typed::{Typed, Verb};
use crate::verb::{
    bench, check_history, demo, determinism, differ, faults, fuzz, keep, mutants, replay, scenario, seeds,
    shrink, trace, wal, worker,
};
use crate::{Abroad, Exit, Made, Program, Screen, Systems, abroad, program, rebuild};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// A verb of one project only, such as the one that runs its tests.
pub struct Extra {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence; what its help says besides follows behind an empty line.
    pub about: &'static str,
    /// What has to stand behind it, in capitals: `PATH` once or more often, `NAME DIR` just so; nothing may if it is none.
    pub operands: Option<&'static str>,
    /// Does it with its operands. An error is told and ends the process with [`Exit::Usage`].
    pub run: fn(&Screen, &[OsString]) -> anyhow::Result<Exit>,
}

/// The name of the operands of an extra verb inside of the grammar.
const OPERANDS: &str = "operands";

impl Extra {
    fn command(&self) -> clap::Command {
        let first = self.about.split("\n\n").next().unwrap_or_default();
        let command = clap::Command::new(self.name).about(first).long_about(self.about);
        let Some(operands) = self.operands else { return command };
        let names: Vec<&str> = operands.split(' ').collect();
        let number = match names.len() {
            1 => (1..).into(),
            number => clap::builder::ValueRange::new(number),
        };
        let operands = clap::Arg::new(OPERANDS).value_names(names).num_args(number).required(true);
        command.arg(operands.value_parser(clap::value_parser!(OsString)))
    }

    fn call(&self, matches: &ArgMatches) -> anyhow::Result<Exit> {
        let operands = self.operands.and_then(|_| matches.get_many::<OsString>(OPERANDS));
        let operands: Vec<OsString> = operands.into_iter().flatten().cloned().collect();
        (self.run)(&Screen::new(crate::Format::Human), &operands)
    }
}

/// The command line over `systems`.
pub fn main(systems: Systems) -> ExitCode {
    main_with(systems, &More::default())
}

/// What a command line has besides its verbs and systems.
#[derive(Default)]
pub struct More {
    /// Further verbs.
    pub extras: Vec<Extra>,
    /// Systems that are built when they are asked for.
    pub elsewhere: Vec<Abroad>,
    /// Systems that are made of their names.
    pub made: Vec<Made>,
    /// How it is called and built, if not as the only program of a package: what it prints begins with that.
    pub program: Program,
}

/// The command line over `systems`, with more.
pub fn main_with(systems: Systems, more: &More) -> ExitCode {
    program::is(more.program);
    let extras = &more.extras;
    let command = without_strangers(Typed::command(), systems);
    let command = extras.iter().fold(command, |command, extra| command.subcommand(extra.command()));
    let outcome = command.try_get_matches().map_err(anyhow::Error::from).and_then(|matches| {
        let (name, of_verb) = matches.subcommand().expect("a verb is required");
        match extras.iter().find(|extra| extra.name == name) {
            Some(extra) => guarded(|| extra.call(of_verb)),
            None => {
                let typed = Typed::from_arg_matches(&matches)?;
                let bisects = typed.verb.bisects();
                let outcome = guarded(|| run(typed.verb, of_verb, systems, more));
                if bisects { Ok(told_to_bisect(outcome)) } else { outcome }
            }
        }
    });
    outcome.unwrap_or_else(|error| refuse(&error)).into()
}

/// Leaves out of the list of verbs what has nothing to do here: the demonstration of a system that is not there, and the
/// measurement of bugs where none are planted.
fn without_strangers(command: Command, systems: Systems) -> Command {
    let shows = systems.iter().any(|system| system.name() == demo::SYSTEM);
    let plants = program::program().plants.is_some();
    let hidden = [("demo", !shows), ("mutants", !plants)];
    hidden
        .into_iter()
        .filter(|(_, hide)| *hide)
        .fold(command, |command, (verb, _)| command.mut_subcommand(verb, |verb| verb.hide(true)))
}

/// What `git bisect` is told: whatever keeps this commit from telling is no verdict on it.
fn told_to_bisect(outcome: anyhow::Result<Exit>) -> Exit {
    match outcome {
        Ok(Exit::Clean) => Exit::Clean,
        Ok(Exit::Found) => Exit::Found,
        Ok(_) => Exit::Untold,
        Err(why) => {
            refuse(&why);
            Exit::Untold
        }
    }
}

fn run(verb: Verb, matches: &ArgMatches, systems: Systems, more: &More) -> anyhow::Result<Exit> {
    let screen = Screen::new(verb.format());
    if let Some(exit) = abroad::run_there(&more.elsewhere, &screen)? {
        return Ok(exit);
    }
    let systems = abroad::with_made(systems, &more.made)?;
    if let Some(exit) = rebuild::with_bugs(&verb.bugs(systems), systems, &screen)? {
        return Ok(exit);
    }
    let exit = match verb {
        Verb::Demo(typed) => demo::run(&typed, systems, &screen),
        Verb::Fuzz(typed) => fuzz::run(&typed, &Given(matches), systems, &screen),
        Verb::Replay(typed) => replay::run(&typed, &Given(matches), systems, &screen),
        Verb::Keep(typed) => keep::run(&typed, systems, &screen),
        Verb::Trace(typed) => trace::run(&typed, systems, &screen),
        Verb::Seeds(typed) => seeds::run(&typed, systems, &screen),
        Verb::Shrink(typed) => shrink::run(&typed, systems, &screen),
        Verb::Scenario(typed) => scenario::run(typed, systems, &screen),
        Verb::Mutants(typed) => mutants::run(&typed, systems, &screen),
        Verb::CheckHistory(typed) => Ok(check_history::run(&typed, &screen)),
        Verb::Faults(typed) => faults::run(&typed, systems, &screen),
        Verb::Bench(typed) => bench::run(&typed, systems, &screen),
        Verb::Wal(typed) => wal::run(&typed, &screen),
        Verb::Differ(typed) => differ::run(&typed, systems, &screen),
        Verb::Determinism(typed) => determinism::run(&typed, systems, &screen),
        Verb::Worker(typed) => worker::run(&typed, systems),
    }?;
    match screen.failure() {
        Some(error) => Err(anyhow::anyhow!("standard output cannot be written: {error}")),
        None => Ok(exit),
    }
}

/// A panic that reaches this far is a bug of the framework; it must not look like a finding.
fn guarded(verb: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    catch_unwind(AssertUnwindSafe(verb)).unwrap_or_else(|_| {
        Screen::new(crate::Format::Human)
            .remark("This is a bug of Whitewater itself, not of what it tests. Please report what is above.");
        Ok(Exit::Bug)
    })
}

/// Says what was wrong with the command line or a file.
fn refuse(error: &anyhow::Error) -> Exit {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Help and version are errors of clap, too, and go to standard output; who closed it needs no help.
        let _ = usage.print();
        return if usage.exit_code() == 0 { Exit::Clean } else { Exit::Usage };
    }
    Screen::new(crate::Format::Human).remark(&format!("error: {error:#}"));
    Exit::Usage
}
