//! How every server stands.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::registry::{Freshness, Offer};
use switchboard_model::{LogLine, ServerKey, ServerState};
use switchboard_upstream::{Health, Status};
use switchboard_wire::Era;

use super::protocol::{Failure, Said, ServerReport};
use super::{Operations, Say};

pub(super) async fn status(operations: &Operations, say: &Say) -> Result<(), Failure> {
    for status in operations.upstreams.status() {
        let mut report = report(&status, None);
        if let Some(offer) = recalled(operations, &status.key) {
            (report.stale, report.tools) = (true, offer.tools.len());
        }
        let _ = say.send(Said::Server(Box::new(report))).await;
    }
    let declared = operations.declared().unwrap_or_default();
    for problem in &declared.problems {
        let (severity, text) = (problem.severity.as_str().to_owned(), problem.to_string());
        let _ = say.send(Said::Problem { severity, text }).await;
    }
    Ok(())
}

/// What a server offered when it was last there, if that is what is on offer now.
pub(super) fn recalled(operations: &Operations, key: &ServerKey) -> Option<Arc<Offer>> {
    let offer = operations.registry.as_ref()?.load().offer(key).cloned()?;
    (offer.freshness == Freshness::Stale).then_some(offer)
}

/// A status in the words of the protocol.
pub(super) fn report(status: &Status, took: Option<Duration>) -> ServerReport {
    ServerReport {
        server: status.key.name.to_string(),
        scope: status.key.scope.to_string(),
        ok: status.state.is_connected(),
        state: status.state.code().to_owned(),
        sentence: sentence(&status.state),
        remedy: remedy(&status.state),
        transport: status.spec.transport.as_str().to_owned(),
        era: status.era.map(|era| era_name(era).to_owned()),
        revision: status.revision.map(str::to_owned),
        title: status.server.clone(),
        tools: status.counts.tools,
        stale: false,
        tool_names: Vec::new(),
        resources: status.counts.resources,
        prompts: status.counts.prompts,
        pid: status.pid,
        in_flight: status.in_flight,
        seconds: took.map(|took| took.as_secs_f64()),
        health: status.health.iter().map(checked).collect(),
        log: status.log.iter().map(shown).collect(),
    }
}

fn checked(check: &Health) -> Result<f64, String> {
    check.outcome.as_ref().map(|took| took.as_secs_f64() * 1000.0).map_err(Clone::clone)
}

pub(super) fn shown(line: &LogLine) -> String {
    line.text.clone()
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Session => "session",
        Era::Stateless => "stateless",
    }
}

/// What is, without what to do about it.
fn sentence(state: &ServerState) -> String {
    match state {
        ServerState::Failed { error, attempt: 0..=1, .. } => format!("{}.", error.message),
        ServerState::Failed { error, attempt, .. } => {
            format!("{} ({attempt} tries failed).", error.message)
        }
        state => state.sentence(),
    }
}

fn remedy(state: &ServerState) -> Option<String> {
    match state {
        ServerState::Failed { error, .. } => {
            (!error.remedy.is_empty()).then(|| error.remedy.clone())
        }
        // Their sentences say it.
        ServerState::NeedsSetup { .. }
        | ServerState::NeedsAuth { .. }
        | ServerState::NeedsApproval
        | ServerState::Disabled
        | ServerState::Connecting { .. }
        | ServerState::Connected { .. }
        | ServerState::Disconnected { .. } => None,
    }
}
