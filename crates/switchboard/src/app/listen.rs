//! The address that is listened on: accepts connections and speaks HTTP/1.1 on each. Agents' requests go
//! straight to the endpoint, all others to the page's router. Knows no routes itself.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use switchboard_mcp::{Endpoint, Outgoing};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service as _;

/// How long it waits when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until it is told to stop; then every connection ends after the request that is under way.
pub(super) fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    page: Router,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let surface = Surface { endpoint, page };
    let (connections, stop) = (tasks.clone(), stop.clone());
    tasks.spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, surface.clone(), stop.clone()));
                }
                // One that was gone before it was taken concerns nobody.
                Err(error) if is_of_one(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "no connection can be taken; trying again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    });
}

fn is_of_one(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// What answers requests.
#[derive(Clone)]
struct Surface {
    endpoint: Endpoint,
    page: Router,
}

/// Boxed: a connection that waits for its next request, as most do, should be small.
type Answering = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;
type Answer = Either<Outgoing, Body>;

impl Service<Request<Incoming>> for Surface {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        let Self { endpoint, page } = self.clone();
        Box::pin(async move {
            match endpoint.answer(request).await {
                Ok(response) => Ok(response.map(Either::Left)),
                Err(request) => Ok(ask(page, request).await.map(Either::Right)),
            }
        })
    }
}

async fn ask(mut page: Router, request: Request<Incoming>) -> Response<Body> {
    match page.call(request.map(Body::new)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Serves one connection to its end.
async fn connection(stream: TcpStream, surface: Surface, stop: CancellationToken) {
    // Small answers must not wait for one another.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays slow");
    }
    let mut served = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), surface));
    let mut stopped = pin!(stop.cancelled());
    let mut phase = Phase::New;
    let done = poll_fn(|context| {
        let end = match phase {
            // From here on this task is woken when it is time, and only has to look.
            Phase::New => stopped.as_mut().poll(context).is_ready(),
            Phase::Serving => stop.is_cancelled(),
            Phase::Ending => false,
        };
        match (phase, end) {
            (_, true) => {
                phase = Phase::Ending;
                served.as_mut().graceful_shutdown();
            }
            (Phase::New, false) => phase = Phase::Serving,
            _ => {}
        }
        served.as_mut().poll(context)
    });
    if let Err(error) = done.await {
        tracing::debug!(%error, "a connection broke off");
    }
}

#[derive(Clone, Copy)]
enum Phase {
    New,
    Serving,
    Ending,
}
