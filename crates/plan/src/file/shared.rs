//! What scenarios, saved failures and plans have in common: system, options and lines of a script.

use super::diagnose::Source;
use super::layout::Json;
use crate::InputError;
use crate::suggest::{listed, nearest};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use whitewater_sim::{NodeId, Options, System, Values};

/// The fields of an object in the order of the file; a name may come once.
#[derive(Clone, Debug)]
pub(crate) struct Entries<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Entries<T> {
        Entries(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<T>, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object in braces")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut fields: Vec<(String, T)> = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if fields.iter().any(|(other, _)| *other == name) {
                        return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
                    }
                    fields.push((name, map.next_value()?));
                }
                Ok(Entries(fields))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// What a file says about its plan.
pub(crate) struct PlanParts<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) systems: &'a [&'static dyn System],
}

impl PlanParts<'_> {
    /// The system that the field `system` names.
    pub(crate) fn system(&self, name: &str) -> Result<&'static dyn System, InputError> {
        self.systems.iter().copied().find(|system| system.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.systems.iter().map(|system| system.name()).collect();
            let message = format!("there is no system `{name}`");
            self.source.wrong(&["system"], message, listed(name, &names))
        })
    }

    /// Adds the options that stand in the object at `path`.
    pub(crate) fn add_options(
        &self,
        options: &mut Options,
        path: &[&str],
        system: &dyn System,
        given: &Entries<String>,
    ) -> Result<(), InputError> {
        for (name, value) in &given.0 {
            options
                .set(system.options(), name, value)
                .map_err(|wrong| self.wrong_option(&[path, &[name]].concat(), system, name, value, wrong))?;
        }
        Ok(())
    }

    /// Plants the bug that the field at `path` names. A build without bugs can read, show and write such a file as well;
    /// only running it takes a build that has the bug.
    pub(crate) fn plant(
        &self,
        options: &mut Options,
        path: &[&str],
        system: &dyn System,
        bug: Option<&str>,
    ) -> Result<(), InputError> {
        let Some(bug) = bug else { return Ok(()) };
        if system.bugs().is_empty() {
            options.name_bug(bug);
            return Ok(());
        }
        options.plant(system.bugs(), bug).map_err(|wrong| {
            let mend = listed(bug, system.bugs());
            self.source.wrong(path, wrong.split("; ").next().unwrap_or_default().to_owned(), mend)
        })
    }

    fn wrong_option(
        &self,
        path: &[&str],
        system: &dyn System,
        name: &str,
        value: &str,
        wrong: String,
    ) -> InputError {
        let (base, node) = name.split_once('.').unwrap_or((name, ""));
        let specs = system.options();
        let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
        let is_server = node.parse().is_ok_and(NodeId::is_server);
        match specs.iter().find(|spec| spec.name == base) {
            None => {
                let message = format!("{} has no option `{base}`", system.name());
                self.source.wrong_key(path, message, listed(base, &names))
            }
            Some(spec) if name.contains('.') && !(spec.per_node && is_server) => {
                let mend = match spec.per_node {
                    true => format!("write a server behind the point, such as `{base}.n1`"),
                    false => format!("write `{base}`"),
                };
                self.source.wrong_key(path, wrong, mend)
            }
            Some(spec) => {
                let near = match spec.values {
                    Values::Words(words) => nearest(value, words),
                    _ => None,
                };
                let near = near.map_or(String::new(), |word| format!("did you mean `{word}`? "));
                let message = format!("`{value}` is no value of `{base}`");
                self.source.wrong(path, message, format!("{near}its values are {}", spec.values))
            }
        }
    }
}

/// Options as an object.
pub(crate) fn options_json(options: &Options) -> Json {
    Json::Object(options.iter().map(|(name, value)| (name.to_owned(), Json::text(value))).collect())
}

/// Lines of a script as a list.
pub(crate) fn script_json(lines: &[String]) -> Json {
    Json::List(lines.iter().map(Json::text).collect())
}
