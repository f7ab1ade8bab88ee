//! Reads one value as it is written in EDN or in JSON: what both have in common with maps, lists, texts and numbers.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Datum {
    /// `nil` or `null`.
    Nil,
    /// A number, `true`, `false`, or a name behind a colon without it.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// A vector, list or set.
    List(Vec<Datum>),
    /// A map, in the order in which it is written.
    Map(Vec<(String, Datum)>),
}

impl Datum {
    /// What a key stands for in a map.
    pub(super) fn get(&self, key: &str) -> Option<&Datum> {
        let Datum::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Its text, if it is one of a single piece.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Datum::Word(text) | Datum::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a value that takes the whole of a text.
///
/// # Errors
/// What is wrong and where, in bytes from 1.
pub(super) fn parse(text: &str) -> Result<Datum, String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.skip_blanks();
    if reader.at < text.len() { Err(reader.wrong("nothing more")) } else { Ok(value) }
}

/// Deepest nesting of lists and maps.
const DEPTH_MAX: usize = 16;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, expected: &str) -> String {
        let found: String = self.rest().chars().take(12).collect();
        let found = if found.is_empty() { "the end".to_owned() } else { format!("`{found}`") };
        format!("expected {expected} at column {}, found {found}", self.at + 1)
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
    }

    fn eat(&mut self, what: &str) -> bool {
        let eaten = self.rest().starts_with(what);
        self.at += if eaten { what.len() } else { 0 };
        eaten
    }

    fn value(&mut self, depth: usize) -> Result<Datum, String> {
        self.skip_blanks();
        if depth > DEPTH_MAX {
            return Err(self.wrong("less nesting"));
        }
        if self.eat("#{") {
            return self.list("}", depth);
        }
        if self.eat("{") {
            return self.map(depth);
        }
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.eat(open) {
                return self.list(close, depth);
            }
        }
        if self.rest().starts_with('"') {
            return self.quoted().map(Datum::Text);
        }
        self.eat(":");
        let word = self.word()?;
        Ok(if word == "nil" || word == "null" { Datum::Nil } else { Datum::Word(word) })
    }

    fn list(&mut self, close: &str, depth: usize) -> Result<Datum, String> {
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat(close) {
                return Ok(Datum::List(items));
            }
            items.push(self.value(depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Datum, String> {
        let mut entries = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat("}") {
                return Ok(Datum::Map(entries));
            }
            let key = if self.rest().starts_with('"') {
                let key = self.quoted()?;
                self.skip_blanks();
                if !self.eat(":") {
                    return Err(self.wrong("a colon"));
                }
                key
            } else if self.eat(":") {
                self.word()?
            } else {
                return Err(self.wrong("a key or the end of the map"));
            };
            entries.push((key, self.value(depth + 1)?));
        }
    }

    fn word(&mut self) -> Result<String, String> {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || ",\"{}[]()".contains(c);
        let word = rest[..rest.find(ends).unwrap_or(rest.len())].to_owned();
        if word.is_empty() {
            return Err(self.wrong("a value"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn quoted(&mut self) -> Result<String, String> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(plain) = self.rest().find(['"', '\\']) else {
                self.at = start;
                return Err(self.wrong("a text with a quotation mark at its end"));
            };
            text.push_str(&self.rest()[..plain]);
            self.at += plain;
            if self.eat("\"") {
                return Ok(text);
            }
            self.at += 1;
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let escaped = self.rest().chars().next();
        let c = match escaped {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('u') => return self.unicode(),
            _ => return Err(self.wrong("one of n, t, r, b, f, u, a quotation mark or a slash")),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char, String> {
        let unit = |at: usize, text: &str| {
            text.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
        };
        let first = unit(self.at + 1, self.text);
        let second = match first {
            Some(0xd800..=0xdbff) if self.text[self.at + 5..].starts_with("\\u") => {
                unit(self.at + 7, self.text)
            }
            _ => None,
        };
        let code = match (first, second) {
            (Some(high), Some(low @ 0xdc00..=0xdfff)) => {
                Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            (first, _) => first,
        };
        let Some(c) = code.and_then(char::from_u32) else { return Err(self.wrong("a character's number")) };
        self.at += if c as u32 > 0xffff { 11 } else { 5 };
        Ok(c)
    }
}

/// A text as JSON writes it, quotation marks included.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if (c as u32) < 0x20 => quoted.push_str(&format!("\\u{:04x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Datum {
        Datum::Word(text.to_owned())
    }

    #[test]
    fn a_map_reads_the_same_in_both_notations() {
        let edn = parse(r#"{:process 3, :type :ok, :value [1 2], :key "a b"}"#).unwrap();
        let json = parse(r#"{"process":3,"type":"ok","value":[1,2],"key":"a b"}"#).unwrap();
        for map in [&edn, &json] {
            assert_eq!(map.get("process"), Some(&word("3")));
            assert_eq!(map.get("type").and_then(Datum::as_text), Some("ok"));
            assert_eq!(map.get("value"), Some(&Datum::List(vec![word("1"), word("2")])));
            assert_eq!(map.get("key"), Some(&Datum::Text("a b".to_owned())));
        }
        assert_eq!((parse("nil"), parse("null")), (Ok(Datum::Nil), Ok(Datum::Nil)));
        assert_eq!(parse("#{4 :a}"), Ok(Datum::List(vec![word("4"), word("a")])));
    }

    #[test]
    fn a_text_survives_being_written_and_read() {
        for text in ["", "a\"b\\c", "x\n\t\u{1}", "é \u{1f600}"] {
            assert_eq!(parse(&quote(text)), Ok(Datum::Text(text.to_owned())));
        }
        assert_eq!(parse(r#""\ud83d\ude00\u00e9""#), Ok(Datum::Text("\u{1f600}é".to_owned())));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_column() {
        for (text, column) in [
            ("{:a", 4),
            ("{:a 1", 6),
            ("{\"a\" 1}", 6),
            ("[1 2", 5),
            ("\"abc", 1),
            ("1 2", 3),
            ("\"\\ud83d\"", 3),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(&format!("at column {column},")), "{text}: {why}");
        }
        assert!(parse(&"[".repeat(100)).unwrap_err().contains("less nesting"));
    }
}
