//! What Rafts that descend from etcd's have in common: the kinds of their messages, by number, and what each claims.

use crate::outline::Claim;

/// The kinds, as etcd writes them, by the number of their type.
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

const APP_RESP: u8 = 4;
const VOTE_RESP: u8 = 6;
const PRE_VOTE: u8 = 17;
const PRE_VOTE_RESP: u8 = 18;

/// What a message of a kind claims, given whether it says no.
pub fn claim_of(kind: u8, rejects: bool) -> Claim {
    match kind {
        VOTE_RESP | APP_RESP | PRE_VOTE_RESP if rejects => Claim::Refusal,
        VOTE_RESP => Claim::Vote,
        APP_RESP => Claim::Appended,
        PRE_VOTE | PRE_VOTE_RESP => Claim::PreVote,
        _ => Claim::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
