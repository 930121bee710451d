//! A probe that is met with silence: one who was only slow is asked again, one who never answers is
//! not asked for ever.

use std::time::Duration;

use switchboard_model::{HttpKind, ServerSpec};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Hub, command, context, key, url};

/// The revision that is spoken in each of the first connections.
async fn spoken(mut spec: ServerSpec, probe: Duration, starts: usize) -> Vec<&'static str> {
    spec.timing.connect = probe * 5;
    let mut context = context();
    context.waits.probe = probe;
    let hub = Hub::with(context, [spec]).await;
    let mut spoken = Vec::new();
    for nth in 0..starts {
        if nth > 0 {
            hub.upstreams.reconnect(&key("s")).await;
        }
        hub.until("s", |state| state.is_connected()).await;
        spoken.push(hub.upstreams.status_of(&key("s")).unwrap().revision.unwrap());
    }
    hub.stop().await;
    spoken
}

#[tokio::test]
async fn who_was_slow_once_is_asked_again() {
    let scratch = Scratch::new();
    // Long enough for one who is only slow because the machine is busy.
    let probe = Duration::from_secs(3);
    let eras = ["2025-11-25", "2026-07-28", "2026-07-28"];
    // The first process is silent; the second one, asked instead, begins a session.
    let script = Script::new().fault("silent_probe");
    let script = script.until_start(1, &scratch.path().join("starts"));
    assert_eq!(spoken(command("s", &script), probe, 3).await, eras);
    let server = Scripted::http(&Script::new().fault("silent_probe:times=1"));
    assert_eq!(spoken(url("s", server.url(), HttpKind::Streamable), probe, 3).await, eras);
}

#[tokio::test]
async fn who_never_answers_is_asked_twice() {
    let scratch = Scratch::new();
    let (counter, record) = (scratch.path().join("starts"), scratch.path().join("record"));
    let script = Script::new().fault("die_on_probe").until_start(99, &counter).record(&record);
    let probe = Duration::from_millis(400);
    assert_eq!(spoken(command("s", &script), probe, 4).await, ["2025-11-25"; 4]);
    let starts = std::fs::read_to_string(&counter).unwrap();
    assert_eq!(starts.trim(), "6", "two processes for each of two probes, then one a start");
    let asked = std::fs::read_to_string(&record).unwrap().matches("server/discover").count();
    assert_eq!(asked, 2);
}
