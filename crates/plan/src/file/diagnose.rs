//! Errors of a file at their place: those of the JSON parser, of values, and of lines of a script.

use super::places::{Entry, entries, inside_string, line_and_column, place_of};
use crate::InputError;
use crate::suggest::listed;
use crate::text::LineError;
use serde::de::DeserializeOwned;

/// A file that is read.
pub(crate) struct Source<'a> {
    file: &'a str,
    json: &'a str,
    entries: Vec<Entry>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(file: &'a str, json: &'a str) -> Source<'a> {
        Source { file, json, entries: entries(json) }
    }

    /// The name of the file as it was given.
    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// Whether there is a value at a path, such as `["variants", "drop"]`.
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        self.find(path).is_some()
    }

    /// The whole file as a value.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        serde_json::from_str(self.json).map_err(|error| self.diagnose(&error))
    }

    /// An error at a value.
    #[track_caller]
    pub(crate) fn wrong(&self, path: &[&str], message: String, mend: impl Into<String>) -> InputError {
        #[cfg(test)]
        crate::testing::reach(std::panic::Location::caller());
        self.at(self.find(path).map_or(0, |entry| entry.value), message, mend.into())
    }

    /// An error at the name of a field.
    #[track_caller]
    pub(crate) fn wrong_key(&self, path: &[&str], message: String, mend: impl Into<String>) -> InputError {
        #[cfg(test)]
        crate::testing::reach(std::panic::Location::caller());
        self.at(self.find(path).map_or(0, |entry| entry.key), message, mend.into())
    }

    /// An error in a line of the list `script`.
    pub(crate) fn wrong_line(&self, wrong: LineError) -> InputError {
        let line = wrong.line.to_string();
        let place = match self.find(&["script", &line]) {
            Some(entry) => inside_string(self.json, entry.value, wrong.column - 1),
            None => self.find(&["script"]).map_or(0, |entry| entry.value),
        };
        self.at(place, wrong.message, wrong.mend)
    }

    fn find(&self, path: &[&str]) -> Option<&Entry> {
        // The parser takes the last of two fields of one name, if it takes them at all.
        self.entries.iter().rfind(|entry| entry.path == path)
    }

    fn at(&self, place: usize, message: String, mend: String) -> InputError {
        let (line, column) = line_and_column(self.json, place);
        InputError { file: self.file.to_owned(), line, column, message, mend }
    }

    fn diagnose(&self, error: &serde_json::Error) -> InputError {
        let place = place_of(self.json, error.line(), error.column());
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let quoted = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
        let known =
            |text: &str| -> Vec<String> { text.split('`').skip(3).step_by(2).map(str::to_owned).collect() };
        let suggestion = |word: &str| {
            let known = known(said);
            listed(word, &known.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let word = quoted(said);
        if said.starts_with("unknown field") {
            let message = format!("there is no field `{word}` here");
            self.at(self.key_before(place, &word), message, suggestion(&word))
        } else if said.starts_with("unknown variant") {
            let message = format!("`{word}` is not known here");
            self.at(self.named_before(place, &word), message, suggestion(&word))
        } else if said.starts_with("duplicate field") {
            let mend = "keep one of the two".to_owned();
            self.at(self.key_before(place, &word), format!("`{word}` comes a second time"), mend)
        } else if said.starts_with("missing field") {
            let mend = format!("add `\"{word}\"`");
            self.at(place.saturating_sub(1), format!("the field `{word}` is missing"), mend)
        } else if let Some((what, wanted)) = said.split_once(", expected ") {
            let start = self.value_before(place);
            self.at(start, format!("{} does not belong here", found_words(what)), wanted_words(wanted))
        } else if said.contains("surrogate") || said.contains("escape") {
            let start = self.value_before(place);
            let mend = "write the letters themselves, or \\u with four digits; two of them for what lies beyond 16 bits";
            self.at(start, format!("this is no text: {said}"), mend.to_owned())
        } else if self.json.trim().is_empty() {
            let mend =
                "put back what was in it, or remove it; `cargo xtask scenario new NAME` begins a scenario"
                    .to_owned();
            self.at(0, "the file is empty".to_owned(), mend)
        } else if self.json.as_bytes()[..place.min(self.json.len())].trim_ascii_end().ends_with(b"/") {
            let mend = "take the comment out, or say it in `notes` or behind ` | ` in a line of the script"
                .to_owned();
            self.at(place.saturating_sub(1), "JSON has no comments".to_owned(), mend)
        } else if serde_json::from_str::<serde::de::IgnoredAny>(self.json).is_ok() {
            let start = self.value_before(place);
            let mend = "write a word in quotes, or an object in braces".to_owned();
            self.at(start, "a value of this kind does not belong here".to_owned(), mend)
        } else {
            let mend = "look for a missing or surplus comma, quote or bracket".to_owned();
            self.at(place.saturating_sub(1), format!("this is not JSON: {said}"), mend)
        }
    }

    /// Where the last value that begins before a place or at it stands.
    fn value_before(&self, place: usize) -> usize {
        self.entries.iter().rfind(|entry| entry.value <= place).map_or(0, |entry| entry.value)
    }

    /// Where the last field of that name before a place stands.
    fn key_before(&self, place: usize, name: &str) -> usize {
        let is_it = |entry: &&Entry| entry.key < place && entry.path.last().is_some_and(|last| last == name);
        self.entries.iter().rev().find(is_it).map_or(place, |entry| entry.key)
    }

    /// Where the last field of that name or the last value with that text before a place stands.
    fn named_before(&self, place: usize, text: &str) -> usize {
        let said = format!("\"{text}\"");
        let starts = |at: usize| at < place && self.json[at..].starts_with(&said);
        let places = self.entries.iter().rev().flat_map(|entry| [entry.value, entry.key]);
        places.into_iter().find(|&at| starts(at)).unwrap_or(place)
    }
}

/// What the parser found, in words of people who write files.
fn found_words(said: &str) -> &str {
    match said.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ") {
        "map" => "an object",
        "sequence" => "a list",
        "unit variant" => "a word alone",
        "newtype variant" | "struct variant" => "a word with a value",
        what if what.starts_with("invalid length") => "a list",
        what => what,
    }
}

/// What the parser wanted, as advice for people who write files.
fn wanted_words(wanted: &str) -> String {
    let advice = match wanted {
        "a string" => "write a string in quotes",
        "u32" => "write a whole number",
        "a sequence" => "write a list in brackets",
        "a map" => "write an object in braces",
        "unit" | "unit variant" => "write the word alone, in quotes",
        "newtype variant" | "struct variant" => {
            "write an object in braces: the word, and behind it what belongs to it"
        }
        wanted if wanted.starts_with("struct ") => "write an object in braces",
        wanted => return format!("write {wanted}"),
    };
    advice.to_owned()
}
