//! The operations, one file each, and where they are.

pub(crate) mod agents;
mod hub;
pub(crate) mod people;
mod records;
pub(crate) mod servers;
mod tokens;
pub(crate) mod tools;

use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use crate::api::Routes;
use crate::error::Details;
use crate::origins;
use crate::who::COOKIE;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Switchboard",
        description = "Servers, tools, agents, people, usage and audit of one hub.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT")
    ),
    components(schemas(Details)),
    security(("token" = []), ("page" = [])),
    modifiers(&Credentials)
)]
struct Document;

struct Credentials;

impl utoipa::Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let page = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE)));
        components.add_security_scheme("page", page);
    }
}

/// Every route with its description.
pub(crate) fn routes() -> Routes {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(servers::routes())
        .merge(tools::routes())
        .merge(agents::routes())
        .merge(tokens::routes())
        .merge(people::routes())
        .merge(records::routes())
        .merge(hub::routes())
        .merge(origins::routes())
}
