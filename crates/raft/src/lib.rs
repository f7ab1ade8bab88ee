//! Raft as a value: messages in, Ready out; no clock, no randomness, no I/O.
