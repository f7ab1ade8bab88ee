//! What has not taken place yet in a search: per object, in the order in which it began; open operations by kind.

use super::TaskId;
use crate::part::{Part, Step, Task};
use std::collections::BTreeSet;

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

/// The tasks of all parts.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    tasks: Vec<Task>,
    parts: Vec<u32>,
    waits: Vec<bool>,
    /// Lists of the tasks that must take place, linked both ways; a part has a head of its own behind all tasks.
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Tasks that must take place, in the order in which they returned.
    pub(super) returns: Vec<TaskId>,
    /// By task: its number among the open ones that are counted.
    open_numbers: Vec<u32>,
    open_count: usize,
    /// Open tasks with equal steps on one object, each group in the order in which they began.
    groups: Vec<Group>,
    /// By part its groups: from this one up to the first of the next part.
    groups_from: Vec<usize>,
    /// By open task its group.
    group_of: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Group {
    members: Vec<TaskId>,
    used: usize,
    /// Whether each of its tasks takes place once at most. If not, the first stands for any number of them.
    is_counted: bool,
}

impl Pending {
    /// Of kinds of open tasks those in `counted` take place as often as there are tasks, others any number of times.
    pub(super) fn new(parts: &[Part], counted: &BTreeSet<usize>) -> Pending {
        let count = parts.iter().map(|part| part.tasks.len()).sum::<usize>();
        let mut pending = Pending {
            tasks: Vec::with_capacity(count),
            parts: Vec::with_capacity(count),
            waits: vec![true; count],
            next: vec![NONE; count + parts.len()],
            previous: vec![NONE; count + parts.len()],
            returns: Vec::with_capacity(count),
            open_numbers: vec![NONE; count],
            open_count: 0,
            groups: Vec::new(),
            groups_from: Vec::with_capacity(parts.len() + 1),
            group_of: vec![NONE; count],
        };
        for (part, tasks) in parts.iter().enumerate() {
            let head = count + part;
            let mut last = head;
            let mut open: Vec<TaskId> = Vec::new();
            for &task in &tasks.tasks {
                let id = pending.tasks.len();
                pending.tasks.push(task);
                pending.parts.push(part as u32);
                if task.is_open {
                    open.push(id as u32);
                } else {
                    pending.returns.push(id as u32);
                    (pending.next[last], pending.previous[id]) = (id as u32, last as u32);
                    last = id;
                }
            }
            pending.next[last] = NONE;
            open.sort_by_key(|&id| (pending.tasks[id as usize].step, id));
            pending.groups_from.push(pending.groups.len());
            pending.add_groups(&open, counted);
        }
        pending.groups_from.push(pending.groups.len());
        let tasks = &pending.tasks;
        pending.returns.sort_by_key(|&id| tasks[id as usize].returned);
        pending
    }

    /// Groups open tasks of one part, sorted by their steps.
    fn add_groups(&mut self, open: &[TaskId], counted: &BTreeSet<usize>) {
        let tasks = &self.tasks;
        let same = |a: &TaskId, b: &TaskId| tasks[*a as usize].step == tasks[*b as usize].step;
        for members in open.chunk_by(same) {
            let number = self.groups.len();
            let is_counted = counted.contains(&number);
            for &member in members {
                self.group_of[member as usize] = number as u32;
                if is_counted {
                    self.open_numbers[member as usize] = self.open_count as u32;
                    self.open_count += 1;
                }
            }
            self.groups.push(Group { members: members.to_vec(), used: 0, is_counted });
        }
    }

    /// Kinds of open tasks that took place more often than there were tasks that had begun. `uses` are those that took
    /// place, in order, with the moment before which each had to have begun. The others get a task each for every use.
    pub(super) fn assign(&self, uses: &mut [(TaskId, u64)]) -> BTreeSet<usize> {
        let mut overused = BTreeSet::new();
        let mut used = vec![0; self.groups.len()];
        for (task, limit) in uses.iter_mut().filter(|(task, _)| self.is_open(*task)) {
            let number = self.group_of[*task as usize] as usize;
            let member = self.groups[number].members.get(used[number]);
            match member.filter(|&&member| self.invoked(member) < *limit) {
                Some(&member) => *task = member,
                None => drop(overused.insert(number)),
            }
            used[number] += 1;
        }
        overused
    }

