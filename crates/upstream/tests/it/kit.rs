//! What the tests share: a hub of their own, declarations, results as text.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use switchboard_model::{
    Desired, Event, EventKind, HttpKind, HttpSpec, Secret, ServerKey, ServerName, ServerSpec,
    ServerState, StdioSpec, Template, Transport,
};
use switchboard_testkit::script::{Script, Scripted};
use switchboard_upstream::{
    BoxFuture, CallError, Caller, ClientPort, Connection, Context, Instance, RpcError, Upstreams,
};
use switchboard_wire::{Json, JsonBuf, Limits, method};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_upstream-test-server");

pub(crate) fn json(text: &str) -> JsonBuf {
    JsonBuf::parse(Bytes::copy_from_slice(text.as_bytes()), &Limits::DEFAULT).unwrap()
}

pub(crate) fn key(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}

/// A scripted server.
pub(crate) fn scripted(name: &str, era: &str, fault: &str) -> ServerSpec {
    let stdio = StdioSpec {
        command: Template::literal(PROGRAM),
        args: vec![Template::literal(era), Template::literal(fault)],
        env: BTreeMap::new(),
        cwd: None,
    };
    let mut spec = ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Stdio(stdio));
    spec.timing.stop_grace = Duration::from_millis(500);
    spec
}

/// A server of `testkit`'s, as the hub starts it.
pub(crate) fn command(name: &str, script: &Script) -> ServerSpec {
    let (program, args) = Scripted::stdio(script);
    let stdio = StdioSpec {
        command: Template::literal(program.to_str().unwrap()),
        args: args.iter().map(Template::literal).collect(),
        env: BTreeMap::new(),
        cwd: None,
    };
    ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Stdio(stdio))
}

/// A server behind a URL.
pub(crate) fn url(name: &str, url: &str, kind: HttpKind) -> ServerSpec {
    let http = HttpSpec { kind, url: Template::literal(url), headers: BTreeMap::new() };
    ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Http(http))
}

pub(crate) fn desired(specs: impl IntoIterator<Item = ServerSpec>) -> Desired {
    let servers =
        specs.into_iter().map(|spec| (ServerKey::global(spec.name.clone()), Arc::new(spec)));
    Desired { servers: servers.collect(), ..Desired::default() }
}

pub(crate) struct Hub {
    pub(crate) upstreams: Upstreams,
    pub(crate) events: Mutex<tokio::sync::broadcast::Receiver<Arc<Event>>>,
}

pub(crate) fn context() -> Context {
    let env = |name: &str| match name {
        "PATH" => Some(Secret::new("/usr/bin:/bin")),
        "HOME" => Some(Secret::new("/tmp")),
        "TOKEN" => Some(Secret::new("t0ken")),
        _ => None,
    };
    let mut context = Context::new(Arc::new(env), Instance::current(Path::new("/tmp/none")));
    // A busy machine is no silent server.
    context.waits.probe = Duration::from_secs(30);
    context
}

impl Hub {
    pub(crate) async fn start(specs: impl IntoIterator<Item = ServerSpec>) -> Self {
        Self::with(context(), specs).await
    }

    pub(crate) async fn with(
        context: Context,
        specs: impl IntoIterator<Item = ServerSpec>,
    ) -> Self {
        let upstreams = Upstreams::new(context);
        let events = Mutex::new(upstreams.events());
        upstreams.connect_all(&desired(specs)).await;
        upstreams.settle(Duration::from_secs(20)).await;
        Self { upstreams, events }
    }

    pub(crate) fn state(&self, name: &str) -> ServerState {
        self.upstreams.status_of(&key(name)).unwrap().state
    }

    pub(crate) fn pid(&self, name: &str) -> Option<u32> {
        self.upstreams.status_of(&key(name)).unwrap().pid
    }

    pub(crate) async fn raw(
        &self,
        server: &str,
        tool: &str,
        arguments: &str,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let params = json(&format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#));
        self.upstreams.call(&key(server), method::TOOLS_CALL, Some(params.as_json()), caller).await
    }

    /// The text of a tool's result.
    pub(crate) async fn tool(
        &self,
        server: &str,
        tool: &str,
        arguments: &str,
    ) -> Result<String, CallError> {
        self.raw(server, tool, arguments, &Caller::default()).await.map(|result| text(&result))
    }

    pub(crate) async fn until(
        &self,
        name: &str,
        wanted: impl Fn(&ServerState) -> bool,
    ) -> ServerState {
        for _ in 0..3000 {
            let state = self.state(name);
            if wanted(&state) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} is still {:?}", self.state(name));
    }

    /// The kinds of events so far.
    pub(crate) fn told(&self) -> Vec<EventKind> {
        let mut events = self.events.lock().unwrap();
        std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.kind.clone()).collect()
    }

    pub(crate) async fn stop(self) {
        self.upstreams.disconnect_all().await;
        assert!(self.upstreams.status().is_empty());
    }
}

pub(crate) fn text(result: &JsonBuf) -> String {
    let content = result.as_json().get("content").unwrap().elements().next();
    content.and_then(|block| block.get("text")?.string()).unwrap_or_default().into_owned()
}

pub(crate) fn is_running(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z')
}

/// Waits for something that comes by itself.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came about that {what}");
}

/// Waits until a process is gone: its state is told before it is ended.
pub(crate) async fn gone(pid: u32) {
    for _ in 0..3000 {
        if !is_running(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{pid} is still there");
}

/// Waits until that many calls are under way.
pub(crate) async fn in_flight(connection: &Connection, count: u32) {
    let mut looks = 0..3000;
    while connection.in_flight() != count && looks.next().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(connection.in_flight(), count);
}

/// A client that answers every question the same way and keeps what it is told.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) told: Mutex<Vec<String>>,
}

impl ClientPort for Person {
    fn capabilities(&self) -> Json<'_> {
        Json::EMPTY
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let message =
            params.and_then(|params| Some(params.as_json().get("message")?.string()?.into_owned()));
        self.told.lock().unwrap().push(format!("{method} {}", message.unwrap_or_default()));
        Box::pin(async { Ok(json(r#"{"action":"accept","content":{"n":1.0}}"#)) })
    }

    fn notify(&self, method: &str, params: JsonBuf) {
        self.told.lock().unwrap().push(format!("{method} {}", params.as_json().as_str()));
    }
}
