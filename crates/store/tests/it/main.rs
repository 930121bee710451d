//! The store over real databases: every case runs on SQLite and on PostgreSQL.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a broken assumption must stop the test, and what was measured is told"
)]

#[macro_use]
mod kit;

mod audit;
mod canary;
#[cfg(feature = "keyring")]
mod keyring;
mod kill;
mod open;
mod pages;
mod people;
mod plan;
mod recorder;
mod servers;
mod several;
mod tamper;
mod things;
mod vault;
