//! Starting, changing, stopping.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    EventKind, Pattern, Secret, ServerState, Start, Template, Transport, Until,
};
use switchboard_upstream::CallError;

use crate::kit::{Hub, context, desired, gone, in_flight, is_running, key, scripted};

#[tokio::test]
async fn reconciling_leaves_the_others_alone() {
    let (a, b, c) =
        (scripted("a", "session", ""), scripted("b", "session", ""), scripted("c", "session", ""));
    let hub = Hub::start([a.clone(), b.clone(), c.clone()]).await;
    let pids = ["a", "b", "c"].map(|name| hub.pid(name).unwrap());
    let mut described = a.clone();
    described.description = Some("new words".into());
    described.tools.deny = vec![Pattern::parse("e*").unwrap()];
    let edited = scripted("b", "old", "");
    let added = scripted("d", "session", "");
    hub.upstreams.reconcile(&desired([described, edited, added])).await;
    assert!(!is_running(pids[1]) && !is_running(pids[2]), "gone when the answer returns");
    hub.upstreams.settle(Duration::from_secs(60)).await;
    assert_eq!(hub.pid("a"), Some(pids[0]), "a filter does not reconnect");
    assert_eq!(hub.upstreams.status_of(&key("a")).unwrap().counts.tools, 20);
    assert_eq!(hub.upstreams.status_of(&key("b")).unwrap().revision, Some("2024-11-05"));
    assert!(hub.upstreams.status_of(&key("c")).is_none());
    assert!(hub.state("d").is_connected());
    let all: Vec<u32> = ["a", "b", "d"].iter().filter_map(|name| hub.pid(name)).collect();
    hub.stop().await;
    assert!(all.iter().all(|pid| !is_running(*pid)));
}

