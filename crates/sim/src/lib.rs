//! A deterministic world for any node: time, network, disks, crashes, trace.
