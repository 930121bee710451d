//! Who asks.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use serde::Serialize;
use switchboard_model::CallOrigin;
use utoipa::ToSchema;

use super::find;
use crate::answers::{Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::view::user::UserView;
use crate::who::{self, Caller};

/// Who asks.
#[derive(Serialize, ToSchema)]
pub(crate) struct MeView {
    /// The person; an agent's owner.
    user: UserView,
    /// The agent, if its token asks.
    agent: Option<String>,
    /// What every change of the page carries as `x-csrf-token`; only for sessions of the page.
    csrf: Option<String>,
}

/// Shows who asks
#[utoipa::path(
    get,
    path = "/api/v1/me",
    tag = "people",
    responses((status = 200, body = MeView), Guarded, Missing)
)]
pub(super) async fn me(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Json<MeView>> {
    let user = find(&api, &caller, caller.user.as_str())?;
    let session = match who::cookie(&headers).filter(|_| caller.origin == CallOrigin::Page) {
        Some(cookie) => api.store().sign_in().session(&cookie).await?,
        None => None,
    };
    Ok(Json(MeView {
        user: UserView::from(&*user),
        agent: caller.agent.map(|agent| agent.to_string()),
        csrf: session.map(|session| session.csrf.expose().to_owned()),
    }))
}
