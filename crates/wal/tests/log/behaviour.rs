//! What a log answers: when data is durable, what it refuses, what it gives up, what it shows.

use whitewater_sim::{Disk, DiskError, DiskFaults, DiskTiming, Draw, Key, Keys, Site, Span, Ticket};
use whitewater_wal::{
    Dropped, Durability, Entry, HardState, Options, Snapshot, Synced, Wal, WalError, Why, describe,
};

fn entry(index: u64, term: u64) -> Entry {
    Entry { index, term, kind: 0, payload: format!("{term}/{index}").into_bytes().into() }
}

fn hard(term: u64) -> Option<HardState> {
    Some(HardState { term, vote: 1, commit: 0 })
}

fn snapshot(index: u64, term: u64) -> Snapshot {
    Snapshot { index, term, metadata: b"n1 n2"[..].into(), data: b"state"[..].into() }
}

fn disk(timing: DiskTiming) -> Disk {
    Disk::new(timing, Keys::new(1).key(Site::DISK, 0))
}

fn slow() -> DiskTiming {
    DiskTiming { low: Span::from_millis(1), high: Span::from_millis(1), ..DiskTiming::default() }
}

fn open(disk: &mut Disk) -> Wal {
    Wal::open(disk, Options::default()).expect("the log is whole").0
}

fn ticket(durability: Durability) -> Ticket {
    match durability {
        Durability::After(ticket) => ticket,
        Durability::Now => panic!("it takes time"),
    }
}

/// The ticket comes back with success.
fn returns(disk: &mut Disk, wal: &mut Wal, ticket: Ticket) -> Synced {
    assert!(disk.take_asked().count() <= 1);
    assert_eq!(disk.complete(ticket), Some(true));
    wal.synced(disk, ticket).expect("nothing fails")
}

fn terms(wal: &Wal) -> Vec<u64> {
    wal.entries(0, u64::MAX).map(|entry| entry.term).collect()
}

#[test]
fn an_empty_disk_holds_an_empty_log_and_opening_it_writes_nothing() {
    let mut disk = disk(DiskTiming::default());
    let (wal, recovered) = Wal::open(&mut disk, Options::default()).unwrap();
    assert_eq!((recovered.first_index, recovered.last_index, recovered.snapshot), (1, 0, None));
    assert_eq!((wal.hard_state(), wal.term(0), wal.term(1)), (HardState::default(), Some(0), None));
    assert_eq!(disk.calls(), 0);
}

#[test]
fn what_was_appended_is_read_back() {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    assert_eq!(wal.append(&mut disk, hard(2), &[entry(1, 1), entry(2, 2)]), Ok(Durability::Now));
    assert_eq!(wal.append(&mut disk, None, &[entry(2, 3), entry(3, 3)]), Ok(Durability::Now));
    disk.crash(&mut Draw::from_value(1), true);
    let wal = open(&mut disk);
    assert_eq!((Some(wal.hard_state()), terms(&wal)), (hard(2), vec![1, 3, 3]));
    assert_eq!(wal.entry(3), Some(&entry(3, 3)));
}

#[test]
fn a_batch_is_one_write_and_one_sync() {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    let _ = wal.append(&mut disk, hard(1), &[entry(1, 1)]).unwrap();
    let before = disk.calls();
    let _ = wal.append(&mut disk, hard(2), &[entry(2, 2), entry(3, 2)]).unwrap();
    assert_eq!(disk.calls() - before, 2);
}

#[test]
fn a_later_ticket_covers_earlier_writes_and_tickets_may_come_back_in_any_order() {
    let mut disk = disk(slow());
    let mut wal = open(&mut disk);
    let first = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1)]).unwrap());
    assert_eq!(disk.take_asked().count(), 1);
    let second = ticket(wal.append(&mut disk, None, &[entry(2, 1)]).unwrap());
    assert_eq!(wal.append(&mut disk, None, &[]), Ok(Durability::After(second)), "nothing new to sync");
    assert_eq!(returns(&mut disk, &mut wal, second), Synced::Done);
    assert_eq!(wal.flush(&mut disk), Ok(Durability::Now));
    assert_eq!(returns(&mut disk, &mut wal, first), Synced::Done);
    assert_eq!(wal.flush(&mut disk), Ok(Durability::Now));
    assert_eq!(wal.synced(&mut disk, first), Ok(Synced::Unknown), "a ticket comes back once");
}

