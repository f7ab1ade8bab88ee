//! The command line with the systems of this project.

fn main() {}
