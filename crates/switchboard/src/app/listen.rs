//! The address that is listened on: accepts connections and speaks HTTP/1.1 on each, by itself as long as there are
//! only plain requests, by hyper from the first other one on. Agents' requests go straight to the endpoint, all
//! others to the page's router. Knows no routes itself.

mod answer;
mod plain;
mod pulse;
mod socket;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use switchboard_mcp::{Endpoint, Post};
use switchboard_model::Clock;
use switchboard_upstream::files;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::answer::Answer;
use self::plain::Ended;
use self::pulse::{Open, Patience, Pulse, Pulses};
use self::socket::Socket;
use crate::routes::Routes;

/// How long it waits when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections that are open at once.
const CONNECTIONS: usize = 16_384;

/// Serves until it is told to stop; then every connection ends after the request that is under way.
pub(super) fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    page: Routes,
    clock: Arc<dyn Clock>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let pulses = Pulses::default();
    tasks.spawn(pulses.clone().watch(Patience::default(), stop.clone()));
    let (connections, stop, room) = (tasks.clone(), stop.clone(), Room::new(pulses.clone()));
    tasks.spawn(async move {
        loop {
            // First somebody comes, then room is made: nobody has to go for whom there is no need.
            let taken = async {
                let (stream, _) = listener.accept().await?;
                Ok((stream, room.place().await))
            };
            let taken = tokio::select! {
                taken = taken => taken,
                () = stop.cancelled() => return,
            };
            match taken {
                Ok((stream, place)) => {
                    let open = pulses.open();
                    let (endpoint, page) = (endpoint.clone(), page.clone());
                    let (pulse, clock) = (open.pulse.clone(), clock.clone());
                    let surface = Surface { endpoint, page, pulse, clock };
                    connections.spawn(connection(stream, surface, open, place));
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

/// How many connections there is room for.
struct Room {
    places: Arc<Semaphore>,
    most: usize,
    pulses: Pulses,
}

impl Room {
    /// At most half of the files that the process may open: servers and the store need some too.
    fn new(pulses: Pulses) -> Self {
        let files = files::take_all();
        let most = usize::try_from(files / 2).unwrap_or(usize::MAX).clamp(16, CONNECTIONS);
        Self { places: Arc::new(Semaphore::new(most)), most, pulses }
    }

    /// A place for one more, as soon as there is one. The connection that was idle longest makes room; where all are
    /// busy, the first that is not.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Some(place);
        }
        let mut made = self.pulses.make_room();
        let cut = if made { "the longest idle one is closed" } else { "all are busy" };
        tracing::warn!("{} connections are open, as many as there may be; {cut}", self.most);
        loop {
            tokio::select! {
                place = self.places.clone().acquire_owned() => return place.ok(),
                () = Pulses::pause(), if !made => made = self.pulses.make_room(),
            }
        }
    }
}

/// What answers the requests of one connection.
struct Surface {
    endpoint: Endpoint,
    page: Routes,
    pulse: Arc<Pulse>,
    clock: Arc<dyn Clock>,
}

type Response = axum::http::Response<Answer>;

/// Boxed: a connection that waits for its next request, as most do, should be small.
type Answering = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl Surface {
    /// Asks the endpoint, if this is one of its requests.
    fn post(&self, post: Post<'_>) -> Option<Answering> {
        let answer = self.endpoint.post(post)?;
        let busy = self.pulse.begin();
        Some(Box::pin(async move { Ok(answer.await.map(|body| Answer::endpoint(body, busy))) }))
    }

    fn ask<B>(&self, request: Request<B>) -> Answering
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let busy = self.pulse.begin();
        match self.endpoint.answer(request) {
            Ok(answer) => {
                Box::pin(async move { Ok(answer.await.map(|body| Answer::endpoint(body, busy))) })
            }
            Err(request) => {
                let page = self.page.clone();
                Box::pin(async move {
                    let response = page.ask(request.map(Body::new)).await;
                    Ok(response.map(|body| Answer::page(body, busy)))
                })
            }
        }
    }
}

impl Service<Request<Incoming>> for Surface {
    type Response = Response;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        self.ask(request)
    }
}

/// Serves one connection to its end.
async fn connection(
    mut stream: TcpStream,
    surface: Surface,
    open: Open,
    _place: Option<OwnedSemaphorePermit>,
) {
    // Small answers must not wait for one another.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays slow");
    }
    let pulse = &open.pulse;
    // From here on this task is woken when the connection is to end, and only has to look.
    poll_fn(|context| {
        pulse.listen(context.waker());
        Poll::Ready(())
    })
    .await;
    match plain::serve(&mut stream, &surface).await {
        Ended::Closed => {}
        Ended::HandedOver(read) => {
            let socket = Socket::new(stream, read.freeze(), pulse.clone());
            Box::pin(with_ceremony(socket, surface, pulse)).await;
        }
    }
}

/// Serves the rest of a connection, whatever comes.
async fn with_ceremony(socket: Socket, surface: Surface, pulse: &Pulse) {
    let mut served = pin!(http1::Builder::new().serve_connection(socket, surface));
    let mut ending = false;
    let done = poll_fn(|context| {
        if pulse.is_cut() {
            return Poll::Ready(Ok(()));
        }
        if !ending && pulse.is_ending() {
            ending = true;
            served.as_mut().graceful_shutdown();
        }
        served.as_mut().poll(context)
    });
    if let Err(error) = done.await {
        tracing::debug!(%error, "a connection broke off");
    }
}
