//! Servers that do not tell of changes, and what callers want to be told.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_upstream::{BoxFuture, Caller, ClientPort, RpcError, Wish};
use switchboard_wire::JsonBuf;
use switchboard_wire::types::notice::LogLevel;

use crate::kit::{Hub, key, scripted};

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
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    assert_eq!(hub.tool("s", "level", "{}").await.unwrap(), "warning debug");
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
    for (level, told) in [(LogLevel::Warning, "warning"), (LogLevel::Debug, "warning debug")] {
        let session = Arc::new(Session(level));
        let caller = Caller::with_port(Arc::new(Call(session.clone())));
        hub.raw("s", "echo", "{}", &caller).await.unwrap();
        sessions.push(session);
        until(told).await;
    }
    sessions.pop();
    until("warning debug warning").await;
    hub.stop().await;
}

#[tokio::test]
async fn servers_hear_what_clients_can_do_in_general() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    let said = hub.tool("s", "client", "{}").await.unwrap();
    let expected = r#"{"roots":{},"sampling":{"tools":{},"context":{}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}},"elicitation":{"form":{},"url":{}}}"#;
    assert_eq!(said, expected);
    hub.stop().await;
}
