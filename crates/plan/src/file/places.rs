//! Where the values of a JSON file stand, so that what is wrong with one can be pointed at.

/// A value of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Names of fields and positions in lists that lead to it.
    pub(super) path: Vec<String>,
    /// Where its field name begins, in bytes; where the value begins if it has none.
    pub(super) key: usize,
    /// Where it begins, in bytes.
    pub(super) value: usize,
}

/// All values of a text, in the order in which they begin; of a broken text those before the break.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, path: Vec::new(), entries: Vec::new() };
    // A broken text is reported by whoever parses it; what was found until then is good enough to point at.
    let _ = scanner.value(None);
    scanner.entries
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<String>,
    entries: Vec<Entry>,
}

/// Deeper texts are refused by the parser as well.
const DEPTH_MAX: usize = 120;

impl Scanner<'_> {
    fn value(&mut self, key: Option<usize>) -> Option<()> {
        self.space();
        let value = self.at;
        self.entries.push(Entry { path: self.path.clone(), key: key.unwrap_or(value), value });
        if self.path.len() > DEPTH_MAX {
            return None;
        }
        match self.bytes.get(self.at)? {
            b'{' => self.members(b'}', |scanner, _| {
                let start = scanner.at;
                let name = scanner.string()?;
                scanner.space();
                scanner.take(b':')?;
                scanner.inside(name, Some(start))
            }),
            b'[' => self.members(b']', |scanner, number| scanner.inside(number.to_string(), None)),
            b'"' => self.string().map(drop),
            _ => {
                let ends = |byte: &u8| b",]}".contains(byte) || byte.is_ascii_whitespace();
                self.at += self.bytes[self.at..].iter().take_while(|byte| !ends(byte)).count();
                Some(())
            }
        }
    }

    fn inside(&mut self, name: String, key: Option<usize>) -> Option<()> {
        self.path.push(name);
        self.value(key)?;
        self.path.pop();
        Some(())
    }

    fn members(&mut self, end: u8, member: impl Fn(&mut Self, usize) -> Option<()>) -> Option<()> {
        self.at += 1;
        for number in 0.. {
            self.space();
            if self.take(end).is_some() {
                return Some(());
            }
            if number > 0 {
                self.take(b',')?;
                self.space();
            }
            member(self, number)?;
        }
        None
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(&self.bytes[start..self.at]).ok()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.bytes.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn space(&mut self) {
        self.at += self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }
}

/// Where the `letter`-th letter of a string stands in the file: strings may hold escapes of several letters.
///
/// `start` is where its opening quote stands, in bytes; letters count from 0.
pub(super) fn inside_string(text: &str, start: usize, letter: usize) -> usize {
    let mut at = start + 1;
    for _ in 0..letter {
        let rest = &text[at..];
        at += match rest.chars().next() {
            // A letter beyond 16 bits is written as two escapes.
            Some('\\') if rest[1..].starts_with('u') => match rest.get(2..3) {
                Some("d" | "D") if matches!(rest.get(3..4), Some("8" | "9" | "a" | "b" | "A" | "B")) => 12,
                _ => 6,
            },
            Some('\\') => 2,
            Some('"') | None => 0,
            Some(other) => other.len_utf8(),
        };
        at = at.min(text.len());
    }
    at
}

/// Line and column in characters, both from 1, of a place in bytes.
pub(super) fn line_and_column(text: &str, place: usize) -> (usize, usize) {
    let place = (0..=place.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let before = &text[..place];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The place in bytes of a line, from 1, and a count of bytes of that line, as the parser reports it.
pub(super) fn place_of(text: &str, line: usize, bytes: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + bytes).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found_with_its_path_and_place() {
        let text = r#"{"a": [1, "x\"y"], "b": {"c": true}}"#;
        let found: Vec<(String, &str, &str)> = entries(text)
            .into_iter()
            .map(|entry| (entry.path.join("/"), &text[entry.key..][..1], &text[entry.value..][..1]))
            .collect();
        let expected = [
            ("", "{", "{"),
            ("a", "\"", "["),
            ("a/0", "1", "1"),
            ("a/1", "\"", "\""),
            ("b", "\"", "{"),
            ("b/c", "\"", "t"),
        ];
        assert_eq!(found, expected.map(|(path, key, value)| (path.to_owned(), key, value)));
    }

    #[test]
    fn a_broken_text_gives_what_stands_before_the_break() {
        assert_eq!(entries(r#"{"a": 1, "b"#).len(), 2);
        assert_eq!(entries("").len(), 1);
        assert_eq!(entries(&"[".repeat(1_000)).len(), DEPTH_MAX + 2);
    }

    #[test]
    fn letters_of_a_string_are_found_behind_escapes() {
        let text = r#""a\"é\u00e9\ud83d\ude00z""#;
        let said: String = serde_json::from_str(text).unwrap();
        assert_eq!(said, "a\"éé😀z");
        assert_eq!(&text[inside_string(text, 0, 5)..], "z\"");
        assert_eq!(&text[inside_string(text, 0, 6)..], "\"");
        assert_eq!(&text[inside_string(text, 0, 99)..], "\"");
    }

    #[test]
    fn columns_count_characters_and_lines_from_one() {
        assert_eq!(line_and_column("é1\nab", 0), (1, 1));
        assert_eq!(line_and_column("é1\nab", 2), (1, 2));
        assert_eq!(line_and_column("é1\nab", 5), (2, 2));
        assert_eq!(place_of("é1\nab", 2, 1), 5);
    }
}
