//! Servers behind a URL that come back as another: without the sessions that were, or of another era. Calls
//! work again, and nobody has to do anything for it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::HttpKind;
use switchboard_testkit::script::{Script, Scripted, Speaks};
use switchboard_upstream::CallError;
use tokio::time::Instant;

use crate::kit::{Hub, key, url};

fn of(era: &str) -> Script {
    Script::new().speaks(Speaks::parse(era).unwrap())
}

async fn hello(hub: &Hub) -> Result<String, CallError> {
    hub.tool("r", "echo", r#"{"text":"hello"}"#).await
}

/// A server that is restarted as another; how long until calls work again, which is no longer than
/// `patience`.
async fn back(before: &Script, after: &Script, health: Duration, patience: Duration) {
    let mut server = Scripted::http(before);
    let mut spec = url("r", server.url(), HttpKind::Streamable);
    spec.timing.health_interval = health;
    let hub = Hub::start([spec]).await;
    assert_eq!(hello(&hub).await.as_deref(), Ok("hello"));
    server.restart(after);
    let began = Instant::now();
    loop {
        let answer = hello(&hub).await;
        if answer.as_deref() == Ok("hello") {
            break;
        }
        assert!(began.elapsed() < patience, "{after:?}: {answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    hub.stop().await;
}

/// Long before the next look at its health.
#[tokio::test]
async fn a_session_that_is_refused_as_if_there_were_none_is_made_anew() {
    for fault in [
        "strange_sessions",
        "strange_sessions:message=Bad Request: Server not initialized",
        "strange_sessions:status=410,code=-32001",
        "strange_sessions:code=-32600",
    ] {
        // With and without the stream whose end tells of it.
        for script in [of("session").fault(fault), of("session").fault(fault).fault("no_get")] {
            let (never, soon) = (Duration::from_secs(3600), Duration::from_secs(20));
            back(&script, &script, never, soon).await;
        }
    }
}

/// Nobody has to call for it to be found out.
#[tokio::test]
async fn a_session_that_is_refused_is_no_healthy_one() {
    let script = of("session").fault("strange_sessions").fault("no_get");
    let mut server = Scripted::http(&script);
    let mut spec = url("r", server.url(), HttpKind::Streamable);
    spec.timing.health_interval = Duration::from_millis(300);
    let hub = Hub::start([spec]).await;
    let before = hub.upstreams.get(&key("r")).unwrap();
    server.restart_same();
    let another = |now: &Arc<_>| !Arc::ptr_eq(&before, now);
    crate::kit::until("there is another session", || {
        hub.upstreams.get(&key("r")).as_ref().is_some_and(another)
    })
    .await;
    drop(before);
    hub.stop().await;
}

#[tokio::test]
async fn a_server_of_another_era_is_asked_anew_what_it_speaks() {
    for (before, after) in [("session", "stateless"), ("stateless", "session")] {
        let health = Duration::from_millis(500);
        back(&of(before), &of(after), health, Duration::from_secs(30)).await;
    }
}

/// The same refusal as of an unknown session, for one request that is wrong in itself.
#[tokio::test]
async fn a_bad_request_costs_no_session() {
    let body = r#"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Bad Request: no\"}}"#;
    let unnamed = format!(
        r#"{{"do":"status","status":400,"headers":{{"content-type":"application/json"}},"body":"{body}","tool":"echo","times":1}}"#
    );
    for fault in ["error:code=-32000,status=400,tool=echo,times=1", unnamed.as_str()] {
        let server = Scripted::http(&of("session").fault(fault));
        let hub = Hub::start([url("r", server.url(), HttpKind::Streamable)]).await;
        let before = hub.upstreams.get(&key("r")).unwrap();
        let refused = hello(&hub).await.unwrap_err();
        assert!(matches!(&refused, CallError::Rpc(it) if it.code == -32000), "{refused:?}");
        assert_eq!(hello(&hub).await.as_deref(), Ok("hello"));
        assert!(Arc::ptr_eq(&before, &hub.upstreams.get(&key("r")).unwrap()));
        drop(before);
        hub.stop().await;
    }
}
