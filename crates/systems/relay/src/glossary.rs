//! What the words of scripts mean for this system, where they do not say it themselves.

/// Commands, messages, timers and figures, each with a sentence.
pub(crate) const GLOSSARY: &[(&str, &str)] = &[
    (
        "propose x=1",
        "Write a row, if it leads; with `queue=on` it waits for a quorum and is confirmed by a row of its own.",
    ),
    ("lead-with x=1", "Write a row now if it leads, and again each time it begins to lead."),
    ("campaign", "Call an election, as if its timer went off."),
    ("promote", "Call an election because somebody wants it to lead."),
    ("resign", "Lead no more, in the same term."),
    ("demote", "Give up the queue when nothing waits in it, and then lead no more."),
    ("mode voter", "Take part in elections like this from now on: off, voter or candidate."),
    ("hang 500ms", "Its main thread handles nothing for so long; its relays go on."),
    (
        "Subscribe",
        "Asks a source for its rows: the first message of a connection, each direction has its own.",
    ),
    ("SubscribeReply", "The source agrees, and tells its state of the election, before its relay is ready."),
    ("VoteRequest", "The broadcast of a candidate."),
    ("LeaderAnnounce", "The broadcast of a leader."),
    ("Announce", "The broadcast of anybody else: term and vote."),
    ("Rows", "Rows from the relay of their source, or of somebody who passes them on."),
    ("Ack", "What a subscriber has, to the source; no sign of life of the connection the other way."),
    ("election", "A leader was not heard of, or nobody has won."),
    ("worker", "Term and vote are written, then broadcast."),
    ("relay-ready", "The relay from one node to another is up and passes on broadcasts."),
    ("to-relay", "A message from the main thread reaches the thread of a relay; `to-tx` the other way."),
    ("silence", "Nothing was heard of a source for four heartbeats: the connection to it is given up."),
    ("gap", "A message of a connection is missing for too long: it is given up."),
    ("term", "The term a node acts in."),
    ("rows", "How many rows it has on its disk."),
    ("confirmed", "How many rows of the queue it knows to be confirmed."),
    ("queue", "The term in which the queue was claimed last, as far as it knows."),
];
