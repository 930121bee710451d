//! Pages of the audit log.

use std::time::SystemTime;

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_model::{AgentId, CallOrigin, Decision, Outcome};
use switchboard_store::{AuditRow, Cursor, Filter};
use utoipa::{IntoParams, ToSchema};

use super::{whose, word};
use crate::answers::{BadQuery, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Asked, Page, Paging, bad_cursor, moment};
use crate::ops::servers;
use crate::view::server::key_id;
use crate::view::time::time;
use crate::who::Caller;

/// Which rows.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// `mcp_tool_call`, `server.create`, ….
    action: Option<String>,
    /// Of this person; a member sees only their own.
    user: Option<String>,
    /// Of this agent.
    agent: Option<String>,
    /// Of this server.
    server: Option<String>,
    /// Of this tool, by the server's own name.
    tool: Option<String>,
    /// `mcp`, `rest`, `agent`, `cli` or `page`.
    origin: Option<String>,
    /// `allow`, `ask` or `deny`.
    decision: Option<String>,
    /// How calls ended.
    outcome: Option<String>,
    /// Not before (RFC 3339).
    since: Option<String>,
    /// Before (RFC 3339).
    until: Option<String>,
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
    /// How many, 100 unless given and at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// A row of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditView {
    /// Its number.
    seq: i64,
    /// When.
    at: String,
    /// What.
    action: String,
    /// Where: `mcp:{server}` for a call, else `switchboard`.
    source: String,
    /// Who.
    user: Option<String>,
    /// Which agent.
    agent: Option<String>,
    /// Which server.
    server: Option<String>,
    /// Which tool.
    tool: Option<String>,
    /// Through which door.
    origin: Option<String>,
    /// What the policy said.
    decision: Option<String>,
    /// How it ended.
    outcome: Option<String>,
    /// How long it took.
    duration_us: Option<u64>,
    /// Bytes of the arguments.
    bytes_in: Option<u64>,
    /// Bytes of the result.
    bytes_out: Option<u64>,
    /// The trace it belongs to.
    trace: Option<String>,
    /// The rest. Of a call the `shape` of its arguments, names and types; and where `audit_arguments` says `values`, the
    /// `arguments` themselves, with what is or looks secret as `[redacted]` and what is long cut.
    #[schema(value_type = Option<Object>)]
    detail: Option<Value>,
}

/// Shows the audit log
///
/// The newest first, in the order in which they were written: a long call is written when it ends, and says when it
/// came. A member sees what they and their agents did, since they are one: whoever had their id before was another.
#[utoipa::path(
    get,
    path = "/api/v1/audit",
    tag = "records",
    params(Wanted),
    responses((status = 200, body = Page<AuditView>), BadQuery, Guarded, Missing)
)]
pub(super) async fn audit(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Page<AuditView>>> {
    let after = wanted.cursor.as_deref().map(|cursor| Cursor::parse(cursor).ok_or_else(bad_cursor));
    let after = after.transpose()?;
    let limit = Paging { cursor: None, limit: wanted.limit }.limit()?;
    let filter = filter(&api, &caller, wanted)?;
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let page = api.store().audit().page(&filter, after, limit).await?;
    let next = page.next.map(Cursor::encode);
    Ok(Json(Page { items: page.rows.iter().map(view).collect(), next }))
}

fn filter(api: &Api, caller: &Caller, wanted: Wanted) -> Result<Filter> {
    let agent = wanted.agent.as_deref().map(AgentId::parse).transpose();
    let server = wanted.server.as_deref();
    let origins = |origin: CallOrigin| origin.as_str();
    Ok(Filter {
        user: whose(caller, wanted.user.as_deref())?,
        agent: agent.map_err(|error| Problem::bad_query(format!("`agent`: {error}")))?,
        server: server.map(|id| servers::key(api, caller, id)).transpose()?,
        origin: word("origin", wanted.origin.as_deref(), &CallOrigin::ALL, origins)?,
        decision: word("decision", wanted.decision.as_deref(), &Decision::ALL, |d| d.as_str())?,
        outcome: word("outcome", wanted.outcome.as_deref(), &OUTCOMES, |o| o.as_str())?,
        since: known_since(api, caller).max(moment("since", wanted.since.as_deref())?),
        until: moment("until", wanted.until.as_deref())?,
        action: wanted.action,
        tool: wanted.tool,
    })
}

/// From when on the rows of a member's id are theirs; an administrator sees all.
fn known_since(api: &Api, caller: &Caller) -> Option<SystemTime> {
    let user = api.store().access().user(&caller.user).filter(|_| !caller.is_administrator());
    user.map(|user| user.created_at)
}

const OUTCOMES: [Outcome; 6] = [
    Outcome::Done,
    Outcome::ToolError,
    Outcome::Refused,
    Outcome::TimedOut,
    Outcome::Cancelled,
    Outcome::Lost,
];

fn view(row: &AuditRow) -> AuditView {
    let entry = &row.entry;
    AuditView {
        seq: row.seq,
        at: time(entry.at),
        action: entry.action.to_string(),
        source: entry.source.clone(),
        user: entry.user.as_ref().map(ToString::to_string),
        agent: entry.agent.as_ref().map(ToString::to_string),
        server: entry.server.as_ref().map(key_id),
        tool: entry.tool.clone(),
        origin: entry.origin.map(|origin| origin.as_str().to_owned()),
        decision: entry.decision.map(|decision| decision.as_str().to_owned()),
        outcome: entry.outcome.map(|outcome| outcome.as_str().to_owned()),
        duration_us: entry.duration.map(|took| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
        bytes_in: entry.bytes_in,
        bytes_out: entry.bytes_out,
        trace: entry.trace.clone(),
        detail: entry.detail.clone(),
    }
}
