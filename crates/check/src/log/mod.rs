//! Rules over the logs of a Raft, and the composite that shadows every node and wakes them.

mod abstract_step;
mod acknowledgements_durable;
mod answers_asked;
mod appends_fit;
mod applied_durable;
mod books;
mod campaign_configured;
mod candidates_vote;
mod change;
mod chronicle;
mod commit_monotonic;
mod commit_own_term;
mod commit_within_log;
mod committed_agree;
mod committed_kept;
mod committed_on_quorum;
mod copies;
mod durable_log_kept;
mod elected_by_quorum;
mod followed;
mod forgetting;
mod grants_durable;
mod leader_append_only;
mod leader_completeness;
mod leader_longest;
mod leader_named;
mod log_matching;
mod log_terms;
mod match_truth;
mod matches_grow;
mod membership_agreed;
mod membership_steps;
mod message_terms;
mod next_beyond_match;
mod one_change_at_a_time;
mod peer_refused;
mod pre_vote_keeps_term;
mod responses_durable;
mod retries_carry;
mod rule;
mod rules;
mod shadow;
mod snapshot_committed;
mod snapshot_ended;
mod speech;
mod state_machine_safety;
mod transfer_ordered;
mod vote_kept;

#[cfg(test)]
pub(crate) mod blinding_tests;
#[cfg(test)]
pub(crate) mod further_tests;
#[cfg(test)]
pub(crate) mod testing;

pub use change::LogStanding;
pub use rules::RaftRules;
