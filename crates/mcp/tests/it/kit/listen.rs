//! The endpoint on an address as the program has it: HTTP/1.1 on each connection, straight to the
//! endpoint, and through its routes only what has to be decoded first. Knows no limits of its own.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use switchboard_mcp::Endpoint;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service as _;

/// Serves every connection; how many are open.
#[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
pub(super) fn serve(listener: TcpListener, endpoint: Endpoint) -> Arc<AtomicUsize> {
    let open = Arc::new(AtomicUsize::new(0));
    let counted = open.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let (endpoint, counted) = (endpoint.clone(), counted.clone());
            tokio::spawn(async move {
                connection(stream, endpoint).await;
                counted.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    open
}

async fn connection(stream: TcpStream, endpoint: Endpoint) {
    stream.set_nodelay(true).unwrap();
    let surface = service_fn(move |request| answer(endpoint.clone(), request));
    // Whatever a client does to its connection is its own affair.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), surface).await;
}

async fn answer(
    endpoint: Endpoint,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    match endpoint.answer(request) {
        Ok(answer) => Ok(answer.await.map(Body::new)),
        Err(request) => endpoint.router().call(request.map(Body::new)).await,
    }
}
