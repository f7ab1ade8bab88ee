//! The rules over a Raft with a log, as one: shadows every node, makes one change per event, wakes what it concerns.

use super::acknowledgements_durable::AcknowledgementsDurable;
use super::books::Books;
use super::change::{LogChange, LogStanding};
use super::commit_monotonic::CommitMonotonic;
use super::commit_own_term::CommitOwnTerm;
use super::commit_within_log::CommitWithinLog;
use super::committed_agree::CommittedAgree;
use super::committed_kept::CommittedKept;
use super::durable_log_kept::DurableLogKept;
use super::grants_durable::GrantsDurable;
use super::leader_append_only::LeaderAppendOnly;
use super::leader_completeness::LeaderCompleteness;
use super::log_matching::LogMatching;
use super::log_terms::LogTerms;
use super::match_truth::MatchTruth;
use super::message_terms::MessageTerms;
use super::peer_refused::PeerRefused;
use super::responses_durable::ResponsesDurable;
use super::rule::LogRule;
use super::state_machine_safety::StateMachineSafety;
use super::vote_kept::VoteKept;
use crate::change::{Bits, Change, Grant, Standing};
use crate::election_safety::ElectionSafety;
use crate::log_view::{RaftView, Spoken, Stimulus};
use crate::monotonic_terms::MonotonicTerms;
use crate::owed::Terrain;
use crate::rule::Rule;
use crate::vote_once::VoteOnce;
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

/// Declares the rules over logs in the order in which they look.
macro_rules! log_rules {
    ($($field:ident: $rule:ty,)*) => {
        #[derive(Clone, Debug, Default)]
        struct LogRules {
            $($field: $rule,)*
        }

        /// Numbers of the rules, for those that are switched off.
        #[expect(non_camel_case_types, reason = "named after the fields of the rules")]
        #[derive(Clone, Copy)]
        enum Number {
            $($field,)*
        }

        const LOG_RULES: &[(&str, &str, &str)] =
            &[$((<$rule>::NAME, <$rule>::CLAIM, <$rule>::SOURCE),)*];

        impl LogRules {
            #[inline]
            fn wake(&mut self, blind: u32, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
                $(
                    let woken = change.election.bits.meets(<$rule>::WAKES_ON);
                    if woken && blind & 1 << Number::$field as u32 == 0 {
                        self.$field.observe(change, books)?;
                    }
                )*
                Ok(())
            }
        }
    };
}

log_rules! {
    grants_durable: GrantsDurable,
    responses_durable: ResponsesDurable,
    acknowledgements_durable: AcknowledgementsDurable,
    message_terms: MessageTerms,
    vote_kept: VoteKept,
    durable_log_kept: DurableLogKept,
    log_terms: LogTerms,
    leader_append_only: LeaderAppendOnly,
    log_matching: LogMatching,
    committed_kept: CommittedKept,
    commit_within_log: CommitWithinLog,
    commit_monotonic: CommitMonotonic,
    commit_own_term: CommitOwnTerm,
    committed_agree: CommittedAgree,
    leader_completeness: LeaderCompleteness,
    state_machine_safety: StateMachineSafety,
    match_truth: MatchTruth,
    peer_refused: PeerRefused,
}

/// Rules over elections alone, in front of those over logs.
#[derive(Clone, Debug, Default)]
struct ElectionRules {
    safety: ElectionSafety,
    terms: MonotonicTerms,
    votes: VoteOnce,
}

/// The bit of [`VoteOnce`] among the rules over elections.
const VOTE_ONCE: u8 = 1 << 2;

impl ElectionRules {
    fn each(&mut self) -> [&mut dyn Rule; 3] {
        [&mut self.safety, &mut self.terms, &mut self.votes]
    }
}

/// All safety rules over a Raft with a log.
///
/// A monitor calls [`RaftRules::observe`] after each step of a server and [`RaftRules::crashed`] after each crash.
#[derive(Clone, Debug)]
pub struct RaftRules {
    servers: usize,
    books: Books,
    election: ElectionRules,
    log: LogRules,
    /// Rules over logs that are switched off, a bit each.
    blind: u32,
    /// Rules over elections that are switched off, a bit each.
    blind_election: u8,
    spoken: Vec<Spoken>,
    grants: Vec<Grant>,
}

