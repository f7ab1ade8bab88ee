//! What a disk keeps and what a crash takes.

use super::*;
use crate::draw::{Draw, Keys, Site};
use std::collections::BTreeSet;

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
    let mut seen = BTreeSet::new();
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
    let timing =
        DiskTiming { low: Span::from_millis(1), high: Span::from_millis(1), ..DiskTiming::default() };
    let mut disk = Disk::new(timing, Key::default());
    let file = disk.open("log");
    disk.append(file, b"before").unwrap();
    let Ok(Sync::Pending(ticket)) = disk.sync(file) else { panic!("a sync with latency is pending") };
    assert_eq!(disk.take_asked().map(|(_, delay)| delay).collect::<Vec<_>>(), [Span::from_millis(1)]);
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
fn a_disk_that_is_made_to_fail_fails_what_is_under_way_and_what_comes_until_it_is_left_alone() {
    let latency = Span::from_millis(5);
    let timing = DiskTiming { low: latency, high: latency, ..DiskTiming::default() };
    let mut slow = Disk::new(timing, Keys::new(1).key(Site::DISK, 0));
    let file = slow.open("log");
    slow.append(file, b"dirty").unwrap();
    let Ok(Sync::Pending(ticket)) = slow.sync(file) else { panic!("it takes a while") };
    slow.take_asked().for_each(drop);
    slow.fail_syncs(true);
    slow.fail_syncs(true);
    assert_eq!(slow.complete(ticket), Some(false));
    assert_eq!(slow.read(file), b"");

    let mut disk = disk();
    let file = disk.open("log");
    disk.fail_syncs(true);
    disk.fail_syncs(true);
    disk.fail_syncs(false);
    disk.append(file, b"dirty").unwrap();
    assert_eq!(disk.sync(file), Err(DiskError::Failed), "another step lasts");
    assert_eq!(disk.sync_dir(), Err(DiskError::Failed));
    disk.fail_syncs(false);
    disk.append(file, b"kept").unwrap();
    assert_eq!(disk.sync(file), Ok(Sync::Done));
    assert_eq!(disk.read(file), b"kept");
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

/// A disk with small sectors.
fn sectors(bytes: u32) -> Disk {
    faulty(DiskTiming { sector_bytes: bytes, ..DiskTiming::default() })
}

fn faulty(timing: DiskTiming) -> Disk {
    Disk::new(timing, Keys::new(1).key(Site::DISK, 0))
}

fn text(disk: &Disk, name: &str) -> String {
    disk.find(name).map_or("-".into(), |file| String::from_utf8_lossy(disk.read(file)).replace('\0', "."))
}

/// What may be in file `log` after a crash, in order.
fn logs(disk: &Disk, cut_bytes: usize) -> Vec<String> {
    let states = disk.crash_states(cut_bytes);
    let logs: BTreeSet<String> = states.iter().map(|disk| text(&disk, "log")).collect();
    assert_eq!(logs.len() as u64, states.count(), "each state is there once");
    logs.into_iter().collect()
}

#[test]
fn each_sector_and_the_length_reach_the_medium_on_their_own() {
    let mut disk = sectors(4);
    let file = disk.open("log");
    disk.append(file, b"ab").unwrap();
    disk.sync(file).unwrap();
    disk.append(file, b"cdEFGH").unwrap();
    assert_eq!(logs(&disk, 0), ["ab", "ab......", "ab..EFGH", "abcd....", "abcdEFGH"]);
}

#[test]
fn of_two_appends_the_second_may_survive_alone() {
    let mut disk = sectors(4);
    let file = disk.open("log");
    disk.sync(file).unwrap();
    disk.append(file, b"abcd").unwrap();
    disk.append(file, b"EFGH").unwrap();
    let logs = logs(&disk, 0);
    assert_eq!(logs, ["", "....", "........", "....EFGH", "abcd", "abcd....", "abcdEFGH"]);
}

#[test]
fn a_torn_sector_is_new_up_to_a_byte_and_only_one_is_torn() {
    let mut disk = sectors(4);
    let file = disk.open("log");
    disk.append(file, b"abcdefgh").unwrap();
    disk.sync(file).unwrap();
    disk.write_at(file, 0, b"ABCDEFGH").unwrap();
    let expected =
        ["ABCDEFGH", "ABCDEFgh", "ABCDefgh", "ABcdEFGH", "ABcdefgh", "abcdEFGH", "abcdEFgh", "abcdefgh"];
    assert_eq!(logs(&disk, 2), expected);
}

#[test]
fn a_truncation_may_come_before_or_after_what_was_written_over_it() {
    let mut disk = sectors(4);
    let file = disk.open("log");
    disk.append(file, b"abcdEFGH").unwrap();
    disk.sync(file).unwrap();
    disk.truncate(file, 2).unwrap();
    disk.append(file, b"xy").unwrap();
    let logs = logs(&disk, 0);
    assert_eq!(logs, ["ab", "ab..", "ab..EFGH", "abcd", "abcdEFGH", "abxy", "abxyEFGH"]);
}

#[test]
fn names_and_files_are_independent() {
    let mut disk = sectors(4);
    let old = disk.open("log");
    disk.append(old, b"old").unwrap();
    disk.sync(old).unwrap();
    disk.sync_dir().unwrap();
    let new = disk.open("new");
    disk.append(new, b"new").unwrap();
    disk.rename("new", "log").unwrap();
    let seen: BTreeSet<(String, String)> =
        disk.crash_states(0).iter().map(|d| (text(&d, "log"), text(&d, "new"))).collect();
    assert!(seen.contains(&("old".into(), "-".into())), "neither name is durable");
    assert!(seen.contains(&("old".into(), "new".into())), "the rename has vanished");
    assert!(seen.contains(&("".into(), "-".into())), "the rename is there and the data is not");
    assert!(seen.contains(&("new".into(), "-".into())), "all of it is there");
}

#[test]
fn a_crash_draws_only_states_that_are_legal_and_in_time_all_of_them() {
    let dirty = || {
        let mut disk = sectors(4);
        let file = disk.open("log");
        disk.append(file, b"abcdef").unwrap();
        disk.sync(file).unwrap();
        disk.truncate(file, 5).unwrap();
        disk.append(file, b"XYZW").unwrap();
        disk.write_at(file, 1, b"12").unwrap();
        disk
    };
    let legal: BTreeSet<String> = logs(&dirty(), 1).into_iter().collect();
    let mut drawn = BTreeSet::new();
    for value in 0..20_000_u64 {
        let mut disk = dirty();
        disk.crash(&mut Draw::from_value(value.wrapping_mul(0x9e37_79b9_7f4a_7c15)), false);
        drawn.insert(text(&disk, "log"));
    }
    assert_eq!(drawn, legal);
}

#[test]
fn what_a_crash_keeps_of_sectors_never_changes_for_a_seed() {
    let left = [1, 2, 3, 4, 5, 6].map(|value| {
        let mut disk = sectors(4);
        let file = disk.open("log");
        disk.sync(file).unwrap();
        disk.append(file, b"abcdEFGH").unwrap();
        disk.append(file, b"ijklMNOP").unwrap();
        disk.crash(&mut Draw::from_value(value), false);
        text(&disk, "log")
    });
    assert_eq!(left, ["abcdEFGH", "", "abcdEFGH", "", "abcdEFGHijklMNOP", "....EF..ijklMNOP"]);
}

#[test]
fn a_sync_makes_a_new_name_durable_but_no_rename() {
    let mut disk = disk();
    let file = disk.open("new");
    disk.rename("new", "log").unwrap();
    disk.sync(file).unwrap();
    lose_all(&mut disk);
    assert_eq!(disk.list().collect::<Vec<_>>(), ["new"]);
}

#[test]
fn a_full_disk_takes_no_bytes_and_has_room_again_after_a_removal() {
    let mut disk = faulty(DiskTiming { capacity_bytes: 10, ..DiskTiming::default() });
    let (a, b) = (disk.open("a"), disk.open("b"));
    disk.append(a, b"12345678").unwrap();
    assert_eq!(disk.append(b, b"123"), Err(DiskError::Full));
    assert_eq!(disk.write_at(a, 7, b"8901"), Err(DiskError::Full));
    assert_eq!(disk.load(a), Ok(&b"12345678"[..]), "reading goes on");
    disk.write_at(a, 0, b"abc").unwrap();
    disk.remove("a").unwrap();
    assert_eq!(disk.append(b, b"123"), Ok(()));
    assert_eq!(disk.counts().full, 2);
}

#[test]
fn a_disk_is_full_for_windows_of_time() {
    let mut disk = faulty(DiskTiming { full: u16::MAX / 2, ..DiskTiming::default() });
    let file = disk.open("log");
    let full: Vec<bool> = (0..8)
        .map(|window| {
            disk.set_now(Time::from_nanos(window << 28));
            (disk.append(file, b"x").is_err(), disk.append(file, b"x").is_err()).0
        })
        .collect();
    assert!(full.contains(&true) && full.contains(&false), "{full:?}");
    disk.heal();
    assert_eq!(disk.append(file, b"x"), Ok(()));
}

#[test]
fn a_lying_sync_says_done_and_keeps_nothing() {
    let faults = DiskFaults { lies: u16::MAX, ..DiskFaults::default() };
    let mut disk = faulty(DiskTiming { faults, ..DiskTiming::default() });
    let file = disk.open("log");
    disk.append(file, b"gone").unwrap();
    assert_eq!(disk.sync(file), Ok(Sync::Done));
    assert_eq!(disk.read(file), b"gone");
    lose_all(&mut disk);
    assert_eq!(disk.find("log"), None);
    assert_eq!(disk.counts().lied, 1);
}

/// A disk on which a file waits for two syncs, of which the first will fail.
fn waiting_twice() -> (Disk, FileId, [Ticket; 2]) {
    let span = Span::from_millis(1);
    let mut disk = faulty(DiskTiming { failures: u16::MAX, low: span, high: span, ..DiskTiming::default() });
    let file = disk.open("log");
    disk.append(file, b"one").unwrap();
    let tickets = [(); 2].map(|()| {
        let Ok(Sync::Pending(ticket)) = disk.sync(file) else { panic!("it takes a while") };
        disk.take_asked().for_each(drop);
        disk.heal();
        ticket
    });
    (disk, file, tickets)
}

#[test]
fn a_sync_that_fails_late_takes_nothing_from_who_has_made_it_durable_since() {
    let (mut disk, file, [earlier, later]) = waiting_twice();
    assert_eq!(disk.complete(later), Some(true));
    disk.append(file, b"two").unwrap();
    assert_eq!(disk.complete(earlier), Some(false));
    assert_eq!(disk.read(file), b"onetwo");
}

#[test]
fn where_a_sync_has_lost_what_a_later_one_was_to_make_durable_that_fails_too() {
    let (mut disk, file, [earlier, later]) = waiting_twice();
    assert_eq!(disk.complete(earlier), Some(false));
    assert_eq!(disk.read(file), b"");
    disk.append(file, b"two").unwrap();
    assert_eq!(disk.complete(later), Some(false));
    assert_eq!(disk.read(file), b"two", "what was written behind both is covered by neither");
}

#[test]
fn a_lost_write_is_seen_until_the_cache_is_dropped() {
    let faults = DiskFaults { lost_writes: u16::MAX, ..DiskFaults::default() };
    let mut disk = faulty(DiskTiming { faults, ..DiskTiming::default() });
    let file = disk.open("log");
    disk.append(file, b"abc").unwrap();
    disk.sync(file).unwrap();
    assert_eq!(disk.read(file), b"abc");
    assert_eq!(disk.load(file), Ok(&b"\0\0\0"[..]));
}

#[test]
fn a_misdirected_write_is_found_elsewhere() {
    let faults = DiskFaults { misdirected: 32_768, ..DiskFaults::default() };
    let mut seen = BTreeSet::new();
    for entity in 0..64 {
        let timing = DiskTiming { faults, ..DiskTiming::default() };
        let mut disk = Disk::new(timing, Keys::new(1).key(Site::DISK, entity));
        let file = disk.open("log");
        disk.append(file, b"abcd").unwrap();
        disk.append(file, b"XY").unwrap();
        disk.sync(file).unwrap();
        lose_all(&mut disk);
        seen.insert(text(&disk, "log"));
    }
    assert!(seen.contains("abcdXY") && seen.contains("XYcd..") && seen.contains("aXYd.."), "{seen:?}");
}

#[test]
fn rot_flips_one_bit_for_good() {
    let faults = DiskFaults { rot: u16::MAX, ..DiskFaults::default() };
    let mut disk = faulty(DiskTiming { faults, ..DiskTiming::default() });
    let file = disk.open("log");
    disk.append(file, &[0; 8]).unwrap();
    assert_eq!(disk.load(file), Ok(&[0; 8][..]), "what is dirty is not on the medium");
    disk.sync(file).unwrap();
    let ones = disk.load(file).unwrap().iter().map(|byte| byte.count_ones()).sum::<u32>();
    assert_eq!((ones, disk.counts().rotten), (1, 1));
}

#[test]
fn after_a_failed_sync_the_cache_may_go_on_showing_what_is_lost() {
    let mut seen = BTreeSet::new();
    for entity in 0..16 {
        let timing = DiskTiming { failures: u16::MAX, sector_bytes: 4, ..DiskTiming::default() };
        let mut disk = Disk::new(timing, Keys::new(1).key(Site::DISK, entity));
        let file = disk.open("log");
        for _ in 0..entity {
            disk.append(file, b"").unwrap();
        }
        disk.append(file, b"dirty").unwrap();
        disk.sync(file).unwrap_err();
        disk.heal();
        let shown = disk.read(file).to_vec();
        disk.append(file, b"more").unwrap();
        assert_eq!(disk.sync(file), Ok(Sync::Done), "the next sync says it is fine");
        lose_all(&mut disk);
        seen.insert((String::from_utf8(shown).unwrap(), text(&disk, "log")));
    }
    let seen: Vec<(&str, &str)> = seen.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    assert_eq!(seen, [("", "more"), ("dirty", ".....more")]);
}

#[test]
fn what_only_the_cache_has_is_not_loaded_when_faults_are_over_either() {
    let mut seen = BTreeSet::new();
    for entity in 0..16 {
        let timing = DiskTiming { failures: u16::MAX, sector_bytes: 4, ..DiskTiming::default() };
        let mut disk = Disk::new(timing, Keys::new(1).key(Site::DISK, entity));
        let file = disk.open("log");
        for _ in 0..entity {
            disk.append(file, b"").unwrap();
        }
        disk.append(file, b"dirty").unwrap();
        disk.sync(file).unwrap_err();
        disk.heal();
        let shown = String::from_utf8(disk.read(file).to_vec()).unwrap();
        seen.insert((shown, disk.load(file).unwrap().to_vec()));
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.iter().all(|(_, loaded)| loaded.iter().all(|&byte| byte == 0)), "{seen:?}");
}

#[test]
fn calls_keep_their_node_busy_and_a_sync_of_names_as_long_as_a_sync() {
    let span = Span::from_millis;
    let timing = DiskTiming {
        busy_low: span(1),
        busy_high: span(1),
        low: span(5),
        high: span(5),
        ..Default::default()
    };
    let mut disk = faulty(timing);
    let file = disk.open("log");
    disk.append(file, b"x").unwrap();
    assert_eq!(disk.take_busy(), span(2));
    disk.sync_dir().unwrap();
    assert_eq!((disk.take_busy(), disk.take_busy()), (span(5), Span::ZERO));
}

#[test]
fn calls_that_fail_change_nothing() {
    let timing = DiskTiming { write_failures: u16::MAX, read_failures: u16::MAX, ..DiskTiming::default() };
    let mut disk = faulty(timing);
    let file = disk.open("log");
    assert_eq!(disk.append(file, b"x"), Err(DiskError::Failed));
    assert_eq!(disk.write_at(file, 0, b"x"), Err(DiskError::Failed));
    assert_eq!(disk.truncate(file, 0), Err(DiskError::Failed));
    assert_eq!(disk.rename("log", "other"), Err(DiskError::Failed));
    assert_eq!(disk.remove("log"), Err(DiskError::Failed));
    assert_eq!(disk.load(file), Err(DiskError::Failed));
    assert_eq!((disk.len(file), disk.counts().failed), (0, 6));
}
