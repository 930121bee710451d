//! A server really asked whether it works.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::{change, find_own};
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::Id;
use crate::view::server::ServerView;
use crate::who::Caller;

/// What a test came to.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestView {
    /// Whether it answers.
    success: bool,
    /// The same for a person, with what to do next.
    message: String,
    /// How many tools it has.
    tool_count: usize,
    /// Their names, as the server has them.
    tools: Vec<String>,
    /// How it stands now.
    server: ServerView,
}

/// Tests a server
///
/// Really connects, for at most ten seconds. A connection that works is not torn down for it, and a
/// command line that is not approved is not started.
#[utoipa::path(
    post,
    path = "/api/v1/servers/{id}/test",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    responses((status = 200, body = TestView), Guarded, Missing)
)]
pub(super) async fn test(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<TestView>> {
    let tried = change::test(&api, &caller, &find_own(&api, &caller, &id)?).await?;
    Ok(Json(TestView {
        success: tried.success,
        message: tried.message,
        tool_count: tried.tools.len(),
        tools: tried.tools,
        server: tried.view,
    }))
}
