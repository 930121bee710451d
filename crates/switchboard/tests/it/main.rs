//! Drives the real program: real files, real processes, real sockets.

mod check;
mod context;
mod edit;
mod import;
mod secrets;
mod up;
