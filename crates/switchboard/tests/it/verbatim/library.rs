//! The same for whoever embeds the hub: what is handed in and given out is what came, to the last byte.

use std::sync::Arc;
use std::time::Duration;

use switchboard::Hub;
use switchboard::core::port::CallError;
use switchboard::model::{AgentId, AgentSpec, Desired, ServerKey, ServerName, ServerSpec};

use super::mirrors;
use super::words::{ODD, schema, words};
use crate::mirror::Mirror;

fn desired(agent: &AgentId, mirrors: &[(&str, Mirror)]) -> Desired {
    let mut desired = Desired::default();
    for (name, mirror) in mirrors {
        let name = ServerName::parse(name).unwrap();
        let spec = ServerSpec::new(name.clone(), mirror.transport());
        desired.servers.insert(ServerKey::global(name), Arc::new(spec));
    }
    let servers = desired.servers.keys().map(|key| key.name.clone()).collect();
    desired
        .agents
        .insert(agent.clone(), AgentSpec { servers: Some(servers), ..AgentSpec::default() });
    desired
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_by_the_library_passes_byte_for_byte() {
    let (agent, mirrors, words) = (AgentId::parse("me").unwrap(), mirrors(), words());
    let hub = Hub::builder().start().await.unwrap();
    hub.reconcile(&desired(&agent, &mirrors)).await;
    hub.settle(Duration::from_secs(60)).await;
    let tools = hub.tools(&agent);
    for (name, mirror) in &mirrors {
        for own in ["say", "work", "fail"] {
            let label = format!("{own} of {name}");
            let called = format!("mcp__{name}__{own}");
            let tool = tools.iter().find(|tool| tool.name == called).expect(&label);
            assert_eq!(tool.input_schema.as_json().as_str(), schema(), "{label}");
            match hub.call(&agent, &called, ODD).await {
                Ok(said) if own != "fail" => {
                    assert_eq!(said.as_json().as_str(), mirror.era().whole(&words.call), "{label}");
                }
                Err(CallError::Rpc(error)) if own == "fail" => {
                    assert_eq!(error.raw.as_json().as_str(), words.error, "{label}");
                }
                other => panic!("{label}: {other:?}"),
            }
            let [heard] = &mirror.take()[..] else { panic!("{label} was not called once") };
            assert!(heard.contains(&format!(r#""arguments":{ODD}"#)), "{label}: {heard}");
        }
    }
    hub.shutdown().await;
}
