//! Servers behind a URL that go wrong, each in one way, and what becomes of the calls.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_model::{Clock, HttpKind, SecretTemplate, ServerState, SystemClock, Template};
use switchboard_model::{ServerSpec, Transport};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Answers, Script, Scripted, Speaks};
use switchboard_upstream::{CallError, Delivery};
use tokio::time::Instant;

use crate::kit::{Hub, key, url};

const HELLO: &str = r#"{"text":"hello"}"#;

/// A hub with one server, which writes down what it receives.
struct Trial {
    hub: Hub,
    server: Scripted,
    record: PathBuf,
    _scratch: Scratch,
}

impl Trial {
    async fn start(script: Script) -> Self {
        Self::with(script, |_| {}).await
    }

    async fn with(script: Script, change: impl FnOnce(&mut ServerSpec)) -> Self {
        let scratch = Scratch::new();
        let record = scratch.path().join("record");
        let server = Scripted::http(&script.record(&record));
        let mut spec = url("r", server.url(), HttpKind::Streamable);
        change(&mut spec);
        let hub = Hub::start([spec]).await;
        Self { hub, server, record, _scratch: scratch }
    }

    async fn hello(&self) -> Result<String, CallError> {
        self.hub.tool("r", "echo", HELLO).await
    }

    /// How many lines of what the server received hold this.
    fn received(&self, text: &str) -> usize {
        let record = fs::read_to_string(&self.record).unwrap_or_default();
        record.lines().filter(|line| line.contains(text)).count()
    }