#[test]
fn what_is_noted_is_durable_with_the_next_flush() {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    let _ = wal.append(&mut disk, hard(1), &[entry(1, 1)]).unwrap();
    for flush in [false, true] {
        let mut disk = disk.clone();
        let mut wal = wal.clone();
        wal.note(&mut disk, HardState { term: 1, vote: 1, commit: 1 }).unwrap();
        if flush {
            assert_eq!(wal.flush(&mut disk), Ok(Durability::Now));
        }
        disk.crash(&mut Draw::from_value(1), true);
        assert_eq!(open(&mut disk).hard_state().commit, u64::from(flush));
    }
}

#[test]
fn after_a_failed_sync_the_log_takes_nothing_more_and_still_answers() {
    let mut disk = disk(DiskTiming { failures: u16::MAX, ..DiskTiming::default() });
    let mut wal = open(&mut disk);
    let failed = wal.append(&mut disk, hard(1), &[entry(1, 1)]);
    assert!(matches!(failed, Err(WalError::SyncFailed { .. })), "{failed:?}");
    assert_eq!(wal.append(&mut disk, hard(1), &[]), Err(WalError::Poisoned));
    assert_eq!(wal.truncate(&mut disk, 1), Err(WalError::Poisoned));
    assert_eq!(wal.save_snapshot(&mut disk, snapshot(1, 1)), Err(WalError::Poisoned));
    assert_eq!(wal.compact(&mut disk, 0), Err(WalError::Poisoned));
    assert!(wal.is_poisoned());
    assert_eq!(wal.entry(1), Some(&entry(1, 1)));
    disk.crash(&mut Draw::from_value(1), true);
    assert_eq!(open(&mut disk).last_index(), 0);
}

#[test]
fn a_process_that_starts_again_syncs_what_it_has_read_before_it_trusts_it() {
    let mut disk = disk(slow());
    let mut wal = open(&mut disk);
    let lost = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1)]).unwrap());
    assert!(wal.sync_failed(&mut disk, lost), "the process ends; the bytes are in the cache still");
    assert_eq!(disk.take_asked().count(), 1);
    let (mut wal, recovered, durability) = Wal::reopen(&mut disk, Options::default()).unwrap();
    assert_eq!(recovered.last_index, 1);
    assert_eq!(wal.append(&mut disk, hard(2), &[]), Err(WalError::Busy));
    assert_eq!(returns(&mut disk, &mut wal, ticket(durability)), Synced::Done);
    disk.crash(&mut Draw::from_value(1), true);
    assert_eq!(open(&mut disk).last_index(), 1);
    let mut empty = Disk::new(slow(), Key::default());
    assert_eq!(Wal::reopen(&mut empty, Options::default()).unwrap().2, Durability::Now);
}

#[test]
fn a_ticket_that_fails_poisons_the_log_if_it_is_its_own() {
    let mut disk = disk(slow());
    let mut wal = open(&mut disk);
    let ticket = ticket(wal.append(&mut disk, hard(1), &[]).unwrap());
    assert!(!wal.sync_failed(&mut disk, Ticket(99)));
    assert!(!wal.is_poisoned());
    assert!(wal.sync_failed(&mut disk, ticket));
    assert!(wal.is_poisoned());
    assert_eq!(wal.synced(&mut disk, ticket), Err(WalError::Poisoned));
}

