//! A few durable numbers of a small system: saved as a whole, read back as they were saved last, whatever a crash did.
//!
//! Layout: records, one behind the other. A record is its number of words, the words, and a checksum over both; each is 8
//! bytes, little-endian. The last whole record counts.

use whitewater_sim::{Digester, Disk, Sync};

/// Makes `words` durable under a name of the node's disk.
///
/// # Panics
/// The disk fails or takes its time: a system that stands such disks keeps a log of its own.
pub fn save(disk: &mut Disk, name: &str, words: &[u64]) {
    let file = disk.open(name);
    let mut bytes = Vec::new();
    [words.len() as u64].iter().chain(words).for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend(checksum(words).to_le_bytes());
    disk.append(file, &bytes).expect("the disk takes what it is given");
    assert_eq!(disk.sync(file), Ok(Sync::Done), "the disk does what it is told at once");
}

/// What was saved last under that name, nothing if nothing was. What a crash left of a later record is taken away.
pub fn load(disk: &mut Disk, name: &str) -> Vec<u64> {
    let file = disk.open(name);
    let bytes = disk.read(file);
    let (words, _) = bytes.as_chunks();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (mut last, mut rest, mut length) = (&[][..], &words[..], 0);
    while let Some((record, behind)) = first_record(rest) {
        (last, rest, length) = (record, behind, length + 8 * (record.len() + 2));
    }
    let last = last.to_vec();
    if length < bytes.len() {
        disk.truncate(file, length).expect("the file is longer");
    }
    last
}

/// The words of the record at the beginning, and what follows it.
fn first_record(words: &[u64]) -> Option<(&[u64], &[u64])> {
    let (length, rest) = words.split_first()?;
    let (record, rest) = rest.split_at_checked(usize::try_from(*length).ok()?)?;
    let (sum, rest) = rest.split_first()?;
    (*sum == checksum(record)).then_some((record, rest))
}

fn checksum(words: &[u64]) -> u64 {
    let mut digester = Digester::default();
    digester.word(words.len() as u64);
    words.iter().for_each(|word| digester.word(*word));
    digester.short()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_counts_and_what_was_cut_short_does_not() {
        let mut disk = Disk::default();
        assert!(load(&mut disk, "state").is_empty());
        save(&mut disk, "state", &[1]);
        save(&mut disk, "state", &[7, 8, 9]);
        assert_eq!(load(&mut disk, "state"), [7, 8, 9]);
        // The first record has 24 bytes, the second 40.
        for length in 24..64 {
            let mut disk = disk.clone();
            let file = disk.open("state");
            disk.truncate(file, length).unwrap();
            assert_eq!(load(&mut disk, "state"), [1], "{length} bytes");
            assert_eq!(disk.read(file).len(), 24);
        }
        save(&mut disk, "state", &[]);
        assert!(load(&mut disk, "state").is_empty());
    }
}
