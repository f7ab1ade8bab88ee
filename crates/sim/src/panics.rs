//! Panics of a node, caught and told apart: its own, and the one by which the world stops an endless input.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, set_hook, take_hook};
use std::sync::Once;

/// Thrown by the world when one input makes a node act without end.
struct Exhausted;

/// How a guarded call ended other than by returning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Breakdown {
    /// The node panicked.
    Panicked { message: String, location: String },
    /// The node did more than one input may do.
    Exhausted,
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Stops the node that is acting. Only the guard below sees it.
pub(crate) fn exhausted() -> ! {
    panic_any(Exhausted)
}

/// Makes panics inside guarded calls silent; those elsewhere are reported as before.
fn install_hook() {
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                return previous(info);
            }
            let payload = info.payload();
            let message = (payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                .or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a panic without a message".to_owned());
            let location = info.location().map_or_else(String::new, |l| format!("{}:{}", l.file(), l.line()));
            LAST.with(|last| *last.borrow_mut() = Some((message, location)));
        }));
    });
}

/// Runs the code of a node; a panic is a value.
#[inline]
pub(crate) fn guard<T>(call: impl FnOnce() -> T) -> Result<T, Breakdown> {
    install_hook();
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(before);
    result.map_err(|payload| {
        let last = LAST.with(|last| last.borrow_mut().take());
        if payload.is::<Exhausted>() {
            return Breakdown::Exhausted;
        }
        let (message, location) = last.unwrap_or_default();
        Breakdown::Panicked { message, location }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value_with_message_and_place() {
        let Err(Breakdown::Panicked { message, location }) = guard(|| panic!("the log has a hole at {}", 3))
        else {
            panic!("not caught");
        };
        assert_eq!(message, "the log has a hole at 3");
        assert!(location.contains("panics.rs:"), "{location}");
    }

    #[test]
    fn the_stop_of_the_world_is_told_from_a_panic() {
        assert_eq!(guard(|| exhausted()), Err::<(), _>(Breakdown::Exhausted));
        assert_eq!(guard(|| 7), Ok(7));
    }
}
