//! People: who asks, who there is, and how they sign in on the page.

pub(crate) mod attempts;
mod create;
mod get;
mod link;
mod list;
mod me;
mod password;
mod redeem;
pub(crate) mod refusals;
mod remove;
mod sign_in;
mod sign_out;
mod update;

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use switchboard_model::UserId;
use switchboard_store::{NewSession, Role, User};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::who::{COOKIE, Caller};

/// How long a session of the page lasts.
const SESSION: Duration = Duration::from_secs(12 * 60 * 60);

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(me::me))
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, remove::remove))
        .routes(routes!(password::password))
        .routes(routes!(link::link))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(redeem::redeem))
        .routes(routes!(sign_out::sign_out))
}

/// The person of this id, if they are the caller or the caller is an administrator.
fn find(api: &Api, caller: &Caller, id: &str) -> Result<Arc<User>> {
    let user = UserId::parse(id).ok().and_then(|id| api.store().access().user(&id));
    let theirs = |user: &Arc<User>| caller.is_administrator() || user.id == caller.user;
    user.filter(theirs).ok_or_else(|| Problem::not_found("user", id))
}

fn role(word: &str) -> Result<Role> {
    Role::parse(word).ok_or_else(|| Problem::invalid("`role` is `administrator` or `member`"))
}

fn name(text: &str) -> Result<&str> {
    match text.chars().count() {
        1..=200 => Ok(text),
        _ => Err(Problem::invalid("`name` has 1 to 200 characters")),
    }
}

/// The cookie of a session: only for this host, only over a protected connection, never read by
/// scripts and never sent from elsewhere.
fn cookie(session: &NewSession) -> Result<HeaderValue> {
    let (id, age) = (session.id.expose(), SESSION.as_secs());
    let text = format!("{COOKIE}={id}; Path=/; Max-Age={age}; Secure; HttpOnly; SameSite=Strict");
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| Problem::invalid("the session cannot be put into a cookie"))?;
    value.set_sensitive(true);
    Ok(value)
}