#[test]
fn a_full_disk_stops_writes_but_not_reads_and_the_log_goes_on_when_there_is_room() {
    let mut disk = disk(DiskTiming { capacity_bytes: 700, ..DiskTiming::default() });
    let (mut wal, _) = Wal::open(&mut disk, Options::new(1)).unwrap();
    let mut last = 0;
    let full = loop {
        match wal.append(&mut disk, hard(last + 1), &[entry(last + 1, 1)]) {
            Ok(_) => last += 1,
            Err(error) => break error,
        }
    };
    assert!(full.is_full(), "{full}");
    assert_eq!((wal.last_index(), wal.hard_state().term), (last, last), "nothing has changed");
    assert_eq!(wal.entry(last), Some(&entry(last, 1)));
    assert!(wal.save_snapshot(&mut disk, snapshot(last, 1)).is_err_and(|error| error.is_full()));
    assert_eq!(open(&mut disk).last_index(), last);

    // The same files on a larger disk: what was refused goes through.
    let mut roomy = Disk::new(DiskTiming::default(), Key::default());
    for name in disk.list() {
        let (from, to) = (disk.find(name).unwrap(), roomy.open(name));
        roomy.append(to, disk.read(from)).unwrap();
    }
    assert_eq!(wal.append(&mut roomy, None, &[entry(last + 1, 2)]), Ok(Durability::Now));
    assert_eq!(open(&mut roomy).last_index(), last + 1);
}

#[test]
fn entries_that_do_not_follow_are_refused() {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    let gap = |expected, found| Err(WalError::Gap { expected, found });
    assert_eq!(wal.append(&mut disk, None, &[entry(2, 1)]), gap(1, 2));
    assert_eq!(wal.append(&mut disk, None, &[entry(1, 1), entry(3, 1)]), gap(2, 3));
    assert_eq!(wal.save_snapshot(&mut disk, snapshot(1, 1)), gap(0, 1));
    assert_eq!(disk.calls(), 0);
}

#[test]
fn a_snapshot_is_in_force_after_two_tickets_and_covers_what_is_given_up() {
    let mut disk = disk(slow());
    let mut wal = open(&mut disk);
    let appended = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1), entry(2, 1)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let stored = ticket(wal.save_snapshot(&mut disk, snapshot(1, 1)).unwrap());
    assert_eq!(wal.save_snapshot(&mut disk, snapshot(2, 1)), Err(WalError::Busy));
    assert_eq!(wal.snapshot(), None);
    assert_eq!(disk.take_asked().count(), 1);
    let also = ticket(wal.append(&mut disk, None, &[entry(3, 1)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, also), Synced::Done);
    let Synced::Next(Durability::After(marked)) = returns(&mut disk, &mut wal, stored) else {
        panic!("the frame that brings it into force takes a ticket of its own")
    };
    assert_eq!(wal.compact(&mut disk, 1), Err(WalError::NotCovered { asked: 1, covered: 0 }));
    assert_eq!(returns(&mut disk, &mut wal, marked), Synced::Done);
    assert_eq!(wal.compact(&mut disk, 2), Err(WalError::NotCovered { asked: 2, covered: 1 }));
    wal.compact(&mut disk, 1).unwrap();
    assert_eq!((wal.first_index(), wal.term(1), wal.term(0)), (2, Some(1), None));
    assert_eq!(wal.snapshot(), Some(&snapshot(1, 1)));
    let not_newer = wal.save_snapshot(&mut disk, snapshot(1, 1));
    assert_eq!(not_newer, Err(WalError::NotNewer { in_force: 1, found: 1 }));
}

