//! Draws on a line of time what clients saw that no order explains, and the faults and leaders around it.

use crate::story::Story;
use crate::words::{clipped, clock, step_line};
use serde::Serialize;
use std::collections::BTreeMap;
use whitewater_sim::{
    Action, ClientOperation, EventId, EventKind, NodeId, Role, Step, Time, Trace, TraceEvent,
};

/// Widest picture of time, in characters.
const COLUMNS_MAX: usize = 40;
/// Longest text of a row, in characters.
const TEXT_MAX: usize = 48;
/// Most rows of each sort.
const ROWS_MAX: usize = 16;

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// An operation of a client.
    Operation,
    /// A server leads.
    Leader,
    /// A fault is in force, or a server is down.
    Fault,
}

/// One row: an interval of time.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it shows.
    pub sort: Sort,
    /// Whose it is; empty for what is about no single node.
    pub who: String,
    /// What was done, or what went wrong.
    pub what: String,
    /// When it begins, in nanoseconds of the run; none if it counts as begun at any time.
    pub from_nanos: Option<u64>,
    /// When it ends; none if it does not before the run does.
    pub until_nanos: Option<u64>,
}

/// The operations of clients that a violation is about, grouped by client, with the leaders and faults of that time.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// The rows as they are drawn.
    pub rows: Vec<Row>,
    /// Rows that were left out.
    pub left_out: usize,
}

impl Timeline {
    /// The picture of a failure; none if it is not about what clients saw.
    pub(super) fn of(story: &Story<'_>, evidence: &[ClientOperation]) -> Option<Timeline> {
        let mut operations: Vec<Row> = evidence.iter().map(operation).collect();
        operations.sort_by(|a, b| (&a.who, a.from_nanos).cmp(&(&b.who, b.from_nanos)));
        let window = Window::of(&operations)?;
        let mut left_out = 0;
        let mut rows = Vec::new();
        let shown = |mut sort: Vec<Row>| {
            let count = sort.len().min(ROWS_MAX);
            left_out += sort.len() - count;
            sort.truncate(count);
            rows.extend(sort);
        };
        [operations, leaders(story.trace, &window), faults(story, &window)].into_iter().for_each(shown);
        Some(Timeline { rows, left_out })
    }

    /// The rows as lines of text: who, what, from when to when, and a bar in a column for every moment.
    pub(super) fn lines(&self) -> Vec<String> {
        let texts: Vec<[String; 4]> = self.rows.iter().map(Row::texts).collect();
        let width = |at: usize| texts.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        let columns = Columns::of(&self.rows);
        let line = |(row, [who, what, from, until]): (&Row, &[String; 4])| {
            let [a, b, c, d] = widths;
            let bar = columns.bar(row);
            format!("    {who:<a$}  {what:<b$}  {from:>c$} {until:>d$}  {bar}").trim_end().to_owned()
        };
        let mut lines: Vec<String> = self.rows.iter().zip(&texts).map(line).collect();
        if self.left_out > 0 {
            lines.push(format!("    and {} more", self.left_out));
        }
        lines
    }

    /// What the picture is, in one line.
    pub(super) fn title(&self) -> String {
        let operations = self.rows.iter().filter(|row| row.sort == Sort::Operation).count();
        format!(
            "What {operations} operations saw that no order explains, with leaders and faults (times in ms)"
        )
    }
}

impl Row {
    fn texts(&self) -> [String; 4] {
        let time = |nanos: Option<u64>, none: &str| {
            nanos.map_or_else(|| none.to_owned(), |nanos| clock(Time::from_nanos(nanos)))
        };
        let what = match (self.sort, self.until_nanos) {
            (Sort::Operation, None) => format!("{}, perhaps", clipped(self.what.clone(), TEXT_MAX - 9)),
            _ => clipped(self.what.clone(), TEXT_MAX),
        };
        [self.who.clone(), what, time(self.from_nanos, "any time"), time(self.until_nanos, "...")]
    }
}

fn operation(operation: &ClientOperation) -> Row {
    Row {
        sort: Sort::Operation,
        who: operation.client.to_string(),
        what: operation.text.clone(),
        from_nanos: operation.began.map(Time::nanos),
        until_nanos: operation.ended.map(Time::nanos),
    }
}

