//! The words texts share: times, steps, and texts that differ only in their numbers.

use whitewater_plan::text::print_step;
use whitewater_sim::{NodeId, Step, Time, TraceEvent};

/// A time in milliseconds with two digits after the point, rounded down.
pub(crate) fn clock(time: Time) -> String {
    let hundredths = time.nanos() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// The line of a step without its note.
pub(crate) fn step_line(step: &Step) -> String {
    print_step(&Step { note: None, ..step.clone() })
}

/// The text with every number replaced by `#`, so that texts that say the same of other numbers are equal. Nodes such as
/// `n2` keep theirs.
pub(crate) fn numberless(text: &str) -> String {
    let parts = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    parts.map(|part| if is_node(part) { part.to_owned() } else { nameless(part) }).collect()
}

/// Whether a word, with whatever ends it, is the name of a node.
fn is_node(part: &str) -> bool {
    part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).parse::<NodeId>().is_ok()
}

/// The same with the numbers in names of nodes masked as well.
pub(crate) fn nameless(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for c in part.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

/// The remarks of an event in one line, equal ones once, but for when a message will arrive, which its arrival shows.
pub(crate) fn remarks(event: &TraceEvent) -> String {
    let mut told: Vec<(&str, usize)> = Vec::new();
    for note in event.notes.iter().filter(|note| !note.starts_with("arrives ")) {
        match told.last_mut() {
            Some((last, times)) if last == note => *times += 1,
            _ => told.push((note, 1)),
        }
    }
    let told = told.into_iter().map(|(note, times)| match times {
        1 => note.to_owned(),
        times => format!("{note} ({times} times)"),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Columns of the margin.
const MARGIN_WIDTH: usize = 60;

/// The lines that a text takes in the margin.
pub(crate) fn margin_lines(text: &str) -> Vec<String> {
    wrapped(text, MARGIN_WIDTH)
}

/// A text in lines of at most `width` characters, broken between words.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text of at most `width` characters; a longer one ends with a mark.
pub(crate) fn clipped(text: String, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text,
        Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_milliseconds() {
        assert_eq!(clock(Time::from_nanos(0)), "0.00");
        assert_eq!(clock(Time::from_nanos(4_219_999)), "4.21");
        assert_eq!(clock(Time::from_millis(1_200)), "1200.00");
    }

    #[test]
    fn a_remark_made_again_is_counted() {
        let mut sketch = crate::traces::Sketch::new();
        sketch.timer(crate::traces::n(1), "worker");
        let mut event = sketch.trace().events.remove(0);
        event.notes = ["arrives 7ms", "rejected", "rejected", "follows"].map(str::to_owned).to_vec();
        assert_eq!(remarks(&event), "rejected (2 times); follows");
    }

    #[test]
    fn a_long_text_is_clipped_between_characters() {
        assert_eq!(clipped("n1->n2 Röws".into(), 11), "n1->n2 Röws");
        assert_eq!(clipped("n1->n2 Röws".into(), 9), "n1->n2 R…");
    }

    #[test]
    fn numbers_are_masked_and_names_are_not() {
        assert_eq!(numberless("n1->n2 Rows Term:12 Log:3/144"), "n1->n2 Rows Term:# Log:#/#");
        assert_eq!(numberless("op17 x=1"), "op# x=#");
    }
}
