//! The rules over a Raft with a log, as one: shadows every node, makes one change per event, wakes what it concerns.

use super::abstract_step::AbstractStep;
use super::answers_asked::AnswersAsked;
use super::applied_durable::AppliedDurable;
use super::books::Books;
use super::campaign_configured::CampaignConfigured;
use super::candidates_vote::CandidatesVote;
use super::change::{LogChange, LogStanding};
use super::commit_monotonic::CommitMonotonic;
use super::commit_own_term::CommitOwnTerm;
use super::commit_within_log::CommitWithinLog;
use super::committed_agree::CommittedAgree;
use super::committed_kept::CommittedKept;
use super::committed_on_quorum::CommittedOnQuorum;
use super::copies::Copies;
use super::durable_log_kept::DurableLogKept;
use super::elected_by_quorum::ElectedByQuorum;
use super::followed::{Followed, follow_matches};
use super::leader_append_only::LeaderAppendOnly;
use super::leader_completeness::LeaderCompleteness;
use super::leader_longest::LeaderLongest;
use super::leader_named::LeaderNamed;
use super::log_matching::LogMatching;
use super::log_terms::LogTerms;
use super::match_truth::MatchTruth;
use super::matches_grow::MatchesGrow;
use super::membership_agreed::MembershipAgreed;
use super::membership_steps::MembershipSteps;
use super::next_beyond_match::NextBeyondMatch;
use super::one_change_at_a_time::OneChangeAtATime;
use super::peer_refused::PeerRefused;
use super::pre_vote_keeps_term::PreVoteKeepsTerm;
use super::rule::{Alarm, LogRule, Speaker, SpeechRule, note};
use super::snapshot_ended::SnapshotEnded;
use super::speech::{Ears, SPEECH_RULES, hear_rare};
use super::state_machine_safety::StateMachineSafety;
use super::vote_kept::VoteKept;
use crate::change::{Bits, Change, Grant, Standing};
use crate::election_safety::ElectionSafety;
use crate::log_view::{RaftView, Spoken, Stimulus};
use crate::membership::Membership;
use crate::monotonic_terms::MonotonicTerms;
use crate::rule::Rule;
use crate::terrain::Terrain;
use crate::vote_once::VoteOnce;
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

/// Rules over elections alone, which look first.
#[derive(Clone, Debug, Default)]
pub(super) struct ElectionRules {
    safety: ElectionSafety,
    terms: MonotonicTerms,
    pub(super) votes: VoteOnce,
}

/// The place of [`VoteOnce`] among them.
const VOTE_ONCE: u32 = 2;

impl ElectionRules {
    fn each(&mut self) -> [&mut dyn Rule; 3] {
        [&mut self.safety, &mut self.terms, &mut self.votes]
    }

    pub(super) fn wake(&mut self, blind: u64, change: &Change<'_>, broken: &mut Vec<Violation>) {
        for (place, rule) in self.each().into_iter().enumerate() {
            if blind & 1 << place == 0 {
                note(rule.wake(change), broken);
            }
        }
    }
}

/// Declares the rules over logs in the order in which they look.
macro_rules! log_rules {
    ($($field:ident: $rule:ty,)*) => {
        #[derive(Clone, Debug, Default)]
        pub(super) struct LogRules {
            $(pub(super) $field: $rule,)*
        }

        const LOG_RULES: &[Description] = &[$(Description::of_log::<$rule>(),)*];

        /// Rules that a change wakes, by the bit of the change.
        static ALARM: Alarm = Alarm::of(FIRST_LOG_RULE, &[$(<$rule>::WAKES_ON,)*]);

        impl LogRules {
            #[inline]
            pub(super) fn wake(
                &mut self,
                blind: u64,
                change: &LogChange<'_>,
                books: &Books,
                broken: &mut Vec<Violation>,
            ) {
                let awake = ALARM.wakes(change.bits) & !blind;
                let mut bit = FIRST_LOG_RULE;
                $(
                    if awake & bit != 0 {
                        note(self.$field.observe(change, books), broken);
                    }
                    bit <<= 1;
                )*
                assert_ne!(bit, 0, "each rule has a bit of its own");
            }
        }
    };
}

