//! Annabelle's `GET /tools/list`: what her Thinker fetches of the Orchestrator.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::Value;
use switchboard_core::{Surface, View};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answers::Guarded;
use crate::api::{Api, Routes};
use crate::error::{Problem, Result};
use crate::ops::tools::view;
use crate::who::Caller;

/// How long a name may be.
const LIMIT: usize = 64;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new().routes(routes!(tools_list))
}

/// The tools of an agent.
#[derive(Serialize, ToSchema)]
struct AnnabelleTools {
    /// All of them.
    tools: Vec<AnnabelleTool>,
}

/// A tool.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AnnabelleTool {
    /// `{server}_{tool}`.
    name: String,
    /// What it says of itself.
    description: Option<String>,
    /// The JSON schema of its arguments.
    #[schema(value_type = Object)]
    input_schema: Value,
}

/// Lists tools as Annabelle does
///
/// What the caller may use, named `{server}_{tool}`.
#[utoipa::path(
    get,
    path = "/tools/list",
    tag = "origins",
    responses((status = 200, body = AnnabelleTools), Guarded)
)]
async fn tools_list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<AnnabelleTools>> {
    let surface = Surface::parse("{server}_{tool}", LIMIT);
    let surface = surface.map_err(|error| Problem::invalid(error.to_string()))?;
    let view = view(&api, &caller, &surface);
    let tools = view.iter().flat_map(|view| View::tools(view)).map(|tool| AnnabelleTool {
        name: tool.name.to_owned(),
        description: tool.entry.description().map(|text| text.into_owned()),
        input_schema: serde_json::from_str(tool.entry.input_schema().as_str()).unwrap_or_default(),
    });
    Ok(Json(AnnabelleTools { tools: tools.collect() }))
}
