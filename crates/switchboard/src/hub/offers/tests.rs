//! What is made of events that were missed.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use switchboard_core::port::Who;
use switchboard_mcp::{Authenticate, Principal, Role};
use switchboard_model::{
    AgentId, AgentSpec, Clock as _, Desired, ServerName, ServerSpec, StdioSpec, SystemClock,
    Template, Transport,
};
use switchboard_testkit::script::{Script, Scripted};
use tokio::sync::broadcast;
use tower_service::Service as _;

use super::*;
use crate::Hub;

/// Everybody is that one.
struct Anybody(Arc<Principal>);

impl Authenticate for Anybody {
    fn who(&self, _: &str) -> Option<Arc<Principal>> {
        Some(self.0.clone())
    }
}

fn declared(agent: &AgentId, script: &Script) -> Desired {
    let (command, args) = Scripted::stdio(script);
    let stdio = StdioSpec {
        command: Template::literal(command.to_str().unwrap()),
        args: args.iter().map(Template::literal).collect(),
        env: [].into(),
        cwd: None,
    };
    let name = ServerName::parse("s").unwrap();
    let spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
    let mut desired = Desired::default();
    desired.servers.insert(ServerKey::global(name.clone()), Arc::new(spec));
    let servers = Some([name].into());
    desired.agents.insert(agent.clone(), AgentSpec { servers, ..AgentSpec::default() });
    desired
}

async fn post(hub: &Hub, session: Option<&str>, body: &str) -> Response<axum::body::Body> {
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("authorization", "Bearer anybody")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let request =
        session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id));
    let request = request.body(Body::from(body.to_owned())).unwrap();
    hub.endpoint().router().call(request).await.unwrap()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came about that {what}");
}

/// A server was removed and declared anew, and whoever follows was too late to hear of it.
#[tokio::test]
async fn a_server_that_came_back_unheard_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let asked = || {
        let seen = std::fs::read_to_string(&record).unwrap_or_default();
        seen.matches("\"resources/subscribe\"").count()
    };
    let agent = AgentId::parse("me").unwrap();
    let desired = declared(&agent, &Script::new().only("2025-11-25").record(&record));
    let who = Who::agent(agent, None).into();
    let known = Principal { who, role: Role::Member, token: None };
    let hub = Hub::builder().auth(Arc::new(Anybody(Arc::new(known)))).start().await.unwrap();
    hub.reconcile(&desired).await;
    hub.settle(Duration::from_secs(60)).await;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let answer = post(&hub, None, hello).await;
    let session = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let subscribe = r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"mcp://s/scripted://item/1"}}"#;
    let answer = post(&hub, Some(&session), subscribe).await;
    assert_eq!((answer.status().as_u16(), asked()), (200, 1));

    hub.0.end.cancel();
    hub.0.tasks.close();
    hub.0.tasks.wait().await;
    hub.upstreams().reconcile(&Desired::default()).await;
    hub.upstreams().reconcile(&desired).await;
    hub.upstreams().settle(Duration::from_secs(60)).await;
    assert_eq!(asked(), 1, "nobody has asked the one that came");

    let (sender, late) = broadcast::channel(1);
    let (server, at) = (desired.servers.keys().next().unwrap(), SystemClock.now());
    for _ in 0..2 {
        let kind = EventKind::ResourceUpdated { uri: "scripted://item/2".into() };
        sender.send(Arc::new(Event { server: server.clone(), at, kind })).unwrap();
    }
    let end = CancellationToken::new();
    let (registry, endpoint) = (hub.registry().clone(), hub.endpoint().clone());
    let hears = hear(late, hub.upstreams().clone(), registry, endpoint, end.clone());
    let asks = async {
        until("it is asked", || asked() == 2).await;
        end.cancel();
    };
    tokio::join!(hears, asks);
    hub.shutdown().await;
}
