//! The API where no hub runs: on the store alone. Nothing is connected and nothing is started; what is
//! changed counts from the next start on.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use switchboard_config::Loaded;
use switchboard_model::{SystemClock, UserId};
use switchboard_store::Store;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::api;
use super::paper::OnPaper;
use crate::hub::Hub;
use crate::storage;

/// A hub that runs nothing.
pub(crate) struct Offline {
    hub: Hub,
    store: Store,
    declarations: Arc<OnPaper>,
    administrator: UserId,
}

impl Offline {
    /// On the store that the files name.
    pub(crate) async fn open(files: Loaded, data: Option<PathBuf>) -> Result<Self> {
        let clock = Arc::new(SystemClock);
        let store = storage::open(&files.desired.hub, data, clock.clone()).await?;
        let administrator = storage::administrator(&store).await?.id;
        let hub = Hub::builder().store(store.clone()).clock(clock).start().await?;
        let declarations = Arc::new(OnPaper::read(files, Some(store.clone())).await?);
        Ok(Self { hub, store, declarations, administrator })
    }

    /// One request, as the hub would answer it.
    pub(crate) async fn request(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, Bytes)> {
        let end = CancellationToken::new();
        let (hub, store) = (&self.hub, self.store.clone());
        let api = api::api(hub, store, self.declarations.clone(), Arc::new(SystemClock), end);
        let mut router = api::local(&api, self.administrator.clone());
        let answer = router.call(request.map(axum::body::Body::new)).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        api.finish().await;
        Ok((status, body))
    }

    /// Writes what is still to be written.
    pub(crate) async fn close(&self) {
        self.hub.shutdown().await;
    }
}
