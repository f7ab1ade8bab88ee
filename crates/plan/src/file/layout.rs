//! The one layout of the files this project writes: one line of a script per line, small objects on one line.

use std::fmt::Write;

/// A JSON value with its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    /// A string.
    Text(String),
    /// A number.
    Number(u32),
    /// A list, one value per line.
    List(Vec<Json>),
    /// An object, on one line if it fits there.
    Object(Vec<(String, Json)>),
    /// An object, one field per line.
    Open(Vec<(String, Json)>),
}

/// Longest line of an object that stays on one.
const WIDTH: usize = 100;

impl Json {
    /// A string.
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// The file, with a line feed at its end.
    pub(crate) fn file(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, 0);
        out.push('\n');
        out
    }

    /// Writes the value; `column` is how much of the line is taken.
    fn write(&self, out: &mut String, depth: usize, column: usize) {
        match self {
            Json::List(values) if !values.is_empty() => {
                let lines = values.iter().map(|value| (String::new(), value));
                write_lines(out, depth, ['[', ']'], lines);
            }
            Json::Object(fields) | Json::Open(fields) if !self.fits(column) => {
                write_lines(
                    out,
                    depth,
                    ['{', '}'],
                    fields.iter().map(|(name, value)| (name_of(name), value)),
                );
            }
            _ => out.push_str(&self.on_one_line()),
        }
    }

    /// Whether it may and can stand on the line that is begun.
    fn fits(&self, column: usize) -> bool {
        match self {
            Json::Open(fields) => fields.is_empty(),
            // One more for the comma.
            _ => !self.holds_lines() && column + self.on_one_line().chars().count() < WIDTH,
        }
    }

    fn holds_lines(&self) -> bool {
        match self {
            Json::Text(_) | Json::Number(_) => false,
            Json::List(values) => !values.is_empty(),
            Json::Open(fields) => !fields.is_empty(),
            Json::Object(fields) => fields.iter().any(|(_, value)| value.holds_lines()),
        }
    }

    fn on_one_line(&self) -> String {
        match self {
            Json::Text(text) => quoted(text),
            Json::Number(number) => number.to_string(),
            Json::List(values) => {
                format!("[{}]", values.iter().map(Json::on_one_line).collect::<Vec<_>>().join(", "))
            }
            Json::Object(fields) | Json::Open(fields) if fields.is_empty() => "{}".to_owned(),
            Json::Object(fields) | Json::Open(fields) => {
                let field =
                    |(name, value): &(String, Json)| format!("{}{}", name_of(name), value.on_one_line());
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn write_lines<'a>(
    out: &mut String,
    depth: usize,
    brackets: [char; 2],
    lines: impl Iterator<Item = (String, &'a Json)>,
) {
    out.push(brackets[0]);
    for (number, (name, value)) in lines.enumerate() {
        let indent = 2 * (depth + 1);
        let comma = if number == 0 { "" } else { "," };
        write!(out, "{comma}\n{:indent$}{name}", "").expect("a string takes everything");
        value.write(out, depth + 1, indent + name.chars().count());
    }
    write!(out, "\n{:1$}{2}", "", 2 * depth, brackets[1]).expect("a string takes everything");
}

fn name_of(name: &str) -> String {
    format!("{}: ", quoted(name))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_open_objects_take_a_line_per_value_and_small_objects_one_line() {
        let small = Json::Object(vec![("rule".into(), Json::text("r")), ("node".into(), Json::text("n2"))]);
        let file = Json::Open(vec![
            ("plan".into(), Json::Number(1)),
            ("script".into(), Json::List(vec![Json::text("servers 3"), Json::text("a \"b\"")])),
            ("none".into(), Json::List(Vec::new())),
            ("empty".into(), Json::Object(Vec::new())),
            ("expect".into(), small),
        ]);
        let text = r#"{
  "plan": 1,
  "script": [
    "servers 3",
    "a \"b\""
  ],
  "none": [],
  "empty": {},
  "expect": { "rule": "r", "node": "n2" }
}
"#;
        assert_eq!(file.file(), text);
    }

    #[test]
    fn an_object_that_is_too_long_for_one_line_takes_several() {
        let value = "x".repeat(60);
        let object = Json::Object(vec![("a".into(), Json::text(&value)), ("b".into(), Json::text(&value))]);
        assert_eq!(object.file(), format!("{{\n  \"a\": \"{value}\",\n  \"b\": \"{value}\"\n}}\n"));
    }
}
