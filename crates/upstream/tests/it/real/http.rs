//! Servers behind a URL that somebody else started: here, the test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use switchboard_model::{HttpKind, HttpSpec, Template, Transport};
use switchboard_testkit::Tools;

use super::{Offers, check, patient};

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
        let tools = Tools::find();
        // Nobody can hand a port over; it is free now. If it is taken in between, the server ends.
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
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
