//! The API where no hub runs: on the store alone. Nothing is connected and nothing is started; what is
//! changed counts from the next start on.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use arc_swap::ArcSwap;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use switchboard_config::Loaded;
use switchboard_core::port::BoxFuture;
use switchboard_model::{SystemClock, UserId};
use switchboard_rest::port::{self, Declared};
use switchboard_store::{Error, Store};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::{api, declared};
use crate::hub::Hub;
use crate::storage;

/// A hub that runs nothing.
pub(crate) struct Offline {
    hub: Hub,
    declarations: Arc<OnPaper>,
    administrator: UserId,
}

struct OnPaper {
    files: Loaded,
    store: Store,
    now: ArcSwap<Declared>,
}

impl Offline {
    /// On the store that the files name.
    pub(crate) async fn open(files: Loaded, data: Option<PathBuf>) -> Result<Self> {
        let clock = Arc::new(SystemClock);
        let store = storage::open(&files.desired.hub.store, data, clock.clone()).await?;
        let administrator = storage::administrator(&store).await?.id;
        let hub = Hub::builder().store(store.clone()).clock(clock).start().await?;
        let declarations = Arc::new(OnPaper { files, store, now: ArcSwap::default() });
        declarations.read().await?;
        Ok(Self { hub, declarations, administrator })
    }

    /// One request, as the hub would answer it.
    pub(crate) async fn request(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(StatusCode, Bytes)> {
        let end = CancellationToken::new();
        let (hub, store) = (&self.hub, self.declarations.store.clone());
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

impl OnPaper {
    async fn read(&self) -> Result<(), Error> {
        let rows = self.store.servers().list().await?;
        let rows: Vec<_> = rows.into_iter().map(Arc::new).collect();
        let agents = self.store.access().agents();
        self.now.store(Arc::new(declared::merge(&self.files, &rows, &agents)));
        Ok(())
    }
}

impl port::Hub for OnPaper {
    fn declared(&self) -> Arc<Declared> {
        self.now.load_full()
    }

    fn apply(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.read())
    }
}