#[test]
fn a_snapshot_that_is_stored_again_in_place_of_an_unfinished_one_is_not_removed_with_it() {
    let mut disk = disk(DiskTiming { failures: 0, ..slow() });
    let mut wal = open(&mut disk);
    let entries = [entry(1, 1), entry(2, 1)];
    let appended = ticket(wal.append(&mut disk, hard(1), &entries).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let data = ticket(wal.save_snapshot(&mut disk, snapshot(2, 1)).unwrap());
    assert!(matches!(returns(&mut disk, &mut wal, data), Synced::Next(Durability::After(_))));
    // A crash takes the mark and leaves the file, which is to go with the first frame that is durable.
    disk.crash(&mut Draw::from_value(1), true);
    let (mut wal, recovered) = Wal::open(&mut disk, Options::default()).unwrap();
    assert_eq!(
        recovered.dropped.iter().map(|dropped| dropped.why).next_back(),
        Some(Why::UnfinishedSnapshot)
    );
    let data = ticket(wal.save_snapshot(&mut disk, snapshot(2, 1)).unwrap());
    let Synced::Next(mark) = returns(&mut disk, &mut wal, data) else { panic!("the mark is next") };
    assert_eq!(returns(&mut disk, &mut wal, ticket(mark)), Synced::Done);
    assert_eq!(open(&mut disk).snapshot(), Some(&snapshot(2, 1)));
}

#[test]
fn a_snapshot_that_cannot_come_into_force_leaves_no_file() {
    let mut disk = disk(DiskTiming { capacity_bytes: 4_096, ..slow() });
    let mut wal = open(&mut disk);
    let appended = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1), entry(2, 1)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let data = ticket(wal.save_snapshot(&mut disk, snapshot(1, 1)).unwrap());
    // Somebody else takes what room is left, so that the frame which would bring it into force has none.
    let other = disk.open("other");
    while disk.append(other, b"x").is_ok() {}
    assert_eq!(disk.take_asked().count(), 1);
    assert_eq!(disk.complete(data), Some(true));
    assert!(wal.synced(&mut disk, data).is_err_and(|error| error.is_full()));
    assert_eq!(wal.snapshot(), None);
    let snapshots = |disk: &Disk| disk.list().filter(|name| name.starts_with("snapshot")).count();
    assert_eq!(snapshots(&disk), 0);

    disk.truncate(other, 0).unwrap();
    let data = ticket(wal.save_snapshot(&mut disk, snapshot(1, 1)).unwrap());
    let Synced::Next(mark) = returns(&mut disk, &mut wal, data) else { panic!("the mark is next") };
    assert_eq!(returns(&mut disk, &mut wal, ticket(mark)), Synced::Done);
    assert_eq!((wal.snapshot(), snapshots(&disk)), (Some(&snapshot(1, 1)), 1));
}

#[test]
fn a_snapshot_from_a_peer_replaces_the_log_together_with_what_comes_with_it() {
    let mut disk = disk(slow());
    let mut wal = open(&mut disk);
    let appended = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1), entry(2, 1)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let stored = wal.install_snapshot(&mut disk, snapshot(9, 4), hard(5), &[entry(10, 5)]).unwrap();
    assert_eq!(wal.append(&mut disk, hard(6), &[]), Err(WalError::Busy));
    let Synced::Next(marked) = returns(&mut disk, &mut wal, ticket(stored)) else { panic!("it goes on") };
    assert_eq!(returns(&mut disk, &mut wal, ticket(marked)), Synced::Done);
    disk.crash(&mut Draw::from_value(1), true);
    let wal = open(&mut disk);
    assert_eq!((Some(wal.hard_state()), wal.first_index(), terms(&wal)), (hard(5), 10, vec![5]));
    assert_eq!((wal.snapshot(), wal.term(9), wal.term(2)), (Some(&snapshot(9, 4)), Some(4), None));
}

#[test]
fn compaction_removes_whole_segments_and_the_log_is_read_back_without_them() {
    let mut disk = disk(DiskTiming::default());
    let (mut wal, _) = Wal::open(&mut disk, Options::new(1)).unwrap();
    for index in 1..=6 {
        let _ = wal.append(&mut disk, hard(index), &[entry(index, index)]).unwrap();
    }
    let _ = wal.save_snapshot(&mut disk, snapshot(4, 4)).unwrap();
    wal.compact(&mut disk, 4).unwrap();
    let names: Vec<&str> = disk.list().collect();
    assert_eq!(names.len(), 4, "segments 5, 6 and 7, and the snapshot: {names:?}");
    disk.crash(&mut Draw::from_value(1), true);
    let (wal, recovered) = Wal::open(&mut disk, Options::new(1)).unwrap();
    assert_eq!((recovered.first_index, recovered.last_index, recovered.snapshot), (5, 6, Some((4, 4))));
    assert_eq!((recovered.dropped, terms(&wal)), (vec![], vec![5, 6]));
}

