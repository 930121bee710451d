//! The table of routes: every one there is, and who may use it. A route that is not in it is refused,
//! and a test takes every row through every kind of credential.

/// Who may use a route, at the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Everybody, without a credential.
    Public,
    /// Whoever has a credential, agents too; each sees only what is theirs.
    Agent,
    /// People.
    Member,
    /// Administrators.
    Administrator,
}

/// Whether a request may carry an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Doing it twice is doing it once, or is what was asked.
    Plain,
    /// It creates something: the same request with the same key is done once.
    Keyed,
}

/// One route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path, as it is matched.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// Whether it takes an idempotency key.
    pub repeat: Repeat,
}

const fn route(method: &'static str, path: &'static str, access: Access) -> Route {
    Route { method, path, access, repeat: Repeat::Plain }
}

const fn creating(path: &'static str, access: Access) -> Route {
    Route { method: "POST", path, access, repeat: Repeat::Keyed }
}

/// Every route there is.
pub const ROUTES: &[Route] = &[
    route("GET", "/api/v1/servers", Access::Member),
    creating("/api/v1/servers", Access::Member),
    route("GET", "/api/v1/servers/{id}", Access::Member),
];

/// The row of a request; HEAD is GET without a body.
pub(crate) fn find(method: &str, path: &str) -> Option<&'static Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    ROUTES.iter().find(|route| route.method == method && route.path == path)
}
