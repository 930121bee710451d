//! Routes that are made when somebody first asks for one: each comes with its description, and to make
//! them all takes time and megabytes that a hub which only serves agents never needs.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use tower_service::Service as _;

type Make = Box<dyn FnOnce() -> Router + Send>;

/// Routes, made once. Clones share them.
#[derive(Clone)]
pub(crate) struct Routes(Arc<LazyLock<Router, Make>>);

impl Routes {
    pub(crate) fn new(make: impl FnOnce() -> Router + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }

    /// Asks them.
    pub(crate) async fn ask(&self, request: Request<Body>) -> Response<Body> {
        let mut router = Router::clone(&self.0);
        match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}
