//! A call of a tool: the path that every call takes, its result as the server sent it.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use switchboard_core::Request;
use switchboard_core::port::{CallError, Caller as Nobody};
use switchboard_model::mask;
use switchboard_wire::{Json, JsonBuf, Limits, method, write};
use utoipa::ToSchema;

use super::view;
use crate::answers::{BadBody, Guarded, Missing};
use crate::api::Api;
use crate::error::{Details, Fault, Problem, Result};
use crate::input::RawBody;
use crate::who::Caller;

/// A call of a tool.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "it describes what is read as raw JSON")]
pub(crate) struct ToolCall {
    /// What models call it by.
    name: String,
    /// Its arguments, passed on as they are; none unless given.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Value>,
}

/// Calls a tool
///
/// The result is the server's own (`content`, `structuredContent`, `isError`), byte for byte. A rule
/// may refuse the call, and nobody is there to be asked anything.
#[utoipa::path(
    post,
    path = "/api/v1/tools/call",
    tag = "tools",
    request_body = ToolCall,
    responses(
        (status = 200, body = Value, description = "The result, which may say that the tool failed."),
        (status = 502, body = Details, content_type = "application/problem+json", description = "The server answered with an error, or its connection broke."),
        (status = 504, body = Details, content_type = "application/problem+json", description = "The server took too long."),
        BadBody, Guarded, Missing
    )
)]
pub(super) async fn call(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response> {
    let body = JsonBuf::parse(body, &Limits::DEFAULT).map_err(|fault| {
        let text = format!("the body is not JSON: {fault}");
        Problem::new(StatusCode::BAD_REQUEST, "not_json", text)
    })?;
    let name = body.as_json().get("name").and_then(Json::string);
    let name = name.ok_or_else(|| Problem::invalid("`name` is missing or no text"))?;
    let arguments = body.as_json().get("arguments").filter(|arguments| !arguments.is_null());
    if arguments.is_some_and(|arguments| !arguments.is_object()) {
        return Err(Problem::invalid("`arguments` is no object"));
    }
    let view = view(&api, &caller, api.models());
    let view = view.ok_or_else(|| Problem::not_found("tool", &name))?;
    let params = write::object(|params| {
        params.text("name", &name);
        params.raw("arguments", arguments.unwrap_or(Json::EMPTY));
    });
    let trace = headers.get("traceparent").and_then(|trace| trace.to_str().ok());
    let request = Request {
        view: &view,
        who: &caller.who(),
        origin: caller.origin,
        method: method::TOOLS_CALL,
        params: params.as_json().into(),
        trace,
    };
    let result = api.calls().call(&request, &Nobody::default()).await;
    let result = result.map_err(|error| problem(&error))?;
    let kind = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((kind, result.into_bytes()).into_response())
}

fn problem(error: &CallError) -> Problem {
    let text = mask::text(&error.to_string());
    let (status, code) = match error {
        CallError::NotFound { .. } | CallError::Ambiguous { .. } | CallError::Unknown => {
            (StatusCode::NOT_FOUND, "not_found")
        }
        CallError::TooLong { .. }
        | CallError::Params(_)
        | CallError::Lacks(_)
        | CallError::NoMethod(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        CallError::Denied { .. } => (StatusCode::FORBIDDEN, "denied"),
        CallError::Blocked { .. } => (StatusCode::FORBIDDEN, "blocked"),
        CallError::TimedOut { .. } => (StatusCode::GATEWAY_TIMEOUT, "timed_out"),
        CallError::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        CallError::NotConnected { .. } => (StatusCode::SERVICE_UNAVAILABLE, "not_connected"),
        CallError::Throttled { .. } => (StatusCode::SERVICE_UNAVAILABLE, "throttled"),
        CallError::Unauthorized { .. } => (StatusCode::BAD_GATEWAY, "needs_auth"),
        CallError::Rpc(_) => (StatusCode::BAD_GATEWAY, "server_error"),
        CallError::Lost { .. } => (StatusCode::BAD_GATEWAY, "lost"),
        CallError::Http { .. } | CallError::Malformed(_) => (StatusCode::BAD_GATEWAY, "bad_answer"),
    };
    let problem = Problem::new(status, code, text);
    match error {
        CallError::Rpc(error) => {
            let message = mask::text(&error.message);
            let fault = Fault { code: error.code.to_string(), message, remedy: None };
            problem.faults(vec![fault])
        }
        _ => problem,
    }
}
