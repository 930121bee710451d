//! The paths of the projects that this hub comes from, in their own shapes, so that their agents and
//! pages can be pointed here. Thin: each does what an operation does, under another name.

mod annabelle;
mod nebo;
mod openassistant;
mod spacebot;

use utoipa_axum::router::OpenApiRouter;

use crate::api::Routes;

pub(crate) fn routes() -> Routes {
    OpenApiRouter::new()
        .merge(annabelle::routes())
        .merge(spacebot::routes())
        .merge(openassistant::routes())
        .merge(nebo::routes())
}
