//! A server whose own stream opens slowly is heard before it is called.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use switchboard_model::{HttpKind, HttpSpec, ServerName, ServerSpec, Template, Transport};
use switchboard_wire::{Limits, Message};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kit::Hub;

/// Whether somebody reads the server's own stream.
type Heard = Arc<AtomicBool>;

#[tokio::test]
async fn the_first_call_finds_the_servers_own_stream_open() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Template::literal(format!("http://{}/", listener.local_addr().unwrap()));
    let route = post(answer).get(open).delete(|| async {});
    let app = Router::new().route("/", route).with_state(Heard::default());
    let end = CancellationToken::new();
    let serving = async move { axum::serve(listener, app).await.unwrap() };
    TaskTracker::new().spawn(end.clone().run_until_cancelled_owned(serving));
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: [].into() };
    let spec = ServerSpec::new(ServerName::parse("slow").unwrap(), Transport::Http(http));
    let hub = Hub::start([spec]).await;
    assert_eq!(hub.tool("slow", "ask", "{}").await.as_deref(), Ok("heard"));
    hub.stop().await;
    end.cancel();
}

async fn open(State(heard): State<Heard>) -> Response {
    // A call that did not wait for it would be long over.
    tokio::time::sleep(Duration::from_millis(200)).await;
    heard.store(true, Ordering::SeqCst);
    let silence = stream::pending::<Result<Bytes, std::io::Error>>();
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(silence)).into_response()
}

async fn answer(State(heard): State<Heard>, body: Bytes) -> Response {
    let Ok(Message::Request(request)) = Message::parse(&body, &Limits::DEFAULT) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let word = if heard.load(Ordering::SeqCst) { "heard" } else { "unheard" };
    let result = match &*request.method {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}"#.to_owned()
        }
        "tools/list" => r#"{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}"#.to_owned(),
        "tools/call" => format!(r#"{{"content":[{{"type":"text","text":"{word}"}}]}}"#),
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    let id = request.id;
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
