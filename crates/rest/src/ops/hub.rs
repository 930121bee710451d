//! About the hub itself: whether it works, what it counts, what it offers here, what it knows by name.

mod catalog;
mod document;
mod health;
mod metrics;
mod page;
mod ready;
mod style;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::Routes;

pub(super) fn routes() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(catalog::catalog))
        .routes(routes!(document::document))
        .routes(routes!(page::page))
        .routes(routes!(style::style))
        .routes(routes!(health::health))
        .routes(routes!(ready::ready))
        .routes(routes!(metrics::metrics))
}
