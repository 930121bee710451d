//! Servers that are known by name alone.

use axum::Json;
use serde::Serialize;
use switchboard_model::{ServerSpec, Transport};
use utoipa::ToSchema;

use crate::answers::{BadQuery, Guarded};
use crate::error::Result;
use crate::input::{Asked, Page, Paging};
use crate::ops::servers::entry;

/// A server of the catalog.
#[derive(Serialize, ToSchema)]
pub(crate) struct CatalogView {
    /// Its name.
    name: String,
    /// What kind of thing it is.
    category: Option<String>,
    /// What it is.
    description: Option<String>,
    /// `stdio`, `http` or `sse`.
    transport: String,
    /// What it connects to.
    target: String,
    /// The names of the variables or headers that take its key.
    places: Vec<String>,
    /// The variables that its key is taken from, unless it is given.
    variables: Vec<String>,
}

/// Lists the catalog
///
/// What `catalog` of a new server may name.
#[utoipa::path(
    get,
    path = "/api/v1/catalog",
    tag = "servers",
    params(Paging),
    responses((status = 200, body = Page<CatalogView>), BadQuery, Guarded)
)]
pub(super) async fn catalog(Asked(paging): Asked<Paging>) -> Result<Json<Page<CatalogView>>> {
    let mut known: Vec<CatalogView> = switchboard_config::catalog::all().map(view).collect();
    known.sort_by(|a, b| a.name.cmp(&b.name));
    paging.cut(known, |server| server.name.clone()).map(Json)
}

fn view(spec: ServerSpec) -> CatalogView {
    let places = match &spec.transport {
        Transport::Stdio(stdio) => stdio.env.keys(),
        Transport::Http(http) => http.headers.keys(),
    };
    CatalogView {
        places: places.cloned().collect(),
        name: spec.name.to_string(),
        transport: spec.transport.as_str().to_owned(),
        target: spec.target(),
        variables: entry::variables(&spec),
        category: spec.category,
        description: spec.description,
    }
}
