//! The format of test files: a command with arguments, optional input, a rule, the expected output.
//!
//! ```text
//! # A comment.
//! command argument key=value key=(value,value)
//! input
//! ----
//! output, up to an empty line
//! ```
//!
//! Output that has empty lines itself is fenced: a second rule follows the first, and two rules end it.

/// One command of a test file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// The line of the command, counted from 1.
    pub(crate) line: usize,
    /// The first word.
    pub(crate) name: String,
    /// The other words.
    pub(crate) arguments: Vec<Argument>,
    /// The lines between the command and the rule.
    pub(crate) input: String,
    /// The line number of the first line of the output.
    pub(crate) expected_line: usize,
    /// The expected output.
    pub(crate) expected: Vec<String>,
}

/// A word behind a command: `key`, `key=value` or `key=(value,value)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) key: String,
    pub(crate) values: Vec<String>,
}

/// Why a text is not a test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

const RULE: &str = "----";

/// Reads a whole file.
pub(crate) fn parse(text: &str) -> Result<Vec<Command>, ParseError> {
    let mut lines = Lines { lines: text.lines().collect(), at: 0 };
    let mut commands = Vec::new();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        commands.push(lines.command(line)?);
    }
    Ok(commands)
}

struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at).copied();
        self.at += 1;
        line
    }

    fn command(&mut self, first: &str) -> Result<Command, ParseError> {
        let line = self.at;
        let mut text = first.to_string();
        // A backslash at the end continues the command on the next line.
        while let Some(start) = text.strip_suffix('\\') {
            text = format!("{start} {}", self.next().unwrap_or_default().trim());
        }
        let mut words = words(&text, line)?.into_iter();
        let name = words.next().map(|word| word.key).unwrap_or_default();
        let arguments = words.collect();
        let mut input = Vec::new();
        loop {
            match self.next() {
                Some(RULE) => break,
                Some(more) => input.push(more),
                None => return Err(ParseError { line, reason: format!("no {RULE} after the command") }),
            }
        }
        let fenced = self.lines.get(self.at) == Some(&RULE);
        if fenced {
            self.at += 1;
        }
        let expected_line = self.at + 1;
        let expected = if fenced { self.fenced_output(line)? } else { self.output() };
        Ok(Command { line, name, arguments, input: input.join("\n"), expected_line, expected })
    }

    fn output(&mut self) -> Vec<String> {
        let mut output = Vec::new();
        while let Some(line) = self.next()
            && !line.is_empty()
        {
            output.push(line.to_string());
        }
        output
    }

    fn fenced_output(&mut self, command_line: usize) -> Result<Vec<String>, ParseError> {
        let mut output = Vec::new();
        loop {
            match self.next() {
                Some(RULE) if self.lines.get(self.at) == Some(&RULE) => {
                    self.at += 1;
                    return Ok(output);
                }
                Some(line) => output.push(line.to_string()),
                None => {
                    let reason = "the output does not end".to_string();
                    return Err(ParseError { line: command_line, reason });
                }
            }
        }
    }
}

/// Splits a command into words; white space inside of parentheses does not end one.
fn words(text: &str, line: usize) -> Result<Vec<Argument>, ParseError> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let key_end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        let (key, after) = rest.split_at(key_end);
        let mut word = Argument { key: key.to_string(), values: Vec::new() };
        rest = after;
        if let Some(value) = after.strip_prefix('=') {
            let value = value.trim_start_matches(' ');
            if let Some(list) = value.strip_prefix('(') {
                let Some((inside, behind)) = list.split_once(')') else {
                    return Err(ParseError {
                        line,
                        reason: "a list lacks its closing parenthesis".to_string(),
                    });
                };
                let values = inside.split(',').map(|value| value.trim().to_string());
                word.values = values.filter(|value| !value.is_empty()).collect();
                rest = behind;
            } else {
                let end = value.find(char::is_whitespace).unwrap_or(value.len());
                word.values = vec![value[..end].to_string()];
                rest = &value[end..];
            }
        }
        words.push(word);
        rest = rest.trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_arguments_input_and_output() {
        let text = "# comment\n\ndo this key=value list=(1, 2,3) empty=()\nfirst\nsecond\n----\nout\nput\n\nnext\n----\n";
        let commands = parse(text).unwrap();
        let [first, second] = &commands[..] else { panic!("{commands:?}") };
        assert_eq!((first.line, first.name.as_str(), first.input.as_str()), (3, "do", "first\nsecond"));
        let arguments: Vec<(&str, usize)> =
            first.arguments.iter().map(|argument| (argument.key.as_str(), argument.values.len())).collect();
        assert_eq!(arguments, [("this", 0), ("key", 1), ("list", 3), ("empty", 0)]);
        assert_eq!((first.expected_line, first.expected.join("|").as_str()), (7, "out|put"));
        assert_eq!((second.line, second.expected.len()), (10, 0));
    }

    #[test]
    fn fenced_output_may_have_empty_lines() {
        let commands = parse("do\n----\n----\none\n\ntwo\n----\n----\n\nnext\n----\nthree\n").unwrap();
        assert_eq!(commands[0].expected, ["one", "", "two"]);
        assert_eq!(commands[0].expected_line, 4);
        assert_eq!(commands[1].expected, ["three"]);
    }

    #[test]
    fn what_has_no_rule_is_no_test_file() {
        assert_eq!(parse("do this\nand that\n").unwrap_err().line, 1);
    }
}