#[tokio::test]
async fn a_removed_server_drains_and_then_says_why() {
    let mut spec = scripted("s", "session", "");
    spec.timing.stop_grace = Duration::from_secs(5);
    let hub = Arc::new(Hub::start([spec]).await);
    let connection = hub.upstreams.get(&key("s")).unwrap();
    let (quick, slow) = (hub.clone(), hub.clone());
    let calls = async {
        tokio::join!(
            quick.tool("s", "sleep", r#"{"ms":200}"#),
            slow.tool("s", "sleep", r#"{"ms":20000}"#),
        )
    };
    let removal = async {
        in_flight(&connection, 2).await;
        hub.upstreams.reconcile(&desired([])).await;
    };
    let ((done, lost), ()) = tokio::join!(calls, removal);
    assert!(done.is_ok(), "{done:?}");
    assert!(matches!(lost, Err(CallError::Lost { .. })), "{lost:?}");
}

#[tokio::test]
async fn states_that_wait_for_somebody() {
    let mut disabled = scripted("disabled", "session", "");
    disabled.enabled = false;
    let mut missing = scripted("missing", "session", "");
    if let Transport::Stdio(stdio) = &mut missing.transport {
        stdio.args.push(Template::parse("${NOWHERE}").unwrap());
    }
    let mut nowhere = scripted("nowhere", "session", "");
    if let Transport::Stdio(stdio) = &mut nowhere.transport {
        stdio.command = Template::literal("no-such-command");
    }
    let hub = Hub::start([disabled, missing, nowhere, scripted("future", "future", "")]).await;
    assert_eq!(hub.state("disabled"), ServerState::Disabled);
    assert_eq!(hub.state("missing"), ServerState::NeedsSetup { variables: vec!["NOWHERE".into()] });
    let sentence = hub.state("nowhere").sentence();
    assert!(
        sentence.starts_with("`no-such-command` was not found in /usr/bin, /bin; "),
        "{sentence}"
    );
    let sentence =
        hub.until("future", |state| matches!(state, ServerState::Failed { .. })).await.sentence();
    assert!(sentence.starts_with("it speaks 2099-01-01"), "{sentence}");
    let refused = hub.tool("missing", "echo", "{}").await.unwrap_err();
    assert!(refused.to_string().contains("NOWHERE is not set"), "{refused}");
    hub.stop().await;
}

struct Strict;

impl switchboard_upstream::Gate for Strict {
    fn is_approved(
        &self,
        server: &switchboard_model::ServerKey,
        _: &switchboard_model::ServerSpec,
    ) -> bool {
        *server == key("approved")
    }
}

#[tokio::test]
async fn only_what_is_approved_starts() {
    let mut context = context();
    context.gate = Arc::new(Strict);
    let servers = [scripted("approved", "session", ""), scripted("other", "session", "")];
    let hub = Hub::with(context, servers).await;
    assert!(hub.state("approved").is_connected());
    assert_eq!((hub.state("other"), hub.pid("other")), (ServerState::NeedsApproval, None));
    hub.stop().await;
}

#[tokio::test]
async fn a_bound_that_shrinks_holds_for_the_calls_that_come() {
    let mut spec = scripted("s", "session", "");
    let hub = Hub::start([spec.clone()]).await;
    let pid = hub.pid("s");
    let sleep = || hub.tool("s", "sleep", r#"{"ms":300}"#);
    let shrink = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        spec.limits.max_in_flight = 1;
        hub.upstreams.reconcile(&desired([spec.clone()])).await;
    };
    let (a, b, c, ()) = tokio::join!(sleep(), sleep(), sleep(), shrink);
    assert!(a.is_ok() && b.is_ok() && c.is_ok(), "calls under way go on");
    let began = tokio::time::Instant::now();
    let (a, b) = tokio::join!(sleep(), sleep());
    assert!(a.is_ok() && b.is_ok() && began.elapsed() >= Duration::from_millis(600));
    assert_eq!(hub.pid("s"), pid);
    hub.stop().await;
}

#[tokio::test]
async fn a_variable_that_appears_is_used_by_a_reconnect() {
    let set = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut context = context();
    let seen = set.clone();
    context.env = Arc::new(move |name: &str| {
        let found = name == "ERA" && seen.load(std::sync::atomic::Ordering::SeqCst);
        found.then(|| Secret::new("session"))
    });
    let mut spec = scripted("s", "", "");
    if let Transport::Stdio(stdio) = &mut spec.transport {
        stdio.args = vec![Template::parse("${ERA}").unwrap()];
    }
    let hub = Hub::with(context, [spec]).await;
    assert_eq!(hub.state("s").code(), "needs_setup");
    set.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(hub.upstreams.reconnect(&key("s")).await);
    hub.until("s", ServerState::is_connected).await;
    hub.stop().await;
}

#[tokio::test]
async fn lazy_start_and_idle_stop() {
    let mut spec = scripted("s", "session", "");
    spec.start = Start::Lazy;
    spec.timing.idle = Some(Duration::from_millis(300));
    let hub = Hub::start([spec]).await;
    let asleep = ServerState::Disconnected { until: Until::NextCall };
    assert_eq!((hub.state("s"), hub.pid("s")), (asleep.clone(), None));
    for _ in 0..2 {
        assert_eq!(hub.tool("s", "echo", "{}").await.unwrap(), "{}");
        let pid = hub.pid("s").unwrap();
        hub.until("s", |state| *state == asleep).await;
        gone(pid).await;
        // What it offers is still known.
        assert_eq!(hub.upstreams.status_of(&key("s")).unwrap().counts.tools, 22);
    }
    hub.stop().await;
}

#[tokio::test]
async fn changes_of_a_list_are_merged() {
    for era in ["session", "stateless"] {
        let hub = Hub::start([scripted("s", era, "")]).await;
        hub.told();
        hub.tool("s", "grow", "{}").await.unwrap();
        hub.tool("s", "storm", r#"{"count":500}"#).await.unwrap();
        let is_change = |kind: &EventKind| matches!(kind, EventKind::CatalogChanged { .. });
        let changes = || hub.told().iter().filter(|kind| is_change(kind)).count();
        let (mut first, mut looks) = (0, 0..3000);
        while first == 0 && looks.next().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            first = changes();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(first + changes(), 1, "{era}");
        assert_eq!(hub.upstreams.status_of(&key("s")).unwrap().counts.tools, 23, "{era}");
        hub.stop().await;
    }
}
