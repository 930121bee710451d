//! Whole files in, desired state out: what each origin and client means by its file, that all of
//! them mean the same where they say the same, and that nothing breaks or leaks.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "it is test code, in which a broken assumption must stop the test"
)]

mod clients;
mod equality;
mod fuzz;
mod habits;
mod hostile;
mod origins;
mod secrets;
mod snapshots;
mod support;
mod tree;
