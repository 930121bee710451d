//! The path of a call: what is on offer, under which names, to whom, and how a call gets there.
//! Does no I/O except through its ports, which others fill.

pub mod naming;
pub mod port;
pub mod redact;
pub mod registry;
pub mod results;
pub mod router;
mod trim;

#[cfg(test)]
mod kit;

pub use naming::Surface;
pub use registry::{Audience, Kind, Offer, Registry, Snapshot, View};
pub use results::Results;
pub use router::{Ports, Request, Router};