    fn calls(&self) -> usize {
        self.received(r#""method":"tools/call""#)
    }
}

fn of(era: &str) -> Script {
    Script::new().speaks(Speaks::parse(era).unwrap())
}

fn limited(headers: &str) -> String {
    format!(
        r#"{{"do":"status","status":429,"headers":{{{headers}}},"body":"","tool":"echo","times":1}}"#
    )
}

#[tokio::test]
async fn a_status_at_the_handshake_is_told_and_passes() {
    for (fault, told) in [
        ("status", "HTTP 500: the script says so"),
        ("bad_gateway", "HTTP 502: <html>bad gateway</html>"),
        ("unavailable", "HTTP 503: unavailable"),
        ("forbidden", "HTTP 403"),
    ] {
        let scratch = Scratch::new();
        let file = scratch.write("fault", "");
        let trial = Trial::start(Script::new().fault(fault).while_file(&file)).await;
        let failed = |state: &ServerState| matches!(state, ServerState::Failed { .. });
        let sentence = trial.hub.until("r", failed).await.sentence();
        assert!(sentence.contains(told), "{fault}: {sentence}");
        scratch.remove("fault");
        trial.hub.until("r", ServerState::is_connected).await;
        assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{fault}");
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn a_status_in_a_call_is_that_call_s_alone() {
    for era in ["session", "stateless"] {
        let trial = Trial::start(of(era).fault("bad_gateway:tool=echo,times=1")).await;
        let before = trial.hub.upstreams.get(&key("r")).unwrap();
        let failed = trial.hello().await.unwrap_err();
        assert!(matches!(failed, CallError::Http { status: 502, .. }), "{era}: {failed:?}");
        assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{era}");
        assert!(Arc::ptr_eq(&before, &trial.hub.upstreams.get(&key("r")).unwrap()));
        assert_eq!(trial.calls(), 2, "{era}: it may have had an effect, so nothing was repeated");
        drop(before);
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn what_was_delivered_is_not_made_again() {
    for fault in ["reset:at=request,tool=echo,times=1", "reset:times=1", "truncate:times=1"] {
        for era in ["session", "stateless"] {
            let trial = Trial::start(of(era).fault(fault)).await;
            let lost = trial.hello().await.unwrap_err();
            let perhaps = matches!(lost, CallError::Lost { delivery: Delivery::Perhaps, .. });
            assert!(perhaps, "{fault}, {era}: {lost:?}");
            assert_eq!(trial.calls(), 1, "{fault}, {era}");
            assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{fault}, {era}");
            trial.hub.stop().await;
        }
    }
}

#[tokio::test]
async fn what_was_not_delivered_is_made_again() {
    for era in ["session", "stateless"] {
        let mut trial = Trial::start(of(era)).await;
        assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{era}");
        trial.server.kill();
        // Nobody listens: that is known for sure, once the connection is known to be closed.
        for _ in 0..300 {
            let lost = trial.hello().await.unwrap_err();
            if matches!(lost, CallError::Lost { delivery: Delivery::No, .. }) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        trial.server.restart_same();
        // The first request of this connection finds another process, which knows no session.
        let again = trial.hub.tool("r", "echo", r#"{"text":"again"}"#).await;
        assert_eq!(again.as_deref(), Ok("again"), "{era}");
        let arrivals = trial.received(r#""text":"again""#);
        assert_eq!(arrivals, if era == "session" { 2 } else { 1 }, "{era}");
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn sessions_that_expire_cost_no_call() {
    let trial = Trial::start(of("session").fault("expire_sessions:requests=15")).await;
    for n in 0..40 {
        let answer = trial.hub.tool("r", "echo", &format!(r#"{{"text":"{n}"}}"#)).await;
        assert_eq!(answer, Ok(n.to_string()));
    }
    assert!(trial.received(r#""method":"initialize""#) > 2, "they did expire");
    trial.hub.stop().await;
}

#[tokio::test]
async fn rest_is_given_as_asked_for() {
    let soon = date(SystemClock.now() + Duration::from_secs(5));
    let (then, later) = (date(at(1_000_000)), date(at(1_000_001)));
    for (headers, least) in [
        (r#""retry-after":"1""#.to_owned(), 1000),
        (format!(r#""date":"{then}","retry-after":"{later}""#), 1000),
        // How much of it is left when it is read depends on the machine.
        (format!(r#""retry-after":"{soon}""#), 100),
    ] {
        let trial = Trial::start(Script::new().fault(limited(&headers).as_str())).await;
        let began = Instant::now();
        assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{headers}");
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(least), "{headers}: {took:?}");
        assert_eq!(trial.calls(), 2, "{headers}");
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn rest_that_no_call_can_wait_for_is_told() {
    let in_an_hour = date(SystemClock.now() + Duration::from_secs(3600));
    for (value, least) in
        [("3600", 3600), (in_an_hour.as_str(), 3500), ("18446744073709551615", u64::MAX)]
    {
        // After a first rest, so that both together are more than can be counted.
        let script = Script::new().fault(limited(r#""retry-after":"1""#).as_str()).fault(
            format!(
                "{},\"after\":1}}",
                limited(&format!(r#""retry-after":"{value}""#)).trim_end_matches('}')
            )
            .as_str(),
        );
        let trial = Trial::start(script).await;
        let told = trial.hello().await.unwrap_err();
        let long =
            matches!(&told, CallError::Throttled { retry_after } if retry_after.as_secs() >= least);
        assert!(long, "{value}: {told:?}");
        trial.hub.stop().await;
    }
    // No rest at all is no reason to ask without end.
    let none =
        r#"{"do":"status","status":429,"headers":{"retry-after":"0"},"body":"","tool":"echo"}"#;
    let trial =
        Trial::with(Script::new().fault(none), |spec| spec.timing.call = Duration::from_secs(1))
            .await;
    assert!(matches!(trial.hello().await, Err(CallError::TimedOut { .. })));
    assert!(trial.calls() <= 11, "{}", trial.calls());
    trial.hub.stop().await;
}

#[tokio::test]
async fn another_origin_is_told_nothing() {
    for era in ["session", "stateless"] {
        let trial = Trial::with(of(era).fault("redirect:to=other"), |spec| {
            let Transport::Http(http) = &mut spec.transport else { return };
            let token = SecretTemplate::new(Template::parse("Bearer ${TOKEN}").unwrap());
            http.headers.insert("authorization".to_owned(), token);
        })
        .await;
        let failed = |state: &ServerState| matches!(state, ServerState::Failed { .. });
        let sentence = trial.hub.until("r", failed).await.sentence();
        assert!(sentence.contains("HTTP 307"), "{sentence}");
        assert!(trial.received("t0ken") > 0 && trial.received(r#""at":"other""#) == 0, "{era}");
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn the_server_s_own_stream_is_taken_up_where_it_broke() {
    let script = Script { retry_ms: Some(10), ..of("session") };
    let trial = Trial::start(script.fault("drop_stream:method=GET,events=1")).await;
    for more in 1..=3 {
        trial.hub.tool("r", "change_tools", r#"{"list":"tools"}"#).await.unwrap();
        let before = trial.hub.upstreams.status_of(&key("r")).unwrap().counts.tools;
        let mut now = before;
        for _ in 0..3000 {
            now = trial.hub.upstreams.catalog(&key("r")).unwrap().tools.len();
            if trial.received(r#""last-event-id""#) >= more && now >= before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(trial.received(r#""last-event-id""#) >= more, "{now} tools after {more}");
    }
    trial.hub.stop().await;
}

#[tokio::test]
async fn a_hint_when_to_come_back_is_followed() {
    for (hint, least, most) in [(10, 0, 900), (2500, 2400, 60_000)] {
        let script = Script { retry_ms: Some(hint), ..of("session") };
        let trial = Trial::start(script.fault("drop_stream:tool=echo")).await;
        let began = Instant::now();
        assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{hint}");
        let took = began.elapsed().as_millis();
        // The upper limit only where nothing else explains it: without a hint it is a second.
        assert!(took >= least, "{hint}: {took} ms");
        if took >= most {
            eprintln!("{hint}: {took} ms on this machine");
        }
        trial.hub.stop().await;
    }
}

#[tokio::test]
async fn bodies_have_a_bound() {
    for answers in [Answers::Json, Answers::Sse] {
        for era in ["session", "stateless"] {
            let script = of(era).answers(answers).fault("huge:bytes=70000000,times=1");
            let trial = Trial::start(script).await;
            let refused = trial.hello().await.unwrap_err();
            assert!(matches!(refused, CallError::Malformed(_)), "{answers:?}, {era}: {refused:?}");
            assert_eq!(trial.hello().await.as_deref(), Ok("hello"), "{answers:?}, {era}");
            trial.hub.stop().await;
        }
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn date(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}
