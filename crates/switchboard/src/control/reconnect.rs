//! A new connection to a server, whatever state the old one is in.

use super::protocol::{Failure, Said, Target};
use super::{Operations, Say, status, test};

pub(super) async fn reconnect(
    operations: &Operations,
    target: &Target,
    say: &Say,
) -> Result<(), Failure> {
    let key = operations.find(target)?;
    let began = operations.clock.monotonic();
    operations.upstreams.reconnect(&key).await;
    test::settle(operations, &key, began, say).await;
    if let Some(now) = operations.upstreams.status_of(&key) {
        let took = operations.clock.monotonic().saturating_duration_since(began);
        let report = status::report(&now, Some(took));
        let _ = say.send(Said::Server(Box::new(report))).await;
    }
    Ok(())
}
