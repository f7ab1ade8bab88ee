//! The rules over what nodes say, and how they hear it.

use super::acknowledgements_durable::AcknowledgementsDurable;
use super::appends_fit::AppendsFit;
use super::books::Books;
use super::copies::Copies;
use super::grants_durable::GrantsDurable;
use super::message_terms::MessageTerms;
use super::responses_durable::ResponsesDurable;
use super::retries_carry::RetriesCarry;
use super::rule::{Speaker, SpeechRule, note};
use super::rules::{Description, FIRST_LOG_RULE, FIRST_SPEECH_RULE};
use super::snapshot_committed::SnapshotCommitted;
use super::transfer_ordered::TransferOrdered;
use crate::change::Grant;
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// Declares the rules over what nodes say, in the order in which they hear.
macro_rules! speech_rules {
    ($($rule:ty,)*) => {
        pub(super) const SPEECH_RULES: &[Description] = &[$(Description::of_speech::<$rule>(),)*];

        /// Where it is known what is said, nothing is left of the rules that do not look at it.
        #[inline(always)]
        pub(super) fn hear(blind: u64, said: Spoken, speaker: &Speaker, broken: &mut Vec<Violation>) {
            let mut bit = FIRST_SPEECH_RULE;
            $(
                if blind & bit == 0 {
                    note(<$rule>::hear(said, speaker), broken);
                }
                bit <<= 1;
            )*
            assert_eq!(bit, FIRST_LOG_RULE, "each rule has a bit of its own");
        }
    };
}

speech_rules! {
    GrantsDurable,
    ResponsesDurable,
    AcknowledgementsDurable,
    MessageTerms,
    AppendsFit,
    RetriesCarry,
    SnapshotCommitted,
    TransferOrdered,
}

/// Who hears what is said.
pub(super) struct Ears<'a> {
    /// Rules that are switched off, a bit each.
    pub(super) blind: u64,
    pub(super) copies: Option<&'a mut Copies>,
    pub(super) broken: &'a mut Vec<Violation>,
}

impl Ears<'_> {
    #[inline(always)]
    pub(super) fn hear(&mut self, said: Spoken, speaker: &Speaker) {
        hear(self.blind, said, speaker, self.broken);
        if let Some(copies) = &mut self.copies {
            copies.hear(said, speaker);
        }
    }
}

/// Hears what is said seldom: elections, refusals, snapshots, orders. Gives it back if it is an answer that nobody asked for.
#[inline(never)]
pub(super) fn hear_rare(
    said: Spoken,
    mut speaker: Speaker,
    books: &mut Books,
    grants: &mut Vec<Grant>,
    ears: &mut Ears<'_>,
) -> Option<Spoken> {
    let mut unasked = None;
    match said {
        Spoken::Grant { to, term } => {
            grants.push(Grant { term, candidate: to });
            if !books.requests.has_stood(to, term) {
                unasked = Some(said);
            }
        }
        Spoken::Order { to, term } => books.orders.remember(term, to),
        Spoken::Campaign { term, takes_over } => {
            // Many ticks at once may be several elections, of which only the last one shows.
            books.requests.stands(speaker.node, term);
            speaker.was_ordered = takes_over && books.orders.has(term.saturating_sub(1), speaker.node);
        }
        Spoken::Snapshot { term, .. } if term != speaker.term => books.requests.leads(speaker.node, term),
        _ => {}
    }
    ears.hear(said, &speaker);
    unasked
}
