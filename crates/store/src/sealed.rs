//! What is sealed: every table and column, in one list that rotation walks. Never seals anything.

use crate::vault::Slot;

/// Every place a sealed value can belong to.
pub(crate) const ALL: &[(&str, &str)] = &[
    ("servers", "secrets"),
    ("credentials", "value"),
    ("approvals", "arguments"),
    ("idempotency", "response"),
    ("settings", "secret"),
    ("audit", "head"),
    ("audit", "mark"),
];

/// The secret parts of a server's declaration.
pub(crate) fn server(id: &str) -> Slot<'_> {
    Slot { owner: "servers", id, field: "secrets" }
}

/// A credential.
pub(crate) fn credential(id: &str) -> Slot<'_> {
    Slot { owner: "credentials", id, field: "value" }
}

/// The arguments of a call that waits for an answer.
pub(crate) fn arguments(id: &str) -> Slot<'_> {
    Slot { owner: "approvals", id, field: "arguments" }
}

/// What a request was answered with, which may hold a new token.
pub(crate) fn response(id: &str) -> Slot<'_> {
    Slot { owner: "idempotency", id, field: "response" }
}

/// A setting that is secret.
pub(crate) fn setting(id: &str) -> Slot<'_> {
    Slot { owner: "settings", id, field: "secret" }
}

/// The last row of the audit log.
pub(crate) const HEAD: Slot<'static> = Slot { owner: "audit", id: "head", field: "head" };

/// A row of the audit log that is vouched for.
pub(crate) fn mark(seq: &str) -> Slot<'_> {
    Slot { owner: "audit", id: seq, field: "mark" }
}
