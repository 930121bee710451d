//! Calls over stdio: what goes in comes out, side by side, within limits.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{EventKind, Outcome, Template};
use switchboard_upstream::{CallError, Caller};
use switchboard_wire::Era;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, Person, key, scripted};

#[tokio::test]
async fn both_eras_list_and_answer() {
    let eras = ["session", "old", "picky", "stateless"];
    let hub = Hub::start(eras.map(|era| scripted(era, era, ""))).await;
    let revisions = ["2025-11-25", "2024-11-05", "2024-11-05", "2026-07-28"];
    for (era, revision) in eras.into_iter().zip(revisions) {
        let status = hub.upstreams.status_of(&key(era)).unwrap();
        assert_eq!(status.revision, Some(revision), "{era}: {:?}", status.state);
        assert_eq!(status.counts.tools, 22, "{era}");
        assert_eq!(status.counts.prompts, 1, "{era}");
        assert_eq!(status.server.as_deref(), Some("scripted 1"));
        let raw = hub
            .raw(era, "echo", r#"{"n":1.0,"big":9223372036854775809}"#, &Caller::default())
            .await
            .unwrap();
        let expected = r#"{"content":[{"type":"text","text":"{\"n\":1.0,\"big\":9223372036854775809}"}],"x-own":1.0}"#;
        assert_eq!(raw.as_json().as_str(), expected);
    }
    let stateless = hub.upstreams.get(&key("stateless")).unwrap();
    assert_eq!(stateless.peer().era(), Era::Stateless);
    let catalog = hub.upstreams.catalog(&key("session")).unwrap();
    assert_eq!(
        catalog.tools[0].raw().as_str(),
        r#"{"name":"echo","inputSchema":{"type":"object"},"x-own":1.0}"#
    );
    hub.stop().await;
}

#[tokio::test]
async fn calls_run_side_by_side_and_within_their_bound() {
    let mut narrow = scripted("narrow", "session", "");
    narrow.limits.max_in_flight = 2;
    let hub = Arc::new(Hub::start([scripted("wide", "session", ""), narrow]).await);
    for (server, ms) in [("wide", 3000), ("narrow", 100)] {
        let began = Instant::now();
        let tasks = TaskTracker::new();
        let calls = (0..8).map(|_| {
            let hub = hub.clone();
            let arguments = format!(r#"{{"ms":{ms}}}"#);
            tasks.spawn(async move { hub.tool(server, "sleep", &arguments).await.unwrap() })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        let took = began.elapsed();
        let side_by_side = took < Duration::from_millis(4 * ms);
        assert_eq!(side_by_side, server == "wide", "{server} {took:?}");
    }
    Arc::into_inner(hub).unwrap().stop().await;
}

#[tokio::test]
async fn progress_extends_a_call_and_reaches_its_caller() {
    let mut spec = scripted("s", "session", "");
    spec.timing.call = Duration::from_secs(4);
    let hub = Hub::start([spec]).await;
    // Longer in all than it may be quiet, with nobody asking for progress.
    assert_eq!(hub.tool("s", "work", r#"{"steps":9,"ms":500}"#).await.unwrap(), "9 steps");
    let slow = hub.tool("s", "sleep", r#"{"ms":60000}"#).await.unwrap_err();
    assert_eq!(slow, CallError::TimedOut { after: Duration::from_secs(4) });

    let person = Arc::new(Person::default());
    let params = crate::kit::json(
        r#"{"name":"work","arguments":{"steps":2,"ms":10},"_meta":{"progressToken":"mine"}}"#,
    );
    let caller = Caller::with_port(person.clone());
    hub.upstreams.call(&key("s"), "tools/call", Some(params.as_json()), &caller).await.unwrap();
    let told = person.told.lock().unwrap().clone();
    assert_eq!(told[0], r#"notifications/progress {"progressToken":"mine","progress":0}"#);
    assert_eq!(told.len(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn errors_stay_what_they_are() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    let failed = hub.raw("s", "fail", "{}", &Caller::default()).await.unwrap();
    assert_eq!(failed.as_json().as_str(), r#"{"content":[],"isError":true}"#);
    match hub.tool("s", "refuse", "{}").await.unwrap_err() {
        CallError::Rpc(error) => {
            assert_eq!(error.raw.as_json().as_str(), r#"{"code":-32050,"message":"not today"}"#);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        hub.upstreams.call(&key("nobody"), "ping", None, &Caller::default()).await,
        Err(CallError::Unknown)
    );
    let outcomes = hub.told().into_iter().filter_map(|kind| match kind {
        EventKind::ToolCompleted { tool, outcome, .. } => Some((tool.to_string(), outcome)),
        _ => None,
    });
    let outcomes = outcomes.collect::<Vec<_>>();
    assert_eq!(
        outcomes,
        [("fail".to_owned(), Outcome::ToolError), ("refuse".to_owned(), Outcome::Refused)]
    );
    hub.stop().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    // Long enough to be given up first on a machine that is busy with other things.
    let call = hub.tool("s", "sleep", r#"{"ms":6000}"#);
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    assert_eq!(hub.tool("s", "cancelled", "{}").await.unwrap(), "1");
    let connection = hub.upstreams.get(&key("s")).unwrap();
    assert_eq!((connection.stray_answers(), connection.in_flight()), (0, 0));
    // Its answer comes all the same, and does no harm. Nothing says when it does: it is waited for.
    let strays = async |expected: u64| {
        let mut looks = 0..3000;
        while connection.stray_answers() != expected && looks.next().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(connection.stray_answers(), expected);
    };
    strays(1).await;
    hub.tool("s", "twice", "{}").await.unwrap();
    strays(2).await;
    hub.tool("s", "echo", "{}").await.unwrap();
    let cancelled = |kind: &EventKind| {
        matches!(kind, EventKind::ToolCompleted { outcome: Outcome::Cancelled, .. })
    };
    assert_eq!(hub.told().iter().filter(|kind| cancelled(kind)).count(), 1);
    hub.stop().await;
}

#[tokio::test]
async fn a_server_can_ask_the_caller() {
    let mut quick = scripted("session", "session", "");
    quick.timing.call = Duration::from_secs(20);
    let hub = Hub::start([quick, scripted("stateless", "stateless", "")]).await;
    for (server, answer) in [
        ("session", r#"{"action":"accept","content":{"n":1.0}}"#),
        ("stateless", r#"{"action":"accept","content":{"n":1.0}} s3"#),
    ] {
        let person = Arc::new(Person::default());
        let result =
            hub.raw(server, "ask", "{}", &Caller::with_port(person.clone())).await.unwrap();
        assert_eq!(crate::kit::text(&result), answer, "{server}");
        assert_eq!(*person.told.lock().unwrap(), ["elicitation/create really?"]);
    }
    // With nobody to ask: an error, as nobody cancelled anything; or the question itself.
    assert_eq!(hub.tool("session", "ask", "{}").await.unwrap(), "error -32603");
    let passed = hub.raw("stateless", "ask", "{}", &Caller::default()).await.unwrap();
    assert!(passed.as_json().as_str().contains("input_required"));
    hub.stop().await;
}

#[tokio::test]
async fn the_child_gets_a_small_environment() {
    let mut spec = scripted("s", "session", "");
    if let switchboard_model::Transport::Stdio(stdio) = &mut spec.transport {
        let token =
            switchboard_model::SecretTemplate::new(Template::parse("Bearer ${TOKEN}").unwrap());
        stdio.env.insert("AUTH".to_owned(), token);
        stdio.cwd = Some(Template::literal("/"));
    }
    let hub = Hub::start([spec]).await;
    let mut variables: Vec<String> =
        hub.tool("s", "environment", "{}").await.unwrap().split('|').map(str::to_owned).collect();
    variables.sort();
    for mark in ["SWITCHBOARD_INSTANCE=", "SWITCHBOARD_LAUNCH="] {
        let mark = variables.iter().position(|v| v.starts_with(mark)).unwrap();
        variables.remove(mark);
    }
    assert_eq!(variables, ["AUTH=Bearer t0ken", "HOME=/tmp", "PATH=/usr/bin:/bin"]);
    hub.stop().await;
}
