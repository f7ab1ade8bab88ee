//! A new beginning after damage, and every crash in the middle of it: no start ever takes the log for whole.

use super::bench::timing;
use whitewater_sim::{Disk, Key};
use whitewater_wal::{Entry, HardState, Options, Wal, WalError};

/// A log in two segments of which the first frame is damaged beyond repair.
fn damaged() -> Disk {
    let mut disk = Disk::new(timing(false, 64), Key::default());
    let (mut wal, _) = Wal::open(&mut disk, Options::new(200)).unwrap();
    for index in 1..=4 {
        let hard_state = HardState { term: index + 4, ..HardState::default() };
        let entry = Entry { index, term: index, kind: 0, payload: [7; 20][..].into() };
        let _ = wal.append(&mut disk, Some(hard_state), &[entry]).unwrap();
    }
    let name = disk.list().next().unwrap().to_owned();
    let file = disk.find(&name).unwrap();
    disk.write_at(file, 120, &[0xff; 20]).unwrap();
    disk.sync(file).unwrap();
    disk
}

/// What a start says of the log: that it is damaged, or that it was.
fn is_told(disk: &mut Disk) -> bool {
    match Wal::open(disk, Options::new(200)) {
        Err(WalError::Damaged { .. }) => true,
        Ok((_, recovered)) => recovered.quarantined,
        Err(_) => false,
    }
}

#[test]
fn a_crash_while_a_log_begins_anew_never_leaves_one_that_seems_whole() {
    let whole = damaged();
    let mut states = 0;
    let mut done = whole.clone();
    let _ = Wal::quarantine(&mut done, Options::new(200)).unwrap();
    for call in 1..=done.calls() - whole.calls() {
        let mut dying = whole.clone();
        dying.die_after(call);
        let _ = Wal::quarantine(&mut dying, Options::new(200));
        for mut disk in dying.crash_states(16).iter() {
            states += 1;
            assert!(is_told(&mut disk), "call {call}");
            if Wal::open(&mut disk, Options::new(200)).is_err() {
                let _ = Wal::quarantine(&mut disk, Options::new(200)).unwrap();
            }
            assert!(is_told(&mut disk), "call {call}, once more");
        }
    }
    assert!(states > 20, "{states}");
}
