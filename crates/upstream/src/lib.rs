//! Towards servers: supervised connections over every transport and revision. Declares nothing,
//! decides nothing about who may call: it makes run what is declared, and carries calls.
//!
//! ```text
//!  Desired ─► plan ─► Upstreams ─► one Supervisor per server ─► Connection ─► Channel ─► Link
//!                                   │ state, backoff              │ limits      │ table   │ stdio
//!                                   │ connect: era, handshake     │ progress    │         │ http
//!                                   └ health, refresh, idle       └ inputs      └ inbound └ sse
//! ```
//!
//! [`Upstreams`] is the whole of it: [`Upstreams::reconcile`] for every change,
//! [`Upstreams::call`] for every call, [`Upstreams::events`] for whoever watches.

mod agreement;
mod backoff;
mod bus;
mod catalog;
mod channel;
mod connect;
mod connection;
mod context;
mod era;
mod error;
pub mod files;
mod group;
pub mod guardian;
mod handshake;
pub mod instance;
mod journal;
mod peer;
pub mod plan;
mod pulse;
mod reap;
mod server;
mod supervisor;
mod transport;
mod upstreams;
mod watched;

pub use catalog::Catalog;
pub use connection::Connection;
pub use context::{Context, Gate, Held, Identity, Lookup, Open, Waits};
pub use era::{EraMemory, InMemory, Verdict};
pub use error::ConnectError;
pub use guardian::Guardian;
pub use instance::Instance;
pub use peer::Peer;
pub use reap::reap;
pub use server::{Health, Status};
pub use switchboard_core::port::{
    BoxFuture, CallError, Caller, ClientPort, Delivery, Inputs, Progressed, RpcError, Wish,
};
pub use upstreams::{Applied, Upstreams};
