//! The tape of a recorded run: every decision that was made, as the pin that would make it again.

use super::{Decision, Fate, Pin};
use crate::id::NodeId;
use crate::time::Span;
use std::fmt::Display;

/// Decisions in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    pins: Vec<Pin>,
    /// What a run without a seed decides by itself.
    usual: Vec<Usual>,
    /// Which event sent the message of a decision, by number and in order.
    sent: Vec<(u32, usize)>,
}

/// What a run without a seed decides by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usual {
    /// The same.
    This,
    /// Something else.
    Another,
    /// That the message arrives once, after this delay.
    Arrives(Span),
}

impl Tape {
    pub(crate) fn push(&mut self, decision: Decision, usual: bool) {
        self.pins.push(Pin::new(decision));
        self.usual.push(if usual { Usual::This } else { Usual::Another });
    }

    pub(crate) fn message(&mut self, decision: Decision, text: &impl Display, shortest: Span) {
        self.pins.push(Pin { decision, note: Some(text.to_string()) });
        self.usual.push(Usual::Arrives(shortest));
    }

    /// The newest message was sent by this event.
    pub(crate) fn sent(&mut self, event: u32) {
        self.sent.push((event, self.pins.len() - 1));
    }

    /// Changes the fate of the newest message.
    pub(crate) fn amend(&mut self, change: impl FnOnce(&mut Fate)) {
        if let Some(Pin { decision: Decision::Message { fate, .. }, .. }) = self.pins.last_mut() {
            change(fate);
        }
    }

    /// Changes the fate of the message that an event sent.
    fn amend_sent(&mut self, sent_by: u32, change: impl FnOnce(&mut Fate)) {
        let Ok(at) = self.sent.binary_search_by_key(&sent_by, |(event, _)| *event) else { return };
        if let Decision::Message { fate, .. } = &mut self.pins[self.sent[at].1].decision {
            change(fate);
        }
    }

    /// The message that an event sent has arrived, and a copy follows.
    pub(crate) fn copied(&mut self, sent_by: u32, later: Span) {
        self.amend_sent(sent_by, |fate| {
            if let Fate::Arrives { again, .. } = fate {
                *again = Some(later);
            }
        });
    }

    /// The message that an event sent goes to another node.
    pub(crate) fn astray(&mut self, sent_by: u32, node: NodeId) {
        self.amend_sent(sent_by, |fate| {
            if let Fate::Arrives { at, .. } = fate {
                *at = Some(node);
            }
        });
    }

    /// The message that an event sent, or its copy, arrives damaged, which is as good as not at all.
    pub(crate) fn damaged(&mut self, sent_by: u32, is_copy: bool) {
        self.amend_sent(sent_by, |fate| match fate {
            Fate::Arrives { again, .. } if is_copy => *again = None,
            // Only the copy is left, and comes when it comes.
            Fate::Arrives { after, again: again @ Some(_), .. } => {
                *after = *after + again.take().unwrap_or_default();
            }
            fate => *fate = Fate::Lost,
        });
    }

    /// The decisions that a run without a seed would not make by itself.
    pub(crate) fn into_pins(self) -> Vec<Pin> {
        let pins = self.pins.into_iter().zip(self.usual);
        let unusual = pins.filter(|(pin, usual)| match (&pin.decision, *usual) {
            (Decision::Message { fate, .. }, Usual::Arrives(after)) => {
                *fate != Fate::Arrives { after, again: None, at: None }
            }
            (_, usual) => usual == Usual::Another,
        });
        unusual.map(|(pin, _)| pin).collect()
    }
}
