//! A site on loopback, for servers that want one.

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

const TEXT: &str = "<!doctype html><html><head><title>A page on loopback</title></head>\
    <body><article><h1>Hello</h1><p>Words on loopback, enough of them that a reader which looks \
    for the main part of a page takes this paragraph for it.</p></article></body></html>";

pub(super) struct Page {
    pub(super) url: String,
    _end: DropGuard,
}

impl Page {
    /// Everything but `/private` may be read by robots.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let robots = || async { "User-agent: *\nDisallow: /private\n" };
        let site = Router::new()
            .route("/", get(|| async { Html(TEXT) }))
            .route("/private", get(|| async { Html("secret") }))
            .route("/robots.txt", get(robots));
        let end = CancellationToken::new();
        let ended = end.clone();
        TaskTracker::new().spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                served = async { axum::serve(listener, site).await } => served.unwrap(),
            }
        });
        Self { url, _end: end.drop_guard() }
    }
}
