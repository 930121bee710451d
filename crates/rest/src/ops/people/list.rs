//! Everybody.

use axum::Json;
use axum::extract::State;

use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::view::user::UserView;

/// Lists people
#[utoipa::path(
    get,
    path = "/api/v1/users",
    tag = "people",
    params(Paging),
    responses((status = 200, body = Page<UserView>), BadQuery, Guarded)
)]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<UserView>>> {
    let users = api.store().users().list().await?;
    let mut users: Vec<UserView> = users.iter().map(UserView::from).collect();
    users.sort_by(|a, b| a.id.cmp(&b.id));
    paging.cut(users, |user| user.id.clone()).map(Json)
}
