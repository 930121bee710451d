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
    /// Who it is; without a session. Shared by all of their calls.
    pub who: Arc<Who>,
    /// What they may do.
    pub role: Role,
    /// The id of the token by which they came, if it was one: what they opened ends with it.
    pub token: Option<Arc<str>>,
}

/// Knows tokens.
pub trait Authenticate: Send + Sync {
    /// Whose token this is. Must not wait: it is asked for every request.
    fn who(&self, bearer: &str) -> Option<Arc<Principal>>;

    /// Tells of those who came in earlier whether they still may, as things are now. Asked when
    /// that may have changed, and now and then; never on the path of a call.
    fn still(&self) -> Box<dyn Fn(&Principal) -> bool + Send + '_> {
        Box::new(|_| true)
    }
}
