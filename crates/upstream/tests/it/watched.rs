//! Resources that are subscribed to: in both eras, over every transport, and again after a break.

use std::time::Duration;

use switchboard_model::{EventKind, HttpKind, ServerSpec, Transport};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::{CallError, Caller};
use switchboard_wire::method;

use crate::kit::{Hub, command, json, key, until, url};

pub(crate) const URI: &str = "scripted://text";

pub(crate) async fn ask(hub: &Hub, method: &str) -> Result<(), CallError> {
    about(hub, method, URI).await
}

pub(crate) async fn subscribe(hub: &Hub, uri: &str) -> Result<(), CallError> {
    about(hub, method::SUBSCRIBE, uri).await
}

pub(crate) async fn about(hub: &Hub, method: &str, uri: &str) -> Result<(), CallError> {
    let params = json(&format!(r#"{{"uri":"{uri}"}}"#));
    let caller = Caller::default();
    hub.upstreams.call(&key("a"), method, Some(params.as_json()), &caller).await.map(|_| ())
}

pub(crate) async fn touch(hub: &Hub, uri: &str) {
    hub.tool("a", "touch", &format!(r#"{{"uri":"{uri}"}}"#)).await.unwrap();
}

/// Touches the resource until it is told, as a subscription may still be on its way.
pub(crate) async fn told(hub: &Hub) -> bool {
    for _ in 0..100 {
        touch(hub, URI).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        if named(hub, updated) > 0 {
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
        touch(&hub, URI).await;
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

/// The resources that are told so far, or that are not told of any more.
pub(crate) fn named(hub: &Hub, wanted: impl Fn(&EventKind) -> bool) -> usize {
    hub.told().iter().filter(|kind| wanted(kind)).count()
}

pub(crate) fn updated(kind: &EventKind) -> bool {
    is_of(kind, URI)
}

pub(crate) fn is_of(kind: &EventKind, wanted: &str) -> bool {
    matches!(kind, EventKind::ResourceUpdated { uri } if &**uri == wanted)
}

pub(crate) fn untold(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ResourceUntold { uri } if &**uri == URI)
}

/// Whoever subscribed looks once when the server comes back: what changed meanwhile was told to nobody.
#[tokio::test]
async fn what_changed_while_its_server_was_away_is_looked_at() {
    for revision in ["2025-06-18", "2026-07-28"] {
        let script = Script::new().only(revision);
        let mut server = Scripted::http(&script);
        for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
            let over_stdio = matches!(spec.transport, Transport::Stdio(_));
            let hub = Hub::start([spec]).await;
            ask(&hub, method::SUBSCRIBE).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert_eq!(named(&hub, updated), 0, "nothing was missed");
            match over_stdio {
                true => drop(hub.upstreams.reconnect(&key("a")).await),
                false => server.restart_same(),
            }
            let mut times = 0;
            until("it is told to look", || {
                times += named(&hub, updated);
                times > 0
            })
            .await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            times += named(&hub, updated);
            assert_eq!(times, 1, "{revision}");
            hub.stop().await;
        }
    }
}

/// A server that comes back and does not agree any more: it is said, and it is asked anew.
#[tokio::test]
async fn what_is_refused_after_a_break_is_told() {
    let scratch = Scratch::new();
    let loading = scratch.path().join("loading");
    let rows = [
        ("2025-06-18", "error:code=-32603,method=resources/subscribe"),
        ("2026-07-28", "error:code=-32601,method=subscriptions/listen"),
    ];
    for (revision, fault) in rows {
        let script = Script::new().only(revision).while_file(&loading).fault(fault);
        let hub = Hub::start([command("a", &script)]).await;
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        std::fs::write(&loading, "").unwrap();
        hub.upstreams.reconnect(&key("a")).await;
        let (mut lost, mut news) = (0, 0);
        until("it is said that it does not tell", || {
            let told = hub.told();
            lost += told.iter().filter(|kind| untold(kind)).count();
            news += told.iter().filter(|kind| updated(kind)).count();
            lost > 0
        })
        .await;
        assert_eq!((lost, news), (1, 0), "{revision}");
        assert!(!hub.upstreams.is_subscribed(&key("a"), URI));
        let refused = ask(&hub, method::SUBSCRIBE).await;
        assert!(matches!(refused, Err(CallError::Rpc(_))), "{refused:?}");
        std::fs::remove_file(&loading).unwrap();
        if revision == "2026-07-28" {
            // On this connection it cannot be listened to.
            hub.upstreams.reconnect(&key("a")).await;
        }
        ask(&hub, method::SUBSCRIBE).await.unwrap();
        assert!(told(&hub).await && hub.upstreams.is_subscribed(&key("a"), URI));
        hub.stop().await;
    }
}

/// It goes on listening to the lists, and does not tell of the resource any more.
#[tokio::test]
async fn what_is_not_acknowledged_again_is_told() {
    let script = Script::new().only("2026-07-28");
    let mut server = Scripted::http(&script);
    let hub = Hub::start([url("a", server.url(), HttpKind::Streamable)]).await;
    ask(&hub, method::SUBSCRIBE).await.unwrap();
    server.restart(&script.clone().tells(&["toolsListChanged"]));
    until("it is said that it does not tell", || named(&hub, untold) == 1).await;
    server.restart(&script);
    let again = async {
        while ask(&hub, method::SUBSCRIBE).await.is_err() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), again).await.unwrap();
    assert!(told(&hub).await);
    hub.stop().await;
}

/// Nobody is promised what the server has not agreed to, and what it refuses is not asked for again.
#[tokio::test]
async fn a_server_that_does_not_agree() {
    let asks = "error:code=-32601,method=subscriptions/listen";
    let params = "error:code=-32602,method=subscriptions/listen";
    let stateless = || Script::new().only("2026-07-28");
    let unwilling = stateless().tells(&["toolsListChanged"]);
    let scripts =
        [(unwilling, true), (stateless().fault(asks), false), (stateless().fault(params), false)];
    for (script, listens) in scripts {
        let server = Scripted::http(&script);
        for spec in [command("a", &script), url("a", server.url(), HttpKind::Streamable)] {
            let hub = Hub::start([spec]).await;
            let refused = ask(&hub, method::SUBSCRIBE).await;
            assert!(matches!(refused, Err(CallError::Rpc(_))), "{refused:?}");
            let again = ask(&hub, method::SUBSCRIBE).await;
            assert!(matches!(again, Err(CallError::Rpc(_))), "{again:?}");
            if listens {
                let has = |hub: &Hub| hub.upstreams.catalog(&key("a")).unwrap().tools.len();
                let before = has(&hub);
                hub.tool("a", "change_tools", r#"{"list":"tools"}"#).await.unwrap();
                until("its lists are still heard of", || has(&hub) > before).await;
            }
            hub.stop().await;
        }
    }
}

/// One that waits for an agreement hears it when it comes, and not before.
#[tokio::test]
async fn a_server_that_agrees_late() {
    let late = "delay:ms=700,method=subscriptions/listen";
    let hub = Hub::start([command("a", &Script::new().only("2026-07-28").fault(late))]).await;
    let began = tokio::time::Instant::now();
    ask(&hub, method::SUBSCRIBE).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(700));
    hub.told();
    touch(&hub, URI).await;
    let mut told = Vec::new();
    until("what was promised is told", || {
        told.extend(hub.told());
        told.iter().any(|kind| matches!(kind, EventKind::ResourceUpdated { .. }))
    })
    .await;
    hub.stop().await;
}

/// Where there is no stream, a subscription is answered after a first look: whoever gives up meanwhile has none.
#[tokio::test]
async fn who_gives_up_during_the_first_look_has_not_subscribed() {
    let fault = "silent:method=resources/read";
    let script = Script::new().only("2025-06-18").fault("no_get").fault(fault);
    let server = Scripted::http(&script);
    let hub = Hub::start([url("a", server.url(), HttpKind::Streamable)]).await;
    let is_watched = || hub.upstreams.is_subscribed(&key("a"), URI);
    tokio::select! {
        biased;
        () = until("it is looked at", is_watched) => {}
        asked = ask(&hub, method::SUBSCRIBE) => panic!("{asked:?}"),
    }
    assert!(!is_watched());
    ask(&hub, method::SUBSCRIBE).await.unwrap();
    assert!(is_watched());
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