/// The time that matters: from half its length before the first operation began to the end of the last.
struct Window {
    from: u64,
    until: u64,
}

impl Window {
    fn of(operations: &[Row]) -> Option<Window> {
        let moments = || operations.iter().flat_map(|row| [row.from_nanos, row.until_nanos]).flatten();
        let (first, until) = (moments().min()?, moments().max()?);
        Some(Window { from: first.saturating_sub((until - first) / 2), until })
    }

    fn has(&self, row: &Row) -> bool {
        row.from_nanos.is_none_or(|from| from <= self.until)
            && row.until_nanos.is_none_or(|until| until >= self.from)
    }
}

/// Who led, and when.
fn leaders(trace: &Trace, window: &Window) -> Vec<Row> {
    let mut leading: BTreeMap<NodeId, Time> = BTreeMap::new();
    let mut rows = Vec::new();
    for event in &trace.events {
        let Some(node) = event.node else { continue };
        if event.role == Some(Role::Leader) {
            leading.entry(node).or_insert(event.time);
        } else if let Some(from) = leading.remove(&node) {
            rows.push(lasting(Sort::Leader, node.to_string(), "leads".to_owned(), from, Some(event.time)));
        }
    }
    let to_the_end = leading.into_iter();
    rows.extend(
        to_the_end.map(|(node, from)| lasting(Sort::Leader, node.to_string(), "leads".into(), from, None)),
    );
    near(rows, window)
}

/// The steps of the script that were in force, and the servers that were down.
fn faults(story: &Story<'_>, window: &Window) -> Vec<Row> {
    let trace = story.trace;
    let mut open: BTreeMap<usize, (Time, &Step)> = BTreeMap::new();
    let mut down: BTreeMap<NodeId, (Time, String)> = BTreeMap::new();
    let mut rows = Vec::new();
    for event in &trace.events {
        let step = event.step.and_then(|at| Some((at, story.plan.script.steps.get(at)?)));
        match (event.kind, step, event.node) {
            (EventKind::Open, Some((at, step)), _) if is_shown(&step.action) => {
                open.insert(at, (event.time, step));
            }
            (EventKind::Close, Some((at, _)), _) => {
                let closed = open.remove(&at);
                rows.extend(closed.map(|(from, step)| of_step(step, from, Some(event.time))));
            }
            (EventKind::Phase, ..) if event.text == POWER_CYCLE => {
                let what = event.text.clone();
                rows.push(lasting(Sort::Fault, String::new(), what, event.time, Some(event.time)));
            }
            (EventKind::Crash, _, Some(node)) if !is_of_cycle(trace, event) => {
                down.insert(node, (event.time, event.text.clone()));
            }
            (EventKind::Boot, _, Some(node)) => {
                let back = down.remove(&node);
                rows.extend(back.map(|(from, lost)| of_crash(node, from, &lost, Some(event.time))));
            }
            _ => {}
        }
    }
    rows.extend(open.into_values().map(|(from, step)| of_step(step, from, None)));
    rows.extend(down.into_iter().map(|(node, (from, lost))| of_crash(node, from, &lost, None)));
    near(rows, window)
}

/// What the event says at which all servers are crashed once.
const POWER_CYCLE: &str = "power cycle";

fn is_of_cycle(trace: &Trace, crash: &TraceEvent) -> bool {
    crash.cause != EventId::NONE
        && trace.event(crash.cause).is_some_and(|cause| cause.kind == EventKind::Phase)
}

/// Whether a step has a row of its own: it is a fault, and no crash, which has one for as long as the server is down.
fn is_shown(action: &Action) -> bool {
    !matches!(
        action,
        Action::Operate { .. }
            | Action::Expect(..)
            | Action::Never(_)
            | Action::Crash { .. }
            | Action::CrashAfter { .. }
            | Action::Roll { .. }
    )
}

fn of_step(step: &Step, from: Time, until: Option<Time>) -> Row {
    lasting(Sort::Fault, String::new(), step_line(step), from, until)
}

fn of_crash(node: NodeId, from: Time, lost: &str, until: Option<Time>) -> Row {
    let what = if lost.is_empty() { "is down".to_owned() } else { format!("is down, {lost}") };
    lasting(Sort::Fault, node.to_string(), what, from, until)
}

