//! Drives the real program: real files, real processes, real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "it is test code: a broken assumption must stop the test, and what was proved is told"
)]

mod agents;
mod away;
mod both;
mod canary;
mod check;
mod client;
mod clients;
mod context;
mod crossed;
mod edit;
mod embed;
mod hub;
mod import;
mod internal;
mod keyring;
mod kill;
mod once;
mod orphans;
mod parity;
mod recovery;
mod reload;
mod rest;
mod schema;
mod secrets;
mod servers;
mod sqlite;
mod traces;
mod up;
