//! Servers that misbehave.

use std::time::Duration;

use switchboard_model::{LogSource, Pace, ServerState};
use switchboard_upstream::CallError;
use tokio::time::Instant;

use crate::kit::{Hub, context, is_running, key, scripted};

fn failed(state: &ServerState) -> bool {
    matches!(state, ServerState::Failed { .. })
}

#[tokio::test]
async fn a_crash_costs_its_call_and_is_repaired() {
    let hub = Hub::start([scripted("s", "session", ""), scripted("other", "session", "")]).await;
    let (before, other) = (hub.pid("s"), hub.pid("other"));
    let lost = hub.tool("s", "crash", "{}").await.unwrap_err();
    assert!(
        matches!(&lost, CallError::Lost { reason, .. } if reason.contains("exit status: 7")),
        "{lost:?}"
    );
    // The next call waits for the connection that is on its way.
    assert_eq!(hub.tool("s", "echo", "{}").await.unwrap(), "{}");
    assert_ne!(hub.pid("s"), before);
    assert_eq!(hub.pid("other"), other);
    hub.stop().await;
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_tried_again_with_its_last_words() {
    let hub = Hub::start([scripted("s", "session", "exit")]).await;
    let state =
        hub.until("s", |state| matches!(state, ServerState::Failed { attempt: 2, .. })).await;
    let sentence = state.sentence();
    assert!(
        sentence.contains("exit status: 3") && sentence.contains("no configuration"),
        "{sentence}"
    );
    hub.stop().await;
}

#[tokio::test]
async fn servers_that_cannot_bear_the_probe() {
    let mut context = context();
    context.waits.probe = Duration::from_secs(3);
    let began = Instant::now();
    let servers = [scripted("dies", "dies", ""), scripted("deaf", "deaf", "")];
    let hub = Hub::with(context, servers).await;
    let silences = || {
        let log = hub.upstreams.status_of(&key("deaf")).unwrap().log;
        log.iter().filter(|line| line.text.contains("no answer to the first question")).count()
    };
    for name in ["dies", "deaf"] {
        hub.until(name, ServerState::is_connected).await;
        assert_eq!(hub.tool(name, "echo", "{}").await.unwrap(), "{}");
    }
    let first = began.elapsed();
    assert!(first >= Duration::from_secs(3) && first < Duration::from_secs(60), "{first:?}");
    // Who was silent is asked once more; then the verdict is kept, and a start asks nothing.
    hub.upstreams.reconnect(&key("deaf")).await;
    hub.until("deaf", ServerState::is_connected).await;
    assert_eq!(silences(), 2);
    for name in ["dies", "deaf"] {
        hub.upstreams.reconnect(&key(name)).await;
        hub.until(name, ServerState::is_connected).await;
    }
    assert_eq!(silences(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn noise_is_logged_and_not_fatal() {
    let hub =
        Hub::start([scripted("s", "session", "noise"), scripted("circle", "session", "circle")])
            .await;
    hub.tool("s", "garbage", "{}").await.unwrap();
    assert_eq!(hub.tool("s", "echo", "{}").await.unwrap(), "{}");
    let log = hub.upstreams.status_of(&key("s")).unwrap().log;
    let has = |source, text: &str| {
        log.iter().any(|line| line.source == source && line.text.contains(text))
    };
    assert!(has(LogSource::Stdout, "this is no JSON"), "{log:?}");
    assert!(has(LogSource::Stderr, "starting[0m up"), "{log:?}");
    assert!(has(LogSource::Hub, "`no schema` is left out: it has no `inputSchema`"), "{log:?}");
    let log = hub.upstreams.status_of(&key("circle")).unwrap().log;
    assert!(log.iter().any(|line| line.text.contains("go in a circle")), "{log:?}");
    hub.stop().await;
}

#[tokio::test]
async fn a_flood_harms_nobody() {
    let hub = Hub::start([scripted("s", "session", ""), scripted("other", "session", "")]).await;
    let flood = hub.tool("s", "flood", r#"{"lines":200000}"#);
    let calls = async {
        for _ in 0..50 {
            hub.tool("other", "echo", "{}").await.unwrap();
        }
    };
    let (flooded, ()) = tokio::join!(flood, calls);
    flooded.unwrap();
    let big = hub.tool("s", "big", r#"{"bytes":5000000}"#).await.unwrap();
    assert_eq!(big.len(), 5_000_000);
    hub.stop().await;
}

#[tokio::test]
async fn a_slow_start_is_reported_and_not_ended() {
    let mut spec = scripted("s", "session", "late");
    spec.timing.connect = Duration::from_millis(200);
    let upstreams = switchboard_upstream::Upstreams::new(context());
    upstreams.connect_all(&crate::kit::desired([spec])).await;
    let state = || upstreams.status_of(&key("s")).unwrap().state;
    let slow =
        |state: &ServerState| matches!(state, ServerState::Connecting { pace: Pace::Slow, .. });
    let mut looks = 0..3000;
    while !slow(&state()) && looks.next().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(slow(&state()), "{:?}", state());
    upstreams.settle(Duration::from_secs(60)).await;
    assert!(upstreams.status_of(&key("s")).unwrap().state.is_connected());
    upstreams.disconnect_all().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_server_with_children() {
    let hub = Hub::start([
        scripted("s", "session", "children"),
        scripted("stubborn", "session", "stubborn"),
    ])
    .await;
    let log = hub.upstreams.status_of(&key("s")).unwrap().log;
    let child = log.iter().find_map(|line| line.text.strip_prefix("child ")).unwrap();
    let child: u32 = child.parse().unwrap();
    let pids = [hub.pid("s").unwrap(), hub.pid("stubborn").unwrap(), child];
    assert!(pids.iter().all(|pid| is_running(*pid)));
    hub.stop().await;
    assert!(!pids.iter().any(|pid| is_running(*pid)));
}

#[tokio::test]
async fn a_failed_health_check_restarts() {
    let mut spec = scripted("s", "session", "no-ping");
    spec.timing.health_interval = Duration::from_millis(100);
    let hub = Hub::start([spec]).await;
    let before = hub.pid("s");
    hub.until("s", failed).await;
    hub.until("s", ServerState::is_connected).await;
    assert_ne!(hub.pid("s"), before);
    let health = hub.upstreams.status_of(&key("s")).unwrap().health;
    assert!(health[0].outcome.is_err(), "{health:?}");
    hub.stop().await;
}
