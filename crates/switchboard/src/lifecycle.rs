//! Signals: when to stop, when to stop at once, when to read the configuration again.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// SIGTERM or SIGINT.
    Stop,
    /// SIGHUP.
    Reload,
}

/// The signals that the hub heeds.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    /// Whether there was a terminal at the start.
    had_terminal: bool,
}

impl Signals {
    /// Begins to listen; from here on they no longer end the process by themselves.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            had_terminal: has_terminal(),
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::Stop,
            _ = self.interrupt.recv() => Asked::Stop,
            // A terminal that is closed, or whose shell died, sends the same signal: then nobody is
            // left who could stop it.
            _ = self.hangup.recv() => match self.had_terminal && !has_terminal() {
                true => Asked::Stop,
                false => Asked::Reload,
            },
        }
    }

    /// Does something, and tells it when it is to stop.
    pub async fn heed<T>(&mut self, work: impl Future<Output = T>, stop: &CancellationToken) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                asked = self.next() => if asked == Asked::Stop { stop.cancel() },
            }
        }
    }
}

/// Whether this process has a terminal that controls it.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}
