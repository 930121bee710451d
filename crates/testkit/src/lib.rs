//! What the tests of every crate share: hostile inputs, fuzz bodies, valid examples, a clock that is
//! turned by hand, scratch directories. Never part of the program.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "it is test code, in which a broken assumption must stop the test"
)]

pub mod clients;
pub mod clock;
pub mod collector;
pub mod data;
pub mod examples;
pub mod fuzz;
pub mod hostile;
pub mod keyring;
pub mod mutate;
pub mod panics;
#[cfg(unix)]
pub mod postgres;
pub mod scratch;
pub mod script;
pub mod tools;

pub use clock::ManualClock;
pub use data::{repetitions, seed, shared};
#[cfg(unix)]
pub use postgres::Postgres;
pub use scratch::Scratch;
pub use tools::Tools;