impl RaftRules {
    /// Rules for a cluster of `servers`, all of them awake.
    pub fn new(servers: usize) -> RaftRules {
        assert!(servers <= SERVERS_MAX, "a world holds at most {SERVERS_MAX} servers");
        RaftRules {
            servers,
            books: Books::new(),
            election: ElectionRules::default(),
            log: LogRules::default(),
            blind: 0,
            blind_election: 0,
            spoken: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// Name and claim of each rule, in the order in which they look.
    pub fn rules() -> Vec<(&'static str, &'static str)> {
        let mut election = ElectionRules::default();
        let election = election.each().map(|rule| (rule.name(), rule.claim()));
        election.into_iter().chain(LOG_RULES.iter().map(|&(name, claim, _)| (name, claim))).collect()
    }

    /// Name of each rule and where its claim is stated.
    pub fn sources() -> Vec<(&'static str, &'static str)> {
        let mut election = ElectionRules::default();
        let election = election.each().map(|rule| (rule.name(), rule.source()));
        election.into_iter().chain(LOG_RULES.iter().map(|&(name, _, source)| (name, source))).collect()
    }

    /// Switches a rule off, so that a test can show what is missed without it.
    ///
    /// # Errors
    /// There is no such rule; the text lists those there are.
    pub fn blind(&mut self, name: &str) -> Result<(), String> {
        let rules = RaftRules::rules();
        let Some(number) = rules.iter().position(|&(rule, _)| rule == name) else {
            let names: Vec<&str> = rules.iter().map(|&(name, _)| name).collect();
            return Err(format!("there is no rule `{name}`; there are {}", names.join(", ")));
        };
        match number.checked_sub(rules.len() - LOG_RULES.len()) {
            Some(number) => self.blind |= 1 << number,
            None => self.blind_election |= 1 << number,
        }
        Ok(())
    }

    /// Looks at a server after a step. `spoken` are the messages it sent to others in the step.
    ///
    /// # Errors
    /// The rule that is broken.
    #[inline]
    pub fn observe<V: RaftView + ?Sized>(
        &mut self,
        node: NodeId,
        stimulus: Stimulus,
        view: &V,
        spoken: impl IntoIterator<Item = Spoken>,
    ) -> Result<(), Violation> {
        self.spoken.clear();
        self.spoken.extend(spoken);
        let standing = (Standing::of(view), LogStanding::of(view));
        let position = node.position();
        let was = (self.books.elections.of(node), self.books.nodes[position].standing);
        let leads = standing.0.role == Role::Leader;
        if standing == was && !leads && self.spoken.is_empty() && stimulus != Stimulus::Booted {
            return Ok(());
        }
        self.observe_changed(node, stimulus, view, standing)
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
        self.books.nodes[node.position()].die();
        self.grants.clear();
        for said in spoken {
            if let Spoken::Grant { to, term } = said {
                self.grants.push(Grant { term, candidate: to });
            }
        }
        self.log.vote_kept.remember(node, &self.grants);
        let standing = self.books.elections.of(node);
        let bits = Bits::GRANT.when(!self.grants.is_empty());
        let change = Change { node, bits, before: standing, after: standing, grants: &self.grants };
        let blind = self.blind_election & VOTE_ONCE != 0;
        if blind { Ok(()) } else { self.election.votes.wake(&change) }
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

    /// A server's log as of its last event; of a server that is down what was durable.
    pub fn log_standing(&self, node: NodeId) -> LogStanding {
        self.books.node(node).standing
    }

    /// Whether a server has started and not crashed since.
    pub fn is_up(&self, node: NodeId) -> bool {
        self.books.node(node).is_up
    }

    /// Tells a terrain how far everybody's log reaches, and who leads the highest term.
    pub(crate) fn survey(&self, terrain: &mut Terrain) {
        let servers = || (0..self.servers).map(NodeId::server);
        for node in servers() {
            let log = &self.books.node(node).log;
            terrain.set_log(node, (log.last().term, log.last_index()));
        }
        let highest = servers().filter(|&n| self.is_up(n)).map(|n| self.standing(n).term).max();
        let leader = self.books.leaders().find(|&(_, term)| Some(term) == highest);
        terrain.set_leader(leader.map(|(node, _)| node));
    }

    fn observe_changed<V: RaftView + ?Sized>(
        &mut self,
        node: NodeId,
        stimulus: Stimulus,
        view: &V,
        (standing, after): (Standing, LogStanding),
    ) -> Result<(), Violation> {
        let booted = stimulus == Stimulus::Booted;
        let shadow = &mut self.books.nodes[node.position()];
        if booted && shadow.is_up {
            shadow.crash();
        }
        shadow.is_up = true;
        shadow.uncertain = false;
        let before = std::mem::replace(&mut shadow.standing, after);
        let (kept, removed) = shadow.follow(view, &after);
        let was = self.books.elections.of(node);
        let matched =
            follow_matches(&mut shadow.matches, self.servers, node, stimulus, view, (was, standing));

        self.grants.clear();
        let mut bits = Bits::NONE;
        for &said in &self.spoken {
            bits = bits | Bits::SENT;
            match said {
                Spoken::Grant { to, term } => self.grants.push(Grant { term, candidate: to }),
                Spoken::Refusal { .. } | Spoken::AppendResponse { .. } => bits = bits | Bits::SENT_RESPONSE,
                Spoken::Other { .. } => {}
            }
        }
        let mut election = self.books.elections.change(node, standing, booted, &self.grants);
        let durable = before.durable_index != after.durable_index
            || election.bits.meets(Bits::DURABLE_TERM | Bits::VOTE | Bits::BOOT);
        let refused = after.refusals > if booted { 0 } else { before.refusals };
        election.bits = election.bits
            | bits
            | Bits::COMMIT.when((before.commit, before.unfounded) != (after.commit, after.unfounded))
            | Bits::APPLIED.when(before.applied != after.applied)
            | Bits::LOG_APPENDED.when(after.last_index > kept)
            | Bits::LOG_TRUNCATED.when(before.last_index > kept)
            | Bits::DURABLE.when(durable)
            | Bits::MATCH.when(matched != 0)
            | Bits::REFUSED.when(refused);
        if election.bits == Bits::NONE {
            return Ok(());
        }
        for (number, rule) in self.election.each().into_iter().enumerate() {
            if self.blind_election & 1 << number == 0 {
                rule.wake(&election)?;
            }
        }
        let committed_known = self.books.gold.last_index();
        if election.bits.meets(Bits::COMMIT) {
            let log = &self.books.nodes[node.position()].log;
            self.books.gold.extend(log, after.commit, standing.term);
        }
        let change = LogChange {
            election,
            before,
            after,
            kept,
            removed,
            matched,
            committed_known,
            spoken: &self.spoken,
            durable_vote: view.durable_vote(),
            refusal: if refused { view.last_refusal() } else { None },
        };
        self.log.wake(self.blind, &change, &self.books)
    }
}

/// Follows the match indexes of a leader; says which changed, a bit each by position.
#[inline]
fn follow_matches<V: RaftView + ?Sized>(
    matches: &mut [u64; SERVERS_MAX],
    servers: usize,
    node: NodeId,
    stimulus: Stimulus,
    view: &V,
    (was, is): (Standing, Standing),
) -> u16 {
    if is.role != Role::Leader {
        return 0;
    }
    if was.role != Role::Leader || was.term != is.term {
        *matches = [0; SERVERS_MAX];
    }
    let mut follow = |peer: NodeId| {
        let index = view.match_index(peer).unwrap_or(0);
        let changed = std::mem::replace(&mut matches[peer.position()], index) != index;
        u16::from(changed) << peer.position()
    };
    match stimulus {
        // A match index is learnt from its peer.
        Stimulus::Delivered(peer) if peer.is_server() && peer != node => follow(peer),
        Stimulus::Delivered(_) => 0,
        Stimulus::Booted | Stimulus::Other => {
            (0..servers).map(NodeId::server).filter(|&p| p != node).map(follow).fold(0, |a, b| a | b)
        }
    }
}
