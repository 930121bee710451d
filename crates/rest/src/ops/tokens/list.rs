//! Every token that the caller sees.

use axum::extract::State;
use axum::{Extension, Json};

use super::theirs;
use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::view::token::TokenView;
use crate::who::Caller;

/// Lists tokens
///
/// The caller's own and their agents'; all, for administrators.
#[utoipa::path(
    get,
    path = "/api/v1/tokens",
    tag = "tokens",
    params(Paging),
    responses((status = 200, body = Page<TokenView>), BadQuery, Guarded)
)]
pub(super) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Page<TokenView>>> {
    let tokens = api.store().tokens().list().await?;
    let theirs = tokens.iter().filter(|token| theirs(token, &caller, &api));
    let mut tokens: Vec<TokenView> = theirs.map(TokenView::from).collect();
    tokens.sort_by(|a, b| a.id.cmp(&b.id));
    paging.cut(tokens, |token| token.id.clone()).map(Json)
}
