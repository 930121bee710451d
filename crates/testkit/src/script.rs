//! Scripted MCP servers: one program, `scripted-mcp`, that serves every transport and revision well,
//! and goes wrong where its script says so. Never a model of how to write a server.
//!
//! A [`Script`] says what the server is and what goes wrong with it; [`Scripted`] runs it.
//!
//! ```no_run
//! use switchboard_testkit::script::{Script, Scripted};
//!
//! let script = Script::new().only("2025-06-18").fault("delay:ms=200").fault("ignore_ping");
//! let (command, arguments) = Scripted::stdio(&script); // to declare as a server
//! let running = Scripted::http(&script); // killed when dropped
//! println!("{} {arguments:?} {}", command.display(), running.url());
//! ```

mod binary;
mod document;
mod fault;
mod handle;
mod names;
mod rule;
pub mod serve;
#[cfg(test)]
mod tests;

pub use binary::binary;
pub use document::{Answers, Script, Speaks};
pub use fault::{Cursor, Fault, Junk, List, ResetAt};
pub use handle::Scripted;
pub use names::names;
pub use rule::{Rule, When};
