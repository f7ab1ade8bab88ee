//! The log from outside: against a plain model, through every crash, with every bit flipped, with every bug planted.

mod behaviour;
mod bench;
mod crash_states;
mod damage;
#[cfg(feature = "mutants")]
mod planted;
mod quarantine;
mod rot;
mod searches;
