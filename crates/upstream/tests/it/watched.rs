//! Resources that are subscribed to: in both eras, over every transport, and again after a break.

use std::time::Duration;

use switchboard_model::{EventKind, HttpKind, ServerSpec};
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::{CallError, Caller};
use switchboard_wire::method;

use crate::kit::{Hub, command, json, key, url};

const URI: &str = "scripted://text";

async fn ask(hub: &Hub, method: &str) -> Result<(), CallError> {
    let params = json(&format!(r#"{{"uri":"{URI}"}}"#));
    let caller = Caller::default();
    hub.upstreams.call(&key("a"), method, Some(params.as_json()), &caller).await.map(|_| ())
}

/// Touches the resource until it is told, as a subscription may still be on its way.
async fn told(hub: &Hub) -> bool {
    for _ in 0..100 {
        hub.tool("a", "touch", &format!(r#"{{"uri":"{URI}"}}"#)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let is_it =
            |kind: &EventKind| matches!(kind, EventKind::ResourceUpdated { uri } if &**uri == URI);
        if hub.told().iter().any(is_it) {
            return true;
        }
    }
    false
}

async fn check(spec: ServerSpec) {
    let hub = Hub::start([spec]).await;
    ask(&hub, method::SUBSCRIBE).await.unwrap();
    assert!(told(&hub).await, "it is told");
    hub.upstreams.reconnect(&key("a")).await;
    hub.until("a", |state| state.is_connected()).await;
    assert!(told(&hub).await, "and still is after a new connection");
    ask(&hub, method::UNSUBSCRIBE).await.unwrap();
    // What it was told before may still be on its way.
    let mut more = 1;
    for _ in 0..50 {
        hub.told();
        hub.tool("a", "touch", &format!(r#"{{"uri":"{URI}"}}"#)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let is_it = |kind: &EventKind| matches!(kind, EventKind::ResourceUpdated { .. });
        more = hub.told().iter().filter(|kind| is_it(kind)).count();
        if more == 0 {
            break;
        }
    }
    assert_eq!(more, 0);
    hub.stop().await;
}

#[tokio::test]
async fn over_stdio() {
    for revision in ["2025-06-18", "2026-07-28"] {
        check(command("a", &Script::new().only(revision))).await;
    }
}

#[tokio::test]
async fn over_http() {
    for revision in ["2025-06-18", "2026-07-28"] {
        let server = Scripted::http(&Script::new().only(revision));
        check(url("a", server.url(), HttpKind::Streamable)).await;
    }
}
