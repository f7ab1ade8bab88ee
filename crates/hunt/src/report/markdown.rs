//! The report as Markdown, for a comment or the summary of a pipeline.

use super::{About, Report, first};
use crate::failure::Failure;

/// The report of a failure as Markdown.
pub fn markdown(failure: &Failure, about: &About) -> String {
    let report = Report::of(failure, about);
    let at = report.node.as_ref().map_or(String::new(), |node| format!(" at {node}"));
    let name = report.fingerprint.as_ref().map_or(String::new(), |name| format!(" `{name}`"));
    let mut out = format!("### ✗ {}{at} after {} ms{name}\n\n", plain(&report.rule), report.time);
    if let Some(claim) = &report.claim {
        out.push_str(&format!("> {}\n\n", plain(claim)));
    }
    out.push_str(&format!("{}\n\n", plain(&report.message)));
    if let Some(clients) = &report.clients {
        let lines = clients.lines();
        let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        out.push_str(&format!("**{}**\n\n{}\n", clients.title(), block(&lines.join("\n"))));
    }
    if !report.why.is_empty() {
        let head = format!("Why, backwards ({} of {} events)", report.why.len(), report.events);
        out.push_str(&format!("**{head}**\n\n{}", block(&report.why.join("\n"))));
    }
    let first = first::text(&report);
    if !first.is_empty() {
        out.push_str(&format!("\n{}", block(first.trim_end())));
    }
    if !report.state.is_empty() {
        out.push_str("\n| Node | State at the end |\n| --- | --- |\n");
        for (node, state) in &report.state {
            out.push_str(&format!("| {node} | {} |\n", plain(state)));
        }
    }
    let rows = [
        ("Still holds", Some(report.holds())),
        ("Found by", Some(report.found_by.clone())),
        ("Shrunk", report.shrunk.clone()),
        ("Deterministic", Some(report.deterministic.clone())),
    ];
    out.push('\n');
    for (what, value) in rows {
        if let Some(value) = value {
            out.push_str(&format!("* {what}: {}\n", plain(&value)));
        }
    }
    let commands = report.commands.iter().map(|(what, command)| format!("{command:<80} # {what}"));
    out.push_str(&format!("\n{}", block(&commands.collect::<Vec<_>>().join("\n"))));
    out
}

fn block(text: &str) -> String {
    format!("```text\n{text}\n```\n")
}

/// Text in which nothing is taken for a mark.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '_' | '`' | '|' | '<' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(if letter == '\n' { ' ' } else { letter });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_looks_like_marks_is_shown_as_it_is() {
        assert_eq!(plain("n1 *x* a|b\n<c>"), "n1 \\*x\\* a\\|b \\<c>");
    }
}
