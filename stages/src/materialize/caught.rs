//! Panics of code that is not ours, as values.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is about to be caught here, so that nobody needs to be told.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic in it is returned, and printed nowhere. Panics of other threads are reported as ever.
///
/// What `work` was changing when it panicked may be half changed, and is not to be used again.
///
/// # Errors
/// What the panic was raised with.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                report(panic);
            }
        }));
    });
    let outer = IS_CAUGHT.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(outer);
    done
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(message), _) => message,
        (None, Some(message)) => message,
        (None, None) => "a panic without a message",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value() {
        assert_eq!(caught(|| 1).ok(), Some(1));
        let panic = caught(|| panic!("at page {}", 3)).expect_err("a panic");
        assert_eq!(panic_message(&*panic), "at page 3");
        let panic = caught(|| caught(|| panic!("inner")).expect_err("a panic")).expect("no panic");
        assert_eq!(panic_message(&*panic), "inner");
        assert!(!IS_CAUGHT.get());
    }
}
