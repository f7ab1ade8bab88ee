//! Tests of the election by itself: durable and volatile halves, votes, resignation.

use super::*;

fn node(position: usize) -> NodeId {
    NodeId::server(position)
}

fn candidate(position: usize) -> Raft {
    Raft::start(node(position), Mode::Candidate, 3, 0, None)
}

/// Lets the worker do all there is, writes succeeding at once, and returns the last broadcast.
fn run(raft: &mut Raft) -> Option<Announcement> {
    run_with(raft, &Vclock::default())
}

fn run_with(raft: &mut Raft, vclock: &Vclock) -> Option<Announcement> {
    let mut last = None;
    loop {
        match raft.work(vclock) {
            Work::Write { term, vote } => raft.written(term, vote),
            Work::Broadcast(announcement) => last = Some(announcement),
            Work::Nothing => return last,
        }
    }
}

fn says(term: u64, vote: Option<usize>, state: Role) -> Announcement {
    let vclock = (state == Role::Candidate).then(Vclock::default);
    Announcement { term, vote: vote.map(node), state, vclock, sees_leader: None }
}

fn ahead() -> Vclock {
    let mut vclock = Vclock::default();
    vclock.follow(node(2), 1);
    vclock
}

#[test]
fn a_candidate_leads_with_the_votes_of_a_majority() {
    let mut raft = candidate(0);
    raft.timeout();
    let request = run(&mut raft).unwrap();
    assert_eq!(request, says(1, Some(0), Role::Candidate));
    assert_eq!(raft.receive(node(1), &says(1, Some(0), Role::Follower), &Vclock::default()), None);
    assert_eq!(run(&mut raft), Some(says(1, Some(0), Role::Leader)));
    assert_eq!(raft.votes(), 0b011);
}

#[test]
fn while_a_write_is_in_progress_a_node_is_a_follower_and_its_timer_stands_still() {
    let mut raft = candidate(0);
    run(&mut raft);
    raft.timeout();
    assert_eq!(raft.take_timer(), Some(TimerOrder::Stop));
    assert_eq!(raft.state(), Role::Follower);
    assert_eq!((raft.term(), raft.durable_term()), (1, 0));
    assert!(matches!(raft.work(&Vclock::default()), Work::Write { term: 1, vote } if vote == Some(node(0))));
    // What others may know meanwhile is what is durable.
    assert_eq!(raft.announcement(&Vclock::default()), says(0, None, Role::Follower));
    raft.timeout();
    assert_eq!(raft.term(), 1);
    raft.written(1, Some(node(0)));
    assert_eq!(raft.state(), Role::Candidate);
}

#[test]
fn term_and_vote_that_change_while_a_write_is_in_progress_are_written_by_a_second_one() {
    let mut raft = candidate(0);
    run(&mut raft);
    raft.timeout();
    assert!(matches!(raft.work(&Vclock::default()), Work::Write { term: 1, .. }));
    raft.receive(node(1), &says(2, Some(1), Role::Candidate), &Vclock::default());
    raft.written(1, Some(node(0)));
    assert!(raft.is_write_in_progress());
    assert_eq!(raft.state(), Role::Follower);
    assert_eq!(run(&mut raft), Some(says(2, Some(1), Role::Follower)));
}

#[test]
fn broadcasts_coalesce_into_the_present_state() {
    let mut raft = candidate(0);
    raft.receive(node(1), &says(1, Some(1), Role::Candidate), &Vclock::default());
    raft.receive(node(1), &says(1, Some(1), Role::Leader), &Vclock::default());
    let mut broadcasts = 0;
    loop {
        match raft.work(&Vclock::default()) {
            Work::Write { term, vote } => raft.written(term, vote),
            Work::Broadcast(said) => {
                broadcasts += 1;
                assert_eq!(said, says(1, Some(1), Role::Follower));
            }
            Work::Nothing => break,
        }
    }
    assert_eq!(broadcasts, 1);
}

