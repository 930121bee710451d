//! Drives the real program: real files, real processes, real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "it is test code: a broken assumption must stop the test, and what was proved is told"
)]

mod agents;
mod approved;
mod arguments;
mod away;
mod both;
mod bridge;
mod bytes;
mod canary;
mod check;
mod client;
mod clients;
mod context;
mod credentials;
mod crossed;
mod edit;
mod embed;
mod farewell;
mod grown;
mod holds;
mod hostile;
mod hub;
mod import;
mod internal;
mod keyring;
mod kill;
mod levels;
mod metrics;
mod mirror;
mod once;
mod orphans;
mod parity;
mod piped;
mod plain;
mod recovery;
mod rejoin;
mod reload;
mod rest;
mod resumed;
mod revisions;
mod revoked;
mod rotate;
mod schema;
mod secrets;
mod servers;
mod slow;
mod sqlite;
mod traces;
mod unread;
mod up;
mod verbatim;
mod written;
