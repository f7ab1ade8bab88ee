//! Which states are still needed: whether one may be left that somebody has yet to find.
//!
//! A task that must take place and finds a certain state needs another one before it that leaves that state, unless it is
//! there already. So a state must not be left for good while somebody needs it: whoever needs it first, by its return, must
//! find a task that waits still, leaves that state and begins before that return.

use super::TaskId;
use super::pending::Pending;
use crate::part::{DEAD, Part, Step};

/// By part and state who needs it and who leaves it. Only of parts whose values do not grow.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    parts: Vec<Vec<State>>,
}

/// One state.
#[derive(Clone, Debug, Default)]
struct State {
    /// Tasks that must take place and find it, in the order of their returns.
    needing: Vec<TaskId>,
    /// Tasks that leave it, in the order in which they begin, each with the last return among it and those before it.
    leaving: Vec<(TaskId, u64)>,
    /// Groups of open tasks that leave it.
    open: Vec<usize>,
}

impl Needs {
    pub(super) fn new(parts: &[Part], pending: &Pending) -> Needs {
        let mut needs = Needs { parts: vec![Vec::new(); parts.len()] };
        for task in 0..pending.len() as TaskId {
            let part = pending.part(task);
            if parts[part].grows() {
                continue;
            }
            let (finds, leaves) = match pending.step(task) {
                Step::Check(value) => (Some(value), None),
                Step::Swap(old, new) => (Some(old), Some(new)),
                Step::Set(value) => (None, Some(value)),
                Step::Differs(_) | Step::Append(_) | Step::Push(_) => (None, None),
            };
            let is_open = pending.is_open(task);
            if let Some(value) = finds.filter(|_| !is_open) {
                needs.state(part, value).needing.push(task);
            }
            let Some(value) = leaves else { continue };
            let state = needs.state(part, value);
            if is_open {
                let group = pending.group(task);
                if !state.open.contains(&group) {
                    state.open.push(group);
                }
            } else {
                let before = state.leaving.last().map_or(0, |&(_, last)| last);
                state.leaving.push((task, before.max(pending.returned(task))));
            }
        }
        for state in needs.parts.iter_mut().flatten() {
            state.needing.sort_by_key(|&task| pending.returned(task));
        }
        needs
    }

    fn state(&mut self, part: usize, value: u32) -> &mut State {
        let states = &mut self.parts[part];
        if states.len() <= value as usize {
            states.resize(value as usize + 1, State::default());
        }
        &mut states[value as usize]
    }

    /// Whether a state may be left by way of `task`, when everything that returned before `due` has taken place.
    pub(super) fn may_leave(
        &self,
        part: usize,
        value: u32,
        task: TaskId,
        due: u64,
        pending: &Pending,
    ) -> bool {
        let Some(state) = self.parts[part].get(value as usize).filter(|_| value != DEAD) else { return true };
        let from = state.needing.partition_point(|&other| pending.returned(other) < due);
        let waits = |&&other: &&TaskId| other != task && pending.waits(other);
        let Some(&first) = state.needing[from..].iter().find(waits) else { return true };
        let limit = pending.returned(first);
        if state.open.iter().any(|&group| pending.is_left_before(group, limit)) {
            return true;
        }
        // Backwards: what has not begun yet waits for sure.
        let begun = state.leaving.partition_point(|&(other, _)| pending.invoked(other) < limit);
        let candidates = state.leaving[..begun].iter().rev().take_while(|&&(_, last)| last >= due);
        candidates
            .map(|(other, _)| other)
            .any(|&other| other != task && other != first && pending.waits(other))
    }
}
