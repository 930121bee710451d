//! Faulty servers beside a healthy one under load: it loses no call, and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use switchboard_testkit::repetitions;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, desired, scripted};
use crate::remote::{Manner, Remote};

/// Era, fault at start, and the tool that is called then.
const FAULTS: &[(&str, &str, &str)] = &[
    ("session", "exit", "echo"),
    ("session", "noise", "garbage"),
    ("session", "circle", "echo"),
    ("session", "children", "child"),
    ("session", "stubborn", "echo"),
    ("session", "no-ping", "echo"),
    ("session", "", "crash"),
    ("session", "", "hang"),
    ("session", "", "twice"),
    ("session", "", "storm"),
    ("session", "", "flood"),
    ("dies", "", "echo"),
    ("stateless", "", "crash"),
    ("stateless", "", "grow"),
];

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists =
        tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    lists.map(|list| list.split_whitespace().count()).sum()
}

async fn misbehave(hub: &Hub, era: &str, fault: &str, tool: &str) {
    let mut spec = scripted("faulty", era, fault);
    spec.timing.stop_grace = Duration::from_millis(100);
    spec.timing.call = Duration::from_millis(300);
    hub.upstreams.reconcile(&desired([scripted("healthy", "session", ""), spec])).await;
    hub.upstreams.settle(Duration::from_secs(10)).await;
    // It may fail; it must only not matter to anybody else.
    let _ = hub.tool("faulty", tool, r#"{"lines":200,"count":50}"#).await;
    hub.upstreams.reconcile(&desired([scripted("healthy", "session", "")])).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn prove_faults_harm_nobody_and_leave_nothing() {
    let hub = Arc::new(Hub::start([scripted("healthy", "session", "")]).await);
    let (stop, lost, made) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicU64::new(0)),
    );
    let tasks = TaskTracker::new();
    for _ in 0..4 {
        let (hub, stop, lost, made) = (hub.clone(), stop.clone(), lost.clone(), made.clone());
        tasks.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                if hub.tool("healthy", "sleep", r#"{"ms":5}"#).await.is_err() {
                    lost.fetch_add(1, Ordering::Relaxed);
                }
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let healthy = hub.pid("healthy");
    let mut level = (0, 0);
    for round in 0..repetitions(50) {
        for (era, fault, tool) in FAULTS {
            misbehave(&hub, era, fault, tool).await;
        }
        let now = (handles(), children());
        match round {
            0 => level = now,
            _ => assert!(
                now.0 <= level.0 + 2 && now.1 <= level.1,
                "round {round}: {level:?} became {now:?}"
            ),
        }
    }
    assert_eq!(hub.pid("healthy"), healthy);
    stop.store(true, Ordering::Relaxed);
    tasks.close();
    tasks.wait().await;
    assert_eq!(lost.load(Ordering::Relaxed), 0, "of {}", made.load(Ordering::Relaxed));
    Arc::into_inner(hub).unwrap().stop().await;
    assert_eq!(children(), 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn prove_remote_sessions_leave_no_handle() {
    let remote = Remote::start(Manner::Events).await;
    let hub = Hub::start([]).await;
    let mut level = 0;
    for round in 0..repetitions(50) {
        hub.upstreams.reconcile(&desired([remote.spec("r")])).await;
        hub.upstreams.settle(Duration::from_secs(10)).await;
        hub.tool("r", "echo", "{}").await.unwrap();
        hub.upstreams.reconcile(&desired([])).await;
        // Both ends of a few pooled connections are in this process.
        match round {
            0 => level = handles(),
            _ => assert!(handles() <= level + 8, "round {round}: {level} became {}", handles()),
        }
    }
}
