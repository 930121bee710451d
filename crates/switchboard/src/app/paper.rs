//! What is declared where no hub runs: what `up` would run, read from the files and from the store.
//! Connects to nothing.

use std::sync::Arc;

use arc_swap::ArcSwap;
use switchboard_config::Loaded;
use switchboard_core::port::BoxFuture;
use switchboard_rest::port::{self, Declared};
use switchboard_store::{Error, Store};
use switchboard_upstream::{Gate, Open};

use super::approved::Approved;
use super::{credentials, declared};

/// Declarations that nobody follows.
pub(crate) struct OnPaper {
    files: Loaded,
    store: Option<(Store, Arc<Approved>)>,
    now: ArcSwap<Declared>,
}

impl OnPaper {
    /// Of these files, and of the store, if there is one.
    pub(crate) async fn read(files: Loaded, store: Option<Store>) -> Result<Self, Error> {
        let store = store.map(|store| (store.clone(), Arc::new(Approved::new(store))));
        let paper = Self { files, store, now: ArcSwap::default() };
        paper.read_again().await?;
        Ok(paper)
    }

    /// The store.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref().map(|(store, _)| store)
    }

    /// Which of it may be started. What files declare may, so without a store everything may.
    pub(crate) fn gate(&self) -> Arc<dyn Gate> {
        match &self.store {
            Some((_, gate)) => gate.clone(),
            None => Arc::new(Open),
        }
    }

    async fn read_again(&self) -> Result<(), Error> {
        let (mut rows, mut known) = (Vec::new(), Vec::new());
        if let Some(store) = self.store() {
            rows = store.servers().list().await?.into_iter().map(Arc::new).collect();
            known = credentials::read(store, &self.files.desired.servers, &rows).await?;
        }
        let agents = declared::Agents::of(&self.files, self.store());
        let declared = declared::merge(&self.files, &rows, &agents, &known);
        if let Some((_, gate)) = &self.store {
            gate.take(&declared);
        }
        self.now.store(Arc::new(declared));
        Ok(())
    }
}

impl port::Hub for OnPaper {
    fn declared(&self) -> Arc<Declared> {
        self.now.load_full()
    }

    fn apply(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.read_again())
    }
}
