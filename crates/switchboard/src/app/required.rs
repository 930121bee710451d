//! Waits for the internal servers without which the hub does not start. Only at the start: later on
//! they are supervised like any other. An external server is never waited for.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::try_join_all;
use switchboard_config::Loaded;
use switchboard_model::{LogSource, ServerKey, ServerSpec, ServerState, Standing, Trouble};
use switchboard_upstream::Upstreams;
use tokio::sync::broadcast::error::RecvError;

/// How much of what a server said is told.
const LINES: usize = 10;
/// What another try does not mend.
const HOPELESS: [&str; 5] =
    ["command_not_found", "command_not_started", "no_directory", "revision", "address"];

/// A required server that did not connect.
#[derive(Debug, thiserror::Error)]
pub struct Missing {
    /// What it is called.
    pub server: ServerKey,
    /// The manifest that says that it is required.
    pub manifest: Option<PathBuf>,
    /// Why it is missed, and what to do.
    pub trouble: Trouble,
    /// What it said last.
    pub log: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, manifest, trouble, log } = self;
        write!(f, "the required server `{server}` did not connect: {}", trouble.message)?;
        if let Some(manifest) = manifest {
            write!(f, "\n  manifest  {}", manifest.display())?;
        }
        for (nth, line) in log.iter().enumerate() {
            write!(f, "\n  {:<10}{line}", if nth == 0 { "it said" } else { "" })?;
        }
        write!(f, "\n  remedy    {}", trouble.remedy)?;
        f.write_str("; without `\"required\": true` in its manifest the hub starts without it")
    }
}

/// Waits until every required server is connected, side by side; the first that is not within its
/// connect timeout is the error.
pub(super) async fn connected(upstreams: &Upstreams, loaded: &Loaded) -> Result<(), Box<Missing>> {
    let servers = upstreams.status().into_iter().filter(|status| is_required(&status.spec));
    let waits = servers.map(|status| async move {
        let key = status.key;
        let Err(trouble) = wait(upstreams, &key, status.spec.timing.connect).await else {
            return Ok(());
        };
        let manifest = loaded.origins.get(&key).map(|origin| origin.place.source.path().to_owned());
        let log = upstreams.log(&key, LINES).unwrap_or_default().into_iter();
        let log = log.filter(|line| line.source != LogSource::Hub).map(|line| line.text).collect();
        Err(Box::new(Missing { server: key, manifest, trouble, log }))
    });
    try_join_all(waits).await.map(|_| ())
}

/// Waits for one of them; why it is not connected, if it is not in time.
async fn wait(upstreams: &Upstreams, key: &ServerKey, limit: Duration) -> Result<(), Trouble> {
    let mut last = Trouble {
        code: "late",
        message: format!("it was still starting after {} s", limit.as_secs_f64()),
        remedy: "run the command by hand and see what it waits for, or raise `timeout`".to_owned(),
    };
    let done = tokio::time::timeout(limit, until_done(upstreams, key, &mut last)).await;
    done.unwrap_or(Err(())).map_err(|()| last)
}

/// Follows a server until it is connected, or no longer required, or no longer hoped for; `last` is
/// what went wrong last.
async fn until_done(upstreams: &Upstreams, key: &ServerKey, last: &mut Trouble) -> Result<(), ()> {
    let mut events = upstreams.changes();
    loop {
        let status = upstreams.status_of(key);
        // Whoever mends the manifest meanwhile is heard.
        let Some(status) = status.filter(|status| is_required(&status.spec)) else { return Ok(()) };
        match &status.state {
            ServerState::Connected { .. } => return Ok(()),
            ServerState::Failed { error, .. } => {
                last.clone_from(error);
                if HOPELESS.contains(&error.code) {
                    return Err(());
                }
            }
            ServerState::NeedsSetup { .. }
            | ServerState::NeedsApproval
            | ServerState::NeedsAuth { .. } => {
                last.code = status.state.code();
                last.message = status.state.sentence().trim_end_matches('.').to_owned();
                last.remedy = "do what it says and start the hub again".to_owned();
                return Err(());
            }
            ServerState::Connecting { .. }
            | ServerState::Disabled
            | ServerState::Disconnected { .. } => {}
        }
        if let Err(RecvError::Closed) = events.recv().await {
            return Err(());
        }
    }
}

fn is_required(spec: &ServerSpec) -> bool {
    spec.standing == Standing::Required && spec.enabled
}
