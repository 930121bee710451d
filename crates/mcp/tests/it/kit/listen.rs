//! The endpoint on an address as the program has it: plain requests are read without ceremony and go straight to the
//! endpoint, whatever else comes on that connection by hyper, and through the routes only what has to be decoded
//! first. Or all of it by hyper. Knows no limits of its own.

use std::convert::Infallible;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::{Request, Response};
use bytes::{Bytes, BytesMut};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use switchboard_mcp::Endpoint;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service as _;

use super::plainly;

/// How requests are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the program does.
    Plain,
    /// As it does from the first request on that is not plain.
    Hyper,
}

/// How many connections are open, and how many requests were taken in which way.
#[derive(Default)]
pub(crate) struct Served {
    pub(crate) open: AtomicUsize,
    plain: AtomicUsize,
    hyper: AtomicUsize,
}

impl Served {
    /// Requests that were taken in that way.
    pub(crate) fn by(&self, way: Way) -> usize {
        let count = match way {
            Way::Plain => &self.plain,
            Way::Hyper => &self.hyper,
        };
        count.load(Ordering::SeqCst)
    }
}

/// Serves every connection.
#[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
pub(super) fn serve(listener: TcpListener, endpoint: Endpoint, way: Way) -> Arc<Served> {
    let served = Arc::new(Served::default());
    let counted = served.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.open.fetch_add(1, Ordering::SeqCst);
            let (endpoint, counted) = (endpoint.clone(), counted.clone());
            tokio::spawn(async move {
                connection(stream, endpoint, way, &counted).await;
                counted.open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    served
}

async fn connection(mut stream: TcpStream, endpoint: Endpoint, way: Way, served: &Served) {
    stream.set_nodelay(true).unwrap();
    let read = match way {
        Way::Plain => plainly::serve(&mut stream, &endpoint, &served.plain).await,
        Way::Hyper => Some(BytesMut::new()),
    };
    let Some(read) = read else { return };
    let surface = service_fn(|request: Request<hyper::body::Incoming>| {
        served.hyper.fetch_add(1, Ordering::SeqCst);
        answer(endpoint.clone(), request)
    });
    let (rest, back) = stream.into_split();
    let socket = TokioIo::new(tokio::io::join(Cursor::new(read).chain(rest), back));
    // Whatever a client does to its connection is its own affair.
    let _ = http1::Builder::new().serve_connection(socket, surface).await;
}

/// What the endpoint says, through its routes if need be.
pub(super) async fn answer<B>(
    endpoint: Endpoint,
    request: Request<B>,
) -> Result<Response<Body>, Infallible>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static,
{
    match endpoint.answer(request) {
        Ok(answer) => Ok(answer.await.map(Body::new)),
        Err(request) => endpoint.router().call(request.map(Body::new)).await,
    }
}
