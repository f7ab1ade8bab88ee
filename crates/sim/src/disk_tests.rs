//! What a disk keeps and what a crash takes.

use super::*;

fn disk() -> Disk {
    Disk::new(DiskTiming::default(), Key::default())
}

fn lose_all(disk: &mut Disk) -> CrashLoss {
    disk.crash(&mut Draw::from_value(0), true)
}

#[test]
fn what_was_synced_survives_a_crash_and_what_was_not_may_be_lost() {
    let mut disk = disk();
    let file = disk.open("log");
    disk.append(file, b"durable ").unwrap();
    assert_eq!(disk.sync(file), Ok(Sync::Done));
    disk.append(file, b"dirty").unwrap();
    assert_eq!(disk.read(file), b"durable dirty");
    assert_eq!(lose_all(&mut disk), CrashLoss { bytes: 5, changes: 1 });
    assert_eq!(disk.read(file), b"durable ");
}

#[test]
fn a_crash_keeps_a_prefix_of_the_changes() {
    let mut seen = std::collections::BTreeSet::new();
    for value in 0..64 {
        let mut disk = disk();
        let file = disk.open("log");
        disk.append(file, b"abc").unwrap();
        disk.sync(file).unwrap();
        disk.write_at(file, 1, b"XYZ").unwrap();
        disk.truncate(file, 2).unwrap();
        disk.append(file, b"!").unwrap();
        disk.crash(&mut Draw::from_value(value), false);
        seen.insert(String::from_utf8(disk.read(file).to_vec()).unwrap());
    }
    let all: Vec<&str> = seen.iter().map(String::as_str).collect();
    assert_eq!(all, ["aX", "aX!", "aXYZ", "abc"]);
}

#[test]
fn a_rename_without_sync_dir_may_vanish() {
    let mut disk = disk();
    let file = disk.open("new");
    disk.append(file, b"x").unwrap();
    disk.sync(file).unwrap();
    disk.rename("new", "current").unwrap();
    lose_all(&mut disk);
    assert_eq!((disk.find("new"), disk.find("current")), (Some(file), None));
    disk.rename("new", "current").unwrap();
    disk.sync_dir().unwrap();
    lose_all(&mut disk);
    assert_eq!((disk.find("new"), disk.find("current")), (None, Some(file)));
}

#[test]
fn a_sync_with_latency_covers_what_was_written_before_it() {
    let timing = DiskTiming { low: Span::from_millis(1), high: Span::from_millis(1), failures: 0 };
    let mut disk = Disk::new(timing, Key::default());
    let file = disk.open("log");
    disk.append(file, b"before").unwrap();
    let Ok(Sync::Pending(ticket)) = disk.sync(file) else { panic!("a sync with latency is pending") };
    assert_eq!(disk.take_asked().map(|s| s.delay).collect::<Vec<_>>(), [Span::from_millis(1)]);
    disk.append(file, b" after").unwrap();
    assert_eq!(disk.complete(ticket), Some(true));
    lose_all(&mut disk);
    assert_eq!(disk.read(file), b"before");
    assert_eq!(disk.complete(ticket), None, "a ticket comes back once");
}

#[test]
fn a_failed_sync_loses_the_dirty_data_and_the_next_one_says_done() {
    let timing = DiskTiming { failures: u16::MAX, ..DiskTiming::default() };
    let mut disk = Disk::new(timing, Keys::new(1).key(Site::DISK, 0));
    let file = disk.open("log");
    disk.append(file, b"dirty").unwrap();
    assert_eq!(disk.sync(file), Err(DiskError::Failed));
    assert_eq!(disk.read(file), b"");
    disk.timing.failures = 0;
    assert_eq!(disk.sync(file), Ok(Sync::Done));
}

#[test]
fn a_disk_that_dies_at_a_call_does_nothing_from_there_on() {
    let mut disk = disk();
    let file = disk.open("log");
    disk.die_after(2);
    disk.append(file, b"one").unwrap();
    disk.append(file, b"two").unwrap();
    disk.sync(file).unwrap();
    assert!(disk.is_dead());
    assert_eq!(disk.read(file), b"one");
    lose_all(&mut disk);
    assert!(!disk.is_dead());
    assert_eq!(disk.read(file), b"");
}

#[test]
fn places_outside_a_file_are_errors() {
    let mut disk = disk();
    let file = disk.open("log");
    assert_eq!(disk.write_at(file, 1, b"x"), Err(DiskError::OutOfRange));
    assert_eq!(disk.truncate(file, 1), Err(DiskError::OutOfRange));
    assert_eq!(disk.rename("nothing", "x"), Err(DiskError::NotFound));
    assert_eq!(disk.remove("nothing"), Err(DiskError::NotFound));
    disk.remove("log").unwrap();
    assert_eq!(disk.list().count(), 0);
}

use crate::draw::{Keys, Site};
