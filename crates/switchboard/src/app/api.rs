//! The API on a hub: for the address, where everybody needs a credential, and for the hub's own socket,
//! where the operating system has told already who asks.

use std::sync::Arc;

use axum::{Extension, Router};
use switchboard_model::{Clock, UserId};
use switchboard_rest::{Api, Local, Parts, port};
use switchboard_store::Store;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;

/// The API on this hub and its store.
pub(crate) fn api(
    hub: &Hub,
    store: Store,
    declarations: Arc<dyn port::Hub>,
    clock: Arc<dyn Clock>,
    end: CancellationToken,
) -> Api {
    Api::new(Parts {
        store,
        upstreams: hub.upstreams().clone(),
        registry: hub.registry().clone(),
        models: hub.models().clone(),
        router: hub.router().clone(),
        recorder: hub.recorder().cloned(),
        spans: hub.spans(),
        hub: declarations,
        clock,
        end,
    })
}

/// The same for whoever can open the hub's socket, or its store: this administrator.
pub(crate) fn local(api: &Api, administrator: UserId) -> Router {
    api.router().layer(Extension(Local(administrator)))
}
