//! Ctrl-C: the first asks to stop and lets the summary be printed, the second ends the process at once.

use crate::Exit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that Ctrl-C raises.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let raised = Arc::new(AtomicBool::new(false));
    let interrupt = signal_hook::consts::SIGINT;
    // Registered first, so that it finds the flag still down at the first Ctrl-C. Where a handler cannot be had,
    // Ctrl-C ends the process as it always did.
    let _ =
        signal_hook::flag::register_conditional_shutdown(interrupt, Exit::Interrupted as i32, raised.clone());
    let _ = signal_hook::flag::register(interrupt, raised.clone());
    raised
}
