//! Connections over real processes and real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a broken assumption must stop the test, and what was counted is its proof"
)]

mod alone;
mod anew;
mod beside;
mod calls;
mod faults;
mod http;
mod kit;
mod late;
mod less;
mod lifecycle;
mod lingering;
mod listening;
mod orphans;
mod patience;
mod questions;
mod random;
#[cfg(target_os = "linux")]
mod real;
mod refused;
mod remote;
mod restarted;
mod secure;
mod silence;
mod singly;
mod trouble;
mod unaware;
mod unread;
mod untold;
mod watched;
