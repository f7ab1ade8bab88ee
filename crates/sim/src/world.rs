//! The world: runs the nodes of a script, event by event, and shows every step to a monitor.

use crate::monitor::Monitor;
use crate::node::Node;
use crate::script::Script;
use crate::verdict::Outcome;

/// A cluster of nodes with everything around them.
pub struct World<N: Node, M: Monitor<N>> {
    script: Script,
    options: N::Options,
    monitor: M,
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// A world at the beginning of `script`. Records a trace if `record`.
    ///
    /// # Errors
    /// The script is not valid, or holds a command that the system cannot read.
    pub fn new(script: &Script, options: N::Options, monitor: M, record: bool) -> Result<Self, String> {
        let _ = record;
        script.validate()?;
        Ok(World { script: script.clone(), options, monitor })
    }

    /// Runs to the end: faults, settling, power cycle, settling again.
    pub fn run(self) -> Outcome {
        let _ = (self.script, self.options, self.monitor);
        todo!()
    }
}
