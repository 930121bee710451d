//! The endpoint over real sockets and pipes, on the real registry and router, with scripted servers
//! behind them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken assumption must stop the test")]

mod between;
mod bridge;
mod changes;
mod doors;
mod farewell;
mod fuzz;
mod hostile;
mod kept;
mod kit;
mod legacy;
mod limits;
mod pipes;
mod rules;
mod sessions;
mod states;
mod streams;
mod subscriptions;
mod sweeps;
mod withdrawn;
