//! What the API is made of, and the router of all its routes.

use std::sync::{Arc, OnceLock};

use axum::http::{StatusCode, Uri};
use axum::middleware;
use switchboard_core::{Registry, Router, Surface};
use switchboard_model::{Clock, mask};
use switchboard_store::{Recorder, Store};
use switchboard_upstream::Upstreams;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::error::Problem;
use crate::ops::people::attempts::Attempts;
use crate::ops::people::refusals::Refusals;
use crate::port::{Hub, Spans};
use crate::{gate, ops};

/// What the API is made of.
pub struct Parts {
    /// State that lasts.
    pub store: Store,
    /// The connections.
    pub upstreams: Upstreams,
    /// What is on offer.
    pub registry: Registry,
    /// How tools are named towards models.
    pub models: Surface,
    /// The path of every call.
    pub router: Router,
    /// Who writes calls down, for its counters.
    pub recorder: Option<Recorder>,
    /// Who sends calls to a collector, if there is one, for its counters.
    pub spans: Option<Arc<dyn Spans>>,
    /// The hub around it.
    pub hub: Arc<dyn Hub>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ends streams when the hub stops.
    pub end: CancellationToken,
}

/// The API. Clones share it.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    parts: Parts,
    attempts: Attempts,
    refusals: Refusals,
    tasks: TaskTracker,
}

impl Api {
    /// Of these parts.
    pub fn new(parts: Parts) -> Self {
        let (attempts, refusals) = (Attempts::default(), Refusals::default());
        Self(Arc::new(Inner { parts, attempts, refusals, tasks: TaskTracker::new() }))
    }

    /// Every route, behind the gate.
    pub fn router(&self) -> axum::Router {
        let (routes, _) = ops::routes().split_for_parts();
        let gate = middleware::from_fn_with_state(self.clone(), gate::pass);
        routes.route_layer(gate).fallback(nothing).with_state(self.clone())
    }

    /// Waits for changes that are under way, when nobody asks any more: before the store closes.
    pub async fn finish(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub(crate) fn upstreams(&self) -> &Upstreams {
        &self.0.parts.upstreams
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.parts.registry
    }

    /// How tools are named towards models.
    pub(crate) fn models(&self) -> &Surface {
        &self.0.parts.models
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.0.parts.recorder.as_ref()
    }

    pub(crate) fn spans(&self) -> Option<&dyn Spans> {
        self.0.parts.spans.as_deref()
    }

    /// The path of every call, not of requests.
    pub(crate) fn calls(&self) -> &Router {
        &self.0.parts.router
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.0.parts.clock
    }

    pub(crate) fn hub(&self) -> &dyn Hub {
        &*self.0.parts.hub
    }

    /// Ends streams when the hub stops.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.0.parts.end
    }

    /// Passwords that were wrong.
    pub(crate) fn attempts(&self) -> &Attempts {
        &self.0.attempts
    }

    /// Sign-ins that were refused.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.0.refusals
    }

    /// Makes what runs equal to what is declared, after a change of the store.
    pub(crate) async fn apply(&self) -> Result<(), Problem> {
        Ok(self.0.parts.hub.apply().await?)
    }
}

/// What no route answers.
async fn nothing(uri: Uri) -> Problem {
    let text = format!("there is nothing at `{}`", mask::text(uri.path()));
    let remedy = "`/api` describes what there is, `/api/v1/openapi.json` the same for programs.";
    Problem::new(StatusCode::NOT_FOUND, "not_found", text).remedy(remedy)
}

/// The OpenAPI document of every route.
pub fn openapi() -> OpenApi {
    let (_, document) = ops::routes().split_for_parts();
    document
}

/// The same as JSON, made once.
pub(crate) fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| openapi().to_pretty_json().unwrap_or_default())
}

/// Routes that are described where they are written.
pub(crate) type Routes = OpenApiRouter<Api>;
