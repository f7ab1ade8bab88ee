//! Pins as text: a decision by name with what was decided.
//!
//! ```text
//! pin n1->n2 MsgApp key 1f3a #1 after 3ms again after 5ms | the text of the message
//! pin n1->n2 MsgApp key 1f3a #2 lost
//! pin timer relay-ready n1->n2 start 2 #1 to 20ms
//! pin draw election-timeout n1 #3 to 13
//! pin crash n2 #1 keeps 2a
//! pin disk n1 sync-time #17 to 5000000
//! ```

use super::LineError;
use super::read::{Reader, digits, is_name, looks_like_a_node};
use super::words::{Word, is_plain, quote};
use crate::suggest::listed;
use whitewater_sim::{DISK_DECISIONS, Decision, Fate, NodeId, Pin};

/// The first word of a pin.
pub(super) const PIN: &str = "pin";

/// A pin as one line, its note behind a bar.
pub fn print_pin(pin: &Pin) -> String {
    let number = |start: u32, number: u32| match start {
        1 => format!("#{number}"),
        start => format!("start {start} #{number}"),
    };
    let name = |name: &str| if is_name(name) { name.to_owned() } else { quote(name) };
    let about = |node: &NodeId, peer: &Option<NodeId>| match peer {
        Some(peer) => format!("{node}->{peer}"),
        None => node.to_string(),
    };
    let mut line = match &pin.decision {
        Decision::Message { from, to, name: kind, key, start, number: n, fate } => {
            format!("pin {from}->{to} {} key {key:x} {} {}", name(kind), number(*start, *n), print_fate(fate))
        }
        Decision::Timer { node, name: timer, peer, start, number: n, span } => {
            format!("pin timer {} {} {} to {span}", name(timer), about(node, peer), number(*start, *n))
        }
        Decision::Draw { node, site, start, number: n, value } => {
            format!("pin draw {} {node} {} to {value}", name(site), number(*start, *n))
        }
        Decision::Crash { node, number, bits } => format!("pin crash {node} #{number} keeps {bits:x}"),
        Decision::Disk { node, what, number, value } => {
            format!("pin disk {node} {what} #{number} to {value}")
        }
    };
    match &pin.note {
        Some(note) if is_plain(note) => line.push_str(&format!(" | {note}")),
        Some(note) => line.push_str(&format!(" | {}", quote(note))),
        None => {}
    }
    line
}

fn print_fate(fate: &Fate) -> String {
    match fate {
        Fate::Lost => "lost".to_owned(),
        Fate::Arrives { after, again, at } => {
            let again = again.map_or_else(String::new, |later| format!(" again after {later}"));
            let at = at.map_or_else(String::new, |node| format!(" at {node}"));
            format!("after {after}{again}{at}")
        }
    }
}

const EXAMPLE: &str =
    "a message such as `n1->n2 MsgApp key 1f3a #1 after 3ms`, or `timer`, `draw`, `crash` or `disk`";

