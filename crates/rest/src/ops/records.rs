//! What is written down: the audit log, counts over time, events. A member sees their own.

mod audit;
mod events;
mod retention;
mod set_retention;
mod totals;
mod usage;
mod verify;

use switchboard_model::UserId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::Routes;
use crate::error::{Problem, Result};
use crate::who::Caller;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(audit::audit))
        .routes(routes!(verify::verify))
        .routes(routes!(retention::retention, set_retention::set_retention))
        .routes(routes!(usage::usage))
        .routes(routes!(totals::totals))
        .routes(routes!(events::events))
}

/// Whose records are meant: a member's are their own.
fn whose(caller: &Caller, asked: Option<&str>) -> Result<Option<UserId>> {
    let asked = asked.map(UserId::parse).transpose();
    let asked = asked.map_err(|error| Problem::bad_query(format!("`user`: {error}")))?;
    match asked {
        user if caller.is_administrator() => Ok(user),
        Some(user) if user != caller.user => {
            Err(Problem::forbidden("only an administrator sees what others did"))
        }
        Some(_) | None => Ok(Some(caller.user.clone())),
    }
}

/// The value of that word.
fn word<T: Copy>(
    name: &str,
    text: Option<&str>,
    all: &[T],
    called: impl Fn(T) -> &'static str,
) -> Result<Option<T>> {
    let Some(text) = text else { return Ok(None) };
    let found = all.iter().copied().find(|one| called(*one) == text);
    found.map(Some).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|one| called(*one)).collect();
        Problem::bad_query(format!("`{name}` is one of {}", words.join(", ")))
    })
}