#[test]
fn no_segment_goes_before_the_newest_one_has_durably_begun() {
    // What the hard state is, and what the snapshot is, stands at the beginning of every segment.
    let mut disk = disk(slow());
    let (mut wal, _) = Wal::open(&mut disk, Options::new(1)).unwrap();
    let appended = ticket(wal.append(&mut disk, hard(3), &[entry(1, 1), entry(2, 3)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let data = ticket(wal.save_snapshot(&mut disk, snapshot(2, 3)).unwrap());
    let Synced::Next(mark) = returns(&mut disk, &mut wal, data) else { panic!("the mark is next") };
    assert_eq!(returns(&mut disk, &mut wal, ticket(mark)), Synced::Done);
    let newest = ticket(wal.append(&mut disk, None, &[entry(3, 3)]).unwrap());
    wal.compact(&mut disk, 2).unwrap();
    for mut disk in disk.crash_states(0).iter() {
        let found = open(&mut disk);
        assert_eq!((Some(found.hard_state()), found.snapshot()), (hard(3), Some(&snapshot(2, 3))));
    }
    // Then they go.
    let before = disk.list().count();
    assert_eq!(returns(&mut disk, &mut wal, newest), Synced::Done);
    wal.compact(&mut disk, 2).unwrap();
    assert_eq!((before, disk.list().count()), (4, 2), "the newest segment and the snapshot are left");
}

#[test]
fn a_torn_tail_is_reported_and_the_log_goes_on_behind_it() {
    let mut disk = disk(DiskTiming { sector_bytes: 64, ..slow() });
    let mut wal = open(&mut disk);
    let appended = ticket(wal.append(&mut disk, hard(1), &[entry(1, 1)]).unwrap());
    assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
    let length = disk.len(disk.find("segment-0000000000000001").unwrap());
    let _ = wal.append(&mut disk, hard(2), &[entry(2, 2)]).unwrap();
    let states = disk.crash_states(0);
    let torn = states.iter().filter_map(|mut disk| {
        let (wal, recovered) = Wal::open(&mut disk, Options::default()).unwrap();
        (!recovered.dropped.is_empty()).then_some((disk, wal, recovered))
    });
    let mut seen = 0;
    for (mut disk, mut wal, recovered) in torn {
        seen += 1;
        let file = "segment-0000000000000001".to_owned();
        let bytes = disk.len(disk.find(&file).unwrap()) - length;
        let expected = Dropped { file, offset: length as u64, bytes: bytes as u64, why: Why::TornTail };
        assert_eq!((recovered.last_index, recovered.dropped), (1, vec![expected]));
        let appended = ticket(wal.append(&mut disk, hard(3), &[entry(2, 3)]).unwrap());
        assert_eq!(returns(&mut disk, &mut wal, appended), Synced::Done);
        disk.crash(&mut Draw::from_value(1), true);
        assert_eq!(terms(&open(&mut disk)), [1, 3]);
    }
    assert!(seen > 0);
}

/// A log of which the first of several frames is damaged beyond repair.
fn damaged() -> (Disk, String) {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    for index in 1..=3 {
        let _ = wal.append(&mut disk, hard(index + 4), &[entry(index, index)]).unwrap();
    }
    let name = disk.list().next().unwrap().to_owned();
    let file = disk.find(&name).unwrap();
    disk.write_at(file, 120, &[0xff; 20]).unwrap();
    disk.sync(file).unwrap();
    (disk, name)
}

#[test]
fn damage_in_the_middle_is_refused_with_file_and_offset() {
    let (mut disk, name) = damaged();
    let error = Wal::open(&mut disk, Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{name} is damaged at byte 106: the checksum of the frame is wrong")
    );
}

#[test]
fn a_damaged_log_begins_anew_with_its_highest_term_and_says_so_until_it_is_repaired() {
    let (mut disk, name) = damaged();
    let (mut wal, durability) = Wal::quarantine(&mut disk, Options::default()).unwrap();
    assert_eq!((durability, wal.hard_state().term, wal.last_index()), (Durability::Now, 7, 0));
    assert_eq!(disk.find(&name), None, "the old log is gone");
    disk.crash(&mut Draw::from_value(1), true);
    let (again, recovered) = Wal::open(&mut disk, Options::default()).unwrap();
    assert!(recovered.quarantined && again.is_quarantined());
    let _ = wal.install_snapshot(&mut disk, snapshot(5, 7), None, &[]).unwrap();
    assert_eq!(wal.end_quarantine(&mut disk), Ok(Durability::Now));
    let (wal, recovered) = Wal::open(&mut disk, Options::default()).unwrap();
    assert!(!recovered.quarantined);
    assert_eq!((wal.last_index(), wal.hard_state().term), (5, 7));
}

#[test]
fn a_disk_that_cannot_be_read_is_no_damage() {
    let mut disk = disk(DiskTiming { read_failures: u16::MAX, ..DiskTiming::default() });
    let mut wal = open(&mut disk);
    let _ = wal.append(&mut disk, hard(1), &[]).unwrap();
    let error = Wal::open(&mut disk, Options::default()).unwrap_err();
    assert!(matches!(error, WalError::Disk { call: "read", error: DiskError::Failed, .. }), "{error}");
}

#[test]
fn a_lying_disk_loses_data_and_the_log_is_whole_all_the_same() {
    let faults = DiskFaults { lies: u16::MAX, ..DiskFaults::default() };
    for value in 0..200 {
        let mut disk = disk(DiskTiming { faults, sector_bytes: 64, ..DiskTiming::default() });
        let mut wal = open(&mut disk);
        for index in 1..=4 {
            let _ = wal.append(&mut disk, hard(index), &[entry(index, index)]).unwrap();
        }
        disk.crash(&mut Draw::from_value(value), false);
        // Frames that said others were durable may be there without them: then the log must not go on.
        match Wal::open(&mut disk, Options::default()) {
            Ok((wal, _)) => assert_eq!(terms(&wal), (1..=wal.last_index()).collect::<Vec<_>>()),
            Err(error) => assert!(matches!(error, WalError::Damaged { .. }), "{error}"),
        }
    }
}

#[test]
fn a_log_is_shown_frame_by_frame() {
    let (mut disk, name) = damaged();
    let file = disk.find(&name).unwrap();
    let shown = describe(&name, disk.load(file).unwrap()).unwrap();
    let expected = "\
segment-0000000000000001: 412 bytes
       0  frame 1  synced 0  segment 1 begins  term 0 vote 0 commit 0  last 0/0  snapshot 0/0
     106  NOT A FRAME for 102 bytes: the checksum of the frame is wrong
     208  frame 3  synced 2  term 6 vote 1 commit 0  1 entries from 2
            2/2 3 bytes \"2/2\"
     310  frame 4  synced 3  term 7 vote 1 commit 0  1 entries from 3
            3/3 3 bytes \"3/3\"
";
    assert_eq!(shown, expected);
    let snapshot = describe("snapshot.new", b"WWS1 and then it ends").unwrap();
    assert_eq!(snapshot, "snapshot.new: 21 bytes, a snapshot DAMAGED at byte 21: it ends within its head\n");
    let error = describe("notes", b"nothing of ours").unwrap_err();
    assert_eq!(
        error.to_string(),
        "notes is damaged at byte 0: there is no frame in it, and it is no snapshot"
    );
}

#[test]
fn the_bytes_of_a_log_never_change() {
    let mut disk = disk(DiskTiming::default());
    let mut wal = open(&mut disk);
    let _ = wal.append(&mut disk, hard(2), &[entry(1, 2)]).unwrap();
    let _ = wal.save_snapshot(&mut disk, snapshot(1, 2)).unwrap();
    let sums: Vec<(String, u64)> = disk
        .list()
        .map(|name| {
            let bytes = disk.read(disk.find(name).unwrap());
            let sum = bytes.iter().fold(7_u64, |sum, &b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
            (name.to_owned(), sum)
        })
        .collect();
    let golden = [
        ("segment-0000000000000001", 6541254066430821360),
        ("snapshot-0000000000000001-0002", 17933482650888139811),
    ];
    assert_eq!(sums, golden.map(|(name, sum)| (name.to_owned(), sum)));
}