impl Reader<'_> {
    /// A pin; the word `pin` is next.
    pub(super) fn pin(&mut self) -> Result<Pin, LineError> {
        self.words.next();
        let what = self.word("what is pinned", EXAMPLE)?;
        let decision = match what.text.as_str() {
            "timer" => self.pinned_timer()?,
            "draw" => self.pinned_draw()?,
            "crash" => {
                let node = self.pinned_node()?;
                let number = self.pinned_number::<u32>()?;
                self.keyword("keeps", "`keeps` and hexadecimal digits")?;
                Decision::Crash { node, number, bits: self.hexadecimal()? }
            }
            "disk" => self.pinned_disk()?,
            _ => self.pinned_message(&what)?,
        };
        Ok(Pin { decision, note: self.note()? })
    }

    fn pinned_message(&mut self, link: &Word) -> Result<Decision, LineError> {
        let (from, to) = self.arrow(link, |reader, word, text| reader.node_of(word, text))?;
        let name = self.word("the kind of the message", "it, such as `MsgApp`")?.text;
        self.keyword("key", "the key of its content, such as `key 1f3a`")?;
        let key = self.hexadecimal()?;
        let (start, number) = self.start_and_number()?;
        let fate = if self.words.eat("lost") {
            Fate::Lost
        } else {
            self.keyword("after", "`lost`, or when it arrives, such as `after 3ms`")?;
            let after = self.span()?;
            let again = match self.words.eat("again") {
                true => {
                    self.keyword("after", "how much later its copy arrives, such as `again after 5ms`")?;
                    Some(self.span()?)
                }
                false => None,
            };
            let at = if self.words.eat("at") { Some(self.pinned_node()?) } else { None };
            Fate::Arrives { after, again, at }
        };
        Ok(Decision::Message { from, to, name, key, start, number, fate })
    }

    fn pinned_timer(&mut self) -> Result<Decision, LineError> {
        let name = self.word("the name of the timer", "it, such as `election`")?.text;
        let about = self.word("whose timer it is", "the node, or node and peer such as n1->n2")?;
        let (node, peer) = match looks_like_a_node(&about.text) {
            true => (self.node_of(&about, &about.text)?, None),
            false => {
                let (node, peer) = self.arrow(&about, |reader, word, text| reader.node_of(word, text))?;
                (node, Some(peer))
            }
        };
        let (start, number) = self.start_and_number()?;
        self.keyword("to", "how long it is set for, such as `to 20ms`")?;
        Ok(Decision::Timer { node, name, peer, start, number, span: self.span()? })
    }

    fn pinned_draw(&mut self) -> Result<Decision, LineError> {
        let site = self.word("where it is drawn", "the name of the site")?.text;
        let node = self.pinned_node()?;
        let (start, number) = self.start_and_number()?;
        self.keyword("to", "what is drawn, such as `to 13`")?;
        Ok(Decision::Draw { node, site, start, number, value: self.number("what is drawn", 0, u64::MAX)? })
    }

    fn pinned_disk(&mut self) -> Result<Decision, LineError> {
        let node = self.pinned_node()?;
        let what = self.word("what the disk does", "it, such as `sync-fails`")?;
        if !DISK_DECISIONS.contains(&what.text.as_str()) {
            let message = format!("no disk decides about `{}`", what.text);
            return Err(self.words.wrong(&what, message, listed(&what.text, DISK_DECISIONS)));
        }
        let number = self.pinned_number::<u64>()?;
        self.keyword("to", "what is decided: 1 or 0, nanoseconds, or a place")?;
        let value = self.number("what is decided", 0, u64::MAX)?;
        Ok(Decision::Disk { node, what: what.text, number, value })
    }

    fn pinned_node(&mut self) -> Result<NodeId, LineError> {
        let word = self.word("a node", "n1")?;
        self.node_of(&word, &word.text)
    }

    /// `start 2 #3`, or `#3` for the first start.
    fn start_and_number(&mut self) -> Result<(u32, u32), LineError> {
        let start = match self.words.eat("start") {
            true => self.number("the number of the start", 1, u64::from(u32::MAX))? as u32,
            false => 1,
        };
        Ok((start, self.pinned_number()?))
    }

    fn pinned_number<T: std::str::FromStr>(&mut self) -> Result<T, LineError> {
        let word = self.word("which of several it is", "its number from 1, such as `#1`")?;
        let number = word.text.strip_prefix('#').filter(|_| !word.quoted).and_then(digits::<T>);
        number.ok_or_else(|| {
            let message = format!("`{}` does not say which of several it is", word.text);
            self.words.wrong(&word, message, "write `#` and its number, such as `#1`")
        })
    }

    fn hexadecimal(&mut self) -> Result<u64, LineError> {
        let word = self.word("a number in hexadecimal digits", "it without 0x, such as 1f3a")?;
        let is_hex = !word.text.is_empty() && word.text.bytes().all(|digit| digit.is_ascii_hexdigit());
        u64::from_str_radix(&word.text, 16).ok().filter(|_| is_hex).ok_or_else(|| {
            let message = format!("`{}` is no number in hexadecimal digits below 2^64", word.text);
            self.words.wrong(&word, message, "write it without 0x, such as 1f3a")
        })
    }
}
