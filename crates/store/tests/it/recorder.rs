//! The recorder: nothing acknowledged is lost on a clean stop, nothing waits, what is dropped is
//! counted and said.

use std::time::Duration;

use switchboard_model::{Decision, Outcome};
use switchboard_store::{CALL, Filter, Period, Recorder, RecorderOptions, Series, Store, Verdict};
use switchboard_testkit::Postgres;

use crate::kit::{World, call, global, until};

suite! {
    everything_is_written_on_a_clean_stop,
    as_many_as_belong_together_wait_for_no_interval,
    calls_add_up,
    a_call_is_in_the_log_as_it_was,
    what_does_not_fit_is_dropped_counted_and_said,
}

const PATIENCE: Duration = Duration::from_secs(60);

async fn calls(store: &Store) -> usize {
    let (mut seen, mut after) = (0, None);
    let filter = Filter { action: Some(CALL.to_owned()), ..Filter::default() };
    loop {
        let page = store.audit().page(&filter, after, 1_000).await.unwrap();
        seen += page.rows.len();
        after = page.next;
        if after.is_none() {
            return seen;
        }
    }
}

async fn everything_is_written_on_a_clean_stop(world: World) {
    let store = world.open().await;
    let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
    for n in 0..5_678 {
        recorder.record(call(&world, n));
    }
    let counters = recorder.close(PATIENCE).await;
    assert_eq!((counters.written, counters.dropped, counters.queued), (5_678, 0, 0));
    assert_eq!(calls(&store).await, 5_678);
    let whole = store.audit().verify().await.unwrap();
    assert!(matches!(whole, Verdict::Whole { rows: 5_678, .. }), "{whole:?}");
    recorder.record(call(&world, 0));
    assert_eq!(recorder.counters().dropped, 1, "after the end nothing is taken in");
    store.close().await.unwrap();
}

async fn as_many_as_belong_together_wait_for_no_interval(world: World) {
    let store = world.open().await;
    let never = Duration::from_secs(3600);
    let options = RecorderOptions { interval: never, batch: 10, ..RecorderOptions::default() };
    let recorder = Recorder::start(&store, options).unwrap();
    for n in 0..10 {
        recorder.record(call(&world, n));
    }
    until("they are written", async || recorder.counters().written == 10).await;
    recorder.close(PATIENCE).await;
    store.close().await.unwrap();
}

async fn calls_add_up(world: World) {
    use switchboard_model::Clock;
    let store = world.open().await;
    let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
    for n in 0..20_u32 {
        let mut call = call(&world, 0);
        call.duration = Duration::from_millis(u64::from(n));
        match n % 4 {
            0 => {
                call.outcome = Some(Outcome::ToolError);
                call.error = Some("it failed".to_owned());
            }
            1 => {
                call.decision = Decision::Deny;
                call.outcome = None;
            }
            _ => {}
        }
        recorder.record(call);
        if n % 10 == 9 {
            world.clock.advance(Duration::from_secs(3600));
        }
    }
    recorder.close(PATIENCE).await;
    let key = global("github");
    let stats = store.servers().stats(&key).await.unwrap();
    assert_eq!((stats.use_count, stats.error_count), (15, 5));
    assert_eq!(stats.last_error.as_deref(), Some("it failed"));
    assert_eq!(stats.last_used, Some(world.clock.now() - Duration::from_secs(3600)));
    let of = Series { server: Some(key.clone()), ..Series::default() };
    let hours = store.usage().series(Period::Hour, &of).await.unwrap();
    assert_eq!(hours.iter().map(|hour| hour.calls).collect::<Vec<_>>(), [10, 10]);
    let totals = store.usage().totals(Period::Day, &Series::default()).await.unwrap();
    let (server, tool, total) = &totals[0];
    assert_eq!((server, tool.as_str(), total.calls), (&key, "tool_0", 20));
    assert_eq!((total.errors, total.denied, total.bytes_out), (5, 5, 2_000));
    assert_eq!(total.slowest, Duration::from_millis(19));
    assert_eq!(total.duration, Duration::from_millis(190));
    world.clock.advance(Duration::from_secs(48 * 3600));
    assert!(
        store.usage().prune(Duration::from_secs(3600), PATIENCE * 60 * 24 * 90).await.unwrap() >= 2
    );
    assert!(store.usage().series(Period::Hour, &of).await.unwrap().is_empty());
    store.close().await.unwrap();
}

