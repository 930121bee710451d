//! Everything that the address answers, in one router: the health page, the API, the endpoint. A test takes
//! every route of it through every kind of credential.

use std::net::SocketAddr;

use axum::Router;
use switchboard_rest::Api;

use super::{health, host};
use crate::hub::Hub;

/// Every route.
pub(super) fn router(hub: &Hub, api: &Api, address: SocketAddr) -> Router {
    let page = health::router().merge(api.router());
    // The endpoint looks at the host by itself.
    host::guarded(page, address).merge(hub.endpoint().router())
}

#[cfg(test)]
mod tests;