log_rules! {
    vote_kept: VoteKept,
    pre_vote_keeps_term: PreVoteKeepsTerm,
    durable_log_kept: DurableLogKept,
    log_terms: LogTerms,
    leader_append_only: LeaderAppendOnly,
    log_matching: LogMatching,
    leader_longest: LeaderLongest,
    leader_named: LeaderNamed,
    committed_kept: CommittedKept,
    commit_within_log: CommitWithinLog,
    applied_durable: AppliedDurable,
    commit_monotonic: CommitMonotonic,
    commit_own_term: CommitOwnTerm,
    committed_agree: CommittedAgree,
    leader_completeness: LeaderCompleteness,
    state_machine_safety: StateMachineSafety,
    match_truth: MatchTruth,
    matches_grow: MatchesGrow,
    next_beyond_match: NextBeyondMatch,
    snapshot_ended: SnapshotEnded,
    membership_agreed: MembershipAgreed,
    membership_steps: MembershipSteps,
    one_change_at_a_time: OneChangeAtATime,
    campaign_configured: CampaignConfigured,
    candidates_vote: CandidatesVote,
    elected_by_quorum: ElectedByQuorum,
    committed_on_quorum: CommittedOnQuorum,
    peer_refused: PeerRefused,
    answers_asked: AnswersAsked,
    abstract_step: AbstractStep,
}

pub(super) const FIRST_SPEECH_RULE: u64 = 1 << 3;
pub(super) const FIRST_LOG_RULE: u64 = FIRST_SPEECH_RULE << SPEECH_RULES.len();

/// What a rule says of itself.
#[derive(Clone, Copy)]
pub(super) struct Description {
    name: &'static str,
    claim: &'static str,
    source: &'static str,
}

impl Description {
    pub(super) const fn of_speech<R: SpeechRule>() -> Description {
        Description { name: R::NAME, claim: R::CLAIM, source: R::SOURCE }
    }

    const fn of_log<R: LogRule>() -> Description {
        Description { name: R::NAME, claim: R::CLAIM, source: R::SOURCE }
    }

    /// All rules; the bit of each is its place.
    fn all() -> Vec<Description> {
        let mut election = ElectionRules::default();
        let describe = |rule: &mut dyn Rule| Description {
            name: rule.name(),
            claim: rule.claim(),
            source: rule.source(),
        };
        let election = election.each().map(describe);
        election.iter().chain(SPEECH_RULES).chain(LOG_RULES).copied().collect()
    }
}

/// The bit of a rule.
fn bit(name: &str) -> Result<u64, String> {
    let rules = Description::all();
    let place = rules.iter().position(|rule| rule.name == name).ok_or_else(|| {
        let names: Vec<&str> = rules.iter().map(|rule| rule.name).collect();
        format!("there is no rule `{name}`; there are {}", names.join(", "))
    })?;
    Ok(1 << place)
}

/// All safety rules over a Raft with a log.
///
/// A monitor calls [`RaftRules::observe`] after each step of a server and [`RaftRules::crashed`] after each crash.
#[derive(Clone, Debug)]
pub struct RaftRules {
    servers: usize,
    pub(super) books: Books,
    pub(super) election: ElectionRules,
    pub(super) log: LogRules,
    /// Rules that are switched off, a bit each.
    blind: u64,
    /// See [`RaftRules::copy`].
    pub(super) copies: Option<Box<Copies>>,
    /// Votes sent in this step.
    grants: Vec<Grant>,
    /// What is broken in this step.
    broken: Vec<Violation>,
}

