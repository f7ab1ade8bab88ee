//! What rules that say several things say besides: a run for each sentence that the table of runs has none for.

use super::blinding_tests::run_for;
use super::testing::{Going, N1, N2, N3, Run};
use crate::log_view::Spoken;
use crate::membership::Membership;
use whitewater_sim::{Role, Violation};

/// n1 leads term 1 with two entries, which n2 has as well.
fn led(run: &mut Run) -> Going {
    run.step(N1, |n| n.enter(1, Role::Candidate))?;
    run.step(N1, |n| n.role = Role::Leader)?;
    run.step(N1, |n| n.append(&[1, 1]))?;
    follows(run, 1, &[1, 1])
}

/// n2 follows in a term with entries of these terms.
fn follows(run: &mut Run, term: u64, terms: &[u64]) -> Going {
    run.step(N2, |n| {
        n.enter(term, Role::Follower);
        n.append(terms);
    })
}

/// n1 is in a term with a log, of which some is committed and applied.
fn knows(run: &mut Run, terms: &[u64], commit: u64, applied: u64) -> Going {
    run.step(N1, |n| {
        n.enter(3, Role::Follower);
        n.append(terms);
        (n.commit, n.applied) = (commit, applied);
    })
}

fn becomes(run: &mut Run, steps: &[Membership]) -> Going {
    for &membership in [simple(0b111)].iter().chain(steps) {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1]);
            (n.commit, n.applied) = (n.log.last_index(), n.log.last_index());
            n.memberships.push((n.commit, membership));
        })?;
    }
    Ok(())
}

fn simple(voters: u16) -> Membership {
    Membership { voters, ..Membership::default() }
}

fn joint(voters: u16, outgoing: u16) -> Membership {
    Membership { outgoing, ..simple(voters) }
}

type Saying = fn(&mut Run) -> Going;