    /// How many tasks there are.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// The group of an open task.
    pub(super) fn group(&self, task: TaskId) -> usize {
        self.group_of[task as usize] as usize
    }

    /// Whether a group of open tasks has one left that began before `limit`.
    #[inline]
    pub(super) fn is_left_before(&self, group: usize, limit: u64) -> bool {
        let group = &self.groups[group];
        group.members.get(group.used).is_some_and(|&task| self.invoked(task) < limit)
    }

    /// Open tasks that are counted.
    pub(super) fn open_count(&self) -> usize {
        self.open_count
    }

    /// The part of a task and its place among the operations of that part.
    pub(super) fn name(&self, task: TaskId) -> (u32, u32) {
        (self.parts[task as usize], self.tasks[task as usize].operation)
    }

    #[inline]
    pub(super) fn part(&self, task: TaskId) -> usize {
        self.parts[task as usize] as usize
    }

    #[inline]
    pub(super) fn step(&self, task: TaskId) -> Step {
        self.tasks[task as usize].step
    }

    #[inline]
    pub(super) fn invoked(&self, task: TaskId) -> u64 {
        self.tasks[task as usize].invoked
    }

    #[inline]
    pub(super) fn returned(&self, task: TaskId) -> u64 {
        self.tasks[task as usize].returned
    }

    #[inline]
    pub(super) fn is_dead(&self, task: TaskId) -> bool {
        self.tasks[task as usize].is_dead
    }

    #[inline]
    pub(super) fn is_open(&self, task: TaskId) -> bool {
        self.tasks[task as usize].is_open
    }

    /// Its number among the open ones that are counted, if it is one.
    #[inline]
    pub(super) fn open_number(&self, task: TaskId) -> Option<usize> {
        let number = self.open_numbers[task as usize];
        (number != NONE).then_some(number as usize)
    }

    /// Whether it has not taken place yet.
    #[inline]
    pub(super) fn waits(&self, task: TaskId) -> bool {
        self.waits[task as usize]
    }

    /// The first task of a part that must take place and has not.
    #[inline]
    pub(super) fn first(&self, part: usize) -> Option<TaskId> {
        self.after((self.tasks.len() + part) as u32)
    }

    /// The one that began after it.
    #[inline]
    pub(super) fn after(&self, task: TaskId) -> Option<TaskId> {
        let next = self.next[task as usize];
        (next != NONE).then_some(next)
    }

    /// Of each kind of open task the earliest that is left, if it began before `limit`.
    pub(super) fn open_of(&self, part: usize, limit: u64) -> impl Iterator<Item = TaskId> + use<> {
        let earliest = |group: &Group| group.members.get(group.used).copied();
        let began = |&task: &TaskId| self.invoked(task) < limit;
        let groups = &self.groups[self.groups_from[part]..self.groups_from[part + 1]];
        let found: Vec<TaskId> = groups.iter().filter_map(earliest).filter(began).collect();
        found.into_iter()
    }

    /// It takes place.
    #[inline]
    pub(super) fn remove(&mut self, task: TaskId) {
        self.waits[task as usize] = false;
        if self.is_open(task) {
            let group = &mut self.groups[self.group_of[task as usize] as usize];
            group.used += usize::from(group.is_counted);
            return;
        }
        let (next, previous) = (self.next[task as usize], self.previous[task as usize]);
        self.next[previous as usize] = next;
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    /// It has not taken place after all. The last that was removed is restored first.
    #[inline]
    pub(super) fn restore(&mut self, task: TaskId) {
        self.waits[task as usize] = true;
        if self.is_open(task) {
            let group = &mut self.groups[self.group_of[task as usize] as usize];
            group.used -= usize::from(group.is_counted);
            return;
        }
        let (next, previous) = (self.next[task as usize], self.previous[task as usize]);
        self.next[previous as usize] = task;
        if next != NONE {
            self.previous[next as usize] = task;
        }
    }
}