fn lasting(sort: Sort, who: String, what: String, from: Time, until: Option<Time>) -> Row {
    Row { sort, who, what, from_nanos: Some(from.nanos()), until_nanos: until.map(Time::nanos) }
}

/// Those within a window, in the order in which they began.
fn near(mut rows: Vec<Row>, window: &Window) -> Vec<Row> {
    rows.retain(|row| window.has(row));
    rows.sort_by_key(|row| row.from_nanos);
    rows
}

/// Moments, each in a column of its own as long as there are enough. What lies before the first operation or behind the
/// last goes to the edge.
struct Columns {
    moments: Vec<u64>,
}

impl Columns {
    fn of(rows: &[Row]) -> Columns {
        let operations: Vec<Row> = rows.iter().filter(|row| row.sort == Sort::Operation).cloned().collect();
        let window = Window::of(&operations);
        let within = |moment: &u64| window.as_ref().is_some_and(|w| (w.from..=w.until).contains(moment));
        let both = rows.iter().flat_map(|row| [row.from_nanos, row.until_nanos]).flatten();
        let mut moments: Vec<u64> = both.filter(within).collect();
        moments.sort_unstable();
        moments.dedup();
        Columns { moments }
    }

    /// From 1 on: column 0 is for what began before.
    fn column(&self, moment: u64) -> usize {
        let rank = self.moments.partition_point(|&other| other < moment);
        let wide = self.moments.len();
        1 + if wide <= COLUMNS_MAX { rank } else { rank * COLUMNS_MAX / wide }
    }

