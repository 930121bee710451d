//! Tokens of agents and of people.

mod create;
mod create_for_agent;
mod list;
mod of_agent;
mod revoke;

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use switchboard_store::{Subject, Token};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::who::Caller;

/// A token can last so long at most, where it ends at all.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(revoke::revoke))
        .routes(routes!(of_agent::of_agent, create_for_agent::create_for_agent))
}

/// A new token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedToken {
    /// What it is for, to recognise it by.
    name: String,
    /// After how many seconds it is no longer good; never unless given.
    #[schema(minimum = 1)]
    expires_in: Option<u64>,
}

impl WantedToken {
    fn expires_at(&self, api: &Api) -> Result<Option<SystemTime>> {
        let Some(seconds) = self.expires_in else { return Ok(None) };
        let lasting = Duration::from_secs(seconds);
        if seconds == 0 || lasting > LONGEST {
            let text = "`expires_in` is between one second and ten years";
            return Err(Problem::invalid(text));
        }
        Ok(Some(api.clock().now() + lasting))
    }

    fn name(&self) -> Result<&str> {
        match self.name.chars().count() {
            1..=200 => Ok(&self.name),
            _ => Err(Problem::invalid("`name` has 1 to 200 characters")),
        }
    }
}

/// Whether a token is somebody's to see and to revoke.
fn theirs(token: &Token, caller: &Caller, api: &Api) -> bool {
    caller.is_administrator()
        || match &token.subject {
            Subject::User(user) => *user == caller.user,
            Subject::Agent(agent) => caller.owns(agent, api.store()),
        }
}
