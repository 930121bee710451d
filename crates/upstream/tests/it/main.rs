//! Connections over real processes and real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken assumption must stop the test")]

mod beside;
mod calls;
mod faults;
mod http;
mod kit;
mod lifecycle;
mod orphans;
mod random;
mod remote;
