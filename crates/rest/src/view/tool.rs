//! A tool as the API shows it.

use serde::Serialize;
use serde_json::Value;
use switchboard_core::registry::{Freshness, Listed};
use switchboard_wire::types::{Annotations, ToolEntry};
use utoipa::ToSchema;

use super::server::key_id;

/// A tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolView {
    /// What a model calls it by: `mcp__{server}__{tool}`.
    pub(crate) name: String,
    /// Whose it is: `global:NAME`, `user:ada:NAME`, `agent:cto:NAME`.
    pub(crate) server: String,
    /// The server's own name of it.
    pub(crate) original: String,
    /// What it says of itself.
    pub(crate) description: Option<String>,
    /// The JSON schema of its arguments.
    #[schema(value_type = Object)]
    pub(crate) input_schema: Value,
    /// The hints, as the server claims them.
    pub(crate) annotations: HintsView,
    /// Whether the server offered it when it was last there, and has not said since that it still does.
    pub(crate) stale: bool,
}

/// What a server claims about a tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HintsView {
    /// It changes nothing.
    pub(crate) read_only: Option<bool>,
    /// It may destroy something.
    pub(crate) destructive: Option<bool>,
    /// Twice is as once.
    pub(crate) idempotent: Option<bool>,
    /// It reaches beyond the server.
    pub(crate) open_world: Option<bool>,
}

impl From<Listed<'_, ToolEntry>> for ToolView {
    fn from(listed: Listed<'_, ToolEntry>) -> Self {
        let entry = listed.entry;
        Self {
            name: listed.name.to_owned(),
            server: key_id(listed.server),
            original: entry.name.clone(),
            description: entry.description().map(|text| text.into_owned()),
            input_schema: serde_json::from_str(entry.input_schema().as_str()).unwrap_or_default(),
            annotations: entry.annotations.into(),
            stale: listed.offer.freshness == Freshness::Stale,
        }
    }
}

impl From<Annotations> for HintsView {
    fn from(hints: Annotations) -> Self {
        let Annotations { read_only, destructive, idempotent, open_world } = hints;
        Self { read_only, destructive, idempotent, open_world }
    }
}
