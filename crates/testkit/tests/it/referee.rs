//! A client that is not ours agrees: what the scripted servers speak is MCP.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient};
use serde_json::{Value, json};
use switchboard_testkit::script::{Answers, Script, Scripted};
use tokio::process::Command;

#[tokio::test]
async fn stdio_in_both_eras() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let (command, arguments) = Scripted::stdio(&Script::new().only(revision).page(5));
        let mut command = Command::new(command);
        command.args(arguments);
        let transport = TokioChildProcess::new(command).unwrap();
        check(Referee.serve_with_lifecycle(transport, mode(revision)).await.unwrap()).await;
    }
}

#[tokio::test]
async fn http_in_both_eras() {
    // With the whole workspace built, reqwest comes without a provider of its own. Whoever is
    // second finds one installed, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for answers in [Answers::Json, Answers::Sse] {
            let script = Script::new().only(revision).page(5).answers(answers);
            let server = Scripted::http(&script);
            let transport = StreamableHttpClientTransport::from_uri(server.url());
            check(Referee.serve_with_lifecycle(transport, mode(revision)).await.unwrap()).await;
        }
    }
}

fn mode(revision: &str) -> ClientLifecycleMode {
    match revision {
        "2026-07-28" => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    }
}

async fn check(client: RunningService<RoleClient, Referee>) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 17);
    assert_eq!(client.list_all_resources().await.unwrap().len(), 3);
    assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1);
    assert_eq!(client.list_all_prompts().await.unwrap().len(), 2);
    let call = async |tool: &'static str, arguments: Value| {
        let params = CallToolRequestParams::new(tool);
        let arguments = arguments.as_object().cloned().unwrap();
        client.call_tool(params.with_arguments(arguments)).await
    };
    assert_eq!(said(&call("echo", json!({"text": "hello"})).await.unwrap()), "hello");
    assert_eq!(call("fail", json!({})).await.unwrap().is_error, Some(true));
    assert!(call("rpc_error", json!({})).await.is_err());
    let elicited = call("elicit", json!({})).await.unwrap();
    assert!(said(&elicited).contains("forty-two"), "{elicited:?}");
    client.cancel().await.unwrap();
}

fn said(result: &CallToolResult) -> String {
    let result = serde_json::to_value(result).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

struct Referee;

impl ClientHandler for Referee {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        let capabilities = json!({"elicitation": {"form": {}}});
        info.capabilities = serde_json::from_value(capabilities).unwrap();
        info
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({"answer": "forty-two"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}
