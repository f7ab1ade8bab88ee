//! Interaction files: whole nodes, a queue of messages between them, and commands that move both.

mod arguments;
mod commands;
mod environment;
mod node;
mod output;
mod storage;

use crate::Interpreter;
use crate::datadriven::Command;
use environment::Environment;

/// The interpreter of interaction files: one group of nodes that runs through the whole file.
#[derive(Default)]
pub(crate) struct Suite {
    environment: Environment,
}

impl Interpreter for Suite {
    fn commands(&self) -> &'static [&'static str] {
        commands::COMMANDS
    }

    fn execute(&mut self, command: &Command) -> String {
        self.environment.output.clear();
        let result = commands::execute(&mut self.environment, command);
        let output = &mut self.environment.output;
        if let Err(error) = result {
            // Errors are printed at every level.
            if output.is_quiet() {
                return error;
            }
            output.write(&error);
        }
        output.take()
    }
}
