//! What Rafts that descend from etcd's have in common: the numbers of kinds of messages, states and changes of members, and what
//! messages claim.

use crate::membership::Part;
use crate::outline::Claim;
use whitewater_sim::Role;

/// The part of a node, by the number of its state.
pub const ROLES: [Role; 4] = [Role::Follower, Role::Candidate, Role::Leader, Role::PreCandidate];

/// The kind of entries that change the members.
pub const CHANGE: u8 = 1;

/// What a change makes of a server, by the number of its type.
pub const PARTS: [Part; 3] = [Part::Voter, Part::Nobody, Part::Learner];

/// The kinds of messages, as etcd writes them, by the number of their type.
pub const KINDS: &[&str] = &[
    "MsgHup",
    "MsgBeat",
    "MsgProp",
    "MsgApp",
    "MsgAppResp",
    "MsgVote",
    "MsgVoteResp",
    "MsgSnap",
    "MsgHeartbeat",
    "MsgHeartbeatResp",
    "MsgUnreachable",
    "MsgSnapStatus",
    "MsgCheckQuorum",
    "MsgTransferLeader",
    "MsgTimeoutNow",
    "MsgReadIndex",
    "MsgReadIndexResp",
    "MsgPreVote",
    "MsgPreVoteResp",
];

const PROP: u8 = 2;
const APP_RESP: u8 = 4;
const VOTE_RESP: u8 = 6;
const READ_INDEX: u8 = 15;
const PRE_VOTE: u8 = 17;
const PRE_VOTE_RESP: u8 = 18;

/// What a message of a kind claims, given whether it says no.
#[inline]
pub fn claim_of(kind: u8, rejects: bool) -> Claim {
    match kind {
        VOTE_RESP | APP_RESP | PRE_VOTE_RESP if rejects => Claim::Refusal,
        VOTE_RESP => Claim::Vote,
        APP_RESP => Claim::Appended,
        PRE_VOTE | PRE_VOTE_RESP => Claim::PreVote,
        _ => Claim::Nothing,
    }
}

/// Whether a message of a kind passes on what a client asked a follower for.
pub fn is_forwarded(kind: u8) -> bool {
    matches!(kind, PROP | READ_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_are_proposals_and_reads() {
        let passed_on = (0..KINDS.len() as u8).filter(|kind| is_forwarded(*kind));
        let names: Vec<&str> = passed_on.map(|kind| KINDS[usize::from(kind)]).collect();
        assert_eq!(names, ["MsgProp", "MsgReadIndex"]);
    }

    #[test]
    fn an_answer_claims_what_it_grants_and_nothing_if_it_says_no() {
        let claim = |name: &str, rejects| {
            let kind = KINDS.iter().position(|kind| *kind == name).expect("there is such a kind");
            claim_of(kind as u8, rejects)
        };
        assert_eq!(claim("MsgVoteResp", false), Claim::Vote);
        assert_eq!(claim("MsgAppResp", false), Claim::Appended);
        assert_eq!(claim("MsgPreVoteResp", false), Claim::PreVote);
        for name in ["MsgVoteResp", "MsgAppResp", "MsgPreVoteResp"] {
            assert_eq!(claim(name, true), Claim::Refusal, "{name}");
        }
        // A request for a pre-vote is in a term that nobody has reached, whatever else it says.
        assert_eq!(claim("MsgPreVote", false), Claim::PreVote);
        assert_eq!(claim("MsgHeartbeatResp", false), Claim::Nothing);
        assert_eq!(claim_of(200, false), Claim::Nothing);
    }
}
