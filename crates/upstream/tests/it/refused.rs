//! A server of the stateless era that declares news of its lists and cannot be listened to: it refuses, or agrees and
//! ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use switchboard_model::{
    EventKind, HttpKind, HttpSpec, ServerName, ServerSpec, Template, Transport,
};
use switchboard_upstream::Caller;
use switchboard_wire::{Limits, Message, method};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, json, key};

/// How many tools the server has.
type Tools = Arc<AtomicUsize>;

/// What it says to whoever wants to listen, given the id of their request.
type Listening = fn(&str) -> Response;

/// What is done with a hub in front of the server.
async fn with_hub(listening: Listening, act: impl AsyncFnOnce(&Hub, &Tools)) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Template::literal(format!("http://{}/", listener.local_addr().unwrap()));
    let tools = Tools::new(AtomicUsize::new(1));
    let app = Router::new().route("/", post(answer)).with_state((tools.clone(), listening));
    let end = CancellationToken::new();
    let serving = async move { axum::serve(listener, app).await.unwrap() };
    TaskTracker::new().spawn(end.clone().run_until_cancelled_owned(serving));
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: [].into() };
    let spec = ServerSpec::new(ServerName::parse("s").unwrap(), Transport::Http(http));
    let hub = Hub::start([spec]).await;
    act(&hub, &tools).await;
    hub.stop().await;
    end.cancel();
}

/// Long before the lists are looked at by themselves.
async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if happened() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

#[tokio::test]
async fn it_is_said_how_often_its_lists_are_looked_at() {
    with_hub(refuses, async |hub, _| {
        let polled = || hub.upstreams.catalog(&key("s")).unwrap().polled;
        until("the lists hold for as long as they are not looked at", || {
            polled() == Some(Duration::from_secs(120))
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn its_lists_are_read_again_when_a_lost_connection_is_back() {
    with_hub(refuses, async |hub, tools| {
        let count = || hub.upstreams.catalog(&key("s")).unwrap().tools.len();
        let polled = || hub.upstreams.catalog(&key("s")).unwrap().polled;
        until("nobody listens", || polled().is_some()).await;
        assert_eq!(count(), 1);
        tools.store(2, Ordering::SeqCst);
        assert!(hub.tool("s", "tool-0", "{}").await.is_ok());
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(count(), 1, "nobody has a reason to look");
        assert!(hub.tool("s", "lost", "{}").await.is_err());
        until("the lists are read again", || count() == 2).await;
    })
    .await;
}

/// What it agrees to in one piece with its end is heard by nobody.
#[tokio::test]
async fn one_that_ends_what_it_has_just_agreed_to_is_looked_at() {
    with_hub(ends, async |hub, tools| {
        let count = || hub.upstreams.catalog(&key("s")).unwrap().tools.len();
        let polled = || hub.upstreams.catalog(&key("s")).unwrap().polled;
        until("nobody listens", || polled().is_some()).await;
        tools.store(2, Ordering::SeqCst);
        until("the lists are read again", || count() == 2).await;
        let params = json(r#"{"uri":"s://a"}"#);
        let (params, caller) = (Some(params.as_json()), Caller::default());
        hub.upstreams.call(&key("s"), method::SUBSCRIBE, params, &caller).await.unwrap();
        let is_one = |kind: &EventKind| matches!(kind, EventKind::ResourceUpdated { .. });
        until("who was promised a resource looks", || hub.told().iter().any(is_one)).await;
    })
    .await;
}

fn refuses(id: &str) -> Response {
    let error = r#"{"code":-32601,"message":"Method not found"}"#;
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::NOT_FOUND, kind, text).into_response()
}

fn ends(id: &str) -> Response {
    let agreed = r#"{"toolsListChanged":true,"resourceSubscriptions":["s://a"]}"#;
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let method = "notifications/subscriptions/acknowledged";
    let text = format!(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{{\"notifications\":{agreed},{tag}}}}}\n\n\
         data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\"}}}}\n\n",
    );
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

async fn answer(State((tools, listening)): State<(Tools, Listening)>, body: Bytes) -> Response {
    let Ok(Message::Request(request)) = Message::parse(&body, &Limits::DEFAULT) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let id = request.id;
    let result = match &*request.method {
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"public"}"#.to_owned()
        }
        "tools/list" => {
            let tool = |at| format!(r#"{{"name":"tool-{at}","inputSchema":{{"type":"object"}}}}"#);
            let all: Vec<String> = (0..tools.load(Ordering::SeqCst)).map(tool).collect();
            let all = all.join(",");
            format!(r#"{{"resultType":"complete","tools":[{all}],"ttlMs":120000,"cacheScope":"public"}}"#)
        }
        "tools/call" if request.params.is_some_and(|params| params.as_str().contains("lost")) => {
            // It breaks off in the middle.
            let broken = stream::iter([Ok(Bytes::from("{")), Err(std::io::Error::other("gone"))]);
            let kind = [(header::CONTENT_TYPE, "application/json")];
            return (kind, Body::from_stream(broken)).into_response();
        }
        "tools/call" => r#"{"resultType":"complete","content":[]}"#.to_owned(),
        "subscriptions/listen" => return listening(&id.to_string()),
        _ => return refuses(&id.to_string()),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
