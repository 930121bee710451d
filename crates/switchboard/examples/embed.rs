//! The hub inside another program: declare a server, see its tools, call one.
//!
//! ```console
//! $ cargo run -p switchboard --example embed -- npx -y @modelcontextprotocol/server-everything
//! ```

#![expect(clippy::print_stdout, reason = "it shows what it got")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use switchboard::Hub;
use switchboard::model::{
    AgentId, AgentSpec, Desired, ServerKey, ServerName, ServerSpec, StdioSpec, Template, Transport,
};

#[tokio::main]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let command = words.next().context("say which command starts the server")?;
    let stdio = StdioSpec {
        command: Template::literal(command),
        args: words.map(Template::literal).collect(),
        env: BTreeMap::new(),
        cwd: None,
    };
    let name = ServerName::parse("example")?;
    let spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
    let agent = AgentId::parse("me")?;
    let mut desired = Desired::default();
    desired.servers.insert(ServerKey::global(name.clone()), Arc::new(spec));
    let servers = Some([name].into());
    desired.agents.insert(agent.clone(), AgentSpec { servers, ..AgentSpec::default() });

    let hub = Hub::builder().start().await?;
    hub.reconcile(&desired).await;
    hub.settle(Duration::from_secs(60)).await;
    for status in hub.upstreams().status() {
        println!("{}: {}", status.key, status.state.sentence());
    }
    for tool in hub.tools(&agent) {
        println!("  {}", tool.name);
    }
    let result = hub.call(&agent, "mcp__example__echo", r#"{"message": "hello", "text": "hello"}"#);
    match result.await {
        Ok(result) => println!("{}", result.as_json().as_str()),
        Err(error) => println!("no result: {error}"),
    }
    hub.shutdown().await;
    Ok(())
}
