//! The tokens of one agent.

use axum::extract::State;
use axum::{Extension, Json};
use switchboard_store::Subject;

use crate::answers::{BadQuery, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Id, Page, Paging};
use crate::ops::agents::find;
use crate::view::token::TokenView;
use crate::who::Caller;

/// Lists an agent's tokens
#[utoipa::path(
    get,
    path = "/api/v1/agents/{id}/tokens",
    tag = "tokens",
    params(("id" = String, Path, description = "The agent."), Paging),
    responses((status = 200, body = Page<TokenView>), BadQuery, Conflict, Guarded, Missing)
)]
pub(super) async fn of_agent(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<TokenView>>> {
    let found = find(&api, &caller, &id)?.with_tokens(&caller)?;
    let subject = Subject::Agent(found.id().clone());
    let tokens = api.store().tokens().list().await?;
    let its = tokens.iter().filter(|token| token.subject == subject);
    let mut tokens: Vec<TokenView> = its.map(TokenView::from).collect();
    tokens.sort_by(|a, b| a.id.cmp(&b.id));
    paging.cut(tokens, |token| token.id.clone()).map(Json)
}
