//! From which level on a server is to log: the lowest that anybody wants who called it, told beside the
//! calls, and raised again when they are gone. Who hears which message is the caller's own choice.

mod wishes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::port::ClientPort;
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Era, method, write};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use self::wishes::Wishes;
use super::Connection;
use crate::channel::Channel;
use crate::pulse::Patience;
use crate::transport::Headers;

/// How long the server may take to say yes; nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked who is still there.
const LOOK: Duration = Duration::from_secs(5);

/// What the server is told, and why.
#[derive(Default)]
pub(super) struct Level {
    state: Mutex<State>,
    /// Rings when a lower level is wanted.
    bell: Notify,
}

#[derive(Default)]
struct State {
    wishes: Wishes,
    /// What the server was told last.
    told: Option<LogLevel>,
    /// Whether a task looks after it.
    kept: bool,
}

impl Connection {
    /// A caller wants messages from this level on.
    pub(super) fn want(&self, level: LogLevel, port: &Arc<dyn ClientPort>) {
        if self.peer.era() != Era::Session || !self.peer.capabilities.has(&["logging"]) {
            return;
        }
        let kept = {
            let mut state = self.level.lock();
            state.wishes.note(level, port, Instant::now());
            if state.told.is_none_or(|told| level < told) {
                self.level.bell.notify_one();
            }
            std::mem::replace(&mut state.kept, true)
        };
        if !kept {
            let (level, channel) = (self.level.clone(), self.channel.clone());
            let end = channel.token().clone();
            let keep = async move { level.keep(&channel).await };
            self.channel.tasks().spawn(end.run_until_cancelled_owned(keep));
        }
    }
}

impl Level {
    /// Tells the server what is wanted, one after another, until nobody wants anything.
    async fn keep(&self, channel: &Arc<Channel>) {
        loop {
            let news = {
                let mut state = self.lock();
                let wanted = state.wishes.lowest(Instant::now());
                let next = next(state.told, wanted);
                let news = next.filter(|next| state.told != Some(*next));
                if news.is_none() && wanted.is_none() {
                    state.kept = false;
                    return;
                }
                state.told = next;
                news
            };
            match news {
                Some(level) => tell(channel, level).await,
                None => drop(timeout(LOOK, self.bell.notified()).await),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the server is to be told. A level cannot be taken back, so that of nobody is what most servers
/// begin with, unless less is said already.
fn next(told: Option<LogLevel>, wanted: Option<LogLevel>) -> Option<LogLevel> {
    wanted.or_else(|| told.map(|told| told.max(LogLevel::Info)))
}

async fn tell(channel: &Arc<Channel>, level: LogLevel) {
    let params = write::object(|params| params.text("level", level.as_str()));
    let patience = Patience::of(PATIENCE);
    let headers = Headers::default();
    let told = channel.ask(method::SET_LEVEL, params.as_json(), headers, patience).await;
    if let Err(error) = told {
        channel.journal.remark(&format!("it takes no level of logging: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_level_is_not_the_last_ones() {
        let check = |told, wanted, expected| assert_eq!(next(told, wanted), expected);
        use LogLevel::{Debug, Error, Info, Warning};
        check(None, None, None);
        check(None, Some(Debug), Some(Debug));
        check(Some(Debug), Some(Warning), Some(Warning));
        check(Some(Warning), Some(Debug), Some(Debug));
        check(Some(Debug), None, Some(Info));
        check(Some(Error), None, Some(Error));
    }
}
