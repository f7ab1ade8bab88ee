//! Words of a line with their columns, and the errors that point at them.

use super::LineError;

/// One word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// What it says; without its quotes, if it had any.
    pub(super) text: String,
    /// Whether it stood in quotes; it is then no keyword.
    pub(super) quoted: bool,
    /// Where it begins, in bytes.
    start: usize,
    /// Where it ends, in bytes.
    end: usize,
}

impl Word {
    /// Whether it is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

/// A place in a line; words are split off only when they are asked for, since a note may hold anything.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Words<'a> {
        Words { line, at: 0 }
    }

    /// The next word, which stays the next one. An unfinished quotation counts as one word to the end.
    pub(super) fn peek(&self) -> Option<Word> {
        let rest = &self.line[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = &self.line[start..];
        if rest.is_empty() {
            return None;
        }
        if let Some((text, length)) = unquote(rest) {
            return Some(Word { text, quoted: true, start, end: start + length });
        }
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        Some(Word { text: rest[..length].to_owned(), quoted: false, start, end: start + length })
    }

    /// The next word; the one after it is next then.
    pub(super) fn next(&mut self) -> Option<Word> {
        let word = self.peek()?;
        self.at = word.end;
        Some(word)
    }

    /// Goes past the next word if it is this keyword.
    pub(super) fn eat(&mut self, keyword: &str) -> bool {
        let eats = self.peek().is_some_and(|word| word.is(keyword));
        if eats {
            self.next();
        }
        eats
    }

    /// Everything that is left, without the space around it.
    pub(super) fn rest(&mut self) -> &'a str {
        let rest = &self.line[self.at..];
        self.at = self.line.len();
        rest.trim()
    }

    /// The line up to the beginning of a word, without the space around it.
    pub(super) fn before(&self, word: &Word) -> &'a str {
        self.line[..word.start].trim()
    }

    /// The line up to its note, if it has one.
    pub(super) fn before_note(&self) -> &'a str {
        self.line.split(" | ").next().unwrap_or_default()
    }

    /// Goes to the next bare word that satisfies `wanted`, ignoring quotes.
    pub(super) fn skip_to(&mut self, wanted: impl Fn(&str, &Words<'a>) -> bool) -> Option<Word> {
        let mut at = self.at;
        loop {
            let rest = &self.line[at..];
            let start = at + (rest.len() - rest.trim_start().len());
            let length = self.line[start..].find(char::is_whitespace).unwrap_or(self.line.len() - start);
            if length == 0 {
                return None;
            }
            let text = &self.line[start..start + length];
            at = start + length;
            if wanted(text, &Words { line: self.line, at }) {
                self.at = at;
                return Some(Word { text: text.to_owned(), quoted: false, start, end: at });
            }
        }
    }

    /// An error at a word.
    #[track_caller]
    pub(super) fn wrong(&self, word: &Word, message: String, mend: impl Into<String>) -> LineError {
        self.wrong_at(word.start, message, mend.into())
    }

    /// An error at the next word, or behind the last one.
    #[track_caller]
    pub(super) fn wrong_here(&self, message: String, mend: impl Into<String>) -> LineError {
        let at = self.peek().map_or(self.line.trim_end().len(), |word| word.start);
        self.wrong_at(at, message, mend.into())
    }

    /// Column of a word in characters, from 1.
    pub(super) fn column(&self, word: &Word) -> usize {
        self.line[..word.start].chars().count() + 1
    }

    #[track_caller]
    fn wrong_at(&self, at: usize, message: String, mend: String) -> LineError {
        #[cfg(test)]
        crate::testing::reach(std::panic::Location::caller());
        LineError { line: 0, column: self.line[..at].chars().count() + 1, message, mend }
    }
}

/// What a quotation at the beginning of `text` says, and how long it is in bytes.
fn unquote(text: &str) -> Option<(String, usize)> {
    let mut said = String::new();
    let mut letters = text.strip_prefix('"')?.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((said, at + 2)),
            '\\' => said.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            _ => said.push(letter),
        }
    }
    None
}

/// A text in quotes; it reads back as one word.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text that runs to the end of its line can stand there without quotes.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text == text.trim() && !text.starts_with('"') && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_reads_back_whatever_it_holds() {
        for text in ["", "a b", "say \"x\" \\ |", "two\nlines\tand\r", "é \u{2028}"] {
            let line = format!("  {} rest", quote(text));
            let mut words = Words::new(&line);
            let word = words.next().unwrap();
            assert_eq!((word.text.as_str(), word.quoted), (text, true));
            assert_eq!(words.rest(), "rest");
        }
    }

    #[test]
    fn columns_count_characters() {
        let mut words = Words::new("é  n1");
        words.next();
        let word = words.next().unwrap();
        assert_eq!(words.column(&word), 4);
        assert_eq!(words.wrong_here(String::new(), "").column, 6);
    }
}
