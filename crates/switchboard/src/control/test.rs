//! Whether servers work: each is really connected to, side by side, however long it takes; what
//! takes long is said every ten seconds.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use switchboard_model::{ServerKey, ServerState};

use super::protocol::{Failure, Said, ServerReport, Target, Waiting};
use super::status::report;
use super::{Operations, Say};

/// How often it is said what is still waited for.
const NOTICE: Duration = Duration::from_secs(10);
/// How long a server that says it is connected may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

pub(super) async fn test(
    operations: &Operations,
    targets: &[Target],
    say: &Say,
) -> Result<(), Failure> {
    let keys = operations.find_all(targets)?;
    join_all(keys.iter().map(|key| async move {
        let report = one(operations, key, say).await;
        if let Some(report) = report {
            let _ = say.send(Said::Server(Box::new(report))).await;
        }
    }))
    .await;
    Ok(())
}

/// Connects and waits until it is known whether that worked.
pub(super) async fn one(
    operations: &Operations,
    key: &ServerKey,
    say: &Say,
) -> Option<ServerReport> {
    let began = operations.clock.monotonic();
    if !answers(operations, key).await {
        begin(operations, key).await;
        settle(operations, key, began, say).await;
    }
    let status = operations.upstreams.status_of(key)?;
    let mut report = report(&status, Some(elapsed(operations, began)));
    if report.ok {
        let catalog = operations.upstreams.catalog(key)?;
        report.tool_names = catalog.tools.iter().map(|tool| tool.name.clone()).collect();
    }
    Some(report)
}

/// Whether there is a connection that works; the one that agents use is not torn down for a test.
async fn answers(operations: &Operations, key: &ServerKey) -> bool {
    match operations.upstreams.get(key) {
        Some(connection) => connection.check(ANSWER).await.is_ok(),
        None => false,
    }
}

/// One that is on its way is left to it; all others begin now.
async fn begin(operations: &Operations, key: &ServerKey) {
    let state = operations.upstreams.status_of(key).map(|status| status.state);
    let on_its_way = matches!(state, Some(ServerState::Connecting { .. } | ServerState::START));
    if !on_its_way {
        operations.upstreams.reconnect(key).await;
    }
}

pub(super) async fn settle(operations: &Operations, key: &ServerKey, began: Instant, say: &Say) {
    let upstreams = &operations.upstreams;
    while let Some(state) = upstreams.settled(key, NOTICE).await {
        if state.is_settled() && state != ServerState::START {
            return;
        }
        let log =
            upstreams.log(key, 1).and_then(|lines| lines.last().map(|line| line.text.clone()));
        let waiting = Waiting {
            server: key.to_string(),
            seconds: elapsed(operations, began).as_secs_f64(),
            sentence: state.sentence(),
            log,
        };
        let _ = say.send(Said::Waiting(waiting)).await;
    }
}

fn elapsed(operations: &Operations, began: Instant) -> Duration {
    operations.clock.monotonic().saturating_duration_since(began)
}