    fn bar(&self, row: &Row) -> String {
        let (edge, line) = match row.sort {
            Sort::Operation => ('|', '-'),
            Sort::Leader => ('|', '~'),
            Sort::Fault => ('#', '#'),
        };
        let (first, last) = (self.moments.first().copied(), self.moments.last().copied());
        let before = row.from_nanos.is_none_or(|from| Some(from) < first);
        let beyond = row.until_nanos.is_none_or(|until| Some(until) > last);
        let start = if before { 0 } else { self.column(row.from_nanos.unwrap_or(0)) };
        let end = if beyond { self.column(u64::MAX) } else { self.column(row.until_nanos.unwrap_or(0)) };
        let mut bar = " ".repeat(start);
        bar.push(if before { '<' } else { edge });
        bar.extend(std::iter::repeat_n(line, end.saturating_sub(start + 1)));
        if end > start {
            bar.push(if beyond { '>' } else { edge });
        }
        bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use crate::report::{About, Report, markdown, text};
    use crate::traces::{Sketch, n, outcome, plan, stranded};
    use whitewater_sim::{Outcome, Target, Trigger, Verdict};

    fn operation(client: usize, text: &str, began: Option<u64>, ended: Option<u64>) -> ClientOperation {
        let time = |millis: Option<u64>| millis.map(Time::from_millis);
        let client = NodeId::client(client);
        ClientOperation { client, text: text.to_owned(), began: time(began), ended: time(ended) }
    }

    /// A leader is cut off, another one is elected and crashes, and a client reads from the old one.
    fn stale_read() -> Failure {
        let mut plan = plan();
        let groups = vec![vec![Target::Leader], vec![Target::Node(n(2)), Target::Node(n(3))]];
        let partition = Step::new(Trigger::At(Time::from_millis(4)), Action::Partition(groups));
        let operate = Action::Operate { target: Target::Node(n(1)), text: "put a x".into(), every: None };
        plan.script.steps = vec![partition, Step::new(Trigger::At(Time::from_millis(6)), operate)];

        let mut sketch = Sketch::new();
        let boot =
            |sketch: &mut Sketch, node| sketch.push(EventKind::Boot, Some(n(node)), EventId::NONE, "", "");
        for node in 1..4 {
            boot(&mut sketch, node);
        }
        sketch.role(n(1), Role::Leader);
        sketch.timer(n(1), "election");
        let cut = sketch.push(EventKind::Open, None, EventId::NONE, "", "");
        sketch.role(n(2), Role::Leader);
        sketch.timer(n(2), "election");
        let put = sketch.push(EventKind::Operate, Some(n(2)), EventId::NONE, "put a x", "");
        for _ in 0..4 {
            sketch.timer(n(3), "election");
        }
        sketch.push(EventKind::Crash, Some(n(2)), EventId::NONE, "loses 2 unsynced writes", "");
        sketch.role(n(2), Role::Follower);
        boot(&mut sketch, 2);
        for _ in 0..4 {
            sketch.timer(n(3), "election");
        }
        let cycle = sketch.push(EventKind::Phase, None, EventId::NONE, POWER_CYCLE, "");
        sketch.push(EventKind::Crash, Some(n(3)), cycle, "", "");
        sketch.violation(EventId::NONE, n(3));
        let mut trace = sketch.trace();
        trace.events[cut.0 as usize].step = Some(0);
        trace.events[put.0 as usize].step = Some(1);
        let evidence = vec![
            operation(1, "reads no value", Some(14), Some(16)),
            operation(0, "puts x", Some(7), Some(10)),
            operation(0, "puts y", Some(12), None),
        ];
        let outcome = Outcome { evidence, ..outcome(trace, Verdict::Violated(stranded(n(3), n(1)))) };
        Failure {
            seed: Some(7),
            plan,
            outcome,
            suspect: None,
            sights: Vec::new(),
            rules: vec![("follower-applies", ""), ("election-safety", "")],
            command: "cargo xtask fuzz --seed 7".to_owned(),
            replays: 2,
            attempts: 2,
            difference: None,
        }
    }

    #[test]
    fn what_clients_saw_is_drawn_on_a_line_of_time_with_leaders_and_faults() {
        insta::assert_snapshot!("stale-read", text(&stale_read(), &About::default()));
        insta::assert_snapshot!("stale-read-markdown", markdown(&stale_read(), &About::default()));
    }

    #[test]
    fn programs_get_the_rows_with_their_times() {
        let report = serde_json::to_value(Report::of(&stale_read(), &About::default())).unwrap();
        let rows = report["clients"]["rows"].as_array().unwrap();
        let sorts: Vec<&str> = rows.iter().map(|row| row["sort"].as_str().unwrap()).collect();
        assert_eq!(sorts, ["operation", "operation", "operation", "leader", "leader", "fault", "fault"]);
        assert_eq!((&rows[0]["what"], &rows[0]["from_nanos"]), (&"puts x".into(), &7_000_000.into()));
        assert!(rows[1]["until_nanos"].is_null(), "nobody knows its end: {}", rows[1]);
    }

    #[test]
    fn a_failure_that_is_not_about_clients_has_no_picture() {
        let mut failure = stale_read();
        failure.outcome.evidence.clear();
        let report = Report::of(&failure, &About::default());
        assert!(report.clients.is_none());
        assert!(!text(&failure, &About::default()).contains("No order explains"));
    }

    #[test]
    fn what_is_long_over_or_comes_afterwards_is_left_out() {
        let row = |from: u64, until| {
            lasting(Sort::Fault, String::new(), String::new(), Time::from_millis(from), until)
        };
        let window = Window { from: 10_000_000, until: 20_000_000 };
        let at = |millis| Some(Time::from_millis(millis));
        let rows = vec![row(1, at(9)), row(2, at(10)), row(3, None), row(20, None), row(21, None)];
        let left: Vec<_> =
            near(rows, &window).into_iter().map(|row| row.from_nanos.unwrap() / 1_000_000).collect();
        assert_eq!(left, [2, 3, 20]);
    }

    #[test]
    fn a_picture_with_more_moments_than_columns_stays_within_its_width() {
        let operations: Vec<ClientOperation> = (0..60)
            .map(|number| {
                operation(
                    number % 7,
                    &"long ".repeat(30),
                    Some(number as u64 * 10),
                    Some(number as u64 * 10 + 15),
                )
            })
            .collect();
        let mut failure = stale_read();
        failure.outcome.evidence = operations;
        let story = Story::of(&failure.plan, &failure.outcome).unwrap();
        let timeline = Timeline::of(&story, &failure.outcome.evidence).unwrap();
        let lines = timeline.lines();
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{}", lines.join("\n"));
        assert_eq!(timeline.left_out, 60 - ROWS_MAX);
        assert_eq!(lines.last().unwrap().trim(), format!("and {} more", 60 - ROWS_MAX));
    }
}
