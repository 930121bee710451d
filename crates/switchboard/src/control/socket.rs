//! The hub's end of the socket: HTTP on a Unix socket that only its own user can open. Never
//! answers anybody else, so it asks for no credential.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::stream;
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::protocol::{Ask, Failure, Said};
use super::{Operations, client};
use crate::routes::Routes;

/// How long a call under way may take when the hub ends, like those of agents.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long what a command asks may be: arguments may be as long as a message to a server, and are text in what is asked.
const LONGEST: usize = 64 << 20;

#[derive(Clone)]
struct Hub {
    operations: Operations,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

/// A socket that only its own user can open. The state directory is claimed, so one that is there
/// is dead.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    // Until here the directory alone keeps others out.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Listens until told to stop: what commands ask, and the API.
pub(crate) fn serve(
    path: &Path,
    operations: Operations,
    api: Routes,
    tasks: &TaskTracker,
    shutdown: &CancellationToken,
) -> io::Result<()> {
    let listener = listen(path)?;
    let hub = Hub { operations, tasks: tasks.clone(), shutdown: shutdown.clone() };
    let rest = async move |request: Request| api.ask(request).await;
    let ask = post(answer).layer(DefaultBodyLimit::max(LONGEST));
    let router = Router::new().route(client::PATH, ask).with_state(hub).fallback(rest);
    let (stopped, path) = (shutdown.clone().cancelled_owned(), path.to_owned());
    tasks.spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
        if let Err(error) = served {
            tracing::error!(%error, "the hub's socket ended");
        }
        let _ = fs::remove_file(path);
    });
    Ok(())
}

/// One question, answered line by line as things happen. A call is let finish when the hub ends; whatever else somebody
/// waits for is not.
async fn answer(State(hub): State<Hub>, Json(ask): Json<Ask>) -> Response {
    let (say, heard) = mpsc::channel(64);
    hub.tasks.spawn(async move {
        let is_call = matches!(ask, Ask::Call { .. });
        let late = async {
            hub.shutdown.cancelled().await;
            if is_call {
                sleep(FAREWELL).await;
            }
        };
        tokio::select! {
            () = hub.operations.run(ask, say.clone()) => return,
            () = late => {}
        }
        if is_call {
            let remedy = "it may have been carried out: check before you call it again";
            let stopped = Failure::new("the hub stopped before the call was answered", remedy);
            let _ = say.send(Said::Failed(stopped)).await;
            let _ = say.send(Said::End).await;
        }
    });
    let lines = stream::unfold(heard, |mut heard| async move {
        let said = heard.recv().await?;
        Some((Ok::<_, Infallible>(line(&said)), heard))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (StatusCode::OK, kind, Body::from_stream(lines)).into_response()
}

fn line(said: &Said) -> Bytes {
    let mut line = serde_json::to_vec(said).unwrap_or_default();
    line.push(b'\n');
    line.into()
}
