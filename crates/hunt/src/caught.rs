//! Calls that may be refused or panic outside of any node: both become sentences.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call gives; a refusal and a panic are sentences.
pub(crate) fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(refusal)) => Err(format!("the generated plan was refused: {refusal}")),
        Err(payload) => Err(format!("a panic outside of any node: {}", said(&*payload))),
    }
}

/// What a panic said.
fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| String::from("no message"))
}
