//! Which session a request belongs to, whatever it does. Never begins one.

use std::sync::Arc;

use axum::http::StatusCode;
use switchboard_wire::{Era, Revision};

use super::Way;
use crate::endpoint::Inner;
use crate::gate::Refused;
use crate::head::Head;
use crate::session::Session;

impl Inner {
    /// The session that the headers name; their revision has to be one of that era.
    pub(crate) fn find_session(&self, way: &Way, head: &Head<'_>) -> Result<Arc<Session>, Refused> {
        let refuse = |status, reason| Err(Refused { status, reason });
        if head.version.is_there() {
            let revision = head.version.text().and_then(Revision::parse);
            if revision.is_none_or(|revision| revision.era() != Era::Session) {
                let reason = "the MCP-Protocol-Version is not one of a session";
                return refuse(StatusCode::BAD_REQUEST, reason);
            }
        }
        let Some(id) = head.session.text() else {
            let reason = "the Mcp-Session-Id header is missing: begin with `initialize`";
            return refuse(StatusCode::BAD_REQUEST, reason);
        };
        match self.sessions.find(id, &way.principal, &way.door) {
            Some(session) => Ok(session),
            None => {
                let reason = "there is no such session: begin again with `initialize`";
                refuse(StatusCode::NOT_FOUND, reason)
            }
        }
    }
}
