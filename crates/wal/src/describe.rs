//! A log for people: every frame of a segment, or the head of a snapshot, in lines.

use crate::damage::{flaw, frames};
use crate::entry::HardState;
use crate::error::WalError;
use crate::format::{Body, HEAD_BYTES, MAGIC, SNAPSHOT_MAGIC, read_frame, read_snapshot};
use std::fmt::Write;

/// Payload bytes shown of an entry.
const SHOWN_BYTES: usize = 24;

/// Lists what a file of a log holds, a line for each frame, with what is wrong about it. Works on any file: it needs
/// no others, and where a frame is not right it goes on at the next that is.
///
/// # Errors
/// [`WalError::Damaged`] if the file is neither a segment nor a snapshot.
pub fn describe(file_name: &str, bytes: &[u8]) -> Result<String, WalError> {
    if bytes.starts_with(&SNAPSHOT_MAGIC) {
        let snapshot = match read_snapshot(bytes) {
            Ok(snapshot) => snapshot,
            Err((offset, what)) => {
                let length = bytes.len();
                return Ok(format!(
                    "{file_name}: {length} bytes, a snapshot DAMAGED at byte {offset}: {what}\n"
                ));
            }
        };
        let (metadata, data) = (snapshot.metadata.len(), snapshot.data.len());
        return Ok(format!(
            "{file_name}: snapshot at index {} of term {}, {metadata} bytes of metadata, {data} of data\n",
            snapshot.index, snapshot.term
        ));
    }
    if !bytes.is_empty() && !bytes.starts_with(&MAGIC) && next_frame(bytes, 0).is_none() {
        let (file, what) = (file_name.to_owned(), "there is no frame in it, and it is no snapshot");
        return Err(WalError::Damaged { file, offset: 0, what });
    }
    Ok(segment(file_name, bytes))
}

/// Where the next frame that is right in itself begins.
fn next_frame(bytes: &[u8], from: usize) -> Option<usize> {
    frames(&bytes[from..]).map(|(at, ..)| from + at).next()
}

fn segment(file_name: &str, bytes: &[u8]) -> String {
    let mut text = format!("{file_name}: {} bytes\n", bytes.len());
    let (mut at, mut chain) = (0, None);
    while at < bytes.len() {
        match read_frame(&bytes[at..]) {
            Some((head, body)) => {
                let unlinked = chain.is_some_and(|chain| chain != head.previous);
                let _ = write!(text, "{at:>8}  frame {}  synced {}", head.number, head.synced);
                describe_body(&mut text, &body);
                text.push_str(if unlinked { "  DOES NOT FOLLOW\n" } else { "\n" });
                describe_entries(&mut text, &body);
                chain = Some(head.checksum);
                at += HEAD_BYTES + head.length;
            }
            None => {
                let next = next_frame(bytes, at).unwrap_or(bytes.len());
                let flaw = flaw(&bytes[at..], chain.unwrap_or(0), chain.is_none());
                let _ = write!(text, "{at:>8}  NOT A FRAME for {} bytes: {}", next - at, flaw.what);
                if let Some(bit) = flaw.bit {
                    let _ = write!(text, " (bit {} of byte {} is flipped)", bit % 8, at + bit / 8);
                }
                text.push('\n');
                (at, chain) = (next, None);
            }
        }
    }
    text
}

fn describe_body(text: &mut String, body: &Body) {
    let hard = |text: &mut String, HardState { term, vote, commit }| {
        let _ = write!(text, "  term {term} vote {vote} commit {commit}");
    };
    match body {
        Body::Beginning(beginning) => {
            let _ = write!(text, "  segment {} begins", beginning.segment);
            hard(text, beginning.hard_state);
            let (last, mark) = (beginning.last, beginning.mark);
            let _ =
                write!(text, "  last {}/{}  snapshot {}/{}", last.term, last.index, mark.term, mark.index);
            text.push_str(if beginning.quarantined { "  quarantined" } else { "" });
        }
        Body::Record(record) => {
            if let Some(hard_state) = record.hard_state {
                hard(text, hard_state);
            }
            if let Some(mark) = record.mark {
                let _ = write!(text, "  snapshot {}/{} in force", mark.term, mark.index);
            }
            text.push_str(if record.restore { ", log given up" } else { "" });
            match record.quarantined {
                Some(true) => text.push_str("  quarantined"),
                Some(false) => text.push_str("  quarantine ends"),
                None => {}
            }
            if let Some(suffix) = &record.suffix {
                let _ = write!(text, "  {} entries from {}", suffix.entries.len(), suffix.first);
            }
        }
    }
}

fn describe_entries(text: &mut String, body: &Body) {
    let Body::Record(record) = body else { return };
    for entry in record.suffix.iter().flat_map(|suffix| suffix.entries.iter()) {
        let shown = &entry.payload[..entry.payload.len().min(SHOWN_BYTES)];
        let more = if shown.len() < entry.payload.len() { "..." } else { "" };
        let (length, payload) = (entry.payload.len(), shown.escape_ascii());
        let _ =
            writeln!(text, "            {}/{} {length} bytes \"{payload}\"{more}", entry.term, entry.index);
    }
}