#[test]
fn a_candidate_that_lacks_a_row_of_anybody_gets_no_vote() {
    let mut raft = Raft::start(node(1), Mode::Voter, 3, 0, None);
    let refused = raft.receive(node(0), &says(1, Some(0), Role::Candidate), &ahead());
    assert_eq!(refused, Some(Skipped::Refused));
    assert_eq!(raft.vote(), None);
    let mut request = says(1, Some(0), Role::Candidate);
    request.vclock = Some(ahead());
    assert_eq!(raft.receive(node(0), &request, &ahead()), None);
    assert_eq!(raft.vote(), Some(node(0)));
}

#[test]
fn a_candidate_that_refuses_its_vote_stands_in_the_same_term_itself() {
    let mut raft = candidate(1);
    raft.receive(node(0), &says(1, Some(0), Role::Candidate), &ahead());
    let said = run_with(&mut raft, &ahead()).unwrap();
    assert_eq!((said.term, said.vote, said.state), (1, Some(node(1)), Role::Candidate));
}

#[test]
fn a_vote_is_given_once_in_a_term_and_survives_a_restart() {
    let mut raft = Raft::start(node(2), Mode::Voter, 3, 1, Some(node(0)));
    let again = raft.receive(node(1), &says(1, Some(1), Role::Candidate), &Vclock::default());
    assert_eq!(again, Some(Skipped::Voted));
    assert_eq!(raft.receive(node(1), &says(2, Some(1), Role::Candidate), &Vclock::default()), None);
    assert_eq!(raft.vote(), Some(node(1)));
}

#[test]
fn only_heartbeats_of_the_leader_keep_a_follower_quiet() {
    let mut raft = candidate(1);
    run(&mut raft);
    raft.take_timer();
    raft.heartbeat(node(0));
    assert_eq!(raft.take_timer(), None);
    raft.receive(node(0), &says(1, Some(0), Role::Leader), &Vclock::default());
    run(&mut raft);
    raft.take_timer();
    raft.heartbeat(node(2));
    assert_eq!(raft.take_timer(), None);
    raft.heartbeat(node(0));
    assert_eq!(raft.take_timer(), Some(TimerOrder::Death));
}

#[test]
fn rows_are_accepted_from_the_leader_only_and_from_anybody_with_elections_off() {
    let mut raft = candidate(1);
    assert!(!raft.allows_rows_of(node(0)));
    raft.receive(node(0), &says(1, Some(0), Role::Leader), &Vclock::default());
    assert!(raft.allows_rows_of(node(0)) && !raft.allows_rows_of(node(2)));
    assert!(Raft::start(node(1), Mode::Off, 3, 0, None).allows_rows_of(node(2)));
}

#[test]
fn a_leader_that_says_it_leads_no_more_is_forgotten_and_a_candidate_stands_for_its_place() {
    for (mode, elections) in [(Mode::Candidate, 1), (Mode::Voter, 0)] {
        let mut raft = Raft::start(node(1), mode, 3, 0, None);
        raft.receive(node(0), &says(1, Some(0), Role::Leader), &Vclock::default());
        run(&mut raft);
        raft.receive(node(0), &says(1, Some(0), Role::Candidate), &Vclock::default());
        assert_eq!(raft.leader(), None);
        assert_eq!(raft.elections(), elections);
    }
}

#[test]
fn with_elections_off_terms_and_leaders_are_followed_without_a_vote() {
    let mut raft = Raft::start(node(1), Mode::Off, 3, 0, None);
    raft.receive(node(0), &says(3, Some(0), Role::Candidate), &Vclock::default());
    assert_eq!((raft.term(), raft.vote()), (3, None));
    raft.receive(node(0), &says(3, Some(0), Role::Leader), &Vclock::default());
    assert_eq!(raft.leader(), Some(node(0)));
    assert!(raft.campaign().is_err());
}

#[test]
fn a_lone_server_elects_itself() {
    let mut raft = Raft::start(node(0), Mode::Candidate, 1, 0, None);
    raft.timeout();
    assert_eq!(run(&mut raft), Some(says(1, Some(0), Role::Leader)));
}
