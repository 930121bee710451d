//! A hub with servers, and calls through it. Nobody listens to its events.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use switchboard_model::{
    Desired, HttpKind, HttpSpec, Secret, ServerKey, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};
use switchboard_upstream::{Caller, Context, Instance, Upstreams};
use switchboard_wire::{JsonBuf, Limits, method};

use crate::bare::side_by_side;
use crate::sample::Sample;
use crate::server;

pub(crate) struct Hub(Upstreams);

/// This program as a server.
pub(crate) fn stdio(name: &str) -> ServerSpec {
    let program = std::env::current_exe().unwrap();
    let stdio = StdioSpec {
        command: Template::literal(program.to_str().unwrap()),
        args: vec![Template::literal(server::STDIO)],
        env: BTreeMap::new(),
        cwd: None,
    };
    ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Stdio(stdio))
}

/// A server behind a URL.
pub(crate) fn http(name: &str, url: &str) -> ServerSpec {
    let url = Template::literal(url);
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: BTreeMap::new() };
    ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Http(http))
}

impl Hub {
    pub(crate) async fn start(specs: impl IntoIterator<Item = ServerSpec>) -> Self {
        let env = |name: &str| (name == "PATH").then(|| Secret::new("/usr/bin:/bin"));
        let instance = Instance::current(Path::new("/tmp/bench"));
        let hub = Self(Upstreams::new(Context::new(Arc::new(env), instance)));
        hub.declare(specs).await;
        hub
    }

    /// Returns when all of them are connected.
    pub(crate) async fn declare(&self, specs: impl IntoIterator<Item = ServerSpec>) {
        let servers =
            specs.into_iter().map(|spec| (ServerKey::global(spec.name.clone()), Arc::new(spec)));
        let desired = Desired { servers: servers.collect(), ..Desired::default() };
        self.0.reconcile(&desired).await;
        self.0.settle(Duration::from_secs(60)).await;
        for status in self.0.status() {
            assert!(status.state.is_connected(), "{:?}", status.state);
        }
    }

    /// So many tasks, each of which makes one call after another.
    pub(crate) async fn run(&self, window: usize, span: Duration) -> Sample {
        let began = Instant::now();
        side_by_side(window, began, |_| {
            let upstreams = self.0.clone();
            async move {
                let key = ServerKey::global(ServerName::parse("s").unwrap());
                let params = Bytes::from_static(br#"{"name":"echo","arguments":{"text":"hello"}}"#);
                let params = JsonBuf::parse(params, &Limits::DEFAULT).unwrap();
                let (caller, mut each) = (Caller::default(), Vec::new());
                while began.elapsed() < span {
                    let start = Instant::now();
                    let call =
                        upstreams.call(&key, method::TOOLS_CALL, Some(params.as_json()), &caller);
                    let result = call.await.unwrap();
                    assert!(result.as_json().get("content").is_some());
                    each.push(start.elapsed());
                }
                each
            }
        })
        .await
    }

    pub(crate) async fn stop(self) {
        self.0.disconnect_all().await;
    }
}
