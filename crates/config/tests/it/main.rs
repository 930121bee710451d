//! Whole files in, desired state out: what each origin and client means by its file, that all of
//! them mean the same where they say the same, and that nothing breaks or leaks.

mod clients;
mod equality;
mod fuzz;
mod hostile;
mod origins;
mod secrets;
mod snapshots;
mod support;
mod tree;