async fn a_call_is_in_the_log_as_it_was(world: World) {
    let store = world.open().await;
    let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
    let mut calls = [call(&world, 0), call(&world, 1), call(&world, 2)];
    calls[1].tool = "a\0\"\u{1f600}".into();
    calls[1].trace = Some("\n[\0\u{e9}".to_owned());
    calls[1].arguments = Some(serde_json::json!({"n": [1, null, "\0"]}));
    calls[1].error = Some("\"it\" failed\n".to_owned());
    calls[1].outcome = Some(Outcome::ToolError);
    calls[2].user = None;
    calls[2].agent = None;
    calls[2].server = crate::kit::of_user("ada", "own");
    (calls[2].outcome, calls[2].trace, calls[2].shape) = (None, None, None);
    (calls[2].bytes_in, calls[2].duration) = (u64::MAX, Duration::ZERO);
    calls.iter().for_each(|call| recorder.record(call.clone()));
    recorder.close(PATIENCE).await;
    let rows = store.audit().page(&Filter::default(), None, 10).await.unwrap().rows;
    for (call, row) in calls.iter().rev().zip(&rows) {
        let entry = &row.entry;
        assert_eq!((entry.action.as_ref(), entry.at), (CALL, call.at));
        assert_eq!(entry.source, format!("mcp:{}", call.server.name));
        assert_eq!((&entry.user, &entry.agent), (&call.user, &call.agent));
        assert_eq!(entry.server.as_ref(), Some(&call.server));
        assert_eq!(entry.tool, Some(call.tool.replace('\0', "\u{fffd}")));
        assert_eq!((entry.origin, entry.decision), (Some(call.origin), Some(call.decision)));
        assert_eq!((entry.outcome, &entry.trace), (call.outcome, &call.trace));
        assert_eq!(entry.duration, Some(call.duration));
        assert_eq!(entry.bytes_in, Some(call.bytes_in.min(i64::MAX.unsigned_abs())));
        assert_eq!(entry.bytes_out, Some(call.bytes_out));
        let detail = |name: &str| entry.detail.as_ref().and_then(|detail| detail.get(name));
        let shape = call.shape.as_ref().map(|shape| serde_json::from_str(shape.as_str()).unwrap());
        assert_eq!(detail("shape"), shape.as_ref());
        assert_eq!(detail("arguments"), call.arguments.as_ref());
        assert_eq!(detail("error").and_then(|e| e.as_str()), call.error.as_deref());
    }
    assert_eq!((rows.len(), &rows[0].entry.detail), (3, &None));
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 3, .. }));
    store.close().await.unwrap();
}

async fn what_does_not_fit_is_dropped_counted_and_said(world: World) {
    let store = world.open().await;
    let options = RecorderOptions { bound: 50, ..RecorderOptions::default() };
    let recorder = Recorder::start(&store, options).unwrap();
    let mut slowest = Duration::ZERO;
    for n in 0..5_000 {
        let before = clock();
        recorder.record(call(&world, n));
        slowest = slowest.max(clock() - before);
    }
    eprintln!("the slowest of 5000 records took {slowest:?}");
    let counters = recorder.close(PATIENCE).await;
    assert_eq!(counters.written + counters.dropped, 5_000);
    assert!(counters.dropped > 0);
    assert_eq!(calls(&store).await as u64, counters.written);
    let said = Filter { action: Some("audit.dropped".to_owned()), ..Filter::default() };
    let rows = store.audit().page(&said, None, 1_000).await.unwrap().rows;
    let said = rows.iter().filter_map(|row| row.entry.detail.as_ref()?["records"].as_u64());
    assert_eq!(said.sum::<u64>(), counters.dropped);
    store.close().await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "real time is measured")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_and_comes_back_gets_what_was_kept() {
    let mut server = Postgres::start();
    if !server.is_own() {
        return;
    }
    let world = World::postgres(&server);
    let store = world.peopled().await;
    let token = switchboard_store::Subject::User(crate::kit::user("bob"));
    let token = store.tokens().create(&token, "", None, &crate::kit::ada()).await.unwrap();
    let options = RecorderOptions { bound: 1_000, ..RecorderOptions::default() };
    let recorder = Recorder::start(&store, options).unwrap();
    recorder.record(call(&world, 0));
    until("the first is written", async || recorder.counters().written == 1).await;
    server.stop();
    assert!(store.ping().await.is_err());
    for n in 1..=700 {
        recorder.record(call(&world, n));
    }
    // Calls go on: who calls is known without the database.
    assert!(store.access().identify(&token.secret).is_some());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let away = recorder.counters();
    assert_eq!((away.written, away.dropped, away.queued), (1, 0, 700));
    for n in 0..1_000 {
        recorder.record(call(&world, n));
    }
    let away = recorder.counters();
    assert!(away.dropped > 0 && away.queued <= 1_500, "{away:?}");
    server.start_again();
    until("everything is written", async || recorder.counters().queued == 0).await;
    let counters = recorder.close(PATIENCE).await;
    assert_eq!(counters.written + counters.dropped, 1_701);
    assert_eq!(calls(&store).await as u64, counters.written);
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { .. }));
    // People who change elsewhere meanwhile are seen again too.
    store.tokens().revoke(&token.token.id, &crate::kit::ada()).await.unwrap();
    assert!(store.access().identify(&token.secret).is_none());
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_stays_away_is_given_up_at_the_end() {
    let mut server = Postgres::start();
    if !server.is_own() {
        return;
    }
    let world = World::postgres(&server);
    let store = world.open().await;
    let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
    server.stop();
    for n in 0..700 {
        recorder.record(call(&world, n));
    }
    let counters = recorder.close(Duration::from_secs(1)).await;
    assert_eq!((counters.written, counters.dropped, counters.queued), (0, 700, 0));
}
