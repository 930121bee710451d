//! What servers said, and what they say.

use switchboard_model::{EventKind, LogLine, ServerKey};
use tokio::sync::broadcast::error::RecvError;

use super::protocol::{Failure, Follow, Said, Target};
use super::{Operations, Say, test};

pub(super) async fn logs(
    operations: &Operations,
    targets: &[Target],
    lines: usize,
    follow: Follow,
    say: &Say,
) -> Result<(), Failure> {
    let keys = operations.find_all(targets)?;
    // Listened to before looking back, so that nothing is missed between.
    let mut events = operations.upstreams.changes();
    for key in &keys {
        test::settle(operations, key, operations.clock.monotonic(), say).await;
        for line in operations.upstreams.log(key, lines).unwrap_or_default() {
            let _ = say.send(said(key, &line)).await;
        }
    }
    if follow == Follow::No {
        return Ok(());
    }
    loop {
        match events.recv().await {
            Ok(event) => {
                if let EventKind::ServerLog(line) = &event.kind
                    && keys.contains(&event.server)
                {
                    let _ = say.send(said(&event.server, line)).await;
                }
            }
            Err(RecvError::Lagged(missed)) => {
                let text = format!("… {missed} events came too fast to be shown");
                let (server, source) = (String::new(), "hub".to_owned());
                let _ = say.send(Said::Log { server, source, text }).await;
            }
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

fn said(key: &ServerKey, line: &LogLine) -> Said {
    Said::Log {
        server: key.to_string(),
        source: line.source.as_str().to_owned(),
        text: line.text.clone(),
    }
}
