//! What servers offer: those that are on their way are waited for, those that sleep are woken.

use futures_util::future::join_all;
use switchboard_model::{ServerKey, ServerState};
use switchboard_wire::types::ToolEntry;

use super::protocol::{Failure, Said, ServerReport, Target, ToolReport};
use super::{Operations, Say, status, test};

pub(super) async fn tools(
    operations: &Operations,
    targets: &[Target],
    say: &Say,
) -> Result<(), Failure> {
    let keys = operations.find_all(targets)?;
    join_all(keys.iter().map(|key| ready(operations, key, say))).await;
    for key in &keys {
        let Some(now) = operations.upstreams.status_of(key) else { continue };
        let recalled = status::recalled(operations, key);
        let stale = recalled.is_some();
        let report = ServerReport { stale, ..status::report(&now, None) };
        let _ = say.send(Said::Server(Box::new(report))).await;
        let tools = match recalled {
            Some(offer) => offer.tools.clone(),
            None => operations.upstreams.catalog(key).unwrap_or_default().tools.clone(),
        };
        for tool in &tools {
            let _ = say.send(Said::Tool(ToolReport { stale, ..described(key, tool) })).await;
        }
    }
    Ok(())
}

async fn ready(operations: &Operations, key: &ServerKey, say: &Say) {
    let state = operations.upstreams.status_of(key).map(|status| status.state);
    if matches!(state, Some(ServerState::Disconnected { .. }))
        && operations.upstreams.catalog(key).is_none_or(|catalog| catalog.tools.is_empty())
    {
        let _ = operations.upstreams.connected(key).await;
    }
    test::settle(operations, key, operations.clock.monotonic(), say).await;
}

fn described(key: &ServerKey, tool: &ToolEntry) -> ToolReport {
    let claims =
        [(tool.annotations.read_only, "read-only"), (tool.annotations.destructive, "destructive")];
    let hints = claims.into_iter().filter(|(claim, _)| *claim == Some(true));
    ToolReport {
        server: key.to_string(),
        tool: tool.name.clone(),
        description: tool.description().unwrap_or_default().into_owned(),
        hints: hints.map(|(_, word)| word.to_owned()).collect(),
        definition: tool.raw().as_str().to_owned(),
        stale: false,
    }
}
