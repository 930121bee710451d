//! Servers behind a URL that somebody else started: here, the test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use switchboard_model::{HttpKind, HttpSpec, Template, Transport};
use switchboard_testkit::Tools;

use super::{Offers, check, patient};
use crate::kit::{Hub, url as url_of};

/// A server with a port of its own, which ends with the value.
struct Started {
    child: Child,
    port: u16,
}

impl Started {
    fn everything(manner: &str) -> Self {
        let started = (0..5).find_map(|_| Self::once(manner));
        started.unwrap_or_else(|| panic!("{manner} does not listen"))
    }

    /// None if it ended at once.
    fn once(manner: &str) -> Option<Self> {
        // Nobody can hand a port over; it is free now. If it is taken in between, the server ends.
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Self::at(manner, port)
    }

    fn at(manner: &str, port: u16) -> Option<Self> {
        let tools = Tools::find();
        let script = tools.package("@modelcontextprotocol/server-everything/dist/index.js");
        let mut command = Command::new(tools.node());
        command.arg(script).arg(manner).env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut started = Self { child: command.spawn().unwrap(), port };
        for _ in 0..600 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                // Whoever took the port would answer as well.
                return started.child.try_wait().unwrap().is_none().then_some(started);
            }
            if started.child.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{manner} does not listen");
    }

    /// Ends it and starts it again at the same port.
    fn restarted(self, manner: &str) -> Self {
        let port = self.port;
        drop(self);
        Self::at(manner, port).unwrap_or_else(|| panic!("{manner} does not start again"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn everything(manner: &str, kind: HttpKind, path: &str) {
    let server = Started::everything(manner);
    let url = Template::literal(format!("http://127.0.0.1:{}{path}", server.port));
    let transport = Transport::Http(HttpSpec { kind, url, headers: [].into() });
    let offers = Offers { revision: "2025-11-25", counts: [17, 7, 2, 4] };
    let calls = [("echo", r#"{"message":"hello"}"#.to_owned(), "Echo: hello")];
    check(patient(transport), offers, &calls).await;
}

#[tokio::test]
async fn everything_over_streamable_http() {
    everything("streamableHttp", HttpKind::Streamable, "/mcp").await;
}

#[tokio::test]
async fn everything_over_sse() {
    everything("sse", HttpKind::Sse, "/sse").await;
}

/// As a configuration that only has a URL would declare it.
#[tokio::test]
async fn everything_over_sse_that_nobody_declared() {
    everything("sse", HttpKind::Streamable, "/sse").await;
}

/// It refuses sessions of its predecessor as if there were none, by a status that means many things.
#[tokio::test]
async fn everything_that_was_restarted() {
    let manner = "streamableHttp";
    let server = Started::everything(manner);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let mut spec = url_of("real", &url, HttpKind::Streamable);
    // Calls find it out by themselves.
    spec.timing.health_interval = Duration::from_secs(3600);
    let hub = Hub::start([spec]).await;
    let hello = async || hub.tool("real", "echo", r#"{"message":"hello"}"#).await;
    assert_eq!(hello().await.as_deref(), Ok("Echo: hello"));
    let server = server.restarted(manner);
    let mut answers = Vec::new();
    while answers.len() < 100 && answers.last() != Some(&Ok("Echo: hello".to_owned())) {
        answers.push(hello().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(answers.last().is_some_and(Result::is_ok), "{answers:?}");
    hub.stop().await;
    drop(server);
}
