//! The hub as a library, without a store, a file or a surface.

use std::cell::Cell;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::FutureExt as _;
use switchboard::Hub;
use switchboard::core::port::Who;
use switchboard::mcp::{Authenticate, Principal, Role};
use switchboard::model::{
    AgentId, AgentSpec, Desired, EventKind, ServerKey, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};
use switchboard_testkit::script::{Script, Scripted};
use tower_service::Service as _;

fn desired(agent: &AgentId) -> Desired {
    declared(agent, "s")
}

fn declared(agent: &AgentId, server: &str) -> Desired {
    let (command, args) = Scripted::stdio(&Script::new());
    let stdio = StdioSpec {
        command: Template::literal(command.to_str().unwrap()),
        args: args.iter().map(Template::literal).collect(),
        env: [].into(),
        cwd: None,
    };
    let name = ServerName::parse(server).unwrap();
    let spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
    let mut desired = Desired::default();
    desired.servers.insert(ServerKey::global(name.clone()), Arc::new(spec));
    let servers = Some([name].into());
    desired.agents.insert(agent.clone(), AgentSpec { servers, ..AgentSpec::default() });
    desired
}

#[tokio::test]
async fn tools_calls_and_events() {
    let agent = AgentId::parse("me").unwrap();
    let hub = Hub::builder().start().await.unwrap();
    let mut events = hub.events();
    hub.reconcile(&desired(&agent)).await;
    hub.settle(Duration::from_secs(60)).await;
    let tools = hub.tools(&agent);
    let echo = tools.iter().find(|tool| tool.name == "mcp__s__echo").unwrap();
    assert_eq!((echo.original.as_str(), echo.server.to_string().as_str()), ("echo", "s"));
    assert!(tools.iter().any(|tool| tool.name == "system_health_check"), "the hub's own, bare");
    assert!(hub.tools(&AgentId::parse("nobody").unwrap()).is_empty());
    // All that it gives out can be named by whoever embeds it.
    let spans: Option<Arc<dyn switchboard::rest::port::Spans>> = hub.spans();
    assert!(spans.is_none());

    let said = hub.call(&agent, "mcp__s__echo", r#"{"text": "hello"}"#).await.unwrap();
    assert!(said.as_json().as_str().contains(r#""text":"hello""#));
    let health = hub.call(&agent, "system_health_check", r#"{"scope": "external"}"#).await.unwrap();
    let health: serde_json::Value = serde_json::from_str(health.as_json().as_str()).unwrap();
    assert_eq!(health["structuredContent"]["summary"]["healthy"], 1, "{health}");
    let nobody = AgentId::parse("nobody").unwrap();
    for (agent, name, arguments, words) in [
        (&agent, "mcp__s__nothing", "{}", "mcp__s__nothing"),
        (&agent, "mcp__s__echo", "{", "not JSON"),
        (&agent, "mcp__s__echo", "[]", "not a JSON object"),
        (&agent, "mcp__s__echo", "1", "not a JSON object"),
        (&agent, "mcp__s__echo", "null", "not a JSON object"),
        (&nobody, "mcp__s__echo", "{}", "this agent is not known to the hub"),
    ] {
        let error = hub.call(agent, name, arguments).await.unwrap_err().to_string();
        assert!(error.contains(words), "{arguments}: {error}");
    }
    let kinds = std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.kind.clone());
    let completed = |kind| matches!(kind, EventKind::ToolCompleted { .. });
    assert_eq!(kinds.filter(|kind| completed(kind.clone())).count(), 1);
    hub.shutdown().await;
    assert!(hub.upstreams().status().is_empty());
}

/// How many processes this one has started, and not ended.
fn children() -> usize {
    let listed = Command::new("pgrep").args(["-P", &std::process::id().to_string()]).output();
    // One of them is whoever looks.
    String::from_utf8(listed.unwrap().stdout).unwrap().lines().count().saturating_sub(1)
}

#[tokio::test]
async fn a_change_that_nobody_waits_for_is_made_to_its_end() {
    let agent = AgentId::parse("me").unwrap();
    let hub = Hub::builder().start().await.unwrap();
    for round in 0..5 {
        let left = hub.reconcile(&desired(&agent)).now_or_never();
        assert!(left.is_none(), "it was there at once, in round {round}");
        hub.reconcile(&Desired::default()).await;
        assert!(hub.upstreams().status().is_empty(), "in round {round}");
        assert_eq!(children(), 0, "in round {round}");
    }
    hub.shutdown().await;
    assert!(hub.reconcile(&desired(&agent)).await.actions.is_empty(), "it has ended");
    assert_eq!(children(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_changes_at_once_one_is_the_last() {
    let agent = AgentId::parse("me").unwrap();
    let hub = Hub::builder().start().await.unwrap();
    for round in 0..10 {
        let changes = ["a", "b", "c"].map(|server| {
            let (hub, desired) = (hub.clone(), declared(&agent, server));
            async move { hub.reconcile(&desired).await }
        });
        let mut all = tokio::task::JoinSet::from_iter(changes);
        while all.join_next().await.is_some() {}
        let run: Vec<_> = hub.upstreams().status().into_iter().map(|status| status.key).collect();
        let declared: Vec<_> = hub.desired().servers.keys().cloned().collect();
        assert_eq!(run, declared, "in round {round}");
        assert!(hub.registry().load().may_see(&agent, &run[0]), "in round {round}");
    }
    hub.shutdown().await;
}

#[tokio::test]
async fn a_change_elsewhere_is_not_noticed() {
    let (agent, other) = (AgentId::parse("me").unwrap(), AgentId::parse("other").unwrap());
    let hub = Hub::builder().start().await.unwrap();
    let view = || hub.registry().load().agent(&agent, hub.models()).unwrap();
    let mut all = desired(&agent);
    hub.reconcile(&all).await;
    hub.settle(Duration::from_secs(60)).await;
    let before = view();
    assert!(before.tools().any(|tool| tool.name == "mcp__s__echo"));
    let more = declared(&other, "t");
    all.servers.extend(more.servers);
    all.agents.extend(more.agents);
    hub.reconcile(&all).await;
    hub.settle(Duration::from_secs(60)).await;
    assert!(Arc::ptr_eq(&before, &view()), "what it sees was made again");
    hub.shutdown().await;
}

/// One change ends a server that is slow to end, and takes another from an agent.
#[tokio::test]
async fn what_is_taken_away_counts_at_once() {
    let (agent, other) = (AgentId::parse("me").unwrap(), AgentId::parse("other").unwrap());
    let hub = Hub::builder().start().await.unwrap();
    let mut all = declared(&agent, "a");
    let more = declared(&other, "b");
    all.servers.extend(more.servers);
    all.agents.extend(more.agents);
    hub.reconcile(&all).await;
    hub.settle(Duration::from_secs(60)).await;
    let echo = || hub.call(&agent, "mcp__a__echo", r#"{"text": "hello"}"#);
    echo().await.unwrap();
    // What is under way may come to its end.
    let slow = hub.call(&other, "mcp__b__sleep", r#"{"ms": 3000}"#);
    let is_busy = || hub.upstreams().get(&global("b")).is_some_and(|b| b.in_flight() > 0);
    let has_changed = Cell::new(false);
    let change = async {
        while !is_busy() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut less = all.clone();
        less.servers.remove(&global("b"));
        less.agents.get_mut(&agent).unwrap().servers = Some([].into());
        hub.reconcile(&less).await;
        has_changed.set(true);
    };
    let meanwhile = async {
        while hub.desired().servers.len() == 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let refused = echo().await.unwrap_err().to_string();
        assert!(refused.contains("mcp__a__echo"), "{refused}");
        assert!(!has_changed.get(), "the other server ended at once");
    };
    let (slow, (), ()) = tokio::join!(slow, change, meanwhile);
    slow.unwrap();
    hub.shutdown().await;
}

/// Everybody's server of that name.
fn global(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}

/// Knows one token.
struct One(Arc<Principal>);

impl Authenticate for One {
    fn who(&self, bearer: &str) -> Option<Arc<Principal>> {
        (bearer == "open sesame").then(|| self.0.clone())
    }
}

/// Agents over HTTP without a store: whoever embeds the hub knows them.
#[tokio::test]
async fn an_endpoint_with_tokens_of_ones_own() {
    let agent = AgentId::parse("me").unwrap();
    let who = Who::agent(agent.clone(), None);
    let known = Principal { who: who.into(), role: Role::Member, token: None };
    for (builder, token, status) in [
        (Hub::builder().auth(Arc::new(One(Arc::new(known.clone())))), "open sesame", 200),
        (Hub::builder().auth(Arc::new(One(Arc::new(known)))), "open", 401),
        (Hub::builder(), "open sesame", 401),
    ] {
        let hub = builder.start().await.unwrap();
        hub.reconcile(&desired(&agent)).await;
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Body::from(hello))
            .unwrap();
        let answer = hub.endpoint().router().call(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::from_u16(status).unwrap(), "{token}");
        hub.shutdown().await;
    }
}

/// The program that others begin with does what it says. It is built with the tests.
#[test]
fn the_example_program() {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples").join("embed");
    assert!(example.is_file(), "build it with `cargo build -p switchboard --example embed`");
    let (command, arguments) = Scripted::stdio(&Script::new());
    let ran = Command::new(example).arg(command).args(arguments).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}");
    for words in ["example: It is connected", "  mcp__example__echo", r#""text":"hello""#] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
