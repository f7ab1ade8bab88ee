//! Draws the operations of a counter-example: one line each, with a bar from its beginning to its end.

use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use crate::reduce::CounterExample;
use std::fmt;

/// Most characters of a value that are shown.
const VALUE_MAX: usize = 40;
/// Most operations that are drawn.
const LINES_MAX: usize = 40;
/// Widest picture of time, in characters.
const COLUMNS_MAX: usize = 48;

impl fmt::Display for CounterExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations = &self.history.operations;
        let key = operations.first().map_or(Symbol::NIL, |op| op.key);
        let of_key = match key {
            Symbol::NIL => String::new(),
            key => format!(" on {}", shortened(self.history.symbols.text(key))),
        };
        let in_vain = self.in_vain.len();
        writeln!(
            f,
            "no order explains these {} of {} operations{of_key}",
            operations.len() - in_vain,
            self.of
        )?;
        if self.from_anything {
            writeln!(f, "(whatever the value was before)")?;
        }
        if self.abridged {
            writeln!(f, "(values are shown without what plays no part)")?;
        }
        let is_needed = |&(place, _): &(u32, &Operation)| !self.in_vain.contains(&place);
        let mut drawn: Vec<&Operation> = (0..).zip(operations).filter(is_needed).map(|(_, op)| op).collect();
        drawn.sort_by_key(|op| op.invoked);
        let rows: Vec<[String; 3]> = drawn.iter().take(LINES_MAX).map(|op| row(&self.history, op)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second, third) = (width(0), width(1), width(2));
        let columns = Columns::of(&drawn);
        for (row, op) in rows.iter().zip(&drawn) {
            let [lines, process, what] = row;
            writeln!(f, "  {lines:>first$}  {process:>second$}  {what:third$}  {}", columns.bar(op))?;
        }
        if drawn.len() > LINES_MAX {
            writeln!(f, "  and {} more", drawn.len() - LINES_MAX)?;
        }
        if in_vain > 0 {
            writeln!(f, "({in_vain} more that may have taken place meanwhile do not explain them either)")?;
        }
        Ok(())
    }
}

/// Where it stands, whose it is and what it is.
fn row(history: &History, op: &Operation) -> [String; 3] {
    let lines = match op.lines {
        [0, 0] => String::new(),
        [began, 0] => format!("line {began}"),
        [began, ended] => format!("lines {began}, {ended}"),
    };
    [lines, format!("process {}", op.process), sentence(history, op)]
}

fn sentence(history: &History, op: &Operation) -> String {
    let text = |symbol: Symbol| match symbol {
        Symbol::NIL => "nil".to_owned(),
        symbol => shortened(history.symbols.text(symbol)),
    };
    let asked = match op.ask {
        Ask::Read => "read".to_owned(),
        Ask::Write(value) => format!("write {}", text(value)),
        Ask::Swap(old, new) => format!("cas {} {}", text(old), text(new)),
        Ask::Append(value) => format!("append {}", text(value)),
        Ask::Push(value) => format!("push {}", text(value)),
        Ask::Add(element) => format!("add {}", text(element)),
    };
    match op.outcome {
        Outcome::Done => asked,
        Outcome::Value(value) => format!("{asked} -> {}", text(value)),
        Outcome::Elements(list) => {
            let elements: Vec<String> = history.lists[list as usize].iter().map(|&e| text(e)).collect();
            format!("{asked} -> {{{}}}", shortened(&elements.join(" ")))
        }
        Outcome::Differs => format!("{asked} -> differs"),
        Outcome::Unknown => format!("{asked} -> ?"),
    }
}

/// A text with its middle left out if it is long.
fn shortened(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= VALUE_MAX {
        return text.to_owned();
    }
    let half = VALUE_MAX / 2;
    let start: String = characters[..half].iter().collect();
    let end: String = characters[characters.len() - half..].iter().collect();
    format!("{start}...{end}")
}

/// Moments, each in a column of its own as long as there are enough.
struct Columns {
    moments: Vec<u64>,
}

impl Columns {
    fn of(operations: &[&Operation]) -> Columns {
        let both = operations.iter().flat_map(|op| [op.invoked, op.returned]);
        let mut moments: Vec<u64> = both.filter(|&moment| moment != NEVER).collect();
        moments.sort_unstable();
        Columns { moments }
    }

    fn column(&self, moment: u64) -> usize {
        let rank = self.moments.partition_point(|&other| other < moment);
        let wide = self.moments.len();
        if wide <= COLUMNS_MAX { rank } else { rank * COLUMNS_MAX / wide }
    }

    fn bar(&self, op: &Operation) -> String {
        let start = self.column(op.invoked);
        let end = self.column(if op.returned == NEVER { u64::MAX } else { op.returned });
        let last = if op.returned == NEVER { '>' } else { '|' };
        let middle = "-".repeat(end.saturating_sub(start + 1));
        format!("{}|{middle}{last}", " ".repeat(start))
    }
}
