//! The API over a real socket, on real stores of both engines, with real servers behind it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken assumption must stop the test")]

#[macro_use]
mod kit;

mod agents;
mod approval;
mod credentials;
mod edits;
mod matrix;
mod origins;
mod records;
mod secrets;
mod servers;
mod sign_in;
mod tested;
mod things;
mod together;
