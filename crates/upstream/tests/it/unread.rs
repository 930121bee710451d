//! Lists that cannot be read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use switchboard_model::{Counts, HttpKind};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_wire::{Limits, Message};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, command, key, until, url};

/// A list that cannot be read for a while is no empty one, and is read again when it can be.
#[tokio::test]
async fn a_list_that_fails_is_kept_and_read_again() {
    type Of = fn(&Counts) -> usize;
    let rows: [(&str, &str, Of); 3] = [
        ("resources/list", "resources", |counts| counts.resources),
        ("resources/templates/list", "resources", |counts| counts.templates),
        ("prompts/list", "prompts", |counts| counts.prompts),
    ];
    let check = async |(method, list, of): (&str, &str, Of), fault: &str| {
        let scratch = Scratch::new();
        let trouble = scratch.path().join("trouble");
        let has_none = fault.contains("-32601");
        let fault = format!("{fault},method={method}");
        let script = Script::new().only("2025-06-18").while_file(&trouble).fault(fault.as_str());
        let server = Scripted::http(&script);
        let spec = || match fault.starts_with("status") {
            true => url("s", server.url(), HttpKind::Streamable),
            false => command("s", &script),
        };
        let hub = Hub::start([spec()]).await;
        let has = || of(&hub.upstreams.status_of(&key("s")).unwrap().counts);
        let other = || hub.upstreams.status_of(&key("s")).unwrap().counts.tools;
        let change = async |list: &str| {
            hub.tool("s", "change_tools", &format!(r#"{{"list":"{list}"}}"#)).await.unwrap();
        };
        let (before, tools) = (has(), other());
        assert!(before > 0, "{method}");
        std::fs::write(&trouble, "").unwrap();
        change(list).await;
        change("tools").await;
        until("the others are read", || other() > tools).await;
        if has_none {
            assert_eq!(has(), 0, "it says that it has none: {method}");
            return hub.stop().await;
        }
        assert_eq!(has(), before, "{method}");
        // It is still as it was on a new connection, and on the first one nothing is known.
        hub.upstreams.reconnect(&key("s")).await;
        hub.until("s", |state| state.is_connected()).await;
        assert_eq!(has(), before, "{method}");
        let first = Hub::start([spec()]).await;
        let found = || of(&first.upstreams.status_of(&key("s")).unwrap().counts);
        assert_eq!(found(), 0, "{method}");
        let told = first.upstreams.status_of(&key("s")).unwrap().log;
        let told = told.iter().filter(|line| line.text.contains(method)).count();
        std::fs::remove_file(&trouble).unwrap();
        until("it is read again", || found() >= before).await;
        assert_eq!(told, 1, "it is said once");
        first.stop().await;
        hub.stop().await;
    };
    for row in rows {
        tokio::join!(
            check(row, "error:code=-32603"),
            check(row, "error:code=-32601"),
            check(row, "status:status=500"),
        );
    }
}

/// A list that cannot be read holds as long as it did, also beside one of its kind that can.
#[tokio::test]
async fn a_list_that_fails_holds_as_long_as_it_did() {
    let phase = Phase::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(answer)).with_state(phase.clone());
    let end = CancellationToken::new();
    let serving = async move { axum::serve(listener, app).await.unwrap() };
    TaskTracker::new().spawn(end.clone().run_until_cancelled_owned(serving));
    let hub = Hub::start([url("s", &place, HttpKind::Streamable)]).await;
    let said = || hub.upstreams.catalog(&key("s")).unwrap().said.map(|said| said.as_secs());
    assert_eq!(said(), Some(100));
    for (next, expected) in [(1, 100), (2, 100), (3, 70), (4, 300)] {
        phase.store(next, Ordering::SeqCst);
        hub.upstreams.reconnect(&key("s")).await;
        hub.until("s", |state| state.is_connected()).await;
        assert_eq!(said(), Some(expected), "{next}");
    }
    hub.stop().await;
    end.cancel();
}

/// Which of the answers below the server gives.
type Phase = Arc<AtomicUsize>;

/// For how many seconds its resources, and its templates, hold; nothing where they cannot be read.
const HOLD: [[Option<u32>; 2]; 5] = [
    [Some(200), Some(100)],
    [Some(300), None],
    [None, None],
    [Some(70), None],
    [Some(400), Some(300)],
];

/// A server that has resources and nothing else.
async fn answer(State(phase): State<Phase>, body: Bytes) -> Response {
    let Ok(Message::Request(request)) = Message::parse(&body, &Limits::DEFAULT) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let [resources, templates] = HOLD[phase.load(Ordering::SeqCst)];
    let list = |name: &str, seconds: u32| {
        let holds = format!(r#""ttlMs":{seconds}000,"cacheScope":"public""#);
        format!(r#""result":{{"resultType":"complete","{name}":[],{holds}}}"#)
    };
    let answer = match (&*request.method, resources, templates) {
        ("server/discover", ..) => r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},"ttlMs":0,"cacheScope":"public"}"#.to_owned(),
        ("resources/list", Some(seconds), _) => list("resources", seconds),
        ("resources/templates/list", _, Some(seconds)) => list("resourceTemplates", seconds),
        _ => r#""error":{"code":-32603,"message":"not now"}"#.to_owned(),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, request.id);
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
