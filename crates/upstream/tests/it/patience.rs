//! What is waited for, and what is borne: silence, lines without end, lists without end.

use std::time::Duration;

use switchboard_model::{LogSource, Pace, ServerState};
use switchboard_testkit::repetitions;
use switchboard_testkit::script::Script;
use switchboard_upstream::{CallError, Caller, Upstreams};
use tokio::time::Instant;

use crate::kit::{Hub, command, context, desired, json, key};

const MEGABYTE: u64 = 1024 * 1024;

/// A tenth of it in a test run, all of it in a proof.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn prove_a_line_of_a_gigabyte_costs_its_call_alone() {
    let bytes = u64::from(repetitions(1024)) * MEGABYTE;
    let script = Script::new().fault(format!("huge:bytes={bytes},times=1").as_str());
    let hub = Hub::start([command("s", &script), command("other", &Script::new())]).await;
    let pid = hub.pid("s");
    let before = peak();
    let huge = hub.tool("s", "echo", r#"{"text":"huge"}"#);
    let calls = async {
        for _ in 0..50 {
            hub.tool("other", "sleep", r#"{"ms":5}"#).await.unwrap();
        }
    };
    let (refused, ()) = tokio::join!(huge, calls);
    assert!(
        matches!(&refused, Err(CallError::Malformed(why)) if why.contains("too long")),
        "{refused:?}"
    );
    let more = peak() - before;
    // The bound of a message, and as much again while its buffer grows.
    assert!(more <= 2 * 64 * MEGABYTE + 32 * MEGABYTE, "{} MB more at once", more / MEGABYTE);
    assert_eq!(hub.tool("s", "echo", r#"{"text":"small"}"#).await.as_deref(), Ok("small"));
    assert_eq!(hub.pid("s"), pid, "the connection is the same");
    let log = hub.upstreams.status_of(&key("s")).unwrap().log;
    assert!(log.iter().any(|line| line.source == LogSource::Hub), "{log:?}");
    hub.stop().await;
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The time is the runtime's own, which leaps when nothing else is to be done.
#[tokio::test(start_paused = true)]
async fn silence_is_borne_for_five_minutes() {
    let upstreams = Upstreams::new(context());
    let mut spec = command("s", &Script::new().fault("silent"));
    spec.timing.connect = Duration::from_secs(30);
    let began = Instant::now();
    upstreams.connect_all(&desired([spec])).await;
    let mut slow = false;
    let failed = loop {
        match upstreams.status_of(&key("s")).unwrap().state {
            ServerState::Connecting { pace, .. } => slow |= pace == Pace::Slow,
            failed => break failed,
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let (sentence, took) = (failed.sentence(), began.elapsed());
    assert!(sentence.contains("it printed nothing for 300 s"), "{sentence}");
    assert!(slow && took >= Duration::from_secs(300), "{took:?}");
    upstreams.disconnect_all().await;
}

/// A task's result is answered when the task ends, without a word before that.
#[tokio::test]
async fn the_result_of_a_task_is_waited_for() {
    let slow = "delay:ms=1500,method";
    let script = Script::new().only("2025-11-25").fault(format!("{slow}=tasks/result").as_str());
    let mut spec = command("s", &script.fault(format!("{slow}=tools/call").as_str()));
    spec.timing.call = Duration::from_millis(500);
    spec.timing.call_total = Duration::from_secs(60);
    let hub = Hub::start([spec]).await;
    let check = async |name: &str, answered: bool| {
        let params = json(r#"{"taskId":"1","name":"echo"}"#);
        let caller = Caller::default();
        let result = hub.upstreams.call(&key("s"), name, Some(params.as_json()), &caller).await;
        assert_eq!(!matches!(result, Err(CallError::TimedOut { .. })), answered, "{result:?}");
    };
    check("tools/call", false).await;
    check("tasks/result", true).await;
    hub.stop().await;
}

#[tokio::test]
async fn lists_without_end_have_one() {
    let hub =
        Hub::start([command("s", &Script::new().page(1).fault("endless_pages:cursor=fresh"))]);
    let hub = hub.await;
    hub.until("s", ServerState::is_connected).await;
    let tools = hub.upstreams.status_of(&key("s")).unwrap().counts.tools;
    assert!(tools >= 1000, "{tools}");
    assert_eq!(hub.tool("s", "echo", r#"{"text":"x"}"#).await.as_deref(), Ok("x"));
    let log = hub.upstreams.status_of(&key("s")).unwrap().log;
    assert!(log.iter().any(|line| line.source == LogSource::Hub), "{log:?}");
    hub.stop().await;
}
