//! Servers behind a URL.

use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_model::{EventKind, ServerState};
use switchboard_upstream::Caller;
use switchboard_wire::method;

use crate::kit::{Hub, json, key};
use crate::remote::{Manner, Remote};

async fn hub(manner: Manner) -> (Hub, Remote) {
    let remote = Remote::start(manner).await;
    let hub = Hub::start([remote.spec("r")]).await;
    (hub, remote)
}

/// Waits until it is so, if it ever is: what is asserted next says what is not.
async fn soon(so: impl Fn() -> bool) {
    let mut looks = 0..3000;
    while !so() && looks.next().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn every_manner_connects_and_answers() {
    for (manner, revision) in [
        (Manner::Json, "2025-11-25"),
        (Manner::Events, "2025-11-25"),
        (Manner::Broken, "2025-11-25"),
        (Manner::Stateless, "2026-07-28"),
        (Manner::Old, "2025-11-25"),
        (Manner::Moved, "2025-11-25"),
        (Manner::Tired, "2025-11-25"),
    ] {
        let (hub, remote) = hub(manner).await;
        let status = hub.upstreams.status_of(&key("r")).unwrap();
        assert_eq!(status.revision, Some(revision), "{manner:?} {:?}", status.state);
        assert_eq!(status.counts.tools, 1, "{manner:?}");
        let answer = hub.tool("r", "echo", r#"{"r":"eu"}"#).await;
        assert_eq!(answer.as_deref(), Ok("done"), "{manner:?}");
        hub.stop().await;
        let ended = remote.seen().contains(&"DELETE".to_owned());
        assert_eq!(ended, !matches!(manner, Manner::Stateless | Manner::Old), "{manner:?}");
        let resumed = remote.seen().contains(&"resumed".to_owned());
        assert_eq!(resumed, manner == Manner::Broken);
    }
}

#[tokio::test]
async fn a_forgotten_session_is_made_anew_and_the_call_repeated() {
    for manner in [Manner::Json, Manner::Events] {
        let (hub, remote) = hub(manner).await;
        hub.tool("r", "echo", "{}").await.unwrap();
        remote.forget();
        assert_eq!(hub.tool("r", "echo", "{}").await.as_deref(), Ok("done"), "{manner:?}");
        assert_eq!(remote.shared.calls.load(Ordering::SeqCst), 2, "none was made twice");
        hub.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_wants_a_token_says_so() {
    let (hub, _remote) = hub(Manner::Locked).await;
    let state = hub.state("r");
    assert!(
        matches!(&state, ServerState::NeedsAuth { detail, .. } if detail.contains("401")),
        "{state:?}"
    );
    hub.stop().await;
}

#[tokio::test]
async fn what_a_server_says_by_itself_is_heard() {
    for manner in [Manner::Events, Manner::Stateless, Manner::Old] {
        let (hub, remote) = hub(manner).await;
        soon(|| remote.is_heard()).await;
        let counts = || {
            let seen = remote.seen();
            ["tools/list", "answer"].map(|of| seen.iter().filter(|what| *what == of).count())
        };
        assert_eq!(counts(), [1, 0], "{manner:?}: nothing was told so far");
        remote.tell(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        remote.tell(r#"{"jsonrpc":"2.0","id":"p1","method":"ping"}"#);
        soon(|| counts() == [2, 1]).await;
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(
            counts(),
            [2, 1],
            "{manner:?}: the list is asked for anew, and the ping answered"
        );
        assert!(hub.state("r").is_connected());
        hub.stop().await;
    }
}

/// What it tells while its own stream is down reaches nobody, so all that it tells of is looked at.
#[tokio::test]
async fn what_changed_while_the_servers_own_stream_was_down_is_found() {
    let (hub, remote) = hub(Manner::Events).await;
    let uri = json(r#"{"uri":"remote://a"}"#);
    let (caller, uri) = (Caller::default(), Some(uri.as_json()));
    hub.upstreams.call(&key("r"), method::SUBSCRIBE, uri, &caller).await.unwrap();
    soon(|| remote.is_heard()).await;
    let listed = || remote.seen().iter().filter(|what| *what == "tools/list").count();
    let mut updates = 0;
    let mut updated = || {
        let is_one = |kind: &EventKind| matches!(kind, EventKind::ResourceUpdated { .. });
        updates += hub.told().iter().filter(|kind| is_one(kind)).count();
        updates
    };
    assert_eq!((listed(), updated()), (1, 0), "nothing was missed so far");
    remote.hang_up();
    soon(|| remote.is_heard() && listed() == 2).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!((listed(), updated()), (2, 1), "it is looked at once");
    hub.stop().await;
}

#[tokio::test]
async fn nobody_at_the_url() {
    let remote = Remote::start(Manner::Json).await;
    let mut spec = remote.spec("r");
    drop(remote);
    spec.timing.connect = Duration::from_secs(2);
    let hub = Hub::start([spec]).await;
    let sentence =
        hub.until("r", |state| matches!(state, ServerState::Failed { .. })).await.sentence();
    assert!(sentence.contains("no connection"), "{sentence}");
    assert!(!sentence.contains("/mcp"), "a URL may hold a secret: {sentence}");
    hub.stop().await;
}
