//! The table of routes: every one there is, and who may use it. A route that is not in it is refused,
//! and a test takes every row through every kind of credential.

use Access::{Administrator, Agent, Member, Public};

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
    /// The same, but its answer is given once: it holds what signs somebody in, and is not kept.
    KeyedSecret,
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

/// Where tools are called: who hangs up there wants the call to end.
const CALLS: &str = "/api/v1/tools/call";

impl Route {
    /// Whether it changes something, and is ended once it has begun, whoever is still there.
    pub(crate) fn is_change(&self) -> bool {
        self.method != "GET" && self.path != CALLS
    }
}

const fn route(method: &'static str, path: &'static str, access: Access) -> Route {
    Route { method, path, access, repeat: Repeat::Plain }
}

const fn creating(path: &'static str, access: Access) -> Route {
    Route { method: "POST", path, access, repeat: Repeat::Keyed }
}

const fn telling_once(path: &'static str, access: Access) -> Route {
    Route { method: "POST", path, access, repeat: Repeat::KeyedSecret }
}

/// Every route there is.
pub const ROUTES: &[Route] = &[
    route("GET", "/api/v1/servers", Member),
    creating("/api/v1/servers", Member),
    route("GET", "/api/v1/servers/{id}", Member),
    route("PUT", "/api/v1/servers/{id}", Member),
    route("DELETE", "/api/v1/servers/{id}", Member),
    route("POST", "/api/v1/servers/{id}/enable", Member),
    route("POST", "/api/v1/servers/{id}/disable", Member),
    route("POST", "/api/v1/servers/{id}/approve", Administrator),
    route("POST", "/api/v1/servers/{id}/reconnect", Member),
    route("POST", "/api/v1/servers/{id}/test", Member),
    route("GET", "/api/v1/servers/{id}/logs", Member),
    route("PUT", "/api/v1/servers/{id}/credential", Member),
    route("DELETE", "/api/v1/servers/{id}/credential", Member),
    route("GET", "/api/v1/catalog", Member),
    route("GET", "/api/v1/tools", Agent),
    route("POST", CALLS, Agent),
    route("GET", "/api/v1/agents", Member),
    creating("/api/v1/agents", Member),
    route("GET", "/api/v1/agents/{id}", Member),
    route("PUT", "/api/v1/agents/{id}", Member),
    route("DELETE", "/api/v1/agents/{id}", Member),
    route("GET", "/api/v1/agents/{id}/tools", Agent),
    route("GET", "/api/v1/agents/{id}/tokens", Member),
    creating("/api/v1/agents/{id}/tokens", Member),
    route("GET", "/api/v1/tokens", Member),
    creating("/api/v1/tokens", Member),
    route("DELETE", "/api/v1/tokens/{id}", Member),
    route("GET", "/api/v1/me", Agent),
    route("GET", "/api/v1/users", Administrator),
    creating("/api/v1/users", Administrator),
    route("GET", "/api/v1/users/{id}", Member),
    route("PUT", "/api/v1/users/{id}", Member),
    route("DELETE", "/api/v1/users/{id}", Administrator),
    route("PUT", "/api/v1/users/{id}/password", Member),
    telling_once("/api/v1/users/{id}/sign-in-link", Administrator),
    route("POST", "/api/v1/sign-in", Public),
    route("GET", "/sign-in", Public),
    route("POST", "/api/v1/sign-out", Member),
    route("GET", "/api/v1/audit", Member),
    route("GET", "/api/v1/audit/verify", Administrator),
    route("GET", "/api/v1/audit/retention", Administrator),
    route("PUT", "/api/v1/audit/retention", Administrator),
    route("GET", "/api/v1/usage", Member),
    route("GET", "/api/v1/usage/totals", Member),
    route("GET", "/api/v1/events", Member),
    route("GET", "/api/v1/openapi.json", Public),
    route("GET", "/api", Public),
    route("GET", "/api/style.css", Public),
    route("GET", "/healthz", Public),
    route("GET", "/readyz", Public),
    route("GET", "/metrics", Member),
    // The origins' own paths.
    route("GET", "/tools/list", Agent),
    route("GET", "/api/agents/mcp", Member),
    route("POST", "/api/agents/mcp/reconnect", Member),
    route("GET", "/api/mcp", Member),
    route("POST", "/api/mcp", Member),
    route("DELETE", "/api/mcp", Member),
    route("GET", "/integrations", Member),
    creating("/integrations", Member),
    route("GET", "/integrations/{id}", Member),
    route("PUT", "/integrations/{id}", Member),
    route("DELETE", "/integrations/{id}", Member),
    route("POST", "/integrations/{id}/test", Member),
    route("POST", "/integrations/{id}/reconnect", Member),
];

/// The row of a request; HEAD is GET without a body.
pub(crate) fn find(method: &str, path: &str) -> Option<&'static Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    ROUTES.iter().find(|route| route.method == method && route.path == path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_described_and_in_the_table_once() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                described.insert((method.to_uppercase(), path.clone()));
            }
        }
        let table: Vec<_> =
            ROUTES.iter().map(|row| (row.method.to_owned(), row.path.to_owned())).collect();
        let rows: BTreeSet<_> = table.iter().cloned().collect();
        assert_eq!(rows.len(), table.len(), "a route is in the table twice");
        assert_eq!(rows, described);
    }

    #[test]
    fn whoever_may_send_a_key_is_told_so() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        for row in ROUTES {
            let operation = &document["paths"][row.path][row.method.to_lowercase()];
            let none = Vec::new();
            let described = operation["parameters"].as_array().unwrap_or(&none);
            let key = described.iter().any(|given| given["name"] == "idempotency-key");
            assert_eq!(key, row.repeat != Repeat::Plain, "{} {}", row.method, row.path);
        }
    }
}
