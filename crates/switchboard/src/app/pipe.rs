//! The socket through which `switchboard mcp` joins the hub: one line that says who, one that says
//! yes or no, then MCP as on standard input and output. Only the hub's own user can open it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchboard_core::port::Who;
use switchboard_mcp::{Principal, Role, stdio};
use switchboard_model::AgentId;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control::listen;
use crate::hub::Hub;

/// How long the first line may take.
const HELLO: Duration = Duration::from_secs(10);

/// Who comes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) agent: String,
}

/// Whether they may.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Welcome {
    pub(crate) error: Option<String>,
}

/// Listens until told to stop.
pub(super) fn serve(
    path: &Path,
    hub: Hub,
    tasks: &TaskTracker,
    shutdown: &CancellationToken,
) -> io::Result<()> {
    let listener = listen(path)?;
    let (path, own, stop) = (path.to_owned(), tasks.clone(), shutdown.clone());
    tasks.spawn(async move {
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            match stream {
                Ok((stream, _)) => {
                    let (hub, stop) = (hub.clone(), stop.clone());
                    own.spawn(async move {
                        if let Err(error) = one(&hub, stream, &stop).await {
                            tracing::debug!(%error, "an agent went away");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "an agent could not come in");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        let _ = std::fs::remove_file(path);
    });
    Ok(())
}

/// Once it is served, an agent's pipe ends with the endpoint, which lets its calls finish.
async fn one(hub: &Hub, stream: UnixStream, stop: &CancellationToken) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    let hello = tokio::time::timeout(HELLO, read.read_line(&mut line));
    let Some(said) = stop.run_until_cancelled(hello).await else { return Ok(()) };
    said??;
    let who = serde_json::from_str::<Hello>(&line)
        .map_err(|error| error.to_string())
        .and_then(|hello| principal(hub, &hello.agent));
    let error = who.as_ref().err().cloned();
    let mut answer = serde_json::to_vec(&Welcome { error })?;
    answer.push(b'\n');
    write.write_all(&answer).await?;
    let Ok(principal) = who else { return Ok(()) };
    let principal = Arc::new(principal);
    tokio::select! {
        served = stdio::serve(hub.endpoint(), principal.clone(), read, write) => served,
        () = dismissed(hub, &principal) => Ok(()),
    }
}

/// Ready when the agent behind a pipe is nobody any more: disabled, or gone. As by a token that was
/// withdrawn, its session ends then, with its calls under way.
pub(crate) async fn dismissed(hub: &Hub, principal: &Principal) {
    let Some(agent) = &principal.who.agent else { return std::future::pending().await };
    let mut changes = hub.registry().changes();
    while is_known(hub, agent) {
        if changes.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// The agent of this name, if there is one.
pub(crate) fn principal(hub: &Hub, agent: &str) -> Result<Principal, String> {
    let id = AgentId::parse(agent).map_err(|error| format!("`{agent}` is no agent: {error}"))?;
    if !is_known(hub, &id) {
        return Err(match hub.desired().agents.contains_key(&id) {
            true => format!("the agent `{agent}` is disabled"),
            false => format!(
                "there is no agent `{agent}`; declare it in a file, or make it with \
                 `switchboard agent add {agent}`"
            ),
        });
    }
    let owner = hub.store().and_then(|store| store.access().agent(&id));
    let user = owner.map(|agent| agent.owner.clone());
    Ok(Principal { who: Who::agent(id, user).into(), role: Role::Member, token: None })
}

/// Whether there is such an agent, and it is not disabled.
fn is_known(hub: &Hub, agent: &AgentId) -> bool {
    let disabled = hub.desired().agents.get(agent).is_some_and(|spec| !spec.enabled);
    !disabled && hub.registry().load().agent(agent, &switchboard_core::Surface::mcp()).is_some()
}
