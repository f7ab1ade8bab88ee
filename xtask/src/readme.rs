//! The commands of a page with the exit codes it promises, so that `ci` can hold it to them.

use anyhow::{Context, bail};

/// A command of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Promise {
    /// Its line in the file, from 1.
    pub(crate) line: usize,
    /// The words of the command.
    pub(crate) words: Vec<String>,
    /// The exit code it is to have.
    pub(crate) code: i32,
}

/// Every command in a block of shell lines. Behind a command may stand a remark: `# exit 1`, or `# exit 1: why`
/// promises that code; any other remark, or none, promises 0.
///
/// # Errors
/// A line is no command of cargo: `file` must not need anything else.
pub(crate) fn promises(file: &str, text: &str) -> anyhow::Result<Vec<Promise>> {
    let mut promises = Vec::new();
    let mut in_shell = false;
    for (at, line) in text.lines().enumerate() {
        match line.trim() {
            fence if fence.starts_with("```") => in_shell = fence == "```sh",
            command if in_shell && !command.is_empty() => {
                let promise = promise(at + 1, command);
                promises.push(promise.with_context(|| format!("{file}:{}: `{command}`", at + 1))?);
            }
            _ => {}
        }
    }
    Ok(promises)
}

fn promise(line: usize, text: &str) -> anyhow::Result<Promise> {
    let (command, remark) = text.split_once(" #").unwrap_or((text, ""));
    let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    if words.first().is_none_or(|word| word != "cargo") {
        bail!("a block of shell lines holds commands of cargo only; use ```text for anything else");
    }
    let code = match remark.trim().strip_prefix("exit ") {
        Some(rest) => {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().context("`# exit` is followed by a number")?
        }
        None => 0,
    };
    Ok(Promise { line, words, code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_promises_0_unless_its_remark_says_otherwise() {
        let text = "```sh\ncargo xtask demo\ncargo a b   # exit 1: found\ncargo c # a remark\n```\n";
        let found: Vec<_> =
            promises("page.md", text).unwrap().into_iter().map(|p| (p.line, p.words.len(), p.code)).collect();
        assert_eq!(found, [(2, 3, 0), (3, 3, 1), (4, 2, 0)]);
    }

    #[test]
    fn only_shell_blocks_hold_commands() {
        assert_eq!(promises("page.md", "cargo build\n```text\ncargo test\n```\n").unwrap(), []);
    }

    #[test]
    fn a_command_that_needs_more_than_rust_is_refused() {
        assert!(promises("page.md", "```sh\nmake\n```").unwrap_err().to_string().contains("page.md:2"));
        assert!(promises("page.md", "```sh\ncargo a # exit early\n```").is_err());
    }
}
