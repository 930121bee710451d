//! Servers that do not tell of changes, and what callers want to be told.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_model::{EventKind, HttpKind};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::{BoxFuture, Caller, ClientPort, RpcError, Wish};
use switchboard_wire::types::Capabilities;
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{JsonBuf, meta, method};

use crate::kit::{Hub, command, json, key, scripted, until, url};

#[tokio::test]
async fn lists_without_news_are_looked_at() {
    let hub = Hub::start([scripted("s", "session", "untold"), scripted("t", "session", "")]).await;
    let has = |name: &str| {
        let catalog = hub.upstreams.catalog(&key("s")).unwrap();
        catalog.tools.iter().any(|tool| tool.name == name)
    };
    let polled = |server: &str| hub.upstreams.catalog(&key(server)).unwrap().polled;
    assert_eq!(polled("s"), Some(Duration::from_secs(5)), "it says one second, which is too often");
    hub.tool("s", "sprout", "{}").await.unwrap();
    assert!(!has("grown"));
    for _ in 0..150 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if has("grown") {
            return hub.stop().await;
        }
    }
    panic!("nobody looked");
}

/// A server that declares to tell of all its lists, and agrees to tell of one.
#[tokio::test]
async fn lists_that_a_server_does_not_agree_to_tell_of_are_looked_at() {
    let stateless = || Script::new().only("2026-07-28");
    let some = stateless().tells(&["toolsListChanged", "promptsListChanged"]);
    let hub = Hub::start([command("all", &stateless()), command("some", &some)]).await;
    let catalog = |server: &str| hub.upstreams.catalog(&key(server)).unwrap();
    until("it is known", || catalog("some").polled.is_some()).await;
    assert_eq!(catalog("some").polled, Some(Duration::from_secs(5)), "it says that nothing holds");
    let before = catalog("some").resources.len();
    hub.tool("some", "change_tools", r#"{"list":"resources"}"#).await.unwrap();
    until("somebody looked", || catalog("some").resources.len() > before).await;
    assert_eq!(catalog("all").polled, None, "it tells of everything");
    hub.stop().await;
}

/// It declares to tell of its lists, and has no stream on which it could.
#[tokio::test]
async fn lists_of_a_server_without_a_stream_of_its_own_are_looked_at() {
    let explained = r#"{"do":"status","status":405,"method":"GET","headers":{"content-type":"application/json"},"body":"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Method not allowed.\"}}"}"#;
    let check = async |fault: &str| {
        let scratch = Scratch::new();
        let record = scratch.path().join("record");
        let script = Script::new().only("2025-06-18").fault(fault).record(&record);
        let server = Scripted::http(&script);
        let mut spec = url("s", server.url(), HttpKind::Streamable);
        spec.timing.health_interval = Duration::from_secs(5);
        let hub = Hub::start([spec]).await;
        let catalog = || hub.upstreams.catalog(&key("s")).unwrap();
        assert_eq!(catalog().polled, Some(Duration::from_secs(5)), "{fault}");
        let before = catalog().tools.len();
        hub.tool("s", "change_tools", r#"{"list":"tools"}"#).await.unwrap();
        until("somebody looked", || catalog().tools.len() > before).await;
        hub.stop().await;
        let lines = std::fs::read_to_string(&record).unwrap();
        let asked = lines.lines().filter(|line| line.contains(r#""http":"GET""#)).count();
        assert_eq!(asked, 1, "who has none is not asked again: {fault}");
    };
    tokio::join!(check("no_get"), check(explained));
}

/// It declares to tell of resources, and has no stream on which it could: they are looked at.
#[tokio::test]
async fn resources_of_a_server_without_a_stream_of_its_own_are_looked_at() {
    const URI: &str = "scripted://static/text";
    let check = async |fault: Option<&str>| {
        let scratch = Scratch::new();
        let record = scratch.path().join("record");
        let script = Script::new().only("2025-06-18").record(&record);
        let script = match fault {
            Some(fault) => script.fault(fault),
            None => script,
        };
        let serving = Scripted::http(&script);
        let mut spec = url("s", serving.url(), HttpKind::Streamable);
        spec.timing.health_interval = Duration::from_secs(5);
        let hub = Hub::start([spec]).await;
        let params = json(&format!(r#"{{"uri":"{URI}"}}"#));
        let (params, caller, server) = (params.as_json(), Caller::default(), key("s"));
        let asked = hub.upstreams.call(&server, method::SUBSCRIBE, Some(params), &caller);
        asked.await.unwrap();
        let updates = || {
            let is_it = |kind: &EventKind| matches!(kind, EventKind::ResourceUpdated { uri } if &**uri == URI);
            hub.told().into_iter().filter(is_it).count()
        };
        let touched = format!(r#"{{"uri":"{URI}","text":"something else"}}"#);
        hub.tool("s", "touch", &touched).await.unwrap();
        let mut times = 0;
        until("it is told", || {
            times += updates();
            times > 0
        })
        .await;
        hub.tool("s", "touch", &touched.replace("else", "again")).await.unwrap();
        until("who tells at once has told", || {
            times += updates();
            fault.is_some() || times > 1
        })
        .await;
        hub.upstreams.reconnect(&server).await;
        // Twice as long as between two looks: whoever was told to look when it was back is not told so again.
        tokio::time::sleep(Duration::from_secs(11)).await;
        let expected = if fault.is_some() { 2 } else { 3 };
        assert_eq!(times + updates(), expected, "{fault:?}");
        hub.stop().await;
        let lines = std::fs::read_to_string(&record).unwrap();
        let is_read = lines.lines().any(|line| line.contains(r#""method":"resources/read""#));
        assert_eq!(is_read, fault.is_some(), "who tells is not looked at");
    };
    tokio::join!(check(Some("no_get")), check(None));
}

/// Somebody who wants messages from a level on.
struct Listener(LogLevel);

impl ClientPort for Listener {
    fn level(&self) -> Option<LogLevel> {
        Some(self.0)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::new(0, "no"))))
    }
}

#[tokio::test]
async fn a_server_hears_the_lowest_level_that_anybody_wants() {
    let hub = Hub::start([scripted("s", "session", "untold"), scripted("t", "session", "")]).await;
    for server in ["s", "t"] {
        for level in [LogLevel::Warning, LogLevel::Error, LogLevel::Debug, LogLevel::Info] {
            let caller = Caller::with_port(Arc::new(Listener(level)));
            hub.raw(server, "echo", "{}", &caller).await.unwrap();
        }
    }
    assert_eq!(hub.tool("s", "level", "{}").await.unwrap(), "info debug");
    assert_eq!(hub.tool("t", "level", "{}").await.unwrap(), "", "it has no logging");
    hub.stop().await;
}

/// A session that wants messages from a level on, and one of its calls.
struct Session(LogLevel);
struct Call(Arc<Session>);

impl Wish for Session {
    fn level(&self) -> Option<LogLevel> {
        Some(self.0)
    }
}

impl ClientPort for Call {
    fn level(&self) -> Option<LogLevel> {
        self.0.level()
    }

    fn wish(&self) -> Option<Weak<dyn Wish>> {
        let session: Weak<Session> = Arc::downgrade(&self.0);
        Some(session)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::new(0, "no"))))
    }
}

#[tokio::test]
async fn a_level_is_raised_when_nobody_wants_it_any_more() {
    let hub = Hub::start([scripted("s", "session", "untold")]).await;
    let mut sessions = Vec::new();
    let until = async |expected: &str| {
        let mut told = String::new();
        for _ in 0..300 {
            told = hub.tool("s", "level", "{}").await.unwrap();
            if told == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(told, expected);
    };
    for (level, told) in [(LogLevel::Warning, "info"), (LogLevel::Debug, "info debug")] {
        let session = Arc::new(Session(level));
        let caller = Caller::with_port(Arc::new(Call(session.clone())));
        hub.raw("s", "echo", "{}", &caller).await.unwrap();
        sessions.push(session);
        until(told).await;
    }
    sessions.pop();
    until("info debug info").await;
    hub.stop().await;
}

const ABLE: &str = r#"{"roots":{},"sampling":{"tools":{},"context":{}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}},"elicitation":{"form":{},"url":{}}}"#;

#[tokio::test]
async fn servers_hear_what_clients_can_do_in_general() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    assert_eq!(hub.tool("s", "client", "{}").await.unwrap(), ABLE);
    hub.stop().await;
}

/// A list may be made for what a client can do, so the hub's own requests say it, too.
#[tokio::test]
async fn stateless_servers_hear_it_with_every_request_of_the_hubs_own() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let hub = Hub::start([command("s", &Script::new().only("2026-07-28").record(&record))]).await;
    hub.tool("s", "echo", "{}").await.unwrap();
    hub.stop().await;
    let lines = std::fs::read_to_string(&record).unwrap();
    let told = |method: &str| {
        let lines = lines.lines().map(json);
        let able = lines.filter_map(|line| {
            let message = line.as_json().get("message")?;
            (message.get("method")?.string()? == method).then_some(())?;
            let able = message.get("params")?.get(meta::META)?.get(meta::CLIENT_CAPABILITIES)?;
            Some(Capabilities::read(Some(able)))
        });
        let whole = |able: &Capabilities| {
            let page = able.extension(meta::APPS_EXTENSION).is_some();
            page && able.has(&["elicitation", "url"]) && able.has(&["sampling", "tools"])
        };
        Vec::from_iter(able.map(|able| whole(&able)))
    };
    for method in ["server/discover", "tools/list", "resources/list", "prompts/list"] {
        assert_eq!(told(method), [true], "{method}");
    }
    // What the client behind a call can do is its own matter.
    assert_eq!(told("tools/call"), [false]);
}
