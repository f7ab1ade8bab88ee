//! Scenarios: a script with a name, notes and variants, each with what is expected of it.

use crate::text::LineError;
use crate::{InputError, Plan};
use whitewater_sim::{NodeId, Options, Script, System};

/// A race as a story: one script, run under several options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name, the same as that of its file without `.json`.
    pub name: String,
    /// What happens and why it matters, for people.
    pub notes: Vec<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// Name of the system it is for.
    pub system: String,
    /// Options of every variant.
    pub options: Options,
    /// The script.
    pub script: Script,
    /// What it is run as.
    pub variants: Vec<Variant>,
}

/// One way to run a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// All its options, those of the scenario included.
    pub options: Options,
    /// What is expected.
    pub expect: Expect,
}

/// What a run is expected to end with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is found.
    Pass,
    /// This rule is broken.
    Violates {
        /// Name of the rule.
        rule: String,
        /// The node at which it shows; any if `None`.
        node: Option<NodeId>,
    },
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(
        file_name: &str,
        json: &str,
        systems: &[&'static dyn System],
    ) -> Result<Scenario, InputError> {
        let _ = (json, systems);
        let wrong = LineError { line: 0, column: 1, message: "not read yet".into(), mend: String::new() };
        Err(InputError {
            file: file_name.to_owned(),
            line: wrong.line + 1,
            column: wrong.column,
            message: wrong.message,
            mend: wrong.mend,
        })
    }

    /// What is run for a variant of this scenario.
    pub fn plan(&self, variant: &Variant) -> Plan {
        Plan {
            version: crate::PLAN_VERSION,
            system: self.system.clone(),
            profile: crate::Profile::Calm,
            options: variant.options.clone(),
            script: self.script.clone(),
        }
    }

    /// The file in its one layout.
    pub fn format(&self) -> String {
        self.name.clone()
    }
}
