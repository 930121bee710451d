//! From which level on a server is to log: the lowest that anybody wants who called it, and never a higher one than
//! what most servers begin with, which is for those who have chosen none. Raised again when they are gone. Who hears
//! which message is the caller's own choice.

mod wishes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::port::ClientPort;
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Era, method, write};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

use self::wishes::Wishes;
use super::Connection;
use crate::channel::Channel;
use crate::pulse::Patience;
use crate::transport::Headers;

/// How long the server may take to say yes.
const PATIENCE: Duration = Duration::from_secs(30);
/// For so long of it calls wait that would lose what they want to hear.
const WAIT: Duration = Duration::from_secs(2);
/// How often it is looked who is still there.
const LOOK: Duration = Duration::from_secs(5);
/// What most servers begin with.
const USUAL: LogLevel = LogLevel::Info;

/// What the server is told, and why.
#[derive(Default)]
pub(super) struct Level {
    state: Mutex<State>,
    /// Rings when a lower level is wanted.
    bell: Notify,
    /// Rings when the server has answered.
    heard: Notify,
}

#[derive(Default)]
struct State {
    wishes: Wishes,
    /// What the server was told last.
    told: Option<LogLevel>,
    /// The same, once it has answered.
    heard: Option<LogLevel>,
    /// Until when calls wait for its answer.
    until: Option<Instant>,
    /// Whether a task looks after it.
    kept: bool,
}

impl Connection {
    /// A caller wants messages from this level on. What is to be awaited before the call, if the server does not send
    /// them yet: told beside the call, it would begin with it in silence.
    pub(super) fn want(
        &self,
        level: LogLevel,
        port: &Arc<dyn ClientPort>,
    ) -> Option<impl Future<Output = ()>> {
        if self.peer.era() != Era::Session || !self.peer.capabilities.has(&["logging"]) {
            return None;
        }
        let now = Instant::now();
        let wanted = level.min(USUAL);
        let (kept, until) = {
            let mut state = self.level.lock();
            state.wishes.note(level, port, now);
            if state.told.is_none_or(|told| wanted < told) {
                state.until.get_or_insert(now + WAIT);
                self.level.bell.notify_one();
            }
            let lacks = state.heard.is_none_or(|heard| wanted < heard);
            let until = state.until.filter(|until| lacks && *until > now);
            (std::mem::replace(&mut state.kept, true), until)
        };
        if !kept {
            let (level, channel) = (self.level.clone(), self.channel.clone());
            let end = channel.token().clone();
            let keep = async move { level.keep(&channel).await };
            self.channel.tasks().spawn(end.run_until_cancelled_owned(keep));
        }
        let until = until?;
        Some(async move { drop(timeout_at(until, self.level.is_heard(wanted)).await) })
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
                if news.is_some() {
                    state.told = next;
                    state.heard = None;
                }
                news
            };
            match news {
                Some(level) => {
                    tell(channel, level).await;
                    let mut state = self.lock();
                    state.heard = Some(level);
                    state.until = None;
                    self.heard.notify_waiters();
                }
                None => drop(timeout(LOOK, self.bell.notified()).await),
            }
        }
    }

    /// The server has answered, whatever it said, to this level or a lower one.
    async fn is_heard(&self, wanted: LogLevel) {
        loop {
            let answered = self.heard.notified();
            if self.lock().heard.is_some_and(|heard| heard <= wanted) {
                return;
            }
            answered.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the server is to be told. A level cannot be taken back, so that of nobody is what most servers
/// begin with.
fn next(told: Option<LogLevel>, wanted: Option<LogLevel>) -> Option<LogLevel> {
    wanted.map(|wanted| wanted.min(USUAL)).or(told.map(|_| USUAL))
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
    fn nobodys_level_is_not_the_last_ones_and_no_wish_is_for_silence() {
        let check = |told, wanted, expected| assert_eq!(next(told, wanted), expected);
        use LogLevel::{Debug, Error, Info, Warning};
        check(None, None, None);
        check(None, Some(Debug), Some(Debug));
        check(None, Some(Error), Some(Info));
        check(Some(Debug), Some(Warning), Some(Info));
        check(Some(Info), Some(Debug), Some(Debug));
        check(Some(Debug), None, Some(Info));
    }
}