impl RaftRules {
    /// Rules for a cluster of `servers`, all of them awake. Panics from [`SERVERS_MAX`] on.
    pub fn new(servers: usize) -> RaftRules {
        assert!(servers <= SERVERS_MAX, "a world holds at most {SERVERS_MAX} servers");
        RaftRules {
            servers,
            books: Books::new(),
            election: ElectionRules::default(),
            log: LogRules::default(),
            blind: 0,
            copies: None,
            grants: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Name and claim of each rule, in the order in which they look.
    pub fn rules() -> Vec<(&'static str, &'static str)> {
        Description::all().iter().map(|rule| (rule.name, rule.claim)).collect()
    }

    /// Name of each rule and where its claim is stated.
    pub fn sources() -> Vec<(&'static str, &'static str)> {
        Description::all().iter().map(|rule| (rule.name, rule.source)).collect()
    }

    /// Switches a rule off, so that a test can show what is missed without it.
    ///
    /// # Errors
    /// There is no such rule; the text lists those there are.
    pub fn blind(&mut self, name: &str) -> Result<(), String> {
        self.blind |= bit(name)?;
        Ok(())
    }

    /// Has so many copies of a rule look beside it; or only asks each whether it looks, to tell what that costs.
    ///
    /// # Errors
    /// There is no such rule; the text lists those there are.
    pub fn copy(&mut self, name: &str, count: u32, look: bool) -> Result<(), String> {
        let blind = if look { !bit(name)? } else { u64::MAX };
        self.copies = Some(Box::new(Copies::new(count, blind)));
        Ok(())
    }

    /// Names of all rules that the last step breaks, the one it is reported under first.
    pub fn broken(&self) -> Vec<&'static str> {
        self.broken.iter().map(|violation| violation.rule).collect()
    }

    /// Switches every rule off but this one; all of them if it is none of these.
    pub fn blind_all_but(&mut self, name: &str) {
        for (rule, _) in RaftRules::rules() {
            if rule != name {
                self.blind(rule).expect("it is one of them");
            }
        }
    }

    /// Looks at a server after a step. `spoken` are the messages it sent to others in the step.
    ///
    /// # Errors
    /// The rule that is broken; of several the first in the order of [`RaftRules::rules`], which goes from causes to what
    /// comes of them: what is promised, votes, terms, logs, commits, applied states. All of them have looked, and the step is
    /// in the books, so that a run may go on.
    #[inline]
    pub fn observe<V: RaftView + ?Sized>(
        &mut self,
        node: NodeId,
        stimulus: Stimulus,
        view: &V,
        spoken: impl IntoIterator<Item = Spoken>,
    ) -> Result<(), Violation> {
        let (standing, after) = (Standing::of(view), LogStanding::of(view));
        if !self.broken.is_empty() {
            self.broken.clear();
        }
        self.grants.clear();
        let unasked = self.listen(node, stimulus, view, (&standing, &after), spoken);
        let shadow = &mut self.books.nodes[node.index()];
        let was = self.books.elections.last(node);
        let followed = if standing.role == Role::Leader {
            follow_matches(shadow, self.servers, node, stimulus, view, (was, &standing))
        } else {
            Followed::default()
        };
        if standing != *was
            || after != shadow.standing
            || followed.matched | followed.repeating != 0
            || unasked.is_some()
            || !self.grants.is_empty()
            || stimulus == Stimulus::Booted
        {
            let booted = stimulus == Stimulus::Booted;
            self.observe_changed(node, booted, view, &standing, &after, (followed, unasked));
        }
        if self.broken.is_empty() { Ok(()) } else { self.first_broken() }
    }

    /// Hears what a server says in a step. Gives an answer among it that nobody asked for.
    #[inline]
    fn listen<V: RaftView + ?Sized>(
        &mut self,
        node: NodeId,
        stimulus: Stimulus,
        view: &V,
        (standing, after): (&Standing, &LogStanding),
        spoken: impl IntoIterator<Item = Spoken>,
    ) -> Option<Spoken> {
        let RaftRules { books, grants, broken, blind, copies, .. } = self;
        let mut ears = Ears { blind: *blind, copies: copies.as_deref_mut(), broken };
        let shadow = &books.nodes[node.index()];
        let speaker = Speaker {
            node,
            was_ordered: false,
            refused_by: if let Stimulus::Refused(peer) = stimulus { Some(peer) } else { None },
            last_before: shadow.standing.last_index,
            term: standing.term,
            leads: standing.role == Role::Leader,
            commit: after.commit,
            named_term: None,
            durable_term: standing.durable_term,
            durable_vote: None,
            durable_index: after.durable_index,
            forgiven: shadow.forgiven,
        };
        let mut unasked = None;
        spoken.into_iter().for_each(|said| match said {
            Spoken::Append { index, term, .. } => {
                if !speaker.leads || term != speaker.term {
                    books.requests.leads(node, term);
                }
                ears.hear(said, &Speaker { named_term: view.term_at(index), ..speaker });
            }
            // Whoever led an older term is told of the newer one by an acknowledgement of nothing.
            Spoken::AppendResponse { to, term, index } => {
                if index > 0 && !books.requests.has_led(to, term) && view.acknowledges_leaders_only() {
                    unasked = Some(said);
                }
                ears.hear(said, &speaker);
            }
            Spoken::Other { term, is_pre_vote: false } => {
                if term != speaker.term {
                    books.requests.leads(node, term);
                }
                ears.hear(said, &speaker);
            }
            rare => {
                let speaker = Speaker { durable_vote: view.durable_vote(), ..speaker };
                unasked = hear_rare(rare, speaker, books, grants, &mut ears).or(unasked);
            }
        });
        if !grants.is_empty() {
            books.ballots.remember(node, grants);
        }
        unasked
    }

    #[cold]
    fn first_broken(&self) -> Result<(), Violation> {
        self.broken.first().map_or(Ok(()), |violation| Err(violation.clone()))
    }

    #[inline(never)]
    fn observe_changed<V: RaftView + ?Sized>(
        &mut self,
        node: NodeId,
        booted: bool,
        view: &V,
        is: &Standing,
        after: &LogStanding,
        (Followed { matched, repeating, awaiting }, unasked): (Followed, Option<Spoken>),
    ) {
        let was = &self.books.elections.of(node);
        let mut bits = Bits::MATCH.when(matched | repeating != 0) | Bits::UNASKED.when(unasked.is_some());
        if was != is || booted || !self.grants.is_empty() {
            bits = bits | self.observe_election(node, booted, is);
        }
        let shadow = &mut self.books.nodes[node.position()];
        if booted {
            shadow.boot();
        }
        let kept = shadow.follow(view, after);
        let memberships = view.memberships().get(shadow.memberships_seen..).unwrap_or_default();
        shadow.memberships_seen += memberships.len();
        // A snapshot that took the place of the log is what the log begins behind.
        let from_snapshot = match memberships.first() {
            Some(&(index, _)) if booted => Some(index),
            Some(_) => Some(after.first_index - 1),
            None => None,
        };
        let shadow = &self.books.nodes[node.position()];
        let before = &shadow.standing;
        let committed_known = self.books.gold.last_index();
        let committed = (before.commit, before.unfounded) != (after.commit, after.unfounded);
        if committed {
            self.books.gold.extend(&shadow.log, after.commit, is.term);
        }
        let refused = after.refusals > before.refusals;
        bits = bits
            | Bits::COMMIT.when(committed)
            | Bits::APPLIED.when(before.applied != after.applied)
            | Bits::LOG_APPENDED.when(after.last_index > kept.min(before.last_index))
            | Bits::LOG_TRUNCATED.when(before.last_index > kept)
            | Bits::MEMBERSHIP.when(!memberships.is_empty())
            | Bits::REFUSED.when(refused);
        let asks = Bits::VOTE | Bits::ROLE | Bits::LOG_APPENDED | Bits::LOG_TRUNCATED;
        let is_whole = !bits.meets(asks) || view.is_whole();
        let refusal = if refused { view.last_refusal() } else { None };
        let applies_durable_only = view.applies_durable_only();
        let (grants, membership, changes) = (&self.grants, shadow.membership, view.changes());
        #[rustfmt::skip]
        let change = LogChange {
            node, bits, was, is, grants, before, after, kept, matched, committed_known, membership, memberships,
            from_snapshot, changes, refusal, is_whole, repeating, awaiting, unasked, applies_durable_only,
        };
        self.log.wake(self.blind, &change, &self.books, &mut self.broken);
        if let Some(copies) = &mut self.copies {
            copies.see(&change, &self.books);
        }
        // Only now, so that nobody needs a copy of what was before.
        let shadow = &mut self.books.nodes[node.position()];
        shadow.standing = *after;
        if let Some(&(_, membership)) = memberships.last() {
            shadow.membership = membership;
        }
        self.books.chronicle.extend(memberships, from_snapshot, after.applied);
        let shadow = &mut self.books.nodes[node.position()];
        if committed {
            shadow.forget_committed();
        }
    }

    /// The rules over elections alone. Says what changed.
    fn observe_election(&mut self, node: NodeId, booted: bool, is: &Standing) -> Bits {
        let change = self.books.elections.change(node, *is, booted, &self.grants);
        match is.role {
            Role::Candidate => self.books.requests.stands(node, is.term),
            Role::Leader => self.books.requests.leads(node, is.term),
            _ => {}
        }
        self.election.wake(self.blind, &change, &mut self.broken);
        if let Some(copies) = &mut self.copies {
            copies.see_election(&change);
        }
        change.bits
    }

    /// A server crashed: what is remembered of it is what was durable.
    pub fn crashed(&mut self, node: NodeId) {
        self.books.nodes[node.position()].crash();
    }

    /// The disk of a server died in the middle of a step: what it shows is a ghost, and only what it sent counts. The
    /// crash itself follows.
    ///
    /// # Errors
    /// The rule that a message breaks.
    pub fn died(&mut self, node: NodeId, spoken: impl IntoIterator<Item = Spoken>) -> Result<(), Violation> {
        let shadow = &mut self.books.nodes[node.position()];
        shadow.die();
        self.grants.clear();
        self.broken.clear();
        let mut spoken_term = 0;
        for said in spoken {
            if !matches!(said, Spoken::Other { is_pre_vote: true, .. }) {
                spoken_term = spoken_term.max(said.term());
            }
            match said {
                Spoken::Grant { to, term } => self.grants.push(Grant { term, candidate: to }),
                Spoken::AppendResponse { index, .. } => {
                    shadow.durable_before = shadow.durable_before.max(index);
                }
                Spoken::Order { to, term } => self.books.orders.remember(term, to),
                Spoken::Campaign { term, .. } => self.books.requests.stands(node, term),
                // Perhaps it has come to lead in this step, which nobody will see.
                Spoken::Append { term, .. }
                | Spoken::Snapshot { term, .. }
                | Spoken::Other { term, is_pre_vote: false } => self.books.requests.leads(node, term),
                _ => {}
            }
        }
        self.log.vote_kept.remember(node, &self.grants);
        self.books.ballots.remember(node, &self.grants);
        let standing = self.books.elections.of(node);
        self.log.abstract_step.lose_sight((standing.role, standing.term), spoken_term);
        if standing.role == Role::Leader {
            self.log.leader_longest.lose_sight(standing.term);
        }
        let bits = Bits::GRANT.when(!self.grants.is_empty());
        let change = Change { node, bits, before: standing, after: standing, grants: &self.grants };
        if self.blind & 1 << VOTE_ONCE != 0 { Ok(()) } else { self.election.votes.wake(&change) }
    }

    /// The disk of a server lost what it had promised to keep, by the plan: nothing about that server's durability is
    /// claimed any more.
    pub fn forgive(&mut self, node: NodeId) {
        self.books.nodes[node.position()].forgiven = true;
    }

    /// A server's part in elections as of its last event.
    pub fn standing(&self, node: NodeId) -> Standing {
        self.books.elections.of(node)
    }

    /// As [`RaftRules::standing`], in place.
    #[inline]
    pub fn last_standing(&self, node: NodeId) -> &Standing {
        self.books.elections.last(node)
    }

    /// The membership as a server saw it last; nobody votes in it if memberships never change.
    #[inline]
    pub fn last_membership(&self, node: NodeId) -> &Membership {
        let membership = &self.books.node(node).membership;
        if membership.voters == 0 { const { &Membership::of_first(0) } } else { membership }
    }

    /// A server's log as of its last event; of a server that is down what was durable.
    pub fn log_standing(&self, node: NodeId) -> LogStanding {
        self.books.node(node).standing
    }

    /// Term and index of a server's last entry; of a server that is down those of the last durable one.
    pub(crate) fn last_entry(&self, node: NodeId) -> (u64, u64) {
        let log = &self.books.node(node).log;
        (log.last().term, log.last_index())
    }

    /// The membership as a server saw it last; `None` if memberships never change.
    pub fn membership(&self, node: NodeId) -> Option<Membership> {
        Some(self.books.node(node).membership).filter(|membership| membership.voters != 0)
    }

    /// Whether a server has started and not crashed since.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.books.node(node).is_up
    }

    /// Tells a terrain how far everybody's log reaches, and who leads the highest term.
    pub(crate) fn survey(&self, terrain: &mut Terrain) {
        let servers = || (0..self.servers).map(NodeId::server);
        for node in servers() {
            let shadow = self.books.node(node);
            let (log, commit) = (&shadow.log, shadow.standing.commit);
            terrain.set_log(node, (log.last().term, log.last_index()), commit);
        }
        let highest = servers().filter(|&n| self.is_up(n)).map(|n| self.standing(n).term).max();
        let leader = self.books.leaders().find(|&(_, term)| Some(term) == highest);
        terrain.set_leader(leader.map(|(node, _)| node));
        self.books.leaders().for_each(|(node, _)| terrain.add_leader(node));
    }
}
