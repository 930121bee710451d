//! The tools that a caller may use.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_core::registry::Listed;
use switchboard_wire::types::ToolEntry;
use utoipa::IntoParams;

use super::{page, view};
use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::view::server::key_id;
use crate::view::tool::ToolView;
use crate::who::Caller;

/// Which tools.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only those of this server: its name, or `global:NAME`, `user:ada:NAME`, `agent:cto:NAME`.
    server: Option<String>,
    /// Only those in whose name or description every one of these words is.
    query: Option<String>,
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
    /// How many, 100 unless given and at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists tools
///
/// Those that the caller may use, under the names that models know them by.
#[utoipa::path(
    get,
    path = "/api/v1/tools",
    tag = "tools",
    params(Wanted),
    responses((status = 200, body = Page<ToolView>), BadQuery, Guarded)
)]
pub(super) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Page<ToolView>>> {
    let view = view(&api, &caller, api.models());
    let paging = Paging { cursor: wanted.cursor.clone(), limit: wanted.limit };
    let words = wanted.query.as_deref().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let fits = |tool: &Listed<'_, ToolEntry>| {
        let server = wanted.server.as_deref();
        server.is_none_or(|id| tool.server.name.as_str() == id || key_id(tool.server) == id)
            && has(tool, &words)
    };
    page(&paging, view.as_deref(), fits).map(Json)
}

fn has(tool: &Listed<'_, ToolEntry>, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let description = tool.entry.description().unwrap_or_default();
    let text = format!("{} {} {description}", tool.name, tool.entry.name).to_lowercase();
    words.iter().all(|word| text.contains(word))
}
