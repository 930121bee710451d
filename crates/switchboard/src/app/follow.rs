//! What is declared, in the files and in the store, is made to run: at the start and after every
//! change. Changes that come while one is applied are applied together.

use std::sync::Arc;

use switchboard_config::Loaded;
use switchboard_model::{AgentSpec, Desired};
use switchboard_store::{Agent, Topic};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;

/// What the files say.
type Files = watch::Receiver<Arc<Loaded>>;

/// Begins with what is declared now; returns when every start has begun.
pub(super) async fn begin(hub: &Hub, mut files: Files) -> Files {
    let desired = desired(hub, &mut files);
    hub.reconcile(&desired).await;
    files
}

/// Follows both until the hub stops.
pub(super) async fn follow(hub: Hub, mut files: Files, shutdown: CancellationToken) {
    let mut people = hub.store().map(|store| store.watch(Topic::People));
    loop {
        tokio::select! {
            changed = files.changed() => if changed.is_err() { return },
            () = changed(people.as_mut()) => {}
            () = shutdown.cancelled() => return,
        }
        let desired = desired(&hub, &mut files);
        tokio::select! {
            _ = hub.reconcile(&desired) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

fn desired(hub: &Hub, files: &mut Files) -> Desired {
    let declared = files.borrow_and_update().desired.clone();
    let agents = hub.store().map(|store| store.access().agents()).unwrap_or_default();
    with_agents(&declared, &agents)
}

/// Waits for a change of the people; for ever where there are none.
async fn changed(people: Option<&mut watch::Receiver<i64>>) {
    if let Some(people) = people
        && people.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// The agents of the store beside those of the files; of the same name, the file's.
fn with_agents(desired: &Desired, agents: &[Arc<Agent>]) -> Desired {
    let mut all = desired.clone();
    for agent in agents {
        let spec: &AgentSpec = &agent.spec;
        all.agents.entry(agent.id.clone()).or_insert_with(|| spec.clone());
    }
    all
}
