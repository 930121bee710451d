//! Drives the real program: real files, real processes, real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "it is test code, in which a broken assumption must stop the test"
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
mod orphans;
mod parity;
mod recovery;
mod reload;
mod rest;
mod schema;
mod secrets;
mod servers;
mod traces;
mod up;
