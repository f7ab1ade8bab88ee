//! The header of a patch file: `key: value` lines up to the first empty line.

use crate::PatchError;
use std::collections::BTreeMap;

/// Every key there is, and whether a header must have it.
const KEYS: [(&str, bool); 8] = [
    ("id", true),
    ("mechanism", true),
    ("property", true),
    ("source", true),
    ("events", true),
    ("system", true),
    ("nodes", false),
    ("survives", false),
];

/// What a header says.
pub(crate) struct Header<'a> {
    file: &'a str,
    values: BTreeMap<&'a str, &'a str>,
}

impl<'a> Header<'a> {
    /// Reads the header of a file; gives the rest of the file, too.
    pub(crate) fn read(file: &'a str, text: &'a str) -> Result<(Header<'a>, &'a str), PatchError> {
        let (header, rest) = text
            .split_once("\n\n")
            .ok_or_else(|| PatchError::new(file, "an empty line is missing behind the header"))?;
        let mut values = BTreeMap::new();
        for (at, line) in header.lines().enumerate() {
            let wrong = |what: String| PatchError::new(&format!("{file}:{}", at + 1), what);
            let (key, value) =
                line.split_once(": ").ok_or_else(|| wrong(format!("`{line}` is not `key: value`")))?;
            if !KEYS.iter().any(|(known, _)| *known == key) {
                let keys: Vec<_> = KEYS.iter().map(|(key, _)| *key).collect();
                return Err(wrong(format!("there is no key `{key}`; there are {}", keys.join(", "))));
            }
            if values.insert(key, value.trim()).is_some() {
                return Err(wrong(format!("`{key}` comes twice")));
            }
        }
        match KEYS.iter().find(|(key, needed)| *needed && !values.contains_key(key)) {
            Some((key, _)) => Err(PatchError::new(file, format!("the header lacks `{key}: ...`"))),
            None => Ok((Header { file, values }, rest)),
        }
    }

    /// The value of a key, if the header has it.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        self.values.get(key).map(|&value| value.to_owned())
    }

    /// The value of a key that a header must have.
    pub(crate) fn text(&self, key: &str) -> String {
        self.get(key).expect("the keys that must be there are")
    }

    /// The value of a key that is a small number.
    pub(crate) fn number(&self, key: &str) -> Result<u32, PatchError> {
        let text = self.text(key);
        text.parse().map_err(|_| PatchError::new(self.file, format!("`{key}: {text}` is no number")))
    }
}
