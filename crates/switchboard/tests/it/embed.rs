//! The hub as a library, without a store, a file or a surface.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use switchboard::Hub;
use switchboard::model::{
    AgentId, AgentSpec, Desired, EventKind, ServerKey, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};
use switchboard_testkit::script::{Script, Scripted};

fn desired(agent: &AgentId) -> Desired {
    let (command, args) = Scripted::stdio(&Script::new());
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

    let said = hub.call(&agent, "mcp__s__echo", r#"{"text": "hello"}"#).await.unwrap();
    assert!(said.as_json().as_str().contains(r#""text":"hello""#));
    let health = hub.call(&agent, "system_health_check", r#"{"scope": "external"}"#).await.unwrap();
    let health: serde_json::Value = serde_json::from_str(health.as_json().as_str()).unwrap();
    assert_eq!(health["structuredContent"]["summary"]["healthy"], 1, "{health}");
    for (name, arguments, words) in
        [("mcp__s__nothing", "{}", "mcp__s__nothing"), ("mcp__s__echo", "{", "not JSON")]
    {
        let error = hub.call(&agent, name, arguments).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let kinds = std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.kind.clone());
    let completed = |kind| matches!(kind, EventKind::ToolCompleted { .. });
    assert_eq!(kinds.filter(|kind| completed(kind.clone())).count(), 1);
    hub.shutdown().await;
    assert!(hub.upstreams().status().is_empty());
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
