//! The API over a real socket, on a real store, with real servers behind it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken assumption must stop the test")]

mod kit;

mod approval;
mod matrix;
mod origins;
mod records;
mod secrets;
mod servers;
mod sign_in;
mod things;
