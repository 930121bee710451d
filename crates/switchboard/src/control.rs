//! What commands ask of a hub, and how it answers: over its socket, or, where none runs, by a
//! connection of the command's own. Both ways run the same operations.

mod apply;
mod call;
mod client;
mod find;
mod list;
mod logs;
mod people;
pub mod protocol;
mod reconnect;
mod socket;
mod status;
mod test;
mod tools;

use std::sync::Arc;

use switchboard_core::Registry;
use switchboard_model::Clock;
use switchboard_rest::port::{Declared, Hub as _};
use switchboard_store::Store;
use switchboard_upstream::Upstreams;
use tokio::sync::mpsc;

use crate::hub::Hub;

pub(crate) use apply::Sources;
pub use client::{Client, ClientError};
pub(crate) use find::find;
pub(crate) use list::{DeclaredReport, rows};
pub use protocol::{Ask, Said};
pub(crate) use socket::{listen, serve};

/// Where what an operation says goes; nobody listens any more once it is closed.
pub(crate) type Say = mpsc::Sender<Said>;

/// The operations, on whatever is connected.
#[derive(Clone)]
pub struct Operations {
    pub(crate) upstreams: Upstreams,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Option<Store>,
    pub(crate) sources: Option<Sources>,
    paper: Option<Arc<Declared>>,
    pub(crate) registry: Option<Registry>,
}

impl Operations {
    /// On these connections.
    pub fn new(upstreams: Upstreams, clock: Arc<dyn Clock>) -> Self {
        Self { upstreams, clock, store: None, sources: None, paper: None, registry: None }
    }

    /// With the hub's state.
    pub fn with_hub(self, hub: Hub) -> Self {
        Self { store: hub.store().cloned(), registry: Some(hub.registry().clone()), ..self }
    }

    /// With what is declared, for whoever has changed it.
    pub(crate) fn with_sources(self, sources: Sources) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// With state alone, and what is declared, for a command that finds no hub.
    pub(crate) fn with_store(self, store: Store, declared: Arc<Declared>) -> Self {
        Self { store: Some(store), paper: Some(declared), ..self }
    }

    /// What is declared, if that is known here.
    pub(crate) fn declared(&self) -> Option<Arc<Declared>> {
        let now = self.sources.as_ref().map(|sources| sources.declarations.declared());
        now.or_else(|| self.paper.clone())
    }

    /// Runs one to its end, or until nobody listens; the last thing said is [`Said::End`].
    pub async fn run(&self, ask: Ask, say: mpsc::Sender<Said>) {
        let work = async {
            if let Err(failure) = self.answer(ask, &say).await {
                let _ = say.send(Said::Failed(failure)).await;
            }
            let _ = say.send(Said::End).await;
        };
        tokio::select! {
            () = work => {}
            () = say.closed() => {}
        }
    }

    async fn answer(&self, ask: Ask, say: &Say) -> Result<(), protocol::Failure> {
        match ask {
            Ask::List => list::list(self, say).await,
            Ask::Status => status::status(self, say).await,
            Ask::Test { servers } => test::test(self, &servers, say).await,
            Ask::Tools { servers } => tools::tools(self, &servers, say).await,
            Ask::Call { server, tool, arguments } => {
                call::call(self, &server, &tool, &arguments, say).await
            }
            Ask::Logs { servers, lines, follow } => {
                logs::logs(self, &servers, lines, follow, say).await
            }
            Ask::Apply { server, edit } => apply::apply(self, &server, &edit, say).await,
            Ask::Reconnect { server } => reconnect::reconnect(self, &server, say).await,
            Ask::People(ask) => people::people(self, ask, say).await,
        }
    }
}