const SAYINGS: &[(&str, Saying)] = &[
    ("monotonic-terms", |run| {
        run.step(N1, |n| n.enter(3, Role::Follower))?;
        run.crash(N1);
        run.boot(N1, |n| n.enter(2, Role::Follower))
    }),
    ("monotonic-terms", |run| {
        run.step(N1, |n| n.enter(3, Role::Follower))?;
        run.step(N1, |n| n.durable_term = 2)
    }),
    ("appends-fit", |run| {
        led(run)?;
        run.say(N1, Spoken::Append { to: N2, term: 1, index: 7, log_term: 0, commit: 0, entries: 0 }, |_| {})
    }),
    ("appends-fit", |run| {
        led(run)?;
        run.say(N1, Spoken::Append { to: N2, term: 1, index: 2, log_term: 1, commit: 2, entries: 0 }, |_| {})
    }),
    ("vote-kept", |run| {
        run.say(N1, Spoken::Grant { to: N2, term: 2 }, |n| {
            n.enter(2, Role::Follower);
            n.choose(N2);
        })?;
        run.step(N1, |n| n.vote = Some(N3))
    }),
    ("log-terms", |run| run.step(N1, |n| n.append(&[1]))),
    ("leader-longest", |run| {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        follows(run, 1, &[1])
    }),
    ("committed-kept", |run| {
        knows(run, &[1, 1], 2, 0)?;
        follows(run, 3, &[1, 1])?;
        run.step(N2, |n| n.cut(1))
    }),
    ("commit-within-log", |run| knows(run, &[1, 1], 1, 2)),
    ("commit-monotonic", |run| {
        knows(run, &[1, 1], 2, 2)?;
        run.step(N1, |n| n.applied = 1)
    }),
    ("state-machine-safety", |run| {
        run.rules.blind("commit-within-log").expect("it is a rule");
        knows(run, &[1, 1], 1, 2)
    }),
    ("state-machine-safety", |run| {
        run.rules.blind("commit-within-log").expect("it is a rule");
        knows(run, &[1, 1], 1, 1)?;
        run.step(N2, |n| {
            n.enter(3, Role::Follower);
            n.log.append(1, 2, 8);
            (n.durable_index, n.applied) = (1, 1);
        })
    }),
    ("match-truth", |run| {
        led(run)?;
        run.rules.blind("log-matching").expect("it is a rule");
        run.rules.blind("leader-longest").expect("it is a rule");
        run.step(N3, |n| {
            n.enter(1, Role::Follower);
            n.log.append(1, 1, 8);
            n.durable_index = 1;
        })?;
        run.deliver(N1, N3, |n| n.matches[2] = 1)
    }),
    ("membership-steps", |run| becomes(run, &[simple(0)])),
    ("membership-steps", |run| becomes(run, &[Membership { learners: 0b001, ..simple(0b111) }])),
    ("membership-steps", |run| becomes(run, &[Membership { learners_next: 0b100, ..joint(0b110, 0b111) }])),
    ("membership-steps", |run| becomes(run, &[Membership { auto_leave: true, ..simple(0b111) }])),
    ("membership-steps", |run| becomes(run, &[joint(0b1110, 0b011)])),
    ("membership-steps", |run| becomes(run, &[joint(0b1110, 0b111), joint(0b1100, 0b111)])),
    ("membership-steps", |run| becomes(run, &[joint(0b1110, 0b111), simple(0b111)])),
    ("membership-steps", |run| {
        let waiting = Membership { learners_next: 0b001, learners: 0b10000, ..joint(0b1110, 0b111) };
        becomes(run, &[waiting, simple(0b1110)])
    }),
    ("candidates-vote", |run| {
        run.rules.blind("elected-by-quorum").expect("it is a rule");
        run.boot(N3, |n| n.memberships = vec![(0, Membership::of_first(2))])?;
        run.step(N3, |n| n.enter(1, Role::Leader))
    }),
    ("committed-on-quorum", |run| {
        run.step(N1, |n| {
            n.enter(1, Role::Leader);
            n.memberships = vec![(0, Membership::of_first(3))];
        })?;
        run.step(N1, |n| {
            n.append(&[1]);
            n.durable_index = 0;
        })?;
        run.step(N1, |n| n.commit = 1)
    }),
    ("answers-asked", |run| {
        run.step(N2, |n| n.enter(2, Role::Candidate))?;
        run.say(N1, Spoken::AppendResponse { to: N2, term: 2, index: 1 }, |n| {
            n.enter(2, Role::Follower);
            n.append(&[1]);
        })
    }),
    ("abstract-step", |run| run.step(N2, |n| n.enter(2, Role::Follower))),
    ("abstract-step", |run| {
        led(run)?;
        run.step(N3, |n| n.enter(2, Role::Candidate))?;
        run.say(N2, Spoken::Grant { to: N3, term: 2 }, |n| {
            n.enter(2, Role::Follower);
            n.choose(N3);
        })
    }),
    ("abstract-step", |run| {
        led(run)?;
        run.step(N2, |n| n.enter(2, Role::Candidate))?;
        run.step(N2, |n| {
            n.role = Role::Leader;
            n.cut(1);
            n.append(&[2]);
        })
    }),
    ("abstract-step", |run| {
        led(run)?;
        run.step(N2, |n| n.enter(2, Role::Candidate))?;
        run.step(N2, |n| {
            n.role = Role::Leader;
            n.append(&[1, 2]);
        })
    }),
    ("abstract-step", |run| {
        led(run)?;
        run.step(N3, |n| n.enter(2, Role::Candidate))?;
        run.step(N3, |n| n.role = Role::Leader)?;
        run.rules.blind("leader-longest").expect("it is a rule");
        follows(run, 2, &[1])
    }),
    ("abstract-step", |run| {
        led(run)?;
        run.step(N1, |n| n.commit = 1)?;
        run.step(N2, |n| n.commit = 2)
    }),
];

/// The sentence of each, with the rule.
pub(crate) fn samples() -> impl Iterator<Item = Violation> {
    SAYINGS.iter().map(|&(name, saying)| {
        let violation = saying(&mut run_for(name)).expect_err(name);
        assert_eq!(violation.rule, name, "{}", violation.message);
        violation
    })
}
