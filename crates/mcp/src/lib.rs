//! Towards agents: the MCP endpoint, over HTTP and stdio, for clients of either era, bridged to
//! servers of either. Decides nothing about calls: every one goes through the router.
//!
//! ```text
//!  POST ─► gate ─► exchange ─► serve ─► list, at once, from prepared bytes
//!          Host    era, headers   │
//!          token   session        └───► running ─► Router ─► server
//!                                        │  ▲ port: progress, logs, questions of the server
//!                                        ▼  │
//!                              JSON, or events from the outbox; or parked until the client
//!                              comes back with what a server asked for
//! ```
//!
//! [`Endpoint`] is the whole of it: [`Endpoint::router`] for HTTP, [`stdio::serve`] for pipes. Who listens by
//! themselves reads plain requests with [`plain`] and hands them to [`Endpoint::post`].

mod auth;
mod burden;
mod channel;
mod door;
mod endpoint;
mod exchange;
mod gate;
mod guests;
mod head;
mod http;
mod introduced;
mod ledger;
mod listeners;
mod options;
mod outbox;
mod park;
mod patience;
pub mod plain;
mod port;
pub mod rejoin;
mod reply;
mod running;
mod seal;
mod serve;
mod session;
pub mod stdio;
mod tally;
mod tasks;
mod watches;

pub use auth::{Authenticate, Principal, Role};
pub use endpoint::Endpoint;
pub use head::Field;
pub use http::{Outgoing, Post};
pub use options::{Identity, Limits, Options};
pub use session::Remember;
