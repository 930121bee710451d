//! Who calls, by bearer token. Only the port: tokens are kept elsewhere, and never here.

use std::sync::Arc;

use switchboard_core::port::Who;

/// What somebody may do beyond their own things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// May use every agent's and every server's door.
    Administrator,
    /// May use their own.
    Member,
}

/// Somebody whose token is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who it is; without a session.
    pub who: Who,
    /// What they may do.
    pub role: Role,
}

/// Knows tokens.
pub trait Authenticate: Send + Sync {
    /// Whose token this is. Must not wait: it is asked for every request.
    fn who(&self, bearer: &str) -> Option<Arc<Principal>>;
}
