//! Scenarios: a script with a name, notes and variants, each with what is expected of it.

mod around;
mod index;
mod read;
mod schema;
mod sense;
mod step;

pub use around::around;
pub use index::index;
pub(crate) use read::check_rule;
pub use schema::schema;

use crate::file::{Json, options_json, script_json};
use crate::text::{Setting, script_lines};
use crate::{PLAN_VERSION, Plan, Profile};
use whitewater_sim::{NodeId, Options, Script};

/// Where the schema lies, seen from the folder of the scenarios.
pub const SCHEMA: &str = "schema/scenario.json";

/// What stands in the place of a node where a rule shows at none in particular, such as a limit of the whole run.
const NO_NODE: &str = "none";

/// A race as a story: one script, run under several options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Where the schema of its file is, if the file says so.
    pub schema: Option<String>,
    /// Its name, the same as that of its file without `.json`.
    pub name: String,
    /// What it is about, in a word or two.
    pub theme: Option<String>,
    /// What is to be learned from it, in one sentence.
    pub moral: Option<String>,
    /// What happens and why it matters, for people.
    pub notes: Vec<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// Name of the system it is for.
    pub system: String,
    /// Options of every variant.
    pub options: Options,
    /// The lines of the script, each in its usual form, settings first.
    pub lines: Vec<String>,
    /// What the lines mean.
    pub script: Script,
    /// What it is run as, in the order of the file.
    pub variants: Vec<Variant>,
}

/// One way to run a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it stands for, for people.
    pub note: Option<String>,
    /// The options it adds to those of the scenario.
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
        /// The node at which it shows; `None` for a rule that shows at no node in particular.
        node: Option<NodeId>,
    },
}

impl Scenario {
    /// The beginning of a scenario: three servers, no faults, one variant `plain` that passes; notes are to be written.
    pub fn begin(name: &str, system: &str) -> Scenario {
        let settings = Setting::all_of(&Script::default()).into_iter();
        let lines =
            settings.filter(|setting| !matches!(setting, Setting::Limits { .. } | Setting::Clients(_)));
        Scenario {
            schema: Some(SCHEMA.to_owned()),
            name: name.to_owned(),
            theme: None,
            moral: None,
            notes: Vec::new(),
            source: None,
            system: system.to_owned(),
            options: Options::new(),
            lines: lines.map(|setting| setting.to_string()).collect(),
            script: Script::default(),
            variants: vec![Variant {
                name: "plain".to_owned(),
                note: None,
                options: Options::new(),
                expect: Expect::Pass,
            }],
        }
    }

    /// A scenario of one variant, `found`, made of a plan; notes are to be written.
    pub fn of_plan(name: &str, plan: &Plan, expect: Expect) -> Scenario {
        let variant = Variant { name: "found".to_owned(), note: None, options: plan.options.clone(), expect };
        Scenario {
            lines: script_lines(&plan.script),
            script: plan.script.clone(),
            variants: vec![variant],
            ..Scenario::begin(name, &plan.system)
        }
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// What is run for a variant of this scenario.
    pub fn plan(&self, variant: &Variant) -> Plan {
        Plan {
            version: PLAN_VERSION,
            system: self.system.clone(),
            profile: Profile::Calm,
            options: self.options.with(&variant.options),
            script: self.script.clone(),
        }
    }

    /// The file in its one layout; [`Scenario::parse`] reads it back as the same scenario.
    pub fn format(&self) -> String {
        let mut fields = Vec::new();
        let mut add = |name: &str, value: Json| fields.push((name.to_owned(), value));
        if let Some(schema) = &self.schema {
            add("$schema", Json::text(schema));
        }
        add("name", Json::text(&self.name));
        if let Some(theme) = &self.theme {
            add("theme", Json::text(theme));
        }
        if let Some(moral) = &self.moral {
            add("moral", Json::text(moral));
        }
        add("notes", Json::List(self.notes.iter().map(Json::text).collect()));
        if let Some(source) = &self.source {
            add("source", Json::text(source));
        }
        add("system", Json::text(&self.system));
        if self.options.iter().next().is_some() {
            add("options", options_json(&self.options));
        }
        add("script", script_json(&self.lines));
        let variants = self.variants.iter().map(|variant| (variant.name.clone(), variant.json()));
        add("variants", Json::Open(variants.collect()));
        Json::Open(fields).file()
    }
}

impl Variant {
    fn json(&self) -> Json {
        let mut fields = Vec::new();
        if let Some(note) = &self.note {
            fields.push(("note".to_owned(), Json::text(note)));
        }
        if self.options.iter().next().is_some() {
            fields.push(("options".to_owned(), options_json(&self.options)));
        }
        if let Some(bug) = self.options.planted() {
            fields.push(("bug".to_owned(), Json::text(bug)));
        }
        let expect = match &self.expect {
            Expect::Pass => Json::text("pass"),
            Expect::Violates { rule, node } => {
                let node = node.map_or(NO_NODE.to_owned(), |node| node.to_string());
                let what = [("rule", Json::text(rule)), ("node", Json::text(node))];
                let what = Json::Object(what.map(|(name, value)| (name.to_owned(), value)).into());
                Json::Object(vec![("violates".to_owned(), what)])
            }
        };
        fields.push(("expect".to_owned(), expect));
        Json::Open(fields)
    }
}
