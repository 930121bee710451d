//! A call from the command line: progress is passed on, what the server asks back is declined.

use std::sync::Arc;

use switchboard_upstream::{BoxFuture, CallError, Caller, ClientPort, RpcError};
use switchboard_wire::types::Progress;
use switchboard_wire::{Json, JsonBuf, Limits, code, meta, method, write};

use super::protocol::{Failure, Said, Target};
use super::{Operations, Say, test};

pub(super) async fn call(
    operations: &Operations,
    target: &Target,
    tool: &str,
    arguments: &str,
    say: &Say,
) -> Result<(), Failure> {
    let key = operations.find(target)?;
    let remedy = "give a JSON object, such as '{\"name\": \"value\"}'";
    let arguments = Json::parse(arguments.as_bytes(), &Limits::default())
        .map_err(|error| Failure::new(format!("the arguments are not JSON: {error}"), remedy))?;
    if !arguments.is_object() {
        return Err(Failure::new("the arguments are not a JSON object", remedy));
    }
    let params = write::object(|params| {
        params.text("name", tool);
        params.raw("arguments", arguments);
        params.object(meta::META, |about| about.text(meta::PROGRESS_TOKEN, "cli"));
    });
    test::settle(operations, &key, operations.clock.monotonic(), say).await;
    let caller = Caller::with_port(Arc::new(Terminal(say.clone())));
    let params = Some(params.as_json());
    let result = operations.upstreams.call(&key, method::TOOLS_CALL, params, &caller).await;
    let result = result.map_err(|error| told(operations, &key, tool, &error))?;
    let text = result.as_json().as_str().to_owned();
    let _ = say.send(Said::Result { result: text }).await;
    Ok(())
}

fn told(
    operations: &Operations,
    key: &switchboard_model::ServerKey,
    tool: &str,
    error: &CallError,
) -> Failure {
    let catalog = operations.upstreams.catalog(key).unwrap_or_default();
    let is_known = catalog.tools.iter().any(|known| known.name == tool);
    let remedy = match error {
        CallError::NotConnected { .. } => format!("`switchboard test {}` says more", key.name),
        CallError::Rpc(_) if !is_known => format!("`switchboard tools {}` lists them", key.name),
        CallError::TimedOut { .. } => "raise `call_timeout` of its entry".to_owned(),
        _ => format!("`switchboard logs {}` shows what the server said", key.name),
    };
    Failure::new(format!("`{tool}` of {key} gave no result: {error}"), remedy)
}

/// The person at the terminal, who is shown progress and cannot be asked.
struct Terminal(Say);

impl ClientPort for Terminal {
    fn request<'a>(
        &'a self,
        method: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let refused =
            RpcError::new(code::METHOD_NOT_FOUND, &format!("{method} cannot be answered here"));
        Box::pin(std::future::ready(Err(refused)))
    }

    fn notify(&self, name: &str, params: JsonBuf) {
        if name != method::PROGRESS {
            return;
        }
        if let Ok(progress) = Progress::read(params.as_json()) {
            // A reader that is slow misses some; the call must not wait for it.
            let _ = self.0.try_send(Said::Progress {
                progress: progress.progress.unwrap_or_default(),
                total: progress.total,
                message: progress.message.map(|message| message.into_owned()),
            });
        }
    }
}
