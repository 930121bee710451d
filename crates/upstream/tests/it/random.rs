//! Random changes while calls run: what runs is what is declared, and the others notice nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use switchboard_model::ServerSpec;
use switchboard_testkit::repetitions;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, desired, is_running, key, scripted};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// One random change; says which names it touches.
fn change(servers: &mut BTreeMap<String, ServerSpec>, random: &mut fastrand::Rng) -> Vec<String> {
    let name = NAMES[random.usize(..NAMES.len())].to_owned();
    match (servers.remove(&name), random.u8(0..4)) {
        // Added back.
        (None, _) => {
            servers.insert(name.clone(), scripted(&name, "session", ""));
            vec![name]
        }
        // Removed.
        (Some(_), 0) => vec![name],
        // Another command line.
        (Some(spec), 1) => {
            let era = if spec.target().contains("session") { "old" } else { "session" };
            servers.insert(name.clone(), scripted(&name, era, ""));
            vec![name]
        }
        // Renamed.
        (Some(spec), 2) => {
            let Some(free) =
                NAMES.iter().find(|free| **free != name && !servers.contains_key(**free))
            else {
                servers.insert(name, spec);
                return Vec::new();
            };
            servers.insert((*free).to_owned(), scripted(free, "session", ""));
            vec![name, (*free).to_owned()]
        }
        // Other words, which touch nothing.
        (Some(mut spec), _) => {
            spec.description = Some(random.u32(..).to_string());
            servers.insert(name, spec);
            Vec::new()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prove_what_runs_is_what_is_declared() {
    let mut random = fastrand::Rng::with_seed(7);
    let hub = Arc::new(Hub::start([scripted("steady", "session", "")]).await);
    let mut servers: BTreeMap<String, ServerSpec> = BTreeMap::new();
    let (stop, calls, tasks) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), TaskTracker::new());
    let (busy, ended, made) = (hub.clone(), stop.clone(), calls.clone());
    let load = tasks.spawn(async move {
        while !ended.load(Ordering::Relaxed) {
            busy.tool("steady", "echo", "{}").await.unwrap();
            made.fetch_add(1, Ordering::Relaxed);
        }
    });
    let steady = hub.pid("steady").unwrap();
    let mut gone = Vec::new();
    for round in 0..repetitions(100) {
        let before: BTreeMap<String, Option<u32>> =
            servers.keys().map(|name| (name.clone(), hub.pid(name))).collect();
        let touched = change(&mut servers, &mut random);
        let all = servers.values().cloned().chain([scripted("steady", "session", "")]);
        hub.upstreams.reconcile(&desired(all)).await;
        hub.upstreams.settle(Duration::from_secs(60)).await;
        let running: Vec<String> =
            hub.upstreams.status().iter().map(|status| status.key.to_string()).collect();
        let mut declared: Vec<String> =
            servers.keys().cloned().chain(["steady".to_owned()]).collect();
        declared.sort();
        assert_eq!(running, declared, "round {round}");
        for (name, spec) in &servers {
            let status = hub.upstreams.status_of(&key(name)).unwrap();
            assert!(status.state.is_connected(), "round {round}: {name} {:?}", status.state);
            let old = spec.target().contains("old");
            assert_eq!(status.revision == Some("2024-11-05"), old, "round {round}: {name}");
            if !touched.contains(name) {
                assert_eq!(status.pid, before[name], "round {round}: {name} was touched");
            }
        }
        gone.extend(
            before.iter().filter(|(name, _)| touched.contains(name)).filter_map(|(_, pid)| *pid),
        );
    }
    assert!(gone.iter().all(|pid| !is_running(*pid)));
    assert_eq!(hub.pid("steady"), Some(steady));
    stop.store(true, Ordering::Relaxed);
    load.await.unwrap();
    assert!(calls.load(Ordering::Relaxed) > 0);
    Arc::into_inner(hub).unwrap().stop().await;
}
