//! A replication with election by broadcast.
