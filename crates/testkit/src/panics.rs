//! Panics anywhere in a test's process. In a spawned task one ends nothing but that task: the test would
//! see a closed connection at most, or nothing at all.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static WATCHED: Once = Once::new();
static SEEN: AtomicUsize = AtomicUsize::new(0);

/// Counts them from now on; they are still printed. Once is enough for the process.
pub fn watch() {
    WATCHED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            SEEN.fetch_add(1, Ordering::SeqCst);
            usual(what);
        }));
    });
}

/// Stops the test if there was any.
#[track_caller]
pub fn none() {
    assert!(WATCHED.is_completed(), "nobody watches for panics");
    let seen = SEEN.load(Ordering::SeqCst);
    assert_eq!(seen, 0, "panics, printed above, in tasks of which the test sees nothing");
}
